"""Programs whose collectives are the original ones or run in phases over a grid, timed phase by phase (K 5)."""

__all__ = ["order", "run"]
