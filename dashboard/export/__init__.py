"""Decision functions out of the program: one module per target, each a pure function to text."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.export.targets.registry import (
        TARGETS,
        ExportError,
        Target,
        source_lines,
        to_c,
        to_c_table,
        to_collectives,
        to_intel,
        to_json,
        to_mpich,
        to_mpirun,
        to_openmpi,
        to_openmpi_json,
        to_preload,
        to_python,
        to_ucc,
    )

__all__ = [
    "TARGETS",
    "ExportError",
    "Target",
    "bundle",
    "components",
    "decide_time",
    "form",
    "known_faults",
    "library_names",
    "naming",
    "parts",
    "provenance",
    "rules",
    "source_lines",
    "substitute",
    "target",
    "targets",
    "to_c",
    "to_c_table",
    "to_collectives",
    "to_intel",
    "to_json",
    "to_mpich",
    "to_mpirun",
    "to_openmpi",
    "to_openmpi_json",
    "to_preload",
    "to_python",
    "to_ucc",
    "unsafe",
    "usage",
]


def __getattr__(name: str) -> Any:
    """Import the targets when one is asked for: the ranks of a benchmark need the names of components only."""
    if name not in __all__ or importlib.util.find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.targets.registry"), name)
