"""All targets: what `dashboard.export.TARGETS` is."""

from collections.abc import Mapping

from dashboard.export.target import Target
from dashboard.export.targets import collectives, forced, nccl, python, settings
from dashboard.export.targets import json_file as decision_json
from dashboard.export.targets.c import nested as c
from dashboard.export.targets.c import table as c_table
from dashboard.export.targets.mpich import selection as mpich
from dashboard.export.targets.openmpi import json_file as openmpi_json
from dashboard.export.targets.openmpi import nodes as openmpi_nodes
from dashboard.export.targets.openmpi import rules as openmpi
from dashboard.export.targets.preload import library as preload
from dashboard.export.targets.preload import mpich as preload_mpich
from dashboard.export.unsafe import guarded

#: What a decision function can be written as, by the name that ``colltune export --to`` takes.
TARGETS: Mapping[str, Target] = {
    target.name: guarded(target)
    for target in (
        *(c.TARGET, c_table.TARGET, python.TARGET, decision_json.TARGET),
        *(openmpi.TARGET, openmpi_nodes.TARGET, openmpi_json.TARGET, mpich.TARGET, settings.INTEL, settings.UCC),
        nccl.TARGET,
        *(preload.TARGET, preload_mpich.TARGET, forced.TARGET, collectives.TARGET),
    )
}
