"""Page *Export*."""

__all__ = ["page"]
