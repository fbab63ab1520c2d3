"""Settings of colltune's own for the MPI library: added only where neither environment nor allocation says anything.

On one machine it asks for more ranks than cores, and for the transport that programs have there by themselves, which
starts quickly. A site that asks for another one, or an allocation of several nodes, must be measured as it is.
"""

import os
from collections.abc import Mapping

from dashboard.benchmarks.allowed import processors
from loaders import disk

#: What decides one thing together: where one of a group is said, none of it is added.
_MAPPING = frozenset(
    {
        "PRTE_MCA_rmaps_default_mapping_policy",
        "OMPI_MCA_rmaps_base_mapping_policy",
        "OMPI_MCA_rmaps_base_oversubscribe",
        "OMPI_MCA_rmaps_default_mapping_policy",
    }
)
_GROUPS = (frozenset({"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "UCX_TLS", "UCX_NET_DEVICES"}), _MAPPING)
#: Number of nodes of an allocation, and files that name them, one a line for each rank.
_COUNTS = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "FLUX_JOB_NNODES")
_FILES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "OAR_NODEFILE")
#: Number of processes of an allocation.
_PROCESSES = ("SLURM_NTASKS", "PBS_NP", "LSB_DJOB_NUMPROC")
#: Of a core those threads that share it.
_SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
#: In the environment of a job: what was added, for its record.
ADDED = "COLLTUNE_ADDED"
#: Likewise: why messages are not counted though the plan says so.
UNCOUNTED = "COLLTUNE_UNCOUNTED"


def allocated_nodes() -> int:
    """Nodes of the allocation that this process runs in; 1 outside of any."""
    for name in _COUNTS:
        if os.environ.get(name, "").isdecimal():
            return max(1, int(os.environ[name]))
    for name in _FILES:
        try:
            lines = disk.read_text(os.environ[name]).splitlines() if name in os.environ else []
        except (OSError, ValueError):
            continue
        if nodes := {line.split()[0] for line in lines if line.strip()}:
            return len(nodes)
    return 1


def default_ranks() -> int:
    """Processes where nobody says how many: those of the allocation, else one for each core."""
    tasks = _allocated_processes()
    return tasks if tasks > 1 else max(2, min(filter(None, (_cores(), processors()))))


def _allocated_processes() -> int:
    """Processes of the allocation; 0 where none says how many."""
    return next((int(os.environ[name]) for name in _PROCESSES if os.environ.get(name, "").isdecimal()), 0)


def slots() -> int:
    """Processes that Open MPI starts on this machine without being asked for more than it has cores; 0: not known."""
    allocated = any(name in os.environ for name in (*_COUNTS, *_FILES))
    return _allocated_processes() if allocated else _cores()


def _cores() -> int:
    """Cores, whose threads do not count, that this process may use; 0: not known."""
    try:
        return len({disk.read_text(_SIBLINGS.format(core)) for core in os.sched_getaffinity(0)})
    except (OSError, AttributeError):
        return 0


def added(own: Mapping[str, str], environment: Mapping[str, str] | None = None, *, ranks: int = 0) -> dict[str, str]:
    """Of settings of colltune's own those that nothing is said about.

    Parameters
    ----------
    own
        Variables that would be set.
    environment
        What is said; default: that of this process.
    ranks
        Processes to be timed: where the machine has a core for each, they are bound to these as programs are, which
        Open MPI leaves where more may be asked for. 0: it does not matter.
    """
    known = os.environ if environment is None else environment
    taken = {name for group in _GROUPS if group & set(known) for name in group}
    taken |= _MAPPING if 0 < ranks <= slots() else frozenset()
    return {name: value for name, value in own.items() if name not in known and name not in taken}


def kept(own: Mapping[str, str]) -> dict[str, str]:
    """What is said instead of settings of colltune's own, by the names of the variables."""
    left = set(own) - set(added(own))
    names = left | {name for group in _GROUPS if group & left for name in group}
    return {name: os.environ[name] for name in sorted(names) if name in os.environ}


def words(settings: Mapping[str, str]) -> str:
    """Settings as ``NAME=VALUE NAME=VALUE``."""
    return " ".join(f"{name}={value}" for name, value in sorted(settings.items()))
