"""What all rooms speak of: options, errors of choices; light enough for a command's help."""

__all__ = [
    "adaptive",
    "algorithm_names",
    "arrays",
    "campaign",
    "errors",
    "held_out",
    "jobs",
    "models",
    "options",
    "tuning",
    "units",
    "unmeasured",
    "written",
]
