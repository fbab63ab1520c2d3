"""A library to preload that decides every call."""

__all__ = ["calls", "fortran", "library", "own", "source"]
