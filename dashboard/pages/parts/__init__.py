"""What several pages are made of."""

__all__ = ["accessible", "growing", "later", "loading", "reports", "widgets"]
