"""What to measure next: pure functions from what is known to the next sizes, replayed and measured alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.campaigns.ranges import levels

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

ROWS, COLUMNS = 5, 5
"""Most communicator and message sizes that are measured before anything is chosen."""

NEAR = 0.5
"""What a line tells of the next one on the grid, of the one after that the square of it, and so on."""

LEAST = 1e-3
"""Expected loss in percent, over the whole grid, that no point is measured for."""

Cost = Callable[[str, int, int], float]
"""Seconds that one method takes at a size: collective, places of communicator and message size."""


@dataclass(frozen=True)
class Step:
    """What is measured next: of one communicator size some message sizes.

    Attributes
    ----------
    collective, row
        Collective, and place of the communicator size.
    cells
        For each message size its place, and the places of the methods.
    seconds
        That it is expected to take.
    loss
        Percent of expected loss, over the grid, that it is measured for; infinite of the first lines.
    """

    collective: str
    row: int
    cells: tuple[tuple[int, tuple[int, ...]], ...]
    seconds: float
    loss: float

    @property
    def points(self) -> int:
        """Number of them."""
        return sum(len(methods) for _, methods in self.cells)


def first_rows(comm_sizes: IntArray) -> list[int]:
    """Places of the communicator sizes to begin with, the largest first: powers of two and others beside them.

    A size that is no power of two must be among them where there is one: methods differ in what they do there.
    """
    sizes = comm_sizes.tolist()
    kinds = [[n for n, size in enumerate(sizes) if (size & (size - 1) == 0) == power] for power in (True, False)]
    powers, others = kinds
    taken = {0, len(sizes) - 1}
    for places, most in ((powers, ROWS // 2 + 1), (others[::-1], ROWS - ROWS // 2 - 1)):
        taken.update(_spread(places, most))
    return sorted(taken, reverse=True)


def first_columns(message_sizes: IntArray) -> list[int]:
    """Places of the message sizes to begin with: the ends, and some between."""
    return _spread(list(range(message_sizes.size)), COLUMNS)


def _spread(places: list[int], most: int) -> list[int]:
    """Some of the places, ends first, so that no gap is much wider than another."""
    ordered = sorted(range(len(places)), key=lambda n: (levels(len(places))[n], n))
    return sorted(places[n] for n in ordered[:most])


def beginning(known: Mapping[str, Known], cost: Cost) -> Iterator[Step]:
    """The lines to begin with as far as they are not measured: of all of them the ends first, then what is between.

    So that however short the time is, all collectives have been looked at. No method is left out yet: with so few
    sizes of a line nobody can tell which is the best between them.
    """
    rows = {name: first_rows(grid.comm_sizes) for name, grid in known.items()}
    columns = {name: first_columns(grid.message_sizes) for name, grid in known.items()}
    for level in range(max((max(levels(len(each))) for each in columns.values()), default=-1) + 1):
        for turn in range(max(map(len, rows.values()))):
            for name, grid in known.items():
                its = [
                    place for place, at in zip(columns[name], levels(len(columns[name])), strict=True) if at == level
                ]
                if turn >= len(rows[name]) or not its:
                    continue
                row = rows[name][turn]
                step = _line(name, grid, row, its, cost, np.inf, everything=True)
                if step is not None:
                    yield step


def following(
    known: Mapping[str, Known], cost: Cost, percent: float | None = None, *, gaps: bool = False
) -> list[Step]:
    """What could be measured next, what tells most for each second first; nothing where nothing is worth it.

    Parameters
    ----------
    known
        By collective.
    cost
        Seconds of a point.
    percent
        Expected loss of a collective that is low enough.
    gaps
        Whether a method that may be the best at a size, and is missing there alone, is measured too: in results from
        elsewhere it was not left out because it could not be.
    """
    steps: list[Step] = []
    for name, grid in known.items():
        if percent is None or grid.mean_loss > percent:
            steps += _steps(name, grid, cost)
            steps += _gaps(name, grid, cost) if gaps else ()
    return sorted(steps, key=lambda step: -step.loss / max(step.seconds, 1e-9))


def _steps(name: str, known: Known, cost: Cost) -> Iterator[Step]:
    loss = known.loss * known.weights / (known.weights.sum() or 1.0)
    started: BoolArray = np.asarray(known.cells.any(axis=1))
    along_rows, along_columns = _nearness(loss.shape[0]), _nearness(loss.shape[1])
    # Where something was measured, measuring its neighbours tells little more.
    open_loss: FloatArray = np.where(known.cells, 0.0, loss)
    around = along_rows @ open_loss @ along_columns
    for row in range(loss.shape[0]):
        if not started[row]:
            columns = first_columns(known.message_sizes)
            step = _line(name, known, row, columns, cost, float((along_rows[row] @ open_loss).sum()))
            if step is not None:
                yield step
            continue
        for column in np.flatnonzero(~known.cells[row]).tolist():
            step = _line(name, known, row, [column], cost, float(around[row, column]))
            if step is not None:
                yield step


def _gaps(name: str, known: Known, cost: Cost) -> Iterator[Step]:
    """Methods that may be the best at sizes where others were measured."""
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

    A method is measured along the whole line, where it may be the best anywhere on it: what is known at some sizes of
    a line only tells nothing of the others.
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
