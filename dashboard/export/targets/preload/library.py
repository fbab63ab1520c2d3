"""Decision functions as a small library that any dynamically linked MPI program can preload, unchanged.

One file of C that stands between the program and the MPI library, by the profiling interface of MPI (PMPI). It decides
each collective call by the exported function, and calls the library with a communicator that has the method: Open MPI
settles which algorithm a communicator uses when that is made, by control variables of the MPI tool interface. What
cannot be set is passed on as it came, and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.judged.penalty import penalty, summarise
from dashboard.decisions.measured.map import select_ppn
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.components import HAN, SERVES, TUNED, named
from dashboard.export.library_names import Choice, algorithm_names, normal, radix_of, takes_fan_out, takes_segments
from dashboard.export.parts import per_collective
from dashboard.export.remarks import about
from dashboard.export.target import ExportError, Target
from dashboard.export.targets.c import nested as c
from dashboard.export.targets.c import table as c_table
from dashboard.export.targets.c.file import helpers_of, names_of
from dashboard.export.targets.c.text import comment, integer, string
from dashboard.export.targets.openmpi.plan import choice_in, figures, known_ppn, refused, substitute
from dashboard.export.targets.preload.calls import CALLS, wrapper
from dashboard.export.targets.preload.fortran import fortran
from dashboard.export.targets.preload.own import Programs, is_own, units_of
from dashboard.schedules.units import Units
from loaders.openmpi import DEFAULT_VERSION, algorithms, series

if TYPE_CHECKING:
    import xarray as xr

    from dashboard.decisions import Method

_USE = """\
COLLTUNE_REPORT=1 prints at the end how often what was decided, COLLTUNE_REPORT=FILE writes it into a file; \
COLLTUNE_OFF=1 decides nothing. Across nodes Open MPI's HAN gives way to an algorithm, since the priority of 'tuned' \
is raised; a component of 5.0 (han, tuned, adapt, basic) answers where it is decided, by its own priority. \
Open MPI 4.1 needs OMPI_MCA_coll_tuned_use_dynamic_rules=1 in the environment as well.

How it works: the first call on a communicator that is decided for a method makes a further communicator of the \
same processes, while the library's control variables (MPI tool interface) ask for that method, and puts them back; \
this and later such calls go there. It is freed with the first one. Passed on as they came, and counted: calls on \
intercommunicators and on one process, reductions by an operation that does not commute, and everything where the \
library cannot be told the method. Own methods and grids run over messages, or calls on groups of the grid, by tables \
for the numbers of processes that were measured; messages of more than 16 segments are run 16 at a time. Not \
touched: collectives that do not block, those of neighbours and those with counts for each process but \
reduce_scatter. Calls from Fortran are decided like those from C. \
Another tool of MPI's profiling interface in the same program does not see the calls that come through here.
Open MPI's algorithms that cut messages, which its own decision takes as well, want all processes to describe a \
message as equally many elements of equally large types.
Threads: calls on several communicators at once are fine (MPI_THREAD_MULTIPLE). A communicator that another thread \
makes at the very moment when one is prepared may take its method as well."""
RUNTIME = Path(__file__).with_name("runtime.c")
#: Components of 5.0 whose priority can be set while it runs.
_RAISED = (HAN, TUNED, "adapt", "basic")
_DYNAMIC, _PRIORITY, _HIGHEST = "coll_tuned_use_dynamic_rules", "coll_tuned_priority", 100
_BOUNDS = """\
/* Communicators made for one of the program's, and for all of them; tries to get them beside other threads. */
#ifndef COLLTUNE_MOST
#define COLLTUNE_MOST 32
#endif
#ifndef COLLTUNE_MOST_IN_ALL
#define COLLTUNE_MOST_IN_ALL 1024
#endif
#define COLLTUNE_TRIES 8"""
_TYPES = """\
struct colltune_setting {
    int variable;
    int value;
};

struct colltune_live_setting {
    int method;
    struct colltune_setting setting;
};

struct colltune_method {
    int collective;
    int first;     /* of its settings, for a communicator that is made */
    int settings;  /* how many; 0: as the library decides */
    int two;       /* for two processes only */
    int live;      /* has settings that act on calls */
    int own;       /* runs over the library, by a schedule */
    const char *label;
};

struct colltune_variable {
    const char *name;
    int there;
    int bytes;
    int kept;
    int before;
    MPI_T_cvar_handle handle;
};"""


@dataclass(frozen=True, eq=False)
class Part:
    """One collective as it will be written.

    Attributes
    ----------
    decision
        What is decided.
    methods
        Those of the decision function, with substitutes for what the library lacks.
    choices
        What the library is told for each; None for those that are never decided, and for own methods.
    own
        The programs of own methods, by the method's place.
    notes
        What is not as decided.
    cost
        The penalty before and after, where substitutes are written.
    """

    decision: DecisionFunction
    methods: tuple[Method, ...]
    choices: tuple[Choice | None, ...]
    notes: tuple[str, ...]
    cost: str = ""
    own: Mapping[int, Sequence[Units]] = field(default_factory=dict)


def to_preload(
    decisions: DecisionFunction | Sequence[DecisionFunction],
    *,
    provenance: Mapping[str, Any] | None = None,
    cubes: Mapping[str, xr.Dataset] | None = None,
    version: str = DEFAULT_VERSION,
    weights: Mapping[str, Any] | None = None,
) -> str:
    """Write decision functions as C99 of a library to preload.

    Parameters
    ----------
    decisions
        One decision function, or one for each of several collectives.
    provenance
        For the comments, as for `dashboard.export.provenance.describe`.
    cubes
        The measurements by collective: with them methods that the library lacks get the best substitute.
    version
        Of Open MPI, whose numbers are written.
    weights
        Workload by collective, ``(comm_size, message_size)``: substitutes are chosen, and judged, by it.

    Returns
    -------
    str
        ASCII. It compiles without warnings under ``-std=c99 -Wall -Wextra -Wpedantic``; its first comment tells how.

    Raises
    ------
    ExportError
        When a collective cannot be intercepted, the library lacks a method and no measurements are given, or it is
        left to the library to decide everything.
    """
    try:
        wanted = series(version)
    except ValueError as error:
        raise ExportError(str(error)) from None
    parts = [
        _part(decision, wanted, (cubes or {}).get(decision.collective), (weights or {}).get(decision.collective))
        for decision in per_collective(decisions)
    ]
    names = names_of([part.decision for part in parts])
    tables = Tables()
    for part in parts:
        tables.add(part, wanted)
    if not tables.settings and not tables.live and not tables.programs:
        raise ExportError("every call is left to the library's own decision; there is nothing to preload")
    functions = [_function(part.decision, name) for part, name in zip(parts, names, strict=True)]
    headers, helpers = helpers_of(line for function in functions for line in function)
    lines = [*comment(_head(parts, wanted, provenance), hanging=""), ""]
    lines += includes(headers) + [line for code in helpers for line in ("", code)]
    for part, function in zip(parts, functions, strict=True):
        lines += ["", *comment(about(part.decision, provenance, part.notes, part.cost)), *function]
    lines += ["", *tables.lines(parts), "", RUNTIME.read_text(encoding="ascii").rstrip()]
    if tables.programs:
        lines += ["", *tables.programs.lines()]
    for part, name in zip(parts, names, strict=True):
        lines += ["", *wrapper(part.decision.collective, _call(part.decision, name), own=bool(part.own))]
    lines += ["", *fortran(part.decision.collective for part in parts)]
    return "\n".join(lines) + "\n"


def _part(decision: DecisionFunction, version: str, cube: xr.Dataset | None, weights: Any) -> Part:
    """Find what the library is told for each method that is decided somewhere."""
    name = decision.collective
    if name not in CALLS or not algorithms(name, version):
        known = ", ".join(collective for collective in CALLS if algorithms(collective, version))
        raise ExportError(f"{name} cannot be set in a preloaded library; these can: {known}")
    used = sorted({code for code in decision.simplified().tree.codes.tolist() if code >= 0})
    own = {place: units_of(decision, place, cube) for place in used if is_own(decision.methods[place])}
    choices = {place: _choice(decision, decision.methods[place], version) for place in used if place not in own}
    lacking = [place for place, choice in choices.items() if choice is None]
    if not lacking:
        every = tuple(map(choices.get, range(len(decision.methods))))
        return Part(decision, decision.methods, every, tuple(_prepared(decision, own)), own=own)
    if cube is None:
        raise refused(decision, version, lacking)
    flat, _ = select_ppn(cube, known_ppn(decision))
    methods, notes = list(decision.methods), _prepared(decision, own)
    for place in lacking:
        methods[place], choices[place] = substitute(decision, place, version, flat, weights)
        notes.append(
            f"Open MPI {version} has no {decision.methods[place].label!r}; {methods[place].label!r} is taken instead, "
            "of all that it has the one that costs least there."
        )
    after = DecisionFunction(decision.collective, methods, decision.tree, categories=decision.categories)
    before, then = (summarise(penalty(flat, variant, weights=weights)) for variant in (decision, after))
    cost = f"Penalty of the decision function: {figures(before)}; of what is taken: {figures(then)}."
    return Part(decision, tuple(methods), tuple(map(choices.get, range(len(methods)))), tuple(notes), cost, own)


def _prepared(decision: DecisionFunction, own: Mapping[int, Sequence[Units]]) -> list[str]:
    """On how many processes own methods run: on all others the library decides."""
    return [
        f"{decision.methods[place].label!r} runs over the library, on {_sizes(units)} "
        "processes; on others the library decides there."
        for place, units in own.items()
    ]


def _sizes(units: Sequence[Units]) -> str:
    return ", ".join(str(each.processes) for each in units)


def _choice(decision: DecisionFunction, method: Method, version: str) -> Choice | None:
    """What the library is told for a method: also a component that answers by itself, where its priority can be set."""
    component = named(method)
    if version == "5.0" and component in _RAISED and decision.collective in SERVES[component]:
        return Choice(0, component=component)
    return choice_in(decision, method, version)


def _head(parts: Sequence[Part], version: str, provenance: Mapping[str, Any] | None) -> list[str]:
    names = ", ".join(part.decision.collective for part in parts)
    return [
        f"A library that decides {names} of any dynamically linked MPI program, unchanged; for Open MPI {version}.",
        f"Generated by {origin.generator(provenance)}. Do not edit: generate it again.",
        "",
        "Build, with the mpicc of the program's MPI, and use:",
        f"    {usage.BUILD.format(library='libcolltune.so', source='THIS_FILE')}",
        "    mpirun -x LD_PRELOAD=$PWD/libcolltune.so ./program     (every process must have it)",
        *_USE.splitlines(),
    ]


def includes(headers: Iterable[str]) -> list[str]:
    """Lines that include these headers and those that the runtime needs."""
    needed = {*headers, *(f"<{name}.h>" for name in ("limits", "mpi", "pthread", "stdio", "stdlib", "string"))}
    return [f"#include {header}" for header in sorted(needed)]


def _function(decision: DecisionFunction, name: str) -> list[str]:
    """By tables, which decide in less time; by nested ifs where these would be too large."""
    try:
        lines = c_table.definition(decision, name)
    except ExportError:
        lines = c.definition(decision, name)
    return [f"static {line}" if line.startswith(f"int {name}") else line for line in lines]


def _call(decision: DecisionFunction, name: str) -> str:
    if "ppn" in decision.needs:
        return f"{name}_ppn(state->size, bytes, state->ppn)"
    return f"{name}(state->size, bytes)"


class Tables:
    """Numbers every control variable, setting and method of the file."""

    def __init__(self) -> None:
        self.variables: list[str] = []
        self.settings: list[tuple[int, int]] = []
        self.live: list[tuple[int, int, int]] = []
        self.methods: list[str] = []
        self.firsts: list[int] = []
        self.programs = Programs()

    def add(self, part: Part, version: str) -> None:
        """Add the methods of a collective."""
        name = part.decision.collective
        self.firsts.append(len(self.methods))
        for place, (method, choice) in enumerate(zip(part.methods, part.choices, strict=True)):
            settings = [] if choice is None else settings_of(name, choice, version)
            acting = [] if choice is None else live_settings_of(name, method, choice, version)
            two = choice is not None and algorithms(name, version).get(choice.algorithm) == "two_proc"
            self.live += [(len(self.methods), self._variable(variable), value) for variable, value in acting]
            for units in part.own.get(place, ()):
                self.programs.add(name, len(self.methods), units)
            flags = (two, bool(acting), place in part.own)
            numbers = ", ".join(map(str, (len(self.settings), len(settings), *map(int, flags))))
            self.methods.append(f"{{COLLTUNE_{name.upper()}, {numbers}, {string(method.label)}}}")
            self.settings += [(self._variable(variable), value) for variable, value in settings]

    def _variable(self, name: str) -> int:
        if name not in self.variables:
            self.variables.append(name)
        return self.variables.index(name)

    def lines(self, parts: Sequence[Part]) -> list[str]:
        """All of it in C."""
        names = [part.decision.collective for part in parts]
        ids = [f"COLLTUNE_{name.upper()}" for name in names]
        lines = [f"enum {{ {', '.join([*ids, 'COLLTUNE_COLLECTIVES'])} }};", ""]
        lines += [
            f"#define {collective_id}_FIRST {first}" for collective_id, first in zip(ids, self.firsts, strict=True)
        ]
        sized, reduces = (any(name != "barrier" for name in names), any(CALLS[name].reduces for name in names))
        constants = {
            "METHODS": len(self.methods),
            "VARIABLES": len(self.variables),
            "LIVE": len(self.live),
            "NEEDS_PPN": int(any("ppn" in part.decision.needs for part in parts)),
            "SIZED": int(sized),
            "REDUCES": int(reduces),
        }
        lines += [f"#define COLLTUNE_{word} {value}" for word, value in constants.items()]
        lines += ["", _BOUNDS, "", _TYPES, ""]
        lines += _array("const char *const", "collectives", [string(name) for name in names])
        named = [f"{{{string(name)}, 0, 0, 0, 0, 0}}" for name in self.variables or [""]]
        lines += _array("struct colltune_variable", "variables", named)
        pairs = [f"{{{variable}, {integer(value)}}}" for variable, value in self.settings] or ["{0, 0}"]
        lines += _array("const struct colltune_setting", "settings", pairs)
        lines += _array("const struct colltune_method", "methods", self.methods)
        if self.live:
            acting = [f"{{{method}, {{{variable}, {integer(value)}}}}}" for method, variable, value in self.live]
            lines += _array("const struct colltune_live_setting", "live_settings", acting)
            lines.append(f"#define COLLTUNE_LIVE_NONE {{ {', '.join(['-1'] * len(names))} }}")
        return lines


def settings_of(collective: str, choice: Choice, version: str = DEFAULT_VERSION) -> list[tuple[str, int]]:
    """Control variables that make a new communicator of Open MPI take a choice; none for its own decision.

    A component answers where it is asked first: its priority is raised while the communicator is made.

    In 4.1 the priority of ``tuned`` cannot be set while it runs, and need not be: HAN gives way there.
    """
    if choice.component:
        return [(_DYNAMIC, 0), (f"coll_{choice.component}_priority", _HIGHEST)]
    if not choice.algorithm:
        return []
    base = f"coll_tuned_{collective}_algorithm"
    raised = [] if series(version) == "4.1" else [(_PRIORITY, _HIGHEST)]
    settings = [(_DYNAMIC, 1), *raised, (base, choice.algorithm)]
    if takes_segments(collective, choice.algorithm):
        settings.append((f"{base}_segmentsize", choice.segment_size))
    if takes_fan_out(collective, choice.algorithm) and choice.fan_out:
        settings.append((f"{base}_chain_fanout", choice.fan_out))
    if choice.requests is not None:
        settings.append((f"{base}_max_requests", choice.requests))
    return settings


def live_settings_of(collective: str, method: Method, choice: Choice, version: str) -> list[tuple[str, int]]:
    """Control variables that Open MPI reads at each call: the radix of k-nomial trees."""
    radix = radix_of(method)
    if radix is None or normal(algorithms(collective, version).get(choice.algorithm, "")) != "knomial":
        return []
    return [(f"coll_tuned_{collective}_algorithm_knomial_radix", radix)]


def _array(kind: str, name: str, entries: Sequence[str]) -> list[str]:
    return [f"static {kind} colltune_{name}[] = {{", *(f"    {entry}," for entry in entries), "};", ""]


TARGET = Target(
    "preload",
    "Library to preload (PMPI, Open MPI's tool interface)",
    ".c",
    to_preload,
    ("cubes", "version", "weights"),
    use=usage.preload,
    names=algorithm_names,
)
