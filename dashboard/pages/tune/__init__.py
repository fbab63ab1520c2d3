"""Page *Tune*."""

__all__ = ["page"]
