"""Page *Decisions*."""
