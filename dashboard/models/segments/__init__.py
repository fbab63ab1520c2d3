"""Optimal segment sizes."""

from dashboard.models.segments.closed import CLOSED, Segments, closed_form, exponential_gap_segment
from dashboard.models.segments.search import Curve, optimal_segment, plogp_candidates, segment_curve

__all__ = [
    "CLOSED",
    "Curve",
    "Segments",
    "closed",
    "closed_form",
    "exponential_gap_segment",
    "optimal_segment",
    "plogp_candidates",
    "segment_curve",
]
