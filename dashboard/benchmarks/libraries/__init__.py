"""MPI libraries: which methods each offers, how it is told to take one, and how what it loads is compiled."""

__all__ = ["library", "methods", "mpicc", "named", "own_settings", "preload"]
