"""Page *Export*."""

__all__: list[str] = []
