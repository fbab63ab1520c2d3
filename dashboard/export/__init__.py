"""Decision functions out of the program: one module per target, each a pure function to text."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.export.target import ExportError, Target
    from dashboard.export.targets.c.nested import source_lines, to_c
    from dashboard.export.targets.c.table import to_c_table
    from dashboard.export.targets.collectives import to_collectives
    from dashboard.export.targets.forced import to_mpirun
    from dashboard.export.targets.json_file import to_json
    from dashboard.export.targets.mpich.selection import to_mpich
    from dashboard.export.targets.openmpi.json_file import to_openmpi_json
    from dashboard.export.targets.openmpi.rules import to_openmpi
    from dashboard.export.targets.preload.library import to_preload
    from dashboard.export.targets.python import to_python
    from dashboard.export.targets.registry import TARGETS
    from dashboard.export.targets.settings import to_intel, to_ucc

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
    "translation",
    "unsafe",
    "usage",
    "writing",
]

_MODULES = {
    "ExportError": "target",
    "TARGETS": "targets.registry",
    "Target": "target",
    "source_lines": "targets.c.nested",
    "to_c": "targets.c.nested",
    "to_c_table": "targets.c.table",
    "to_collectives": "targets.collectives",
    "to_intel": "targets.settings",
    "to_json": "targets.json_file",
    "to_mpich": "targets.mpich.selection",
    "to_mpirun": "targets.forced",
    "to_openmpi": "targets.openmpi.rules",
    "to_openmpi_json": "targets.openmpi.json_file",
    "to_preload": "targets.preload.library",
    "to_python": "targets.python",
    "to_ucc": "targets.settings",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the ranks of a benchmark need the names of components only."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
