"""Optimal segment sizes."""

from dashboard.models.segments.closed import CLOSED, Segments, closed_form, exponential_gap_segment
from dashboard.models.segments.search import counted_segment, optimal_segment, plogp_candidates
from dashboard.models.segments.segmentation import Segmentation

__all__ = [
    "CLOSED",
    "Segmentation",
    "Segments",
    "closed",
    "closed_form",
    "counted_segment",
    "exponential_gap_segment",
    "optimal_segment",
    "plogp_candidates",
]
