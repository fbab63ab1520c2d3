"""Page *Measure*."""
