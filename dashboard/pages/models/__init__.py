"""Page *Models*."""
