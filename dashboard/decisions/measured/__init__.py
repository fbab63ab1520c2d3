"""What is decided on: maps, problems and cases, and what is known of the times in them."""

__all__ = [
    "doubles",
    "interpolate",
    "map",
    "noise",
    "outliers",
    "problem",
    "selection",
    "simplest",
    "slice",
    "trust",
    "workload",
]
