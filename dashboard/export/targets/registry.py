"""All targets, and the functions that write them."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.export.target import ExportError, Target
from dashboard.export.targets import collectives, forced, nccl, python, settings
from dashboard.export.targets import json_file as decision_json
from dashboard.export.targets.c import nested as c
from dashboard.export.targets.c import table as c_table
from dashboard.export.targets.c.nested import source_lines, to_c
from dashboard.export.targets.c.table import to_c_table
from dashboard.export.targets.collectives import to_collectives
from dashboard.export.targets.forced import to_mpirun
from dashboard.export.targets.json_file import to_json
from dashboard.export.targets.mpich import selection as mpich
from dashboard.export.targets.mpich.selection import to_mpich
from dashboard.export.targets.openmpi import json_file as openmpi_json
from dashboard.export.targets.openmpi import nodes as openmpi_nodes
from dashboard.export.targets.openmpi import rules as openmpi
from dashboard.export.targets.openmpi.json_file import to_openmpi_json
from dashboard.export.targets.openmpi.rules import to_openmpi
from dashboard.export.targets.preload import library as preload
from dashboard.export.targets.preload.library import to_preload
from dashboard.export.targets.python import to_python
from dashboard.export.targets.settings import to_intel, to_ucc
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
