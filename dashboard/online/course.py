"""Online tuning seen iteration by iteration, of a simulation or of what a folder has kept: all that is drawn of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dashboard.domain.arrays import FloatArray
from dashboard.online.learn import METHOD, SIZES, summarise
from dashboard.online.running import evaluations
from dashboard.online.scenario import Scenario
from dashboard.online.selection import DEFAULT, Blocked, SelectionModel, learn
from dashboard.online.settings import Learning
from dashboard.online.simulation import box, trained
from dashboard.online.state import Folder
from dashboard.online.table import AlgTable
from loaders import LoadError
from loaders.online import programs_of, run_of
from loaders.source import Source

#: ``tell(share, words)``: how far it is; may raise to end it.
Tell = Callable[[float, str], None]
#: What the library decides by itself, as a method is called.
OWN = "the library's own"
#: Regressions and predictions that are kept of the same timings.
_MOST_KEPT = 24
_PLACE = ["collective", *SIZES]
#: How calls were decided, and the mode of runs in which they are.
MODES = {"default": "trace", "tuning": "tuning", "tuned": "tuned"}


def _silent(_share: float, _words: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Course:
    """What was learnt in each iteration."""

    table: AlgTable
    #: What is told of each: ``iteration``, ``timings`` so far, ``boxes`` (see `dashboard.online.simulation.QUANTILES`;
    #: times of calls by the best known mean at their sizes), and of a simulation all that it judges.
    iterations: list[dict[str, Any]]
    #: What was learnt in each.
    models: list[SelectionModel]
    #: All timings as `dashboard.online.learn.summarise` has them.
    cells: pd.DataFrame
    #: What the library's own decision takes: ``collective, message_size, nodes, ppn, time`` (seconds).
    own: pd.DataFrame
    #: What methods really take in the last iteration: the same and ``alg``; empty where only timings are known.
    truth: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def collectives(self) -> list[str]:
        """Those that anything was measured of."""
        there = set(self.cells["collective"])
        return [name for name in self.table.collectives if name in there]

    def places(self, collective: str) -> list[tuple[int, int]]:
        """Nodes and processes per node that were seen of a collective."""
        own = self.cells[self.cells["collective"] == collective]
        return sorted({(int(n), int(p)) for n, p in zip(own["nodes"], own["ppn"], strict=True)})

    def sizes(self, collective: str) -> list[int]:
        """Message sizes that were seen of a collective, bytes."""
        return sorted({int(each) for each in self.cells.loc[self.cells["collective"] == collective, "message_size"]})

    def labels(self, collective: str) -> list[str]:
        """Methods of a collective, in the order of their AlgIDs."""
        return [method.label for method in self.table.methods[collective]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"iterations": self.iterations}


def simulated(
    scenario: Scenario, seed: int, iterations: int, tell: Tell = _silent, coming: Callable[[Course], None] | None = None
) -> Course:
    """Simulate, and keep what was learnt on the way; `coming` is given what there is after each iteration."""
    own, truth = _truth_of(scenario, iterations)
    made = Course(scenario.table, [], [], pd.DataFrame(), own, truth)

    def still() -> None:
        tell(len(made.models) / iterations, f"iteration {min(len(made.models) + 1, iterations)} of {iterations}")

    for each in trained(scenario, seed, iterations, pause=still):
        record = {**each.judged.to_dict(), "timings": each.judged.samples}
        made = Course(scenario.table, [*made.iterations, record], [*made.models, each.model], each.cells, own, truth)
        if coming is not None:
            coming(made)
        still()
    return made


def _truth_of(scenario: Scenario, iteration: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What the library's own decision takes, and what each method does."""
    own, parts = [], []
    for name, calls in scenario.called.items():
        columns = {"collective": name, **{axis: getattr(calls, axis) for axis in SIZES}}
        own.append(pd.DataFrame({**columns, "time": scenario.default(name, calls, iteration)}))
        times = scenario.times(name, calls, iteration)
        parts += [pd.DataFrame({**columns, "alg": alg, "time": each}) for alg, each in enumerate(times.T, 1)]
    own_times = pd.concat(own).dropna().groupby(_PLACE, as_index=False)[["time"]].mean()
    return own_times, pd.concat(parts).dropna().groupby([*METHOD, *SIZES], as_index=False)[["time"]].mean()


@dataclass(frozen=True, eq=False)
class Kept:
    """What a folder has kept: its timings, and the calls that judged what was learnt."""

    folder: Folder
    #: ``run, iteration`` and what `loaders.online.run_of` gives.
    calls: pd.DataFrame
    #: The same of evaluations, with ``kind``: ``default`` or ``tuned``.
    judged: pd.DataFrame
    #: Keeps what was learnt of the same timings, by iteration.
    memo: dict[Any, dict[Any, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Folder, before: Kept | None = None) -> Kept:
        """Read it; `OnlineError` or `LoadError` where it is damaged. What stood in `before` is not learnt again."""
        made = cls(folder, folder.calls(), _judged(folder))
        if before is not None and before.folder.table == folder.table and before.folder.machine == folder.machine:
            same = {number for number in before.iterations if before.timings(number) == made.timings(number)}
            made.memo.update({key: known for key, known in before.memo.items() if key[0] in same})
        return made

    @property
    def iterations(self) -> list[int]:
        """Those that timings were taken in by."""
        return sorted({int(each) for each in self.calls["iteration"]}) if len(self.calls) else []

    def timings(self, iteration: int) -> int:
        """How many were known by then."""
        return int((self.calls["iteration"] <= iteration).sum()) if len(self.calls) else 0

    def course(self, learning: Learning, blocked: Sequence[Blocked] = (), tell: Tell = _silent) -> Course:
        """Learn anew what each iteration would have learnt by these settings, from what was kept.

        Parameters
        ----------
        blocked
            Methods never to be chosen, instead of those that the folder names.
        """
        folder, calls = self.folder, self.calls
        numbers = self.iterations
        if not numbers:
            return Course(folder.table, [], [], pd.DataFrame(columns=[*METHOD, *SIZES]), self._own())
        parts = [summarise(part, learning.longest) for _, part in calls.groupby("iteration", sort=True)]
        cells, models = pd.concat(parts, ignore_index=True), []
        for place, number in enumerate(numbers, 1):
            still = partial(tell, (place - 1) / len(numbers), f"iteration {number}")
            still()
            known = cells[cells["iteration"] <= number]
            memo = self.memo.setdefault((number, learning.tail), {})
            if len(memo) > _MOST_KEPT:
                memo.clear()
            provenance = {"iteration": number}
            models.append(
                learn(
                    known,
                    folder.table,
                    learning,
                    machine=folder.machine,
                    blocked=blocked,
                    provenance=provenance,
                    memo=memo,
                    pause=still,
                )
            )
        return Course(folder.table, self._records(numbers, cells), models, cells, self._own())

    def _records(self, numbers: list[int], cells: pd.DataFrame) -> list[dict[str, Any]]:
        best, records = best_known(cells), []
        kinds = {kind: self._of_kind(kind) for kind in MODES}
        ratios = {kind: _ratios(frame, best) for kind, frame in kinds.items()}
        for number in numbers:
            boxes = {
                kind: box(ratios[kind][(frame["iteration"] == number).to_numpy()]) for kind, frame in kinds.items()
            }
            sofar = self.calls["iteration"] <= number
            record: dict[str, Any] = {"iteration": number, "timings": self.timings(number), "boxes": boxes}
            records.append({**record, "runs": int(self.calls.loc[sofar, "run"].nunique())})
        return records

    def _own(self) -> pd.DataFrame:
        """What the library's own decision takes."""
        return self._of_kind("default").groupby(_PLACE, as_index=False)[["time"]].mean()

    def _of_kind(self, kind: str) -> pd.DataFrame:
        """The calls that were decided so: of evaluations, and of runs that were taken in."""
        own = self.calls[self.calls["mode"] == MODES[kind]] if len(self.calls) else self.calls
        judged = self.judged[self.judged["kind"] == kind]
        columns = [*METHOD, *SIZES, "time", "iteration"]
        return pd.concat([each[columns] for each in (judged, own) if len(each)] or [judged[columns]], ignore_index=True)


def _judged(folder: Folder) -> pd.DataFrame:
    """The calls of a folder's evaluations; those whose traces are gone are left out."""
    parts = []
    counts: dict[int, int] = {}
    for record in evaluations(folder):
        iteration = int(record["iteration"])
        number = counts.get(iteration, 0)
        counts[iteration] = number + 1
        for kind in ("default", "tuned"):
            for file in programs_of(folder.path / "evaluations", f"e{iteration}-{number}-{kind}").values():
                try:
                    _, calls = run_of(Source(file))
                except LoadError:
                    continue
                parts.append(calls.assign(iteration=iteration, kind=kind))
    columns = [*METHOD, *SIZES, "time", "iteration", "kind"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def best_known(cells: pd.DataFrame) -> pd.DataFrame:
    """The lowest mean of a method at each of the sizes: ``collective, message_size, nodes, ppn, best`` (seconds)."""
    return means(cells).groupby(_PLACE, as_index=False)[["time"]].min().rename(columns={"time": "best"})


def means(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean time of each method at each of the sizes, over all iterations: ``time`` (seconds) and ``count``."""
    summed = cells.assign(time=cells["mean"] * cells["count"])
    summed = summed.groupby([*METHOD, *SIZES], as_index=False)[["time", "count"]].sum()
    return summed[summed["alg"] != DEFAULT].assign(time=lambda frame: frame["time"] / frame["count"])


def _ratios(calls: pd.DataFrame, best: pd.DataFrame) -> FloatArray:
    if not len(calls):
        return np.empty(0)
    merged = calls[[*_PLACE, "time"]].merge(best, on=_PLACE, how="left")
    return np.asarray(merged["time"] / merged["best"], dtype=np.float64)


def bands(course: Course, collective: str, sizes: tuple[int, int, int]) -> FloatArray:
    """Probability of each method at message size, nodes and processes per node, ``(iteration, method)``."""
    rows = [model.choices[collective] for model in course.models]
    return np.array([each.probability[int(each.bins.number(*sizes))] for each in rows])


def coverage(course: Course, collective: str) -> pd.DataFrame:
    """Bins that were seen at the end, with what was measured in each.

    Returns
    -------
    DataFrame
        ``message_size, nodes, ppn`` (lower borders), ``timings``, ``methods``, and ``best``: what is taken there.
    """
    choice = course.models[-1].choices[collective]
    own = course.cells[course.cells["collective"] == collective]
    places = choice.bins.places(own["message_size"], own["nodes"], own["ppn"])
    borders = {axis: choice.bins.borders[at][places[at]] for at, axis in enumerate(SIZES)}
    number = choice.bins.number(own["message_size"], own["nodes"], own["ppn"])
    frame = pd.DataFrame({"bin": number, **borders, "alg": own["alg"].to_numpy(), "count": own["count"].to_numpy()})
    made = frame.groupby(["bin", *SIZES], as_index=False).agg(timings=("count", "sum"), methods=("alg", "nunique"))
    labels = [OWN, *course.labels(collective)]
    return made.assign(best=[labels[choice.best[int(each)]] for each in made["bin"]])


def fits(course: Course, collective: str, nodes: int, ppn: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What was measured at nodes and processes per node, and what is looked up there.

    Returns
    -------
    points, lines
        ``alg, message_size, time`` (seconds), of `points` with ``count``. Lines are what the regressions say at the
        points that stand for the bins.
    """
    own = means(course.cells[course.cells["collective"] == collective])
    points = own[(own["nodes"] == nodes) & (own["ppn"] == ppn)][["alg", "message_size", "time", "count"]]
    choice = course.models[-1].choices[collective]
    first = choice.bins.points[0]
    rows = choice.bins.number(first, np.full(len(first), nodes), np.full(len(first), ppn))
    times = choice.times[rows]
    alg = np.broadcast_to(np.arange(1, times.shape[1] + 1), times.shape)
    size = np.broadcast_to(first[:, None], times.shape)
    lines = pd.DataFrame({"alg": alg.ravel(), "message_size": size.ravel(), "time": times.ravel()}).dropna()
    return points, lines


def beside_default(course: Course, collective: str) -> pd.DataFrame:
    """What was learnt beside the library's own decision, at all sizes that were seen.

    Returns
    -------
    DataFrame
        ``message_size, nodes, ppn``, ``default`` and ``tuned`` (seconds; NaN where not known), ``ratio`` of both, and
        the ``method`` that is taken.
    """
    own = means(course.cells[course.cells["collective"] == collective])
    choice = course.models[-1].choices[collective]
    places = own[SIZES].drop_duplicates().sort_values(SIZES)
    number = choice.bins.number(*(places[axis] for axis in SIZES))
    alg = choice.best[number]
    true = course.truth[course.truth["collective"] == collective] if len(course.truth) else own
    known = true.set_index(["alg", *SIZES])["time"]
    at = pd.MultiIndex.from_arrays([alg, *(places[axis] for axis in SIZES)])
    tuned = known.reindex(at).to_numpy()
    predicted = choice.times[number, np.maximum(alg - 1, 0)]
    tuned = np.where(np.isnan(tuned), predicted, tuned)
    default = places.merge(course.own[course.own["collective"] == collective], on=SIZES, how="left")["time"].to_numpy()
    tuned = np.where(alg == DEFAULT, default, tuned)
    labels = [OWN, *course.labels(collective)]
    columns = {"default": default, "tuned": tuned, "ratio": tuned / default, "method": [labels[each] for each in alg]}
    return places.assign(**columns).reset_index(drop=True)


def stamp(path: Path) -> tuple[Any, ...]:
    """What changes whenever a folder of online tuning does."""
    names = ("loop.json", "online.parquet", "progress.jsonl", "evaluations.jsonl")
    return tuple((path / name).stat().st_mtime_ns if (path / name).exists() else 0 for name in names)


def called(course: Course) -> pd.DataFrame:
    """What was called, those that took the most time first.

    Returns
    -------
    DataFrame
        ``collective, message_size`` (bytes), ``calls``, ``time`` (seconds, summed) and ``time_percent`` of all.
    """
    cells = course.cells.assign(time=course.cells["mean"] * course.cells["count"])
    grouped = cells.groupby(["collective", "message_size"], observed=True)
    made = grouped.agg(calls=("count", "sum"), time=("time", "sum")).reset_index()
    made["time_percent"] = 100 * made["time"] / made["time"].sum()
    return made.sort_values("time", ascending=False, ignore_index=True)
