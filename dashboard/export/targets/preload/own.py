"""Own methods in a preloaded library: their schedules as tables, for the numbers of processes that were measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions import DecisionFunction, Method
from dashboard.export.library_names import is_of_library
from dashboard.export.target import ExportError
from dashboard.export.targets.collectives import choice_of
from dashboard.schedules import Call, NotApplicableError
from dashboard.schedules.layout import Grid
from dashboard.schedules.orthogonal import BALANCED, grid_of
from dashboard.schedules.orthogonal import NAME as GRIDS
from dashboard.schedules.phases import LIBRARY, by_library
from dashboard.schedules.rank import COLUMNS
from dashboard.schedules.units import Units, calls_in_units, in_units
from loaders.collectives import COLLECTIVES

SOURCE = Path(__file__).with_name("own.c")
#: Operations of all programs together: a source of some 10 MB.
MOST_ROWS = 400_000
#: What the phases of a grid may call of the library, and the most dimensions.
CALLED = ("bcast", "scatter", "gather", "reduce", "allreduce", "allgather")
DIMENSIONS = 8
#: A power of two that there is a grid of.
_SERVED = 4
_TYPES = f"""\
#define COLLTUNE_COLUMNS {len(COLUMNS)}
#define COLLTUNE_DIMENSIONS {DIMENSIONS}
enum {{ COLLTUNE_MESSAGES, {", ".join(f"COLLTUNE_CALL_{name.upper()}" for name in CALLED)} }};

/* Of one process: the place of its operations and how many, and units of its memory. */
struct colltune_program {{
    int first;
    int count;
    int scratch;
    int input;
    int output;
}};

struct colltune_units {{
    int method;
    int size;
    int units;     /* that a vector is cut into; 0: nothing is moved */
    int segment;   /* bytes; 0: as long as the message asks for */
    int by_block;
    int longest;   /* units of the longest message */
    int first;     /* program, of so many for each number of segments */
    int programs;
    int calls;     /* number of what is called on the groups of a grid, with programs for each root; 0: messages */
    int factors[COLLTUNE_DIMENSIONS];
}};
"""


def own_units(decision: DecisionFunction, cube: xr.Dataset | None) -> dict[int, tuple[Units, ...]]:
    """Write the programs of own methods, by place, for all measured numbers of processes where each is decided for.

    Raises
    ------
    ExportError
        When there are no measurements, or the method cannot be run by a program without Python; the message says why.
    """
    used = decision.simplified().used
    return {place: _units(decision, place, cube) for place in used if not is_of_library(decision.methods[place])}


def _units(decision: DecisionFunction, place: int, cube: xr.Dataset | None) -> tuple[Units, ...]:
    method = decision.methods[place]
    written, refusal = [], ""
    for processes in _decided(decision, place, cube):
        try:
            written.append(units_on(method, decision.collective, processes))
        except NotApplicableError as error:
            refusal = f"{decision.collective}, {processes} processes: {error}"
    if refusal and not written:
        raise ExportError(refusal)
    return tuple(written)


def _decided(decision: DecisionFunction, place: int, cube: xr.Dataset | None) -> list[int]:
    """Numbers of processes that a method is decided for: its own one, else all measured ones."""
    method = decision.methods[place]
    if "processes" in method.parameters:
        return [int(method.parameters["processes"])]
    if cube is None:
        raise ExportError(
            f"{decision.collective}: {method.label!r} runs over the library, by a schedule for each number of "
            "processes; give the measurements, whose numbers of processes are taken"
        )
    comm_sizes, message_sizes = (np.asarray(cube[axis].values) for axis in ("comm_size", "message_size"))
    decided = decision.predict(*np.meshgrid(comm_sizes, message_sizes, indexing="ij"))
    return [int(size) for size, row in zip(comm_sizes, decided, strict=True) if size > 1 and (row == place).any()]


@lru_cache(maxsize=64)
def units_on(method: Method, collective: str, processes: int) -> Units:
    """Write the programs of an own method on one number of processes.

    Raises
    ------
    NotApplicableError
        When it does not serve so many.
    ExportError
        When a program without Python cannot run it; the message says why.
    """
    name, parameters = choice_of(method, collective) or (method.algorithm, {})
    inner = str(parameters.get("inner", ""))
    # What serves where a grid does not fit is no grid.
    grid = grid_of(Call(collective, processes), {"grid": BALANCED, **parameters}) if name == GRIDS else None
    if grid is None or not by_library(inner):
        return in_units(collective, name, parameters, processes)
    if inner != LIBRARY:
        raise ExportError(
            f"{collective}: of {method.label!r} some phases are calls of the library and some are not, which a "
            "preloaded library does not run; python-collectives does"
        )
    if len(grid.factors) > DIMENSIONS:
        raise ExportError(
            f"{collective}: {method.label!r} has {len(grid.factors)} dimensions; at most {DIMENSIONS} can be"
        )
    return calls_in_units(collective, grid)


def on_processes(method: Method) -> Method:
    """An own method for one number of processes: all that its grid has, or a few that every algorithm serves."""
    grid = str(method.parameters.get("grid", BALANCED))
    processes = _SERVED if grid == BALANCED else Grid.of(grid).processes
    return replace(method, parameters={"processes": processes, **method.parameters})


def notes(decision: DecisionFunction, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """As `prepared`, of what a file may be asked for (`dashboard.export.target.Target`)."""
    return prepared(decision, own_units(decision, (asked["cubes"] or {}).get(decision.collective)))


def prepared(decision: DecisionFunction, own: Mapping[int, Sequence[Units]]) -> tuple[str, ...]:
    """On how many processes own methods run: on all others the library decides."""
    sizes = {place: ", ".join(str(each.processes) for each in units) for place, units in own.items()}
    return tuple(
        f"{decision.methods[place].label!r} runs over the library, on {known or 'no measured number of'} processes; on "
        "others the library decides there."
        for place, known in sizes.items()
    )


class Programs:
    """The tables of all own methods of a file."""

    def __init__(self) -> None:
        self._rows: list[str] = []
        self._count = 0
        self._programs: list[str] = []
        self._units: list[str] = []

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._units)

    def add(self, collective: str, method: int, units: Units) -> None:
        """Add the programs of a method, by its number, on one number of processes."""
        first = len(self._programs)
        longest = max(1, *(int(program.rows[:, 5].max(initial=1)) for program in units.programs[0]))
        for programs, inputs, outputs in zip(units.programs, units.inputs, units.outputs, strict=True):
            for program, brings, takes in zip(programs, inputs, outputs, strict=True):
                figures = (self._count, len(program.rows), program.scratch, brings, takes)
                self._programs.append(f"{{{', '.join(map(str, figures))}}}")
                self._rows += [",".join(map(str, row)) for row in program.rows.tolist()]
                self._count += len(program.rows)
        if self._count > MOST_ROWS:
            raise ExportError(
                f"the schedules have more than {MOST_ROWS:,} operations: leave numbers of processes out of the "
                "measurements, or methods with segments (--without)"
            )
        moves, by_block = collective != "barrier", COLLECTIVES[collective].by_block or collective == "barrier"
        calls = CALLED.index(collective) + 1 if units.grid else 0
        factors = [*(units.grid.factors if units.grid else ())]
        factors += [1] * (DIMENSIONS - len(factors))
        of_all = (
            *(method, units.processes, units.units if moves else 0, units.segment_size, int(by_block)),
            *(longest, first, 1 if units.grid else len(units.programs), calls),
        )
        self._units.append(f"{{{', '.join(map(str, of_all))}, {{{', '.join(map(str, factors))}}}}}")

    def lines(self) -> list[str]:
        """All of it in C, with what runs it after `runtime.c`."""
        tables = (
            ("const struct colltune_program colltune_programs", self._programs),
            ("const struct colltune_units colltune_units", self._units),
            ("const int colltune_rows", self._rows),
        )
        lines = [*_TYPES.splitlines(), f"#define COLLTUNE_UNITS {len(self._units)}", ""]
        for name, entries in tables:
            lines += [f"static {name}[] = {{", *(f"    {entry}," for entry in entries), "};", ""]
        return [*lines, *SOURCE.read_text(encoding="ascii").rstrip().splitlines()]
