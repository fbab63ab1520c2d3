"""What to measure next: pure functions from what is known to the next sizes, replayed and measured alike."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.campaigns.ranges import levels
from dashboard.domain.arrays import BoolArray, FloatArray

COLUMNS = 4
"""Most message sizes that a communicator size begins with."""

NEAR = 0.5
"""What a line tells of the next one on the grid, of the one after that the square of it, and so on."""

BEGIN = 0.1
"""Part of all that a collective's grid would take that is spent to begin with."""

LEAST = 1e-3
"""Expected loss in percent, over the whole grid, that no point is measured for."""

Cost = Callable[[str, int, int], float]
"""Seconds that one method takes at a size: collective, places of communicator and message size."""


@dataclass(frozen=True)
class Step:
    """What is measured next: of one communicator size some message sizes."""

    #: Collective, and place of the communicator size.
    collective: str
    row: int
    #: For each message size its place, and the places of the methods.
    cells: tuple[tuple[int, tuple[int, ...]], ...]
    #: That it is expected to take.
    seconds: float
    #: Percent of expected loss, over the grid, that it is measured for; infinite of the first lines.
    loss: float

    @property
    def points(self) -> int:
        """Number of them."""
        return sum(len(methods) for _, methods in self.cells)


def first_rows(known: Known) -> list[int]:
    """Places of the communicator sizes to begin with: the largest and the smallest where anything can be measured."""
    places = np.flatnonzero(known.able.any(axis=(0, 2))).tolist()
    return sorted({*places[:1], *places[-1:]}, reverse=True)


def first_columns(known: Known, row: int, reach: int | None = None) -> list[int]:
    """Places of the message sizes to begin a communicator size with: the ends of what can be measured, and between.

    Parameters
    ----------
    reach
        Number of message sizes, from the smallest, that are thought of; None: all.
    """
    places = np.flatnonzero(known.able[:, row].any(axis=0))[:reach].tolist()
    # Ends first, so that no gap is much wider than another.
    ordered = sorted(range(len(places)), key=lambda n: (levels(len(places))[n], n))
    return sorted(places[n] for n in ordered[:COLUMNS])


def beginning(known: Mapping[str, Known], cost: Cost) -> Iterator[Step]:
    """The lines to begin with as far as they are not measured: of all of them the ends first, then what is between.

    So that however short the time is, all collectives have been looked at. No method is left out yet: with so few
    sizes of a line nobody can tell which is the best between them. They are few, since long messages on many processes
    take most of a campaign's time: what is worth more of them is found out by what the first ones tell. Where the ends
    alone would take more than `BEGIN` of all, the longest messages are left for later.
    """
    lines = {}
    for name, grid in known.items():
        reach = _reach(name, grid, cost)
        lines[name] = [(row, first_columns(grid, row, reach)) for row in first_rows(grid)]
    for level in range(max(levels(COLUMNS)) + 1):
        for turn in range(max(map(len, lines.values()), default=0)):
            for name, grid in known.items():
                row, columns = lines[name][turn] if turn < len(lines[name]) else (0, [])
                its = [place for place, at in zip(columns, levels(len(columns)), strict=True) if at == level]
                step = _line(name, grid, row, its, cost, np.inf, everything=True)
                if step is not None:
                    yield step


def _reach(name: str, known: Known, cost: Cost) -> int:
    """Number of message sizes, two or more, whose lines to begin with take no more than `BEGIN` of the grid."""
    able = known.able.sum(axis=0)
    costs = np.zeros(able.shape)
    for row, column in np.argwhere(able).tolist():
        costs[row, column] = able[row, column] * cost(name, row, column)
    rows, reach = first_rows(known), len(known.message_sizes)
    while reach > 2 and sum(costs[row, first_columns(known, row, reach)].sum() for row in rows) > BEGIN * costs.sum():
        reach -= 1
    return reach


def following(known: Mapping[str, Known], cost: Cost, percent: float | None = None) -> list[Step]:
    """What could be measured next, what tells most for each second first; nothing where nothing is worth it.

    Parameters
    ----------
    known
        By collective.
    cost
        Seconds of a point.
    percent
        Expected loss of a collective that is low enough.
    """
    steps: list[Step] = []
    for name, grid in known.items():
        if percent is None or grid.mean_loss > percent:
            steps += _steps(name, grid, cost)
            steps += _gaps(name, grid, cost)
    return sorted(steps, key=lambda step: -step.loss / max(step.seconds, 1e-9))


def apart(steps: Iterable[Step]) -> Iterator[Step]:
    """The first of steps, best first, and of the next ones those beside none before them, of the same collective.

    What a step tells of its neighbours is not known before.
    """
    chosen: list[Step] = []
    for step in steps:
        if not any(_beside(step, other) for other in chosen):
            chosen.append(step)
            yield step


def together(steps: Iterable[Step], seconds: float) -> list[Step]:
    """The first of steps, and those after it for so many seconds in all."""
    chosen: list[Step] = []
    for step in steps:
        if chosen and step.seconds > seconds:
            break
        chosen.append(step)
        seconds -= step.seconds
    return chosen


def _beside(step: Step, other: Step) -> bool:
    """Whether two steps are of one collective, and of the same or neighbouring sizes."""
    near = step.collective == other.collective and abs(step.row - other.row) <= 1
    return near and any(abs(a - b) <= 1 for a, _ in step.cells for b, _ in other.cells)


def _steps(name: str, known: Known, cost: Cost) -> Iterator[Step]:
    loss = known.loss * known.weights / (known.weights.sum() or 1.0)
    started: BoolArray = np.asarray(known.cells.any(axis=1))
    along_rows, along_columns = _nearness(loss.shape[0]), _nearness(loss.shape[1])
    # Where something was measured, measuring its neighbours tells little more.
    open_loss: FloatArray = np.where(known.cells, 0.0, loss)
    around = along_rows @ open_loss @ along_columns
    for row in range(loss.shape[0]):
        if not started[row]:
            yield from _new_line(name, known, row, cost, np.asarray(along_rows[row] @ open_loss))
            continue
        for column in np.flatnonzero(~known.cells[row]).tolist():
            step = _line(name, known, row, [column], cost, float(around[row, column]))
            if step is not None:
                yield step


def _new_line(name: str, known: Known, row: int, cost: Cost, loss: FloatArray) -> Iterator[Step]:
    """Steps that begin with a communicator size: some of its message sizes, as far as to each of them.

    What is lost at short messages costs little to find out, and needs none of the long ones.
    """
    columns = first_columns(known, row)
    for count in range(max(1, min(2, len(columns))), len(columns) + 1):
        reach = columns[count - 1] + 1
        step = _line(name, known, row, columns[:count], cost, float(loss[:reach].sum()))
        if step is not None:
            yield step


def _gaps(name: str, known: Known, cost: Cost) -> Iterator[Step]:
    """Methods that may be the best at sizes where others were measured, by what was learnt since then."""
    loss = known.loss * known.weights / (known.weights.sum() or 1.0)
    missing = known.rivals & ~known.measured & known.cells
    for row, column in zip(*np.nonzero(missing.any(axis=0) & (loss >= LEAST)), strict=True):
        methods = tuple(np.flatnonzero(missing[:, row, column]).tolist())
        seconds = len(methods) * cost(name, int(row), int(column))
        yield Step(name, int(row), ((int(column), methods),), seconds, float(loss[row, column]))


def _line(
    name: str, known: Known, row: int, columns: list[int], cost: Cost, loss: float, *, everything: bool = False
) -> Step | None:
    """Measure of a communicator size these message sizes; None where nothing of that is missing or worth it.

    A method is measured at all of these, where it may be the best at any: what is known at some sizes of a line only
    tells nothing of the others.
    """
    able: BoolArray = known.able[:, row][:, columns] & ~known.measured[:, row][:, columns]
    wanted = able.copy()
    if not everything:
        rivals: BoolArray = np.asarray(known.rivals[:, row][:, columns].any(axis=1))
        there: BoolArray = np.asarray(known.measured[:, row].any(axis=1))
        wanted &= rivals[:, None]
        # One size of a method that was left out of this line would tell nothing of the line.
        wanted &= (there | ~there.any())[:, None]
        wanted &= wanted.sum(axis=0) > 1
        if known.incumbent is not None:
            wanted[known.incumbent] |= able[known.incumbent] & wanted.any(axis=0)
    if loss < LEAST or not wanted.any():
        return None
    cells = [(column, tuple(np.flatnonzero(wanted[:, n]).tolist())) for n, column in enumerate(columns)]
    cells = [(column, methods) for column, methods in cells if methods]
    seconds = sum(len(methods) * cost(name, row, column) for column, methods in cells)
    return Step(name, row, tuple(cells), seconds, loss)


def _nearness(count: int) -> FloatArray:
    places = np.arange(count)
    return np.asarray(NEAR ** np.abs(places[:, None] - places[None, :]))
