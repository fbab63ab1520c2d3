"""Page *Models*."""

__all__: list[str] = []
