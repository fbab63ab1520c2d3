"""Decision functions as a Python module that runs the collectives as well, over mpi4py.

For programs that can preload nothing, and for methods that no library has: own algorithms and grids. The module needs
mpi4py, NumPy and this package; the schedules of the methods are written at their first call.
"""

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.domain.algorithm_names import normal
from dashboard.export import usage
from dashboard.export.library_names import is_of_library, is_own_decision
from dashboard.export.parts import per_collective
from dashboard.export.target import Decisions, ExportError, Facts, Target
from dashboard.export.targets.c.text import identifier
from dashboard.export.targets.python import functions
from dashboard.schedules.collectives import CALLED, Choice
from dashboard.schedules.errors import ScheduleError
from dashboard.schedules.phases import FORCED, by_library
from dashboard.schedules.registry import ALGORITHMS

#: Libraries' names for what own methods have under another one.
_SAME = {"chain": "k_chain"}


def to_collectives(decisions: Decisions, *, provenance: Facts = None) -> str:
    """Write decision functions as one Python module that runs what they decide.

    For a collective ``bcast`` it defines ``bcast(comm, buffer, root=0)``: buffers are contiguous arrays of NumPy, and
    `comm` is a communicator of mpi4py. Beside it stands ``colltune_bcast`` as in the target ``python``. Parameters are
    those of `dashboard.export.target.Target`.

    Raises
    ------
    ExportError
        When a collective or a method that is decided for cannot be run so; the message says what can.
    """
    parts = per_collective(decisions)
    for decision in parts:
        if decision.collective not in CALLED:
            raise ExportError(f"{decision.collective} cannot be run so; can be {', '.join(CALLED)}")
    lines = [functions(parts, provenance=provenance).rstrip("\n"), "", ""]
    lines += ["from mpi4py import MPI", "", "from dashboard.schedules.collectives import Collectives, Decided", ""]
    lines += ["_run = Collectives(", "    MPI,", "    {"]
    for decision in parts:
        lines += [
            f"        {decision.collective!r}: Decided(",
            f"            colltune_{identifier(decision.collective)},",
        ]
        choices = [f"                {choice!r}," for choice in _choices(decision)]
        lines += ["            (", *choices, "            ),", "        ),"]
    lines += ["    },", ")"]
    for decision in parts:
        lines += ["", "", *_function(decision.collective)]
    return "\n".join(lines) + "\n"


def _function(collective: str) -> list[str]:
    entry = CALLED[collective]
    buffers = ["sent", "received"]
    if entry.in_one_buffer or entry.sends == "nothing":
        buffers = ["buffer"] * 2 if entry.in_one_buffer else ["None"] * 2
    takes = [*dict.fromkeys(name for name in buffers if name != "None")]
    further = [*(["op"] if entry.reduces else []), *(["root"] if entry.rooted else [])]
    defaults = ["root=0" if name == "root" else name for name in further]
    return [
        f"def {collective}({', '.join(['comm', *takes, *defaults])}):",
        f'    """Run {collective} by the method that is decided for."""',
        f"    _run({', '.join([repr(collective), 'comm', *buffers, *(f'{name}={name}' for name in further)])})",
    ]


def _choices(decision: DecisionFunction) -> list[Choice]:
    used = decision.simplified().used
    return [
        choice_of(method, decision.collective) if place in used else None
        for place, method in enumerate(decision.methods)
    ]


def choice_of(method: Method, collective: str) -> Choice:
    """The own method that is the same as one that was measured; None for a library's own decision.

    Raises
    ------
    ExportError
        When there is none; the message lists those there are.
    """
    known = ALGORITHMS[collective]
    if is_own_decision(method):
        return None
    wanted = normal(method.algorithm, collective)
    name = method.algorithm
    if is_of_library(method):
        wanted = _SAME.get(wanted, wanted)
        name = next((candidate for candidate in known if normal(candidate, collective) == wanted), "")
    if name not in known:
        raise ExportError(f"{collective}: there is no own method {method.label!r}; there are {', '.join(known)}")
    takes = {each.name for each in known[name].parameters}
    settings = {**method.parameters, **({"segment_size": method.segment_size} if method.segment_size else {})}
    chosen = {key: value for key, value in settings.items() if key in takes}
    checked = dict(chosen)
    if FORCED in (inner := str(chosen.get("inner", ""))):
        raise ExportError(f"{method.label!r} forces an algorithm of the library, which a program cannot")
    if by_library(inner):
        # Its phases are the library's own calls, which no schedule is made of.
        checked.pop("inner")
    try:
        known[name].values(checked)
    except ScheduleError as error:
        raise ExportError(str(error)) from error
    return name, chosen


TARGET = Target(
    "python-collectives",
    "Python module that runs the collectives",
    ".py",
    to_collectives,
    use=usage.PYTHON_COLLECTIVES,
    own_methods=True,
)
