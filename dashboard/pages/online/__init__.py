"""Page *Online*."""

__all__: list[str] = []
