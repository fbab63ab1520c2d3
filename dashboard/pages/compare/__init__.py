"""Page *Compare*."""
