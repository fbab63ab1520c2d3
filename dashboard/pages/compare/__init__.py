"""Page *Compare*."""

__all__: list[str] = []
