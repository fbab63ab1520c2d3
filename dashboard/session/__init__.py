"""What the user chose, and what follows from it."""

__all__ = [
    "address",
    "campaigns",
    "choice",
    "history",
    "prepared",
    "reading",
    "recipes",
    "registry",
    "samples",
    "spool",
    "state",
    "sweep",
    "treatment",
    "view",
]
