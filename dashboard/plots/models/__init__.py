"""Plots of communication models."""

__all__ = ["chart", "curves", "decision", "fits", "formulas", "legend", "methods", "optimal", "segments", "timeline"]
