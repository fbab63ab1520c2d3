"""A library to preload as one file of C: decisions, what the MPI library is told for each method, and the runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.export import provenance as origin
from dashboard.export import usage
from dashboard.export.library_names import plain_library
from dashboard.export.remarks import about
from dashboard.export.target import ExportError, Facts, LeftAloneError
from dashboard.export.targets.c import nested as c
from dashboard.export.targets.c import table as c_table
from dashboard.export.targets.c.file import helpers_of, names_of
from dashboard.export.targets.c.text import comment, integer, string
from dashboard.export.targets.preload.calls import CALLS, wrapper
from dashboard.export.targets.preload.own import Programs
from dashboard.schedules.units import Units

#: Targets for results of a library, by a part of its name without blanks.
_OF_OTHERS = {"mpich": "preload-mpich", "openmpi": "preload"}
_USE = """\
COLLTUNE_REPORT=1 prints at the end how often what was decided, COLLTUNE_REPORT=FILE writes it into a file; \
COLLTUNE_OFF=1 decides nothing."""
_PASSED = """\
Passed on as they came, and counted: calls on intercommunicators and on one process, reductions by an operation that \
does not commute, and everything where the library cannot be told the method. Not touched: collectives that do not \
block, those of neighbours and those with counts for each process but reduce_scatter. Own methods and grids run over \
messages, or calls on groups of the grid, by tables for the numbers of processes that were measured; messages of more \
than 16 segments are run 16 at a time. They read and write buffers themselves, which must not be a GPU's. Another tool \
of MPI's profiling interface in the same program does not see the calls that come through here."""
_BOUNDS = """\
/* Communicators made for one of the program's, and for all of them; tries to get them beside other threads. */
#ifndef COLLTUNE_MOST
#define COLLTUNE_MOST 32
#endif
#ifndef COLLTUNE_MOST_IN_ALL
#define COLLTUNE_MOST_IN_ALL 1024
#endif
#define COLLTUNE_TRIES 8
/* One for each thread, at a place that is known when the library is loaded: it is preloaded. */
#define COLLTUNE_OF_THREAD __thread __attribute__((tls_model("initial-exec")))"""
_TYPES = """\
struct colltune_setting {
    int variable;
    int value;
    const char *name;  /* of which the library's number is the value, or NULL */
};

struct colltune_method {
    int collective;
    int first;     /* of its settings: those for a communicator that is made, then those that act on calls */
    int settings;  /* how many of the former */
    int acting;    /* how many of the latter; none of both: as the library decides */
    int two;       /* for two processes only */
    int own;       /* runs over the library, by a schedule */
    const char *label;
};

struct colltune_variable {
    const char *name;
    int there;
    int bytes;
    int kept;
    int before;
    volatile int *memory;  /* where the library keeps it; NULL: not known, it is written through the tool interface */
    MPI_T_cvar_handle handle;
};"""


@dataclass(frozen=True)
class Switches:
    """What makes the library take a method; nothing at all where it decides by itself."""

    #: Control variables while a communicator is made, which keeps what they say.
    made: Mapping[str, int] = field(default_factory=dict)
    #: Control variables that act on a call. A text is a name of which the library's number is the value.
    acting: Mapping[str, int | str] = field(default_factory=dict)
    #: Whether the method is for two processes only.
    two: bool = False
    #: Programs of an own method, for some numbers of processes each; the library is told nothing then.
    own: tuple[Units, ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """One collective as it will be written."""

    decision: DecisionFunction
    #: What the library is told for each of its methods; nothing for those that are never decided.
    switches: tuple[Switches, ...]
    #: What is not as decided.
    notes: tuple[str, ...] = ()

    @property
    def runs_own(self) -> bool:
        """Whether some of the methods are own ones."""
        return any(switches.own for switches in self.switches)


def head(parts: Sequence[Part], library: str, start: str, use: str, provenance: Facts) -> list[str]:
    """The first comment: what it is, how it is built and used, and what it does not do.

    Parameters
    ----------
    library
        Name and version of the MPI library.
    start
        Command that preloads it.
    use
        What is to be known of it alone.
    """
    names = ", ".join(part.decision.collective for part in parts)
    return [
        f"A library that decides {names} of any dynamically linked MPI program, unchanged; for {library}.",
        origin.generated(provenance),
        "",
        "Build, with the mpicc of the program's MPI, and preload it into every process:",
        f"    {usage.BUILD.format(library='libcolltune.so', source='THIS_FILE')}",
        f"    {start} ./program",
        *(line for text in (_USE, use, _PASSED) for line in text.splitlines()),
    ]


def source(parts: Sequence[Part], head: Sequence[str], provenance: Facts) -> list[str]:
    """Lines of the library: its first comment, the decisions, what the MPI library is told, and the calls from C.

    Raises
    ------
    LeftAloneError
        When everything is left to the MPI library.
    """
    names = names_of([part.decision for part in parts])
    tables = Tables()
    for part in parts:
        tables.add(part)
    if not tables.settings and not tables.programs:
        raise LeftAloneError("every call is left to the library's own decision; there is nothing to preload")
    functions = [_function(part.decision, name) for part, name in zip(parts, names, strict=True)]
    headers, helpers = helpers_of(line for function in functions for line in function)
    lines = [*comment(head, hanging=""), ""]
    lines += includes(headers) + [line for code in helpers for line in ("", code)]
    for part, function in zip(parts, functions, strict=True):
        lines += ["", *comment(about(part.decision, provenance, part.notes)), *function]
    lines += ["", *tables.lines(parts), "", *runtime(tables)]
    for part, name in zip(parts, names, strict=True):
        lines += ["", *wrapper(part.decision.collective, _call(part.decision, name), own=part.runs_own)]
    return lines


def runtime(tables: Tables) -> list[str]:
    """Lines that are the same in every such library, and the programs of own methods with what runs them."""
    files = (Path(__file__).with_name(name) for name in ("tools.c", "runtime.c", "report.c"))
    lines = "\n\n".join(file.read_text(encoding="ascii").rstrip() for file in files).splitlines()
    return [*lines, "", *tables.programs.lines()] if tables.programs else lines


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
        self.settings: list[str] = []
        self.acting, self.named = False, False
        self.methods: list[str] = []
        self.firsts: list[int] = []
        self.programs = Programs()

    def add(self, part: Part) -> None:
        """Add the methods of a collective."""
        name = part.decision.collective
        self.firsts.append(len(self.methods))
        for method, switches in zip(part.decision.methods, part.switches, strict=True):
            first, kinds = len(self.settings), (switches.made, switches.acting)
            self.settings += [self._setting(*setting) for kind in kinds for setting in kind.items()]
            self.acting |= bool(switches.acting)
            for units in switches.own:
                self.programs.add(name, len(self.methods), units)
            figures = (len(switches.made), len(switches.acting), int(switches.two), int(bool(switches.own)))
            numbers = ", ".join(map(str, (first, *figures)))
            self.methods.append(f"{{COLLTUNE_{name.upper()}, {numbers}, {string(method.label)}}}")

    def _setting(self, variable: str, value: int | str) -> str:
        self.named |= isinstance(value, str)
        said = f"0, {string(value)}" if isinstance(value, str) else f"{integer(value)}, NULL"
        return f"{{{self._variable(variable)}, {said}}}"

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
            "ACTING": int(self.acting),
            "NAMED": int(self.named),
            "NEEDS_PPN": int(any("ppn" in part.decision.needs for part in parts)),
            "SIZED": int(sized),
            "REDUCES": int(reduces),
        }
        lines += [f"#define COLLTUNE_{word} {value}" for word, value in constants.items()]
        lines += ["", _BOUNDS, "", _TYPES, ""]
        lines += _array("const char *const", "collectives", [string(name) for name in names])
        named = [f"{{{string(name)}, 0, 0, 0, 0, NULL, 0}}" for name in self.variables or [""]]
        lines += _array("struct colltune_variable", "variables", named)
        kind = "struct colltune_setting" if self.named else "const struct colltune_setting"
        lines += _array(kind, "settings", self.settings or ["{0, 0, NULL}"])
        return lines + _array("const struct colltune_method", "methods", self.methods)


def _array(kind: str, name: str, entries: Sequence[str]) -> list[str]:
    return [f"static {kind} colltune_{name}[] = {{", *(f"    {entry}," for entry in entries), "};", ""]


def check_measured_with(decisions: Iterable[DecisionFunction], target: str) -> None:
    """Raise `ExportError` where a decision is for another library than the one that is to be preloaded."""
    for decision in decisions:
        library = str(decision.provenance.get("library") or "")
        meant = next((name for part, name in _OF_OTHERS.items() if plain_library(library).startswith(part)), target)
        if meant != target:
            raise ExportError(
                f"{decision.collective} was decided for {library}, which says nothing of what is best in another "
                f"library: --to {meant} is for it"
            )
