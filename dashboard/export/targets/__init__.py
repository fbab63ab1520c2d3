"""Export targets, one module or folder each."""

__all__ = ["c", "mpich", "openmpi", "preload"]
