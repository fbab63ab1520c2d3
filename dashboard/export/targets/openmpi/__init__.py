"""Rules of Open MPI: of tuned as text and JSON, and across nodes with those of HAN."""

__all__ = ["nodes"]
