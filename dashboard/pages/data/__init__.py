"""Page *Data*."""

__all__ = ["chooser"]
