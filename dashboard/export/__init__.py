"""Decision functions out of the program: one module per target, each a pure function to text."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.export import (
    c,
    c_table,
    collectives,
    decision_json,
    forced,
    mpich,
    nccl,
    openmpi,
    openmpi_json,
    openmpi_nodes,
    preload,
    python,
    settings,
)
from dashboard.export.c import source_lines, to_c
from dashboard.export.c_table import to_c_table
from dashboard.export.collectives import to_collectives
from dashboard.export.decision_json import to_json
from dashboard.export.forced import to_mpirun
from dashboard.export.mpich import to_mpich
from dashboard.export.openmpi import to_openmpi
from dashboard.export.openmpi_json import to_openmpi_json
from dashboard.export.preload import to_preload
from dashboard.export.python import to_python
from dashboard.export.settings import to_intel, to_ucc
from dashboard.export.target import ExportError, Target
from dashboard.export.unsafe import guarded

#: What a decision function can be written as, by the name that ``colltune export --to`` takes.
TARGETS: Mapping[str, Target] = {
    target.name: guarded(target)
    for target in (
        *(c.TARGET, c_table.TARGET, python.TARGET, decision_json.TARGET),
        *(openmpi.TARGET, openmpi_nodes.TARGET, openmpi_json.TARGET, mpich.TARGET, settings.INTEL, settings.UCC),
        nccl.TARGET,
        *(preload.TARGET, forced.TARGET, collectives.TARGET),
    )
}

__all__ = [
    "TARGETS",
    "ExportError",
    "Target",
    "source_lines",
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
]
