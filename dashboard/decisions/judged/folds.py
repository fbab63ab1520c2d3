"""Parts of the measurements kept away from deciding, to judge a decision by."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZE_TITLES, SIZES
from dashboard.decisions.judged.gain import default_times
from dashboard.decisions.measured.doubles import DOUBLE_OF
from dashboard.decisions.measured.map import BLOCK_BYTES, decision_map
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.samples import need_samples, of_repetitions
from dashboard.decisions.measured.slice import Slice
from dashboard.decisions.surfaces.counted import Window
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.errors import DecisionError, OptionError

Place = tuple[int, BoolArray, BoolArray]
"""A slice of a problem, with the rows and columns of it."""

SCHEMES = ("lines", COMM_SIZE, MESSAGE_SIZE, "repetitions")


@dataclass(frozen=True, eq=False)
class Fold:
    """One part that is decided on, and one that is only judged at."""

    #: What is left out, for people.
    name: str
    #: ``comm_size``, ``message_size`` or ``repetition``.
    axis: str
    #: The sizes that are left out; empty for repetitions.
    left_out: tuple[int, ...]
    #: The two parts, as problems of the same methods; interpolated times judge nothing.
    learn: Problem
    judge: Problem
    #: For each slice of `judge` its position in the whole problem, and its rows and columns there.
    places: tuple[Place, ...]

    @cached_property
    def default(self) -> list[FloatArray] | None:
        """What the library's own decision takes at `judge` (`dashboard.decisions.judged.gain.default_times`)."""
        return default_times(self.judge)

    def inside(self) -> Iterator[BoolArray]:
        """For each slice of `judge`, which of its lines lie between lines that were decided on."""
        for part in self.judge.slices:
            within = np.ones(part.labels.shape, dtype=np.bool_)
            if self.axis in SIZES:
                low, high = _range(self.learn, self.axis)
                values = np.asarray(part.cube[self.axis].values)
                lines = (values >= low) & (values <= high)
                within &= lines[:, None] if self.axis == COMM_SIZE else lines
            yield within


def folds_of(problem: Problem, scheme: str, folds: int) -> tuple[list[Callable[[], Fold]], list[str]]:
    """Cut a problem into folds.

    Parameters
    ----------
    scheme
        ``comm_size`` and ``message_size`` leave out every `folds`-th line of the grid of sizes, so that
        each line is left out once; ``lines`` does first the one, then the other. ``repetitions`` halves
        the repetitions: first every other one, then at random (seeded), each half judged by the other.
    folds
        How many; no more than there are lines are made.

    Returns
    -------
    folds
        Each is made when it is called, so that one at a time is in memory.
    notes
        What could not be done, for people.

    Raises
    ------
    OptionError
        When the scheme is unknown or `folds` below 2.
    DecisionError
        When no fold can be made: a single line, or no repetitions.
    """
    if scheme not in SCHEMES:
        raise OptionError(f"the scheme is {scheme!r}, expected one of {', '.join(SCHEMES)}")
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        raise OptionError(f"folds is {folds!r}, expected a whole number from 2")
    if scheme == "repetitions":
        for part in problem.slices:
            need_samples(part.cube, "leaving out repetitions")
        return [partial(_half_fold, problem, number) for number in range(folds)], []
    made: list[Callable[[], Fold]] = []
    notes: list[str] = []
    for axis in SIZES if scheme == "lines" else (scheme,):
        values = np.unique(np.concatenate([_measured_values(part, axis) for part in problem.slices]))
        title = SIZE_TITLES[axis]
        count = min(folds, values.size)
        if count < 2:
            notes.append(f"only one {title} is measured, so none can be left out")
            continue
        if count < folds:
            ends = "; neither lies between others" if count == 2 else ""
            notes.append(f"{count} folds along the {title}, since there are no more of them{ends}")
        made += [partial(_line_fold, problem, axis, values[first::count]) for first in range(count)]
    if not made:
        raise DecisionError(
            f"nothing can be left out: {'; '.join(notes)}; measure more sizes, or judge by what is decided on "
            "(--held-out none; on the page Frontier: nothing)"
        )
    return made, notes


def with_cubes(
    problem: Problem, cubes: Sequence[xr.Dataset], weights: Sequence[FloatArray | None] | None = None
) -> Problem:
    """The same problem over other measurements of its methods, one cube for each slice; labels are found anew.

    Parameters
    ----------
    weights
        What their cells count; None: as those before, of the same sizes.
    """
    old = [part.weights for part in problem.slices]
    slices = tuple(
        replace(part, cube=cube, dmap=decision_map(cube), weights=each, window=None)
        for part, cube, each in zip(problem.slices, cubes, weights or old, strict=True)
    )
    return replace(problem, slices=slices)


def everywhere(problem: Problem) -> tuple[Place, ...]:
    """The places of all slices with all their lines."""
    shapes = [part.labels.shape for part in problem.slices]
    return tuple(
        (number, np.ones(shape[0], dtype=np.bool_), np.ones(shape[1], dtype=np.bool_))
        for number, shape in enumerate(shapes)
    )


def penalties_of_labels(learn: Problem, judge: Problem) -> list[xr.Dataset]:
    """What the labels of one part, taken as they are, cost at the same sizes of the other: as `Problem.penalties`."""
    return judge.costs([np.asarray(part.dmap["best"].transpose(*SIZES).values) for part in learn.slices])


def _line_fold(problem: Problem, axis: str, out: IntArray) -> Fold:
    values = np.unique(np.concatenate([_measured_values(part, axis) for part in problem.slices]))
    learn = _parts(problem, axis, np.setdiff1d(values, out))
    judge = _parts(problem, axis, out)
    return Fold(
        f"{axis.replace('_', ' ')} {', '.join(map(str, out.tolist()))}",
        axis,
        tuple(out.tolist()),
        replace(problem, slices=tuple(part for part, _ in learn)),
        replace(problem, slices=tuple(_loaded(problem, part, place) for part, place in judge)),
        tuple(place for _, place in judge),
    )


def _measured_values(part: Slice, axis: str) -> IntArray:
    measured = part.labels >= 0
    return np.asarray(part.cube[axis].values)[measured.any(axis=1 if axis == COMM_SIZE else 0)]


def _parts(problem: Problem, axis: str, values: IntArray) -> list[tuple[Slice, Place]]:
    """Slices at these sizes where something is measured, with their places in the problem."""
    parts = []
    for number, part in enumerate(problem.slices):
        lines = {name: np.ones(part.cube.sizes[name], dtype=np.bool_) for name in SIZES}
        lines[axis] = np.isin(part.cube[axis].values, values)
        if not (part.labels >= 0)[np.ix_(lines[COMM_SIZE], lines[MESSAGE_SIZE])].any():
            continue
        kept = {axis: np.flatnonzero(lines[axis])}
        weights = None if part.weights is None else part.weights[np.ix_(lines[COMM_SIZE], lines[MESSAGE_SIZE])]
        small = replace(part, cube=part.cube.isel(kept), dmap=part.dmap.isel(kept), weights=weights, window=None)
        parts.append((small, (number, lines[COMM_SIZE], lines[MESSAGE_SIZE])))
    return parts


def _loaded(problem: Problem, part: Slice, place: Place) -> Slice:
    """A slice to judge by: its measured times, in memory if they are small, since many decisions are judged.

    What a method counts where it was not measured is known of the whole problem, not of the few lines of a fold.
    """
    number, rows, columns = place
    window = Window(problem.slices[number].known, np.flatnonzero(rows), np.flatnonzero(columns))
    cube = part.cube[[name for name in ("time", DOUBLE_OF) if name in part.cube]]
    if "interpolated" in part.cube:
        cube = cube.assign(time=cube["time"].where(~part.cube["interpolated"]))
        part = replace(part, dmap=decision_map(cube))
    return replace(part, cube=cube.load() if cube["time"].size * 8 <= BLOCK_BYTES else cube, window=window)


def _range(problem: Problem, axis: str) -> tuple[int, int]:
    values = np.concatenate([_measured_values(part, axis) for part in problem.slices])
    return int(values.min()), int(values.max())


def _half_fold(problem: Problem, number: int) -> Fold:
    pair, turned = divmod(number, 2)
    chosen = [_half(part.cube.sizes["repetition"], pair) != bool(turned) for part in problem.slices]
    learn, judge = (_of_repetitions(problem, half) for half in (chosen, [~side for side in chosen]))
    if not all((part.labels >= 0).any() for side in (learn, judge) for part in side.slices):
        raise DecisionError("a single repetition cannot be halved: nothing would be left to judge by")
    which = f"{'second' if turned else 'first'} half of random halves {pair}" if pair else "even" if turned else "odd"
    return Fold(f"decided on {which} repetitions", "repetition", (), learn, judge, everywhere(judge))


def _half(size: int, pair: int) -> BoolArray:
    """Every other repetition; of later pairs a random half."""
    chosen = np.arange(size) % 2 == 0
    return np.random.default_rng(pair).permutation(chosen) if pair else chosen


def _of_repetitions(problem: Problem, chosen: Sequence[BoolArray]) -> Problem:
    return with_cubes(problem, [of_repetitions(p.cube, half) for p, half in zip(problem.slices, chosen, strict=True)])
