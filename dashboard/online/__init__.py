"""Online tuning: learning which methods to take from the programs that users run anyway."""

__all__ = [
    "course",
    "deciding",
    "errors",
    "library",
    "model_file",
    "noted",
    "profile",
    "running",
    "runs",
    "scenario",
    "selection",
    "settings",
    "simulation",
    "skeletons",
    "state",
    "table",
    "writing",
]
