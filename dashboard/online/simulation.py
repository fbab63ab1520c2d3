"""A simulated application that is tuned online: runs, training and judging, iteration by iteration.

Source: Steiner, section 5.4.7. What is learnt from, the draws and the look-up are those of real runs; only what a call
takes comes from a scenario.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.online.draws import draws, stream
from dashboard.online.learn import summarise
from dashboard.online.logics import LOGICS, Logic
from dashboard.online.scenario import Scenario
from dashboard.online.selection import Calls, SelectionModel, learn

#: Calls that are judged are listed one by one up to so many.
_LISTED = 64

#: Shares of the calls below the ends, the sides and the middle of a box.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

#: ``keep(iteration, run, timings)``: takes the timings of each run, such as a writer of traces.
Keep = Callable[[int, int, pd.DataFrame], None]


@dataclass(frozen=True)
class Judged:
    """One iteration."""

    iteration: int
    #: Time of all judged calls when the best known method (the library's own) is taken, by that of the best; of the
    #: calls of which it is known.
    tuned_over_best: float
    default_over_best: float
    #: Time of the calls in a run of this iteration by that of the best, the mean over runs.
    tuning_over_best: float
    #: Of the judged calls one by one: mean and largest of the tuned time by the best one's.
    tuned_mean: float
    tuned_worst: float
    #: Share of the judged calls that are left to the library, of which nobody knows what it takes for them: they are in
    #: no figure of what was tuned. In runs they take what any method takes in the mean.
    unknown: float
    #: Seconds that the calls of this iteration took beyond the best.
    regret: float
    #: Middle factor by which predicted times of judged calls are off, up or down: 1 or more.
    calibration: float
    #: With which the best method of a judged call is tried, in the mean.
    best_probability: float
    #: Timings so far.
    samples: int
    #: By judged call: sizes and the probability of each method.
    bands: list[dict[str, Any]] = field(default_factory=list)
    #: `QUANTILES` of the times of calls by those of the best: of the ``default`` and the ``tuned`` choice for judged
    #: calls, of ``tuning`` for those of the runs.
    boxes: dict[str, list[float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; what is not known is None."""
        return {n: None if isinstance(v, float) and not np.isfinite(v) else v for n, v in vars(self).items()}


def box(ratios: Any) -> list[float]:
    """`QUANTILES` of what is known of them; empty where nothing is."""
    known = np.asarray(ratios, dtype=np.float64)
    known = known[np.isfinite(known)]
    return [round(float(each), 4) for each in np.quantile(known, QUANTILES)] if known.size else []


@dataclass(frozen=True, eq=False)
class Trained:
    """One iteration with what was learnt in it: the model, and all timings so far as `summarise` has them."""

    judged: Judged
    model: SelectionModel
    cells: pd.DataFrame


def simulate(scenario: Scenario, seed: int, iterations: int, keep: Keep | None = None) -> Iterator[Judged]:
    """Run a scenario: what `trained` judges."""
    return (each.judged for each in trained(scenario, seed, iterations, keep))


def trained(
    scenario: Scenario, seed: int, iterations: int, keep: Keep | None = None, pause: Callable[[], None] = lambda: None
) -> Iterator[Trained]:
    """Run a scenario.

    Parameters
    ----------
    keep
        Called with each run's timings.
    pause
        Called before each method is learnt; may raise to end it.

    Yields
    ------
    Trained
        After each iteration's training.
    """
    generator = np.random.default_rng(seed)
    first = scenario.logic if LOGICS[scenario.logic](None).one_by_one else "uniform"
    logics = {name: LOGICS[first](None) for name in scenario.truths}
    cells: list[pd.DataFrame] = []
    samples = 0
    for iteration in range(1, iterations + 1):
        runs = [
            _Run(scenario, logics, iteration, (seed << 32) + (iteration << 16) + number, generator).timings()
            for number in range(scenario.runs)
        ]
        for number, run in enumerate(runs):
            samples += len(run)
            if keep is not None:
                keep(iteration, number, run)
        cells.append(summarise(pd.concat(runs), scenario.learning.longest))
        known = pd.concat(cells)
        model = learn(known, scenario.table, scenario.learning, machine=scenario.machine, pause=pause)
        yield Trained(_judged(scenario, model, iteration, runs, samples), model, known)
        for name, choice in model.choices.items():
            if not logics[name].one_by_one:
                logics[name] = LOGICS[scenario.logic](choice)


class _Run:
    """One run: a communicator over some nodes, and the calls on it."""

    def __init__(
        self, scenario: Scenario, logics: dict[str, Logic], iteration: int, seed: int, generator: np.random.Generator
    ) -> None:
        self._scenario, self._logics, self._iteration, self._generator = scenario, logics, iteration, generator
        self._start = stream(seed, 1)

    def timings(self) -> pd.DataFrame:
        """What its calls took, in the columns of `summarise` with ``best``, the time of the best method, seconds."""
        scenario, generator = self._scenario, self._generator
        places = {(n, p) for calls in scenario.called.values() for n, p in zip(calls.nodes, calls.ppn, strict=True)}
        nodes, ppn = sorted(places)[generator.integers(len(places))]
        able = [name for name, c in scenario.called.items() if ((c.nodes == nodes) & (c.ppn == ppn)).any()]
        which = generator.integers(0, len(able), scenario.calls)
        factor = scenario.noise.of_run(generator)
        parts = []
        for number, name in enumerate(able):
            calls = np.flatnonzero(which == number)
            if calls.size:
                parts.append(self._of(name, calls, (int(nodes), int(ppn)), factor))
        return pd.concat(parts)

    def _of(self, name: str, numbers: IntArray, place: tuple[int, int], factor: float) -> pd.DataFrame:
        """Calls of one collective, by their numbers on the communicator."""
        scenario, generator, called = self._scenario, self._generator, self._scenario.called[name]
        rows = np.flatnonzero((called.nodes == place[0]) & (called.ppn == place[1]))
        rows = rows[generator.integers(0, rows.size, numbers.size)]
        calls = Calls(*(each[rows] for each in (called.message_size, called.nodes, called.ppn, called.comm_size)))
        true = scenario.times(name, calls, self._iteration)
        draw = draws(self._start, list(scenario.truths).index(name), numbers)
        noisy = factor * scenario.noise.on(np.ones(numbers.size), generator)
        alg = self._chosen(name, calls, true, draw, noisy)
        taken = _taken(scenario.default(name, calls, self._iteration), true, alg)
        # What the library decides by itself takes some time, of which nothing is known: any method's in the mean.
        taken = np.where(np.isnan(taken), np.nanmean(true, axis=1), taken)
        seen = self._recorded(name, calls, taken * noisy, alg)
        frame = {"collective": name, "alg": alg, "message_size": calls.message_size, "nodes": calls.nodes}
        frame |= {"ppn": calls.ppn, "comm_size": calls.comm_size, "iteration": self._iteration, "time": seen}
        return pd.DataFrame({**frame, "true": taken, "best": np.nanmin(true, axis=1)})

    def _chosen(self, name: str, calls: Calls, true: FloatArray, draw: FloatArray, noisy: FloatArray) -> IntArray:
        logic, allowed = self._logics[name], ~np.isnan(true)
        if not logic.one_by_one:
            return logic.choose(calls, draw, allowed)
        algorithms = np.zeros(len(draw), dtype=np.int64)
        for at in range(len(draw)):
            only = slice(at, at + 1)
            each = Calls(calls.message_size[only], calls.nodes[only], calls.ppn[only], calls.comm_size[only])
            algorithms[only] = logic.choose(each, draw[only], allowed[only])
            logic.observe(each, algorithms[only], true[at, algorithms[only] - 1] * noisy[only])
        return algorithms

    def _recorded(self, name: str, calls: Calls, times: FloatArray, alg: IntArray) -> FloatArray:
        processes, methods = self._scenario.processes, self._scenario.truths[name].methods
        if processes.simple:
            return times
        labels = ["", *(method.label for method in methods)]
        profile = [processes.profiles.get(labels[each], "equal") for each in alg]
        count = int(calls.comm_size[0])
        return processes.recorded(times, profile, count, self._scenario.metric, self._generator)


def _taken(own: FloatArray, true: FloatArray, alg: IntArray) -> FloatArray:
    """True time of what was chosen; of what is left to the library its own, NaN where nobody knows it."""
    return np.where(alg > 0, true[np.arange(len(alg)), alg - 1], own)


def _judged(
    scenario: Scenario, model: SelectionModel, iteration: int, runs: list[pd.DataFrame], samples: int
) -> Judged:
    parts: list[pd.DataFrame] = []
    off: list[FloatArray] = []
    chance: list[FloatArray] = []
    bands: list[dict[str, Any]] = []
    for name, calls in scenario.judged.items():
        true, choice = scenario.times(name, calls, iteration), model.choices[name]
        library = scenario.default(name, calls, iteration)
        taken = _taken(library, true, choice.tuned(calls, ~np.isnan(true)))
        parts.append(pd.DataFrame({"best": np.nanmin(true, axis=1), "tuned": taken, "default": library}))
        place = choice.bins.number(calls.message_size, calls.nodes, calls.ppn)
        ratio = np.abs(np.log(choice.times[place] / true))
        off.append(ratio[np.isfinite(ratio)])
        share = choice.probability[place]
        chance.append(share[np.arange(len(share)), np.nanargmin(true, axis=1)])
        if len(share) <= _LISTED:
            bands += _bands(name, calls, share)
    times, factors = pd.concat(parts), np.concatenate(off)
    ratios = times[["tuned", "default"]].div(times["best"], axis=0)
    least = pd.Series({kind: times.loc[times[kind].notna(), "best"].sum() for kind in ratios})
    over_best = times[["tuned", "default"]].sum() / least
    over = [run["true"].sum() / run["best"].sum() for run in runs]
    return Judged(
        iteration=iteration,
        tuned_over_best=float(over_best["tuned"]),
        default_over_best=float(over_best["default"]),
        tuning_over_best=float(np.mean(over)),
        tuned_mean=float(ratios["tuned"].mean()),
        tuned_worst=float(ratios["tuned"].max()),
        unknown=float(times["tuned"].isna().mean()),
        regret=float(sum((run["true"] - run["best"]).sum() for run in runs)),
        calibration=float(np.exp(np.median(factors))) if factors.size else float("nan"),
        best_probability=float(np.concatenate(chance).mean()),
        samples=samples,
        bands=bands,
        boxes={
            "default": box(ratios["default"]),
            "tuning": box(np.concatenate([(run["true"] / run["best"]).to_numpy() for run in runs])),
            "tuned": box(ratios["tuned"]),
        },
    )


def _bands(name: str, calls: Calls, share: FloatArray) -> list[dict[str, Any]]:
    listed = zip(calls.message_size, calls.nodes, calls.ppn, share, strict=True)
    made = {
        (int(size), int(nodes), int(ppn)): [round(float(each), 6) for each in row] for size, nodes, ppn, row in listed
    }
    return [
        {"collective": name, "message_size": size, "nodes": nodes, "ppn": ppn, "probability": row}
        for (size, nodes, ppn), row in made.items()
    ]
