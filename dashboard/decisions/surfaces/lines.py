"""Straight lines between measured sizes, both scales logarithmic, as matrices that take measured to wanted sizes."""

from functools import lru_cache

import numpy as np

from dashboard.decisions.function.attributes import COMM_SIZE, compute
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

ALIKE = "all"
"""One curve over all communicator sizes."""

POWER_OF_TWO = "power_of_two"

KINDS = (ALIKE, POWER_OF_TWO, "even")
"""What may tell the curves of a method apart: nothing, or one of these attributes of the communicator size."""

#: Weights of a matrix that is kept.
_MOST_KEPT = 4096


def kind_of(sizes: IntArray, kind: str) -> IntArray:
    """The curve that each communicator size lies on."""
    if kind == ALIKE:
        return np.zeros(sizes.size, dtype=np.int64)
    return compute(kind, {COMM_SIZE: np.asarray(sizes, dtype=np.int64)})


def limited_to(measured: BoolArray, comm_sizes: IntArray, incumbent: int | None = None) -> IntArray:
    """Which methods seem to run at one kind of communicator size alone.

    They were measured at no other while others were. Where that is so of more than half of them, it is how they were
    measured, not what they can do.

    Parameters
    ----------
    measured
        ``(method, comm_size, message_size)``: where a time of a method was.
    comm_sizes
        Of these.
    incumbent
        Place of the library's own decision, which runs everywhere; None: none of them is.

    Returns
    -------
    array (kind, method)
        For each of `KINDS` but the first the `kind_of` that a method is limited to, or -1.
    """
    there = np.asarray(measured.any(axis=2))
    limits = np.full((len(KINDS) - 1, len(there)), -1)
    for limit, kind in zip(limits, KINDS[1:], strict=True):
        kinds = kind_of(comm_sizes, kind)
        at = np.stack([there[:, kinds == value].any(axis=1) for value in (0, 1)])
        for value in (0, 1):
            alone = at[value] & ~at[1 - value]
            if at[1 - value].any() and 2 * alone.sum() <= at.any(axis=0).sum():
                limit[alone] = value
        if incumbent is not None:
            limit[incumbent] = -1
    return limits


def scale(sizes: IntArray) -> FloatArray:
    """Logarithms; a size of 0 is as half a byte."""
    return np.log(np.maximum(sizes, 0.5))


def between(known: IntArray, wanted: IntArray, kind: str = ALIKE, *, leave_out: bool = False) -> FloatArray:
    """Weights of known sizes that give wanted ones.

    Parameters
    ----------
    known, wanted
        Sizes, ascending.
    kind
        Of `KINDS`: only sizes that lie on one curve are joined; where there are not two of a kind, all sizes are.
    leave_out
        Whether `wanted` are `known`, each given by the others.

    Returns
    -------
    array (wanted, known)
        Rows sum to 1. Beyond the sizes that are joined the slope of the last two goes on. All are 0 where no size is
        left. Not to be written to.
    """
    if known.size * wanted.size > _MOST_KEPT:
        return _between(known, wanted, kind, leave_out=leave_out)
    # A campaign that chooses its points asks for the same sizes again and again.
    return _kept(*(np.asarray(sizes, dtype=np.int64).tobytes() for sizes in (known, wanted)), kind, leave_out=leave_out)


@lru_cache(maxsize=512)
def _kept(known: bytes, wanted: bytes, kind: str, *, leave_out: bool) -> FloatArray:
    sizes = [np.frombuffer(each, dtype=np.int64) for each in (known, wanted)]
    weights = _between(sizes[0], sizes[1], kind, leave_out=leave_out)
    weights.flags.writeable = False
    return weights


def _between(known: IntArray, wanted: IntArray, kind: str, *, leave_out: bool) -> FloatArray:
    weights = np.zeros((wanted.size, known.size))
    if not known.size:
        return weights
    logs, asked = scale(known), scale(wanted)[:, None]
    others = ~np.eye(known.size, dtype=np.bool_) if leave_out else np.ones(weights.shape, dtype=np.bool_)
    own = others & (kind_of(wanted, kind)[:, None] == kind_of(known, kind))
    measured = (own & (logs == asked)).any(axis=1)
    joined = np.where((measured | (own.sum(axis=1) > 1))[:, None], own, others)
    count, number = joined.sum(axis=1), np.cumsum(joined, axis=1)
    # Of those joined the number of the one that ends the piece of the line that a size is on.
    upper = np.clip((joined & (logs < asked)).sum(axis=1) + 1, np.minimum(2, count), np.maximum(count, 1))[:, None]
    low, high = ((joined & (number == place)).argmax(axis=1) for place in (np.maximum(upper - 1, 1), upper))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(low == high, 1.0, (asked[:, 0] - logs[low]) / (logs[high] - logs[low]))
    rows = np.flatnonzero(count)
    weights[rows, low[rows]] = 1.0 - share[rows]
    weights[rows, high[rows]] = share[rows]
    return weights


def weighed(weights: FloatArray, values: FloatArray, axis: int) -> FloatArray:
    """Take values along an axis to wanted sizes: a product that knows how few weights are not 0.

    Parameters
    ----------
    weights
        ``(wanted, known)``, of which no row has more than two that are not 0, as of `between`.
    values
        Finite; the known sizes are along `axis`.
    """
    places = np.argsort(weights != 0, axis=1, kind="stable")[:, -2:]
    shares = np.take_along_axis(weights, places, axis=1)
    along = [-1 if each == axis % values.ndim else 1 for each in range(values.ndim)]
    parts = [
        np.take(values, place, axis) * share.reshape(along) for place, share in zip(places.T, shares.T, strict=True)
    ]
    return np.asarray(sum(parts[1:], start=parts[0]))


def piece(known: FloatArray, asked: FloatArray) -> tuple[IntArray, FloatArray]:
    """The known place that ends the piece of the line that each size is on, and how far along the piece it is."""
    upper = np.clip(np.searchsorted(known, asked), 1, known.size - 1)
    return upper, (asked - known[upper - 1]) / (known[upper] - known[upper - 1])


def openness(known: IntArray, wanted: IntArray) -> FloatArray:
    """How far from measured sizes: 0 at one, 1 halfway between two or a gap beyond the last, more further out."""
    if known.size < 2:
        return np.where(np.isin(wanted, known), 0.0, 1.0)
    _, share = piece(scale(known), scale(wanted))
    return np.where((share >= 0) & (share <= 1), 4 * share * (1 - share), np.maximum(share - 1, -share))


def between_own(logs: FloatArray, comm_sizes: IntArray, message_sizes: IntArray) -> tuple[FloatArray, BoolArray]:
    """Rows that a method was measured in without gaps, and where that is known.

    It is between sizes that the method was measured at: of its row, else of the same message size.
    """
    there = np.isfinite(logs)
    rows: BoolArray = np.asarray(there.any(axis=2, keepdims=True))
    if there.all() or not there.any():
        return np.where(there, logs, 0.0), there
    values, known = _filled(np.where(there, logs, 0.0), there, scale(message_sizes))
    values, known = np.where(rows, values, 0.0), known & rows
    if not (rows & ~known).any():
        return values, known
    across, between = _filled(np.swapaxes(values, 1, 2), np.swapaxes(known, 1, 2), scale(comm_sizes))
    inside = np.swapaxes(between, 1, 2) & rows & ~known
    return np.where(inside, np.swapaxes(across, 1, 2), values), known | inside


def _filled(values: FloatArray, known: BoolArray, sizes: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Values along the last axis, straight between those that are known and level beyond; which lie between."""
    places, count = np.arange(sizes.size), sizes.size
    low = np.maximum.accumulate(np.where(known, places, -1), axis=-1)
    high = np.minimum.accumulate(np.where(known, places, count)[..., ::-1], axis=-1)[..., ::-1]
    between = (low >= 0) & (high < count)
    low, high = np.where(low < 0, np.minimum(high, count - 1), low), np.where(high == count, np.maximum(low, 0), high)
    span = sizes[high] - sizes[low]
    share = np.divide(sizes - sizes[low], span, out=np.zeros(values.shape), where=span > 0)
    start = np.take_along_axis(values, low, axis=-1)
    return start + share * (np.take_along_axis(values, high, axis=-1) - start), between
