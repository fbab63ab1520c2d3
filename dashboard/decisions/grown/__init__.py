"""The ways of deciding: families of trees, and how each is grown."""

__all__ = ["c45", "default", "families", "family", "given", "intervals"]
