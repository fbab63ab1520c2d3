"""One thin viewer per page over the state; a page's layout is plain, so it also stands in a notebook."""

__all__ = [
    "compare",
    "data",
    "decisions",
    "export",
    "frame",
    "frontier",
    "home",
    "measure",
    "models",
    "online",
    "parts",
    "tune",
]
