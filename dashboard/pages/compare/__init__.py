"""Page *Compare*."""

__all__ = ["page"]
