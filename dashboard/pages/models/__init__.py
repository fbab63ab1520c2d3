"""Page *Models*."""

__all__ = ["page"]
