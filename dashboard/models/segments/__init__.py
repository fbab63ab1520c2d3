"""Optimal segment sizes."""

from dashboard.models.segments.closed import CLOSED, Segments, closed_form
from dashboard.models.segments.search import Curve, optimal_segment, plogp_candidates, segment_curve

__all__ = [
    "CLOSED",
    "Curve",
    "Segments",
    "closed",
    "closed_form",
    "optimal_segment",
    "plogp_candidates",
    "segment_curve",
]
