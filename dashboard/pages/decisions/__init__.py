"""Page *Decisions*."""

__all__ = ["page"]
