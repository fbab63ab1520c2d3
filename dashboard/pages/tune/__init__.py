"""Page *Tune*."""
