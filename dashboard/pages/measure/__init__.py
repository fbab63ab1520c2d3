"""Page *Measure*."""

__all__ = ["page"]
