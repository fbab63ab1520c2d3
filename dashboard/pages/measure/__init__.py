"""Page *Measure*."""

__all__: list[str] = []
