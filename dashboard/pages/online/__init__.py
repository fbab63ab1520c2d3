"""Page *Online*."""
