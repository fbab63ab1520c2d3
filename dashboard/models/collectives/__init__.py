"""The formulas of the collectives, one module per collective."""

__all__ = ["model"]
