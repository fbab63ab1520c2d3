"""What a measurement was made in: machine, network, settings of the library. Nothing here imports mpi4py."""

import os
import platform
import time
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
#: Beginnings of the variables that set an MPI library, and those that its own launcher sets.
_SETTINGS = ("OMPI_MCA_", "PRTE_MCA_", "MPIR_CVAR_", "UCX_", "I_MPI_")
#: Components of Open MPI that carry messages within a node through its memory.
_SHARED_MEMORY = frozenset({"sm", "vader", "smcuda"})
_USUAL = frozenset({"OMPI_MCA_PREFIXES", "OMPI_MCA_cpu_type", "OMPI_MCA_initial_wdir", "OMPI_MCA_num_procs"})


def machine() -> str:
    """What the processes of one machine have in common, emulated nodes of it as well: one boot, one clock, cores."""
    try:
        return _BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return platform.node()


def crowded(processes: Iterable[tuple[str, Iterable[int]]]) -> bool:
    """Whether some machine has more processes than cores, given each process's machine and the cores it may run on."""
    count: dict[str, int] = {}
    cores: dict[str, set[int]] = {}
    for where, allowed in processes:
        count[where] = count.get(where, 0) + 1
        cores.setdefault(where, set()).update(allowed)
    return any(count[where] > len(cores[where]) for where in count)


def system() -> str:
    """Name of the system: as ``COLLTUNE_SYSTEM`` says, else the node's name."""
    return os.environ.get("COLLTUNE_SYSTEM") or f"{platform.node()} ({platform.machine()})"


def network(nodes: int) -> str:
    """Name of the network: as ``COLLTUNE_NETWORK`` says, else what nodes and the library's settings tell."""
    given = os.environ.get("OMPI_MCA_btl", "").split(",")  # noqa: SIM112 - so it is called
    if nodes > 1:
        known = f"{nodes} nodes"
    elif not given[0] or given[0].startswith("^") or set(given) & _SHARED_MEMORY:
        known = "shared memory"
    else:
        known = f"{'+'.join(name for name in given if name != 'self') or 'self'} within a node"
    return os.environ.get("COLLTUNE_NETWORK") or known


def settings(but: Container[str] = ()) -> str:
    """Settings of MPI libraries in the environment, but for some, as ``NAME=value …``."""
    variables = (item for item in os.environ.items() if item[0].startswith(_SETTINGS))
    said = sorted(item for item in variables if item[0] not in _USUAL and item[0] not in but)
    return " ".join(f"{name}={value}" for name, value in said)


def now() -> str:
    """Date and time with the zone."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def rank_nodes(nodes: Sequence[str]) -> str:
    """Which ranks run where, given each rank's node: ``node1 0-3, node2 4-7``."""
    ranks: dict[str, list[list[int]]] = {}
    for rank, node in enumerate(nodes):
        runs = ranks.setdefault(node, [])
        if runs and runs[-1][1] == rank - 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return ", ".join(
        " ".join([node, *(f"{low}-{high}" if high > low else f"{low}" for low, high in runs)])
        for node, runs in ranks.items()
    )
