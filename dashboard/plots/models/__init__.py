"""Plots of communication models."""

__all__ = [
    "applications",
    "chart",
    "curves",
    "decision",
    "fits",
    "formulas",
    "grids",
    "legend",
    "methods",
    "optimal",
    "parameters",
    "pays",
    "processes",
    "segments",
    "timeline",
]
