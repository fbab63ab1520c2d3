"""What several pages are made of."""

__all__ = ["accessible", "growing", "keys", "later", "loading", "reports", "widgets"]
