"""Decision functions as a small library that any dynamically linked MPI program can preload, unchanged.

One file of C that stands between the program and the MPI library, by the profiling interface of MPI (PMPI). It decides
each collective call by the exported function, and calls the library with a communicator that has the method: Open MPI
settles which algorithm a communicator uses when that is made, by control variables of the MPI tool interface. What
cannot be set is passed on as it came, and counted.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import xarray as xr

from dashboard.decisions import Method
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.domain.algorithm_names import normal
from dashboard.export import usage
from dashboard.export.components import (
    BELOW_COPIES,
    HAN,
    SERVES,
    TUNED,
    han_settings,
    module_settings,
    named,
    variant_of,
)
from dashboard.export.library_names import Choice, algorithm_names, radix_of, takes_segments
from dashboard.export.parts import per_collective
from dashboard.export.target import Cubes, Decisions, ExportError, Facts, Target, series_of
from dashboard.export.targets.openmpi.plan import choice_in, refused
from dashboard.export.targets.preload.calls import CALLS
from dashboard.export.targets.preload.fortran import fortran
from dashboard.export.targets.preload.own import notes, on_processes, own_units, prepared
from dashboard.export.targets.preload.source import Part, Switches, check_measured_with, head, source
from dashboard.schedules.units import Units
from loaders.openmpi import DEFAULT_VERSION, TWO_PROCESSES, algorithms, fan_out_variable, series

_USE = """\
Across nodes Open MPI's HAN gives way to an algorithm, since the priority of 'tuned' \
is raised; from 5.0 on a component (han, tuned, adapt, basic) answers where it is decided, by its own priority. \
It stays below what copies the buffers of GPUs for it, and below hcoll and UCC where a site has switched them on \
(OMPI_MCA_coll=^hcoll,ucc switches them off). \
Open MPI 4.1 needs OMPI_MCA_coll_tuned_use_dynamic_rules=1 in the environment as well.

How it works: the first call on a communicator that is decided for a method makes a further communicator of the \
same processes, while the library's control variables (MPI tool interface) ask for that method, and puts them back; \
this and later such calls go there. It is freed with the first one. Calls from Fortran are decided like those from C.
Open MPI's algorithms that cut messages, which its own decision takes as well, want all processes to describe a \
message as equally many elements of equally large types.
Threads: calls on several communicators at once are fine (MPI_THREAD_MULTIPLE), but for the radix of k-nomial trees \
and HAN's algorithms and segments, which are set for a single call: such methods are passed on there unless \
COLLTUNE_ONE_THREAD=1 says that one thread alone calls collectives. A communicator that another thread makes at the \
very moment when one is prepared may take its method as well."""
#: Components of 5.0 whose priority can be set while it runs.
_RAISED = (HAN, TUNED, "adapt", "basic")
_DYNAMIC, _PRIORITY = "coll_tuned_use_dynamic_rules", "coll_tuned_priority"


def to_preload(
    decisions: Decisions, *, provenance: Facts = None, cubes: Cubes = None, version: str = DEFAULT_VERSION
) -> str:
    """Write decision functions as C99 of a library to preload.

    Parameters are those of `dashboard.export.target.Target`: own methods are written for the numbers of processes of
    the measurements (`cubes`).

    Returns
    -------
    str
        ASCII. It compiles without warnings under ``-std=c99 -Wall -Wextra -Wpedantic``; its first comment tells how.

    Raises
    ------
    ExportError
        When a collective cannot be intercepted, the library lacks a method, or it is left to it to decide everything.
    """
    wanted = series_of(version)
    check_measured_with(per_collective(decisions), "preload")
    parts = [_part(decision, wanted, (cubes or {}).get(decision.collective)) for decision in per_collective(decisions)]
    start = "mpirun -x LD_PRELOAD=$PWD/libcolltune.so"
    lines = source(parts, head(parts, f"Open MPI {wanted}", start, _USE, provenance), provenance)
    return "\n".join([*lines, "", *fortran(part.decision.collective for part in parts)]) + "\n"


def _part(decision: DecisionFunction, version: str, cube: xr.Dataset | None) -> Part:
    """Find what the library is told for each method that is decided somewhere."""
    name = decision.collective
    if name not in CALLS or not algorithms(name, version):
        known = ", ".join(collective for collective in CALLS if algorithms(collective, version))
        raise ExportError(f"{name} cannot be set in a preloaded library; these can: {known}")
    own = own_units(decision, cube)
    used = (place for place in decision.simplified().used if place not in own)
    choices = {place: _choice(decision, decision.methods[place], version) for place in used}
    if lacking := [place for place, choice in choices.items() if choice is None]:
        raise refused(decision, version, lacking)
    return Part(decision, switches_of(name, decision.methods, choices, version, own), prepared(decision, own))


def _choice(decision: DecisionFunction, method: Method, version: str) -> Choice | None:
    """What the library is told for a method: also a component that answers by itself, where its priority can be set."""
    component = named(method)
    if version != "4.1" and component in _RAISED and decision.collective in SERVES[component]:
        # HAN must have the algorithm and the segments that are asked for.
        if component == HAN and not _has(decision.collective, method):
            return None
        return Choice(0, component=component)
    return choice_in(decision, method, version)


def _has(collective: str, method: Method) -> bool:
    try:
        han_settings(collective, variant_of(method), method.segment_size)
    except LookupError:
        return False
    # These it reads at its start.
    return not module_settings(collective, method.parameters)


def switches_of(
    collective: str,
    methods: Sequence[Method],
    choices: Mapping[int, Choice | None],
    version: str,
    own: Mapping[int, tuple[Units, ...]] = MappingProxyType({}),
) -> tuple[Switches, ...]:
    """What the library is told for methods of a collective.

    Parameters
    ----------
    choices
        By place among the methods; of those that are never decided there is none, nor of own methods.
    own
        Programs of own methods, by place.
    """
    return tuple(
        Switches(own=own.get(place, ()))
        if (choice := choices.get(place)) is None
        else Switches(
            settings_of(collective, choice, version),
            acting_of(collective, method, choice, version),
            algorithms(collective, version).get(choice.algorithm) == TWO_PROCESSES,
        )
        for place, method in enumerate(methods)
    )


def settings_of(collective: str, choice: Choice, version: str = DEFAULT_VERSION) -> dict[str, int]:
    """Control variables that make a new communicator of Open MPI take a choice; none for its own decision.

    A component answers where it is asked first: its priority is raised while the communicator is made.

    In 4.1 the priority of ``tuned`` cannot be set while it runs, and need not be: HAN gives way there.
    """
    if choice.component:
        return {_DYNAMIC: 0, f"coll_{choice.component}_priority": BELOW_COPIES}
    if not choice.algorithm:
        return {}
    base = f"coll_tuned_{collective}_algorithm"
    raised = {} if series(version) == "4.1" else {_PRIORITY: BELOW_COPIES}
    settings = {_DYNAMIC: 1, **raised, base: choice.algorithm}
    if takes_segments(collective, choice.algorithm):
        settings[f"{base}_segmentsize"] = choice.segment_size
    if choice.fan_out:
        settings[fan_out_variable(collective)] = choice.fan_out
    if choice.requests is not None:
        settings[f"{base}_max_requests"] = choice.requests
    return settings


def acting_of(collective: str, method: Method, choice: Choice, version: str) -> dict[str, int]:
    """Control variables that Open MPI reads at each call: HAN's algorithm and segments, the radix of k-nomial trees."""
    if choice.component == HAN:
        return han_settings(collective, variant_of(method), method.segment_size)
    radix = radix_of(method)
    if radix is None or normal(algorithms(collective, version).get(choice.algorithm, "")) != "knomial":
        return {}
    return {f"coll_tuned_{collective}_algorithm_knomial_radix": radix}


TARGET = Target(
    "preload",
    "Library to preload (PMPI, Open MPI's tool interface)",
    ".c",
    to_preload,
    ("cubes", "version"),
    use=usage.PRELOAD,
    own_methods=True,
    runs_own=on_processes,
    notes=notes,
    names=algorithm_names,
)
