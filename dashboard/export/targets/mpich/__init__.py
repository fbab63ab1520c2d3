"""The collective selection of MPICH."""

__all__ = ["base"]
