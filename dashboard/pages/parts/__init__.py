"""What several pages are made of."""

__all__ = ["growing", "later", "loading", "reports", "scripts", "widgets"]
