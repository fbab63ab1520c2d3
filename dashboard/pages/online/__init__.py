"""Page *Online*."""

__all__ = ["page"]
