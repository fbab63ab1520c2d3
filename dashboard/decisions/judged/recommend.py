"""Which tree of a frontier to take, and why, in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.judged.frontier import Frontier, comparable
from dashboard.domain.arrays import BoolArray
from dashboard.domain.errors import DecisionError, OptionError
from dashboard.domain.units import format_count

LIMITS = (5.0, 1.0)
"""Penalties in percent at which `falls_below` looks by itself."""

_NAMES = {"mean": "mean", "median": "median", "p95": "95th percentile of the", "max": "maximum"}


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A tree of a frontier."""

    #: Its row in the frontier's table.
    row: int
    decision: DecisionFunction
    #: Why this one, in words.
    reason: str
    #: What it was chosen by, in words.
    rule: str
    #: Row of the tree of the least penalty.
    best: int
    #: The penalty in percent that was good enough.
    limit: float


def recommend(frontier: Frontier, *, within: float | None = None) -> Recommendation:
    """Choose the recommended tree where it is judged, else the smallest tree that is about as good as the best.

    Parameters
    ----------
    frontier
        What was tried; its `value` is what counts: the held-out mean, unless it was made otherwise.
    within
        How many points (of percent) above the best a tree may be. None takes the family ``recommended`` with its
        own settings, where the frontier has it and goes by the held-out mean: what `decide` and the page take.
        Without it one standard error of the best tree's held-out mean over the folds (the "1 SE rule" of Breiman,
        Friedman, Olshen, Stone 1984, section 3.4.3): what is closer than that the measurements cannot tell apart.
        Where there is no such error (nothing held out, or another criterion than the mean) 1 point.

    Raises
    ------
    OptionError
        When `within` is negative.
    DecisionError
        When no tree has a penalty.

    Notes
    -----
    All trees are judged on the same cells (`dashboard.domain.unmeasured.RULE`). Those that choose methods which
    the results do not have at all, as a rules file may, cannot be: they do not count; the reason says when one of
    them would have been better.

    Of trees of equal size the one of the lowest penalty is taken, of equal ones the first.
    """
    table = frontier.table
    values = table[frontier.value].to_numpy(dtype=float)
    known = np.isfinite(values) & comparable(table, frontier.value)
    if not known.any():
        raise DecisionError("nothing to recommend: no tree has a penalty")
    best = int(np.where(known, values, np.inf).argmin())
    # Of several of the least penalty the smallest.
    leaves = table["leaves"].to_numpy()
    best = int(np.where(known & (values == values[best]), leaves, np.iinfo(np.int64).max).argmin())
    points, rule = _points(frontier, best, within)
    limit = float(values[best] + points)
    near = np.flatnonzero(known & (values <= limit))
    smallest = int(near[np.lexsort((values[near], leaves[near]))[0]])
    taken = np.flatnonzero(known & _is_recommended(frontier) & (within is None))
    row, reason = smallest, _reason(frontier, smallest, best, rule, known)
    if taken.size:
        row, rule = int(taken[0]), "what is taken when no tree is named"
        also = "" if row == smallest else f"; by that penalty alone: {reason}"
        if row != smallest and _is_same(frontier.decisions[row], frontier.decisions[smallest]):
            least = _digits(float(values[smallest]))
            also = f"; grown for no more leaves it is the same tree, though not without the left-out sizes: {least} %"
        reason = f"{_tree(frontier, row)}, grown for sizes between the measured ones, too{also}"
    return Recommendation(row, frontier.decisions[row], reason, rule, best, limit)


def falls_below(frontier: Frontier) -> pd.DataFrame:
    """For each family the smallest tree whose penalty is below each of `LIMITS`.

    Returns
    -------
    DataFrame
        One row for each family: ``family``, then for each limit ``below_5`` (leaves of the smallest tree
        with a `value` below 5 %; missing when no setting gets there), and ``least`` (the lowest `value`,
        percent) with ``least_leaves`` (of the smallest tree that has it).
    """
    rows = []
    alike = comparable(frontier.table, frontier.value)
    for name, part in frontier.table.groupby("family", sort=False):
        values = part[frontier.value].where(alike[part.index])
        row: dict[str, object] = {"family": name}
        for limit in LIMITS:
            row[f"below_{limit:g}"] = part.loc[values < limit, "leaves"].min()
        row["least"] = values.min()
        row["least_leaves"] = part.loc[values == values.min(), "leaves"].min()
        rows.append(row)
    table = pd.DataFrame(rows)
    return table.astype({name: "Int64" for name in table.columns if name not in ("family", "least")})


def _points(frontier: Frontier, best: int, within: float | None) -> tuple[float, str]:
    if within is not None:
        if not within >= 0 or not np.isfinite(within):
            raise OptionError(f"within is {within}, expected 0 or more points")
        return float(within), f"within {within:g} points of the best"
    error = float(frontier.table["held_out_error"].iloc[best])
    if frontier.value == "held_out_mean" and np.isfinite(error):
        return error, f"within one standard error ({_digits(error)} points) of the best"
    return 1.0, "within 1 point of the best"


def _is_recommended(frontier: Frontier) -> BoolArray:
    """Which rows are the tree that is taken when nothing is said."""
    table = frontier.table
    judged = frontier.value == "held_out_mean"
    return np.asarray(judged & (table["family"] == "recommended") & (table["options"] == "{}"))


def _is_same(first: DecisionFunction, second: DecisionFunction) -> bool:
    return first.root == second.root and first.methods == second.methods


def _tree(frontier: Frontier, row: int) -> str:
    table = frontier.table
    value = _digits(float(table[frontier.value].iloc[row]))
    size = format_count(table["leaves"].iloc[row], "leaf", "leaves")
    return f"{size} by {_name(table, row)}, {value} % {_title(frontier.value)}"


def _reason(frontier: Frontier, row: int, best: int, rule: str, known: BoolArray) -> str:
    table = frontier.table
    values, leaves = table[frontier.value].to_numpy(dtype=float), table["leaves"].to_numpy()
    said = [_tree(frontier, row)]
    if values[row] > values[best]:
        said.append(
            f"{rule}, {_digits(values[best])} % ({_name(table, best)}, {format_count(leaves[best], 'leaf', 'leaves')})"
        )
        better = np.flatnonzero(known & (values < values[row]) & (leaves > leaves[row]))
        following = int(better[np.lexsort((values[better], leaves[better]))[0]])
        if following != best:
            said.append(f"the next better tree needs {leaves[following]} ({_digits(values[following])} %)")
    else:
        said.append("no tree that was tried is better")
    unknown = int(((values < values[best]) & (table["cells"] < table["cells"].max())).sum())
    if unknown:
        said.append(f"of lower penalty, but choosing methods that the results do not have: {unknown}")
    return "; ".join(said)


def _title(value: str) -> str:
    place, _, criterion = value.rpartition("_")
    return f"{'held-out' if place == 'held_out' else 'in-sample'} {_NAMES[criterion]} penalty"


def _name(table: pd.DataFrame, row: int) -> str:
    name = str(table["family"].iloc[row])
    return FAMILIES[name].title if name in FAMILIES else name


def _digits(value: float) -> str:
    """Two significant digits, never more than two decimals."""
    if value >= 10 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"
