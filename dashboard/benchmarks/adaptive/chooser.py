"""What a campaign measures next, from its own run file: asked by the worker, after every line that it has measured."""

import math
import os
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from pathlib import Path

import numpy as np

from dashboard.benchmarks.adaptive.choosing import Step, apart, beginning, following, together
from dashboard.benchmarks.adaptive.expected import Calibration, Known, standard_error
from dashboard.benchmarks.adaptive.goal import Goal
from dashboard.benchmarks.campaigns.campaign import Done, points_of, samples_of, seconds_of
from dashboard.benchmarks.campaigns.pace import Pace
from dashboard.benchmarks.campaigns.plan import Plan, Todo
from dashboard.benchmarks.campaigns.protocol import Cell, PointKey
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import DEFAULT
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.units import format_bytes, format_count, format_duration
from loaders import disk

#: Seconds that no clock tells apart from none.
_TICK = 1e-9
#: Part of the seconds that measuring has taken that doubtful points are measured again for, each time.
_AGAIN = 0.05
#: Why it ends, in the words that the campaign keeps.
ENOUGH, TIME_UP, NOTHING_LEFT = "the expected loss is as low as asked for", "the time is up", "nothing is left"
_NOT_BY_THESE = f"by all times {ENOUGH}, by those that decide it is not"


@dataclass(frozen=True)
class Point:
    """A measured point: seconds in the middle of its repetitions, standard error of its logarithm, seconds it took."""

    time: float
    error: float
    took: float


def ending(ended: str, goal: Goal, loss: Mapping[str, float | None], doubtful: int) -> str:
    """Why a campaign ended, by the times that decide.

    Parameters
    ----------
    ended
        Why no more was chosen, by all times; empty where more could be.
    loss
        Expected loss in percent by collective, as `decided.decided_loss`.
    doubtful
        Number of times that cannot be trusted.
    """
    low = goal.percent is not None and all(each is not None and each <= goal.percent for each in loss.values())
    if ended in ("", TIME_UP):
        return ended
    if low:
        return ENOUGH
    doubts = f"{format_count(doubtful, 'time')} that cannot be trusted" if doubtful else ""
    if ended == ENOUGH:
        return f"{_NOT_BY_THESE}{f' ({doubts})' if doubts else ''}"
    missed = f"; {goal.percent:g} % of expected loss is not reached" if goal.percent is not None else ""
    return f"{ended}{f' but {doubts}' if doubts else ''}{missed}"


@dataclass
class Chooser:
    """Knows what a campaign has measured, and says what comes next."""

    #: Whose grid is chosen from; its goal says when it is enough.
    plan: Plan
    #: Of the one machine that all ranks are on; None: each has one.
    cores: int | None = None
    #: Communicator sizes that it may choose, as a job of an array; it knows what others have measured. None: all.
    only: tuple[int, ...] | None = None
    points: dict[PointKey, Point] = field(default_factory=dict)
    refused: set[PointKey] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.plan.goal is None:
            raise PlanError("this plan has no goal, so that all of its points are measured")
        self.goal: Goal = self.plan.goal
        self._able = {name: self._able_at(name) for name in self.plan.methods}
        #: By collective, as of `Known`.
        self._logs = {name: np.full(able.shape, np.nan) for name, able in self._able.items()}
        self._errors = {name: np.full(able.shape, np.nan) for name, able in self._able.items()}
        self._places = {
            name: [
                {value: place for place, value in enumerate(axis)}
                for axis in (methods, self.plan.comm_sizes, self._sizes(name))
            ]
            for name, methods in self.plan.methods.items()
        }
        self._known: dict[str, Known] = {}
        self._calibrations = {name: Calibration() for name in self.plan.methods}
        self._read: dict[Path, int] = {}
        self._mine = np.isin(self.plan.comm_sizes, self.plan.comm_sizes if self.only is None else self.only)
        #: Number of points of the communicator sizes that it may choose, and seconds that measuring these has taken.
        self.own, self.spent = 0, 0.0
        #: Whether nothing is left of what it begins with.
        self.begun = False
        self._ahead: list[Step] = []
        #: Seconds that are measured for without choosing anew, and whether what came last was chosen anew.
        self.together, self.anew = 0.0, True
        #: Why what was chosen last comes next, in words.
        self.why = ""
        #: Seconds that it may take: infinite where it is measured in any case.
        self.left = math.inf

    def read(self, results: Path) -> None:
        """Take in what a run file has got since it was read last."""
        if not results.exists():
            return
        with disk.opened(results) as stream:
            stream.seek(begin := self._read.get(results, 0))
            new = stream.read(os.fstat(stream.fileno()).st_size - begin)
        length = new.rfind(b"\n") + 1
        self._read[results] = begin + length
        self.take(new[:length].splitlines())

    def take(self, lines: Iterable[bytes | str]) -> None:
        """Take in lines of a run file; what is no point is passed over."""
        measured: list[tuple[PointKey, float, list[float]]] = []
        for key, record in points_of(lines):
            samples = [max(sample, _TICK) for sample in samples_of(record)]
            if "error" in record:
                self.refused.add(key)
            elif samples:
                measured.append((key, seconds_of(record) or 0.0, samples))
            self._known.pop(key[0], None)
        if not measured:
            return
        # All at once, since each by itself takes as long as all the rest.
        errors = standard_error(np.array(list(zip_longest(*(each for *_, each in measured), fillvalue=np.nan))).T)
        for (key, took, samples), error in zip(measured, errors.tolist(), strict=True):
            self._keep(key, Point(statistics.median(samples), error, took))

    def _keep(self, key: PointKey, point: Point) -> None:
        before = self.points.get(key)
        self.points[key] = point
        if key[0] in self._places:
            self._logs[key[0]][self._place(key)] = math.log(point.time)
            self._errors[key[0]][self._place(key)] = point.error
        if self.only is None or key[2] in self.only:
            self.own += before is None
            # What it took before was measured, too, though it does not count.
            self.spent += point.took

    def hurry(self, *, quick: bool) -> None:
        """Choose quickly, or as well as can be."""
        for calibration in self._calibrations.values():
            calibration.quick = quick

    def forget(self) -> None:
        """Work all that is known out again."""
        self._known.clear()
        self._ahead.clear()

    @property
    def done(self) -> Done:
        """What needs not be measured any more."""
        return Done(frozenset(self.points), dict.fromkeys(self.refused, ""))

    def known(self) -> dict[str, Known]:
        """What is known of each collective."""
        for name in self.plan.methods:
            if name not in self._known:
                self._known[name] = self._known_of(name)
        return {name: self._known[name] for name in self.plan.methods}

    def loss(self) -> dict[str, float | None]:
        """Expected loss of each collective in percent; None where nothing is measured."""
        return {name: grid.mean_loss if grid.cells.any() else None for name, grid in self.known().items()}

    def again(self, doubtful: Mapping[PointKey, str]) -> dict[PointKey, str]:
        """Of points whose times cannot be trusted those worth measuring again, what tells most for each second first.

        All of them together take no more than `_AGAIN` of what measuring has taken.
        """
        known, left = self.known(), _AGAIN * self.spent
        worth: dict[PointKey, float] = {}
        for key in doubtful:
            if key in self.points:
                sizes = self.plan.comm_sizes.index(key[2]), self._sizes(key[0]).index(key[3])
                worth[key] = known[key[0]].loss[sizes] / max(self.points[key].took, 1e-9)
        chosen = {}
        for key in sorted(worth, key=lambda key: -worth[key]):
            if worth[key] > 0 and self.points[key].took <= left:
                chosen[key] = doubtful[key]
                left -= self.points[key].took
        return chosen

    def next(self) -> tuple[Todo, str]:
        """What is measured next, all of one communicator size; where it is nothing, why it ends."""
        self.left = left = math.inf if self.goal.seconds is None else self.goal.seconds - self.spent
        self.anew = not self._ahead or self._ahead[0].seconds > left
        return self._choose(left) if self.anew else (self._todo(self._ahead.pop(0)), "")

    def _choose(self, left: float) -> tuple[Todo, str]:
        """Choose anew, by all that was measured, what takes no more than the seconds that are left."""
        took = {key: point.took for key, point in self.points.items() if point.took}
        known, pace = self.known(), Pace(self.plan.protocol, self.cores, took)

        def cost(name: str, row: int, column: int) -> float:
            return pace.point(self._cell(name, row, column))

        begun = [] if self.begun else list(beginning(self._limited(known), cost))
        # What a campaign begins with is asked for until nothing is left of it, as a replay does: it costs as much as
        # a tenth of the rest.
        self.begun = not begun
        if begun and not self.own:
            # The first line is measured however little time there is: without it nothing is known at all.
            self.left = math.inf
            return self._todo(begun[0]), ""
        if lines := [step for step in begun if step.seconds <= left]:
            return self._first_of(lines), ""
        if begun and not all(grid.cells.any() for grid in known.values()):
            return [], TIME_UP
        steps = [step for step in following(known, cost, self.goal.percent) if self._mine[step.row]]
        if not steps:
            worst = max((percent or 0.0 for percent in self.loss().values()), default=0.0)
            return [], NOTHING_LEFT if self.goal.percent is None or worst > self.goal.percent else ENOUGH
        affordable = [step for step in steps if step.seconds <= left]
        if not affordable:
            return [], TIME_UP
        return self._first_of(apart(affordable)), ""

    def _first_of(self, steps: Iterable[Step]) -> Todo:
        """What the first of steps measures; those after it come next, for as long as nothing is chosen anew."""
        first, *self._ahead = together(steps, self.together)
        return self._todo(first)

    def _limited(self, known: Mapping[str, Known]) -> Mapping[str, Known]:
        """The same where nothing can be measured but what it may choose."""
        if self._mine.all():
            return known
        return {name: replace(grid, able=grid.able & self._mine[:, None]) for name, grid in known.items()}

    def _todo(self, step: Step) -> Todo:
        methods = self.plan.methods[step.collective]
        todo = [
            (self._cell(step.collective, step.row, column), [methods[place] for place in places])
            for column, places in step.cells
        ]
        sizes = ", ".join(format_bytes(cell.message_size) for cell, _ in todo if cell.message_size)
        what = f"{step.collective}, {todo[0][0].comm_size} processes{f', {sizes}' if sizes else ''}"
        why = (
            "the first sizes of all"
            if math.isinf(step.loss)
            else f"{step.loss:.2g} % of expected loss there and around"
        )
        seconds = f", for about {format_duration(step.seconds)}" if step.seconds >= 1 else ""
        self.why = f"{what}: {why}, {format_count(step.points, 'point')}{seconds}"
        return todo

    def _sizes(self, name: str) -> tuple[int, ...]:
        return (0,) if name == "barrier" else self.plan.message_sizes

    def _cell(self, name: str, row: int, column: int) -> Cell:
        return Cell(name, self.plan.comm_sizes[row], self._sizes(name)[column], next(iter(self.plan.ppns), None))

    def _able_at(self, name: str) -> BoolArray:
        """Where each method can be measured: ``(method, comm_size, message_size)``."""
        methods = self.plan.methods[name]
        able = np.zeros((len(methods), len(self.plan.comm_sizes), len(self._sizes(name))), dtype=np.bool_)
        for row in range(able.shape[1]):
            for column in range(able.shape[2]):
                cell = self._cell(name, row, column)
                if self.plan.why_left_out(cell) is None:
                    here = set(self.plan.methods_of(cell))
                    able[:, row, column] = [method in here for method in methods]
        return able

    def _known_of(self, name: str) -> Known:
        methods, able = self.plan.methods[name], self._able[name].copy()
        logs, errors = self._logs[name].copy(), self._errors[name].copy()
        for key in self.refused:
            if key[0] == name and key not in self.points:
                able[self._place(key)] = False
        default = next((n for n, method in enumerate(methods) if method.algorithm == DEFAULT), None)
        sizes = np.array(self.plan.comm_sizes), np.array(self._sizes(name))
        weights = self._weights(name) * able.any(axis=0)
        return Known(*sizes, logs, errors, able, weights, default, calibration=self._calibrations[name])

    def _place(self, key: PointKey) -> tuple[int, ...]:
        """Places of a point's method, communicator size and message size."""
        return tuple(axis[value] for axis, value in zip(self._places[key[0]], key[1:4], strict=True))

    def _weights(self, name: str) -> FloatArray:
        """What each size counts, ``(comm_size, message_size)``."""
        grid = product(self.plan.comm_sizes, self._sizes(name))
        often = {tuple(sizes): calls for collective, *sizes, calls in self.goal.calls if collective == name}
        weights = [often.get(sizes, 0.0) if self.goal.calls else 1.0 for sizes in grid]
        return np.reshape(weights, (len(self.plan.comm_sizes), -1))
