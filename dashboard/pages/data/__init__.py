"""Page *Data*."""
