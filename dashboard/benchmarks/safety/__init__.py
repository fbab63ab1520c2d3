"""Whether a method does what MPI promises in every way that a program may call it, not only in the way it is timed."""

__all__ = ["check"]
