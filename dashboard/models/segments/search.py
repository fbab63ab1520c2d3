"""The optimal segment size for any sizes: by the closed forms, and for PLogP by a search over few candidates."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.models.collectives.model import CollectiveModel, Variant, scope_of, sizes_of
from dashboard.models.errors import ModelError
from dashboard.models.formula import Expression
from dashboard.models.p2p import LogGP, PLogP, PointToPointModel
from dashboard.models.registry import model_of
from dashboard.models.segments.closed import Segments, closed_form

NO_SEGMENTS = 0.0
LARGE = 2.0**40
#: Beside the optimum of the formula, in bytes and in numbers of segments: what that rounds to need not be the best.
_STEPS = range(-4, 6)
_SPREAD = 240


class Curve(NamedTuple):
    """Duration over segment sizes."""

    #: Bytes and seconds.
    segment_size: FloatArray
    time: FloatArray

    @property
    def best(self) -> float:
        """Segment size of the least duration, bytes."""
        return float(self.segment_size[np.nanargmin(self.time)])

    def low(self, percent: float) -> BoolArray:
        """Where the duration is at most so much above the least."""
        return np.asarray(self.time <= np.nanmin(self.time) * (1 + percent / 100))


def optimal_segment(
    collective: str,
    algorithm: str,
    parameters: PointToPointModel,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    *,
    variant: Variant = "corrected",
) -> FloatArray:
    """Segment size in bytes that gives the least duration; 0 where segments do not pay.

    Parameters
    ----------
    collective, algorithm
        A segmented algorithm.
    parameters
        Under Hockney and LogP / LogGP the closed forms are used, under PLogP the candidates of `plogp_candidates`.
    comm_size, message_size
        Arrays that broadcast against each other.
    variant
        ``as_published`` takes the tables to the letter, and under PLogP the measured sizes only.

    Returns
    -------
    ndarray
        Not rounded; at least 1 B and less than what is cut.

    Raises
    ------
    ModelError
        When the algorithm is not segmented.
    """
    model = model_of(collective, algorithm)
    if not model.sizable:
        raise ModelError(f"{collective} {algorithm} is not cut into segments of a size that could be chosen")
    count, size = np.broadcast_arrays(
        sizes_of("communicator size", comm_size, 1), sizes_of("message size", message_size, 0)
    )
    number, largest = np.maximum(count, 2.0), np.maximum(model.largest_segment(count, size), 1.0)
    if isinstance(parameters, PLogP):
        optimum = _best_of(model, parameters, number, size, plogp_candidates(model, parameters, number, size, variant))
    else:
        optimum = _closed(model, parameters, number, size, variant)
    pays = (count > 1) & (size > 0) & (optimum < largest)
    return np.where(pays, np.maximum(optimum, 1.0), NO_SEGMENTS)


def counted_segment(
    collective: str,
    algorithm: str,
    parameters: PointToPointModel,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    *,
    multiple: int = 1,
    variant: Variant = "corrected",
) -> FloatArray:
    """Segment size in bytes of the least duration where segments are whole; 0 where no size pays.

    The numbers of segments that `optimal_segment` takes need not be whole; with few segments that counts. So whole
    numbers of segments and whole sizes around its are tried.

    Parameters
    ----------
    collective, algorithm, parameters, comm_size, message_size, variant
        As for `optimal_segment`; as published, sizes far from the printed ones are tried too.
    multiple
        Sizes are multiples of so many bytes, such as 8 for doubles.

    Returns
    -------
    ndarray
        Whole bytes.

    Raises
    ------
    ModelError
        As of `optimal_segment`.
    """
    model = model_of(collective, algorithm)
    count, size = np.broadcast_arrays(np.asarray(comm_size), np.asarray(message_size))
    optimum = optimal_segment(collective, algorithm, parameters, count, size, variant=variant)
    total = model.largest_segment(count, size) / multiple
    sizes = _around(total, np.where(optimum > 0, optimum / multiple, total))
    if variant == "as_published":
        sizes = np.concatenate([sizes, _spread(total)])
    tried = np.concatenate([np.zeros((1, *count.shape)), sizes * multiple])
    times = np.stack([model.predict(parameters, count, size, each, variant=variant) for each in tried])
    least = np.where(np.isnan(times), np.inf, times).argmin(axis=0)[None]
    return np.asarray(np.take_along_axis(tried, least, axis=0)[0])


def _around(total: Any, wanted: Any) -> FloatArray:
    """Sizes next to one, and those of numbers of segments next to its; the least of each number of segments."""
    wanted = np.maximum(wanted, 1.0)
    sizes = [np.floor(wanted) + step for step in _STEPS]
    numbers = [np.ceil(total / np.maximum(each, 1.0)) for each in sizes]
    numbers += [np.floor(total / wanted) + step for step in _STEPS]
    return np.stack([_least_of(total, each) for each in numbers])


def _spread(total: Any) -> FloatArray:
    """Sizes from 1 to the whole."""
    shares = np.linspace(0.0, 1.0, _SPREAD).reshape(-1, *(1,) * np.ndim(total))
    return _least_of(total, np.round(np.maximum(total, 1.0) ** shares))


def _least_of(total: Any, numbers: Any) -> FloatArray:
    return np.asarray(np.maximum(np.ceil(total / np.maximum(numbers, 1.0)), 1.0))


def turning_sizes(total: float) -> FloatArray:
    """Segment sizes of `total` bytes between which the duration rises, since there are as many segments.

    Up to its root all sizes, above it the least and the largest size of each number of segments.
    """
    numbers = np.arange(1.0, np.sqrt(max(total, 1.0)) + 2)
    least = _least_of(total, numbers)
    return np.unique(np.concatenate([numbers, least, np.maximum(least[:-1] - 1, 1.0)]).clip(1.0, max(total, 1.0)))


def _closed(
    model: CollectiveModel, parameters: PointToPointModel, count: FloatArray, size: FloatArray, variant: Variant
) -> FloatArray:
    closed = closed_form(model.collective, model.algorithm, parameters.name)
    scope = scope_of(parameters, count, size, size, np.ones(()))

    def at(form: Expression) -> FloatArray:
        # Where the denominator is 0 or less, longer segments are always better.
        with np.errstate(divide="ignore", invalid="ignore"):
            optima = np.asarray(scope.of(form), dtype=float)
        return np.where(np.isfinite(optima), optima, np.inf) + np.zeros(np.broadcast_shapes(count.shape, size.shape))

    if variant == "as_published" and closed.printed is not None:
        return _printed(parameters, [at(form) for form in closed.printed])
    optima = [at(form) for form in closed.candidates]
    if len(optima) < 2:
        return optima[0] if optima else np.full(count.shape, np.inf)
    optima += [np.full(count.shape, each) for each in _crossing(closed, parameters)]
    return _best_of(model, parameters, count, size, np.stack(optima))


def _printed(parameters: PointToPointModel, optima: list[FloatArray]) -> FloatArray:
    if len(optima) == 1 or not isinstance(parameters, LogGP):
        return optima[0]
    network = parameters.gap >= parameters.overhead + parameters.gamma * optima[0]
    return np.where(network, optima[0], optima[1])


def _crossing(closed: Segments, parameters: PointToPointModel) -> list[float]:
    """Segment size at which the processor takes as long as the network's gap: a kink of the duration."""
    if not isinstance(parameters, LogGP) or parameters.gamma == 0:
        return []
    overheads = 1 if closed.algorithm in ("binary", "ring_segmented") else 2
    crossing = (parameters.gap - overheads * parameters.overhead) / parameters.gamma
    return [crossing] if crossing > 1 else []


def _best_of(
    model: CollectiveModel, parameters: PointToPointModel, count: Any, size: Any, candidates: FloatArray
) -> FloatArray:
    """Candidate (first axis) of the least duration; the whole, where none is better than that."""
    largest = np.maximum(model.largest_segment(count, size), 1.0)
    every = np.concatenate([np.broadcast_to(largest, candidates.shape[1:])[None], candidates])
    every = np.clip(np.where(np.isfinite(every), every, largest), 1.0, largest)
    best = np.argmin(model.smooth(parameters, count, size, every), axis=0)
    return np.asarray(np.take_along_axis(every, best[None], axis=0)[0])


def plogp_candidates(
    model: CollectiveModel, parameters: PLogP, count: Any, size: Any, variant: Variant = "corrected"
) -> FloatArray:
    """Segment sizes that can be optimal when gap and overheads are lines between measured sizes.

    Corollary 5.4 takes the measured sizes and the crossings of g with o_s + o_r only. Its proof sets g(m) = C m on each
    line; a line with an intercept, g(m) = C m + c, has an optimum inside, where the duration c0 + c1 m_s + c2 / m_s is
    flat, as Theorem 5.2 finds it for LogGP, which is PLogP with one line. These points are candidates too, unless
    `variant` is ``as_published``.

    Returns
    -------
    ndarray
        (candidate, …) in bytes, the further axes those of `count` and `size`.
    """
    shape = np.broadcast_shapes(np.shape(count), np.shape(size))
    edges = np.unique(np.concatenate([[1.0], np.maximum(parameters.sizes, 1.0), *_crossings(parameters)]))
    fixed = np.broadcast_to(edges.reshape(-1, *(1,) * len(shape)), (edges.size, *shape))
    if variant == "as_published":
        return np.asarray(fixed)
    ends = np.append(edges, max(2 * edges[-1], LARGE)).reshape(-1, *(1,) * len(shape))
    low, high = ends[:-1], ends[1:]
    middle = np.sqrt(low * high)
    inside = _flat_point(low, middle, high, *(model.smooth(parameters, count, size, at) for at in (low, middle, high)))
    return np.concatenate([fixed, np.clip(inside, low, high)])


def _crossings(parameters: PLogP) -> list[FloatArray]:
    """Sizes at which what a processor does for a segment takes as long as the gap."""
    # The lines go on before the first measured size and beyond the last, and may cross there.
    sizes = np.unique([1.0, *np.maximum(parameters.sizes, 1.0), max(2 * parameters.sizes[-1], LARGE)])
    gap = parameters.gap_at(sizes)
    send, receive = parameters.send_overhead_at(sizes), parameters.receive_overhead_at(sizes)
    work = parameters.gamma * sizes
    return [_zeros(sizes, gap - busy) for busy in (send + receive, receive + work, send + receive + work)]


def _zeros(sizes: FloatArray, values: FloatArray) -> FloatArray:
    turns = np.flatnonzero(values[:-1] * values[1:] < 0)
    share = values[turns] / (values[turns] - values[turns + 1])
    return np.asarray(np.maximum(sizes[turns] + share * (sizes[turns + 1] - sizes[turns]), 1.0))


def _flat_point(low: Any, middle: Any, high: Any, first: Any, second: Any, third: Any) -> FloatArray:
    """Where c0 + c1 s + c2 / s through three points is flat; the upper end where it is nowhere."""
    lower = (second - first) / (middle - low)
    upper = (third - second) / (high - middle)
    # Divided differences of c1 s + c2 / s: c1 - c2 / (s t).
    curve = (upper - lower) / (1 / (low * middle) - 1 / (middle * high))
    slope = lower + curve / (low * middle)
    with np.errstate(invalid="ignore", divide="ignore"):
        flat = np.sqrt(curve / slope)
    return np.asarray(np.where((curve > 0) & (slope > 0), flat, high), dtype=float)
