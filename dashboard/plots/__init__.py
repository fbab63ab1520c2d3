"""Pure functions from labelled arrays to HoloViews elements, and what they share.

Every map, chart and legend takes its colours from `colors`, its axes from `axes` and its units
from `units`, so that one method has one colour and one size one spelling everywhere.
"""

__all__ = [
    "axes",
    "backend",
    "campaigns",
    "cell",
    "colors",
    "comparison",
    "coverage",
    "decision_map",
    "difference",
    "exported",
    "filling_map",
    "frontier",
    "hover",
    "improvement",
    "leaves",
    "legend",
    "live",
    "maps",
    "models",
    "online",
    "online_grids",
    "outliers",
    "penalty",
    "raster",
    "rules",
    "scene",
    "sizes",
    "source",
    "statistics",
    "sweeps",
    "table",
    "table_filter",
    "ties",
    "tiles",
    "tree",
    "tuning",
]
