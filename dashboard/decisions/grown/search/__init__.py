"""Trees of least penalty over any attributes, searched for until they are proven to be the best or time is up."""

from dashboard.decisions.grown.search.family import FAMILY, search

__all__ = ["FAMILY", "search"]
