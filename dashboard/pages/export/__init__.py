"""Page *Export*."""
