"""An MPI library by its name and version, from tables: for planning where it is not installed, as on a login node.

What is planned is checked when the job starts: the ranks refuse a plan for another version or with variables they lack.
"""

import re
from pathlib import Path

from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.openmpi import NAME, OpenMpi
from dashboard.export.components import SERVES
from loaders.openmpi import COLLECTIVE_IDS, VERSIONS, algorithms, distinct, series

_NAMED = re.compile(r"(?i)open[\s-]?mpi[\s/-]*v?(\d+\.\d+(?:\.\d+)*)?\S*")
#: Variables of ``coll/tuned`` with their values, by what follows ``coll_tuned_<collective>_algorithm``, as ompi_info of
#: 4.1.4 and 5.0.11 prints them alike.
_CUT = ("allreduce", "alltoall", "allgather", "allgatherv", "bcast", "reduce", "reduce_scatter", "gather", "scatter")
_VARIABLES = {
    "_segmentsize": (0, (*_CUT, "reduce_scatter_block")),
    "_tree_fanout": (4, (*_CUT, "reduce_scatter_block")),
    "_chain_fanout": (4, _CUT),
    "_max_requests": (0, ("alltoall", "reduce", "scatter")),
    "_knomial_radix": (4, ("bcast",)),
}
_COMMON = {"coll_tuned_use_dynamic_rules": 0, "coll_tuned_priority": 30}


def installation_named(text: str) -> Installation:
    """An installation that is somewhere else.

    Parameters
    ----------
    text
        Such as ``openmpi-5.0``, ``openmpi/4.1.4`` or ``Open MPI 5.0.11``.

    Raises
    ------
    NoMpiError
        When the library or its version is in no table; the message says which are.
    """
    known = f"there are tables of Open MPI {' and '.join(VERSIONS[:2])}, such as openmpi-5.0"
    match = _NAMED.fullmatch(text.strip())
    if match is None or match[1] is None:
        raise NoMpiError(f"{text!r}: no library and version of which there is a table; {known}")
    try:
        wanted = series(match[1])
    except ValueError:
        wanted = ""
    if wanted not in VERSIONS[:2]:
        raise NoMpiError(f"{text!r}: no such version in the tables; {known}")
    return Installation(Path("mpiexec"), open_mpi(match[1]))


def version_of_module(modules: tuple[str, ...]) -> str:
    """The library that one of some modules brings by its name, such as ``openmpi/5.0.3``; empty when none tells."""
    matches = (match[0] for module in modules if (match := _NAMED.search(module)) is not None and match[1])
    return next(matches, "")


def open_mpi(version: str) -> OpenMpi:
    """What Open MPI of a version offers by the tables."""
    offered = {
        name: {number: distinct(text) for number, text in algorithms(name, version).items()}
        for name in COLLECTIVE_IDS
        if algorithms(name, version)
    }
    variables = dict(_COMMON)
    for name in offered:
        base = f"coll_tuned_{name}_algorithm"
        variables[base] = 0
        variables |= {base + suffix: value for suffix, (value, names) in _VARIABLES.items() if name in names}
    return OpenMpi(version, offered, variables, NAME, components=tuple(SERVES))
