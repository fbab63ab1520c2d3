"""Page *Tune*."""

__all__: list[str] = []
