"""What a decision function gains over the library's own decision, and which of its rules lose.

Both are measured in one campaign, in turns. The improvement is that of Table 6.9 and Figures 6.22 and 6.23 of the
dissertation: 100·(t_default − t_tuned)/t_default, positive is better. Whether it is more than noise is told by Yuen's
test of the logarithms (`dashboard.decisions.measured.noise`), two-sided, corrected for the number of cells by Holm's
procedure. Where single repetitions are known, a time is what is tested: the mean of their logarithms without the
highest and the lowest fifth. Else it is the time of the results. A rule is judged by the mean of its cells, since one
rule of a file decides them all; where it loses at some cells only, `dashboard.decisions.function.cutting` cuts these
out of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import ATTRIBUTES, COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method, Rule
from dashboard.decisions.measured.doubles import is_double
from dashboard.decisions.measured.map import check_cube, select_ppn
from dashboard.decisions.measured.noise import holm, joint_freedom, log_times, two_sided_p
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.errors import DecisionError, OptionError
from loaders.facet_names import LAUNCHES, listed

Outcome = Literal["not measured", "no difference", "faster", "slower"]
OUTCOMES: tuple[Outcome, ...] = ("not measured", "no difference", "faster", "slower")
"""Of the tuned library against the default; by the numbers of `Improvement.cells`."""

DEFAULT, TUNED = "default", "tuned"
"""Methods of a campaign that measures both."""


@dataclass(frozen=True)
class Launches:
    """What launches differ by beyond what their repetitions show.

    Raises
    ------
    OptionError
        The deviation is outside its range.
    """

    #: Relative standard deviation in percent of one method's mean over all launches, 0 or more.
    deviation: float = 0.0
    #: Degrees of freedom by which it is known.
    freedom: float = np.inf
    #: How many launches there are.
    number: int = 1

    def __post_init__(self) -> None:
        if not (np.isfinite(self.deviation) and self.deviation >= 0):
            raise OptionError(f"launches differ by {self.deviation} percent, expected 0 or more")

    @classmethod
    def of(cls, cube: xr.Dataset) -> "Launches":
        """What those of a cube's campaign differ by, as its loader saw it; of several the mean variance."""
        name = cube.attrs.get("collective")
        mine = [each for each in listed(cube.attrs, LAUNCHES) if each["collective"] == name]
        if not mine:
            return ALIKE
        freedom = sum(each["freedom"] for each in mine)
        variance = sum(each["freedom"] * each["deviation"] ** 2 for each in mine) / freedom
        return cls(100 * variance**0.5, freedom, min(each["launches"] for each in mine))

    @property
    def single(self) -> "Launches":
        """What a single one differs by."""
        return Launches(self.deviation * self.number**0.5, self.freedom)


ALIKE = Launches()
"""Launches of which nothing is known, or that do not differ."""


@dataclass(frozen=True, eq=False)
class Improvement:
    """The tuned library against the default, cell by cell."""

    #: Which was measured.
    collective: str
    #: Dims ``comm_size``, ``message_size``: ``default`` and ``tuned`` (seconds), ``improvement``, ``low`` and ``high``
    #: (percent, the interval at 1 - `level`), ``p`` (two-sided, corrected), ``outcome`` (position in `OUTCOMES`),
    #: ``same`` (both sent the same messages) and, of the logarithm, ``gain`` and its variance ``error``, which is known
    #: with ``freedom`` (degrees of freedom).
    cells: xr.Dataset
    #: Of the tests.
    level: float
    #: Processes per node, if the results tell.
    ppn: int | None = None
    #: What they differ by, which is in the errors.
    launches: Launches = ALIKE

    def count(self, outcome: Outcome) -> int:
        """Number of cells of an outcome."""
        return int((self.cells["outcome"] == OUTCOMES.index(outcome)).sum())

    def table(self) -> pd.DataFrame:
        """Give minimum, maximum and mean of the improvement by communicator size, as Table 6.9, and of all cells.

        Returns
        -------
        DataFrame
            ``comm_size`` (0 = all), ``cells``, ``min``, ``max``, ``mean`` (percent), ``faster``, ``slower`` (cells
            beyond noise), ``same`` (cells with the same messages).
        """
        sizes = self.cells[COMM_SIZE].values.tolist()
        rows = [self._row(size, self.cells.sel({COMM_SIZE: [size]})) for size in sizes]
        return pd.DataFrame([*rows, self._row(0, self.cells)])

    def _row(self, size: int, part: xr.Dataset) -> dict[str, Any]:
        values = part["improvement"].values
        known = values[np.isfinite(values)]
        figures = [float(f(known)) if known.size else float("nan") for f in (np.min, np.max, np.mean)]
        outcomes = {name: int((part["outcome"] == OUTCOMES.index(name)).sum()) for name in ("faster", "slower")}
        named = dict(zip(("min", "max", "mean"), figures, strict=True))
        return {"comm_size": size, "cells": known.size, **named, **outcomes, "same": int(part["same"].sum())}

    def by_size(self) -> pd.DataFrame:
        """Give every measured cell as a row: sizes, both times, improvement with its interval, p and outcome."""
        names = ["default", "tuned", "improvement", "low", "high", "p", "outcome", "same"]
        frame = self.cells[names].to_dataframe().reset_index().dropna(subset=["improvement"])
        frame["outcome"] = [OUTCOMES[number] for number in frame["outcome"]]
        return frame[["comm_size", "message_size", *names]].reset_index(drop=True)


def improvement(
    cube: xr.Dataset,
    default: str = DEFAULT,
    tuned: str = TUNED,
    *,
    level: float = 0.05,
    ppn: int | None = None,
    between_launches: Launches | None = None,
) -> Improvement:
    """Compare two methods of results that were measured in turns.

    Parameters
    ----------
    cube
        Results of one collective.
    level
        Probability, above 0 and below 1, to call a difference one where there is none anywhere.
    ppn
        As for `dashboard.decisions.measured.map.select_ppn`.
    between_launches
        What they differ by; as the cube tells.

    Raises
    ------
    OptionError
        When `level` is outside its range.
    DecisionError
        When a method was not measured.
    """
    if not 0 < level < 1:
        raise OptionError(f"level is {level}, expected a number above 0 and below 1")
    flat, chosen = select_ppn(check_cube(cube), ppn)
    labels = [str(label) for label in flat["method"].values]
    if lost := [name for name in (default, tuned) if name not in labels]:
        raise DecisionError(f"{lost[0]!r} was not measured; the results hold {', '.join(labels)}")
    pair = flat.isel(method=[labels.index(default), labels.index(tuned)])
    logs = log_times(pair)
    before, after = np.exp(logs["centre"].transpose("method", COMM_SIZE, MESSAGE_SIZE).values)
    launches = Launches.of(cube) if between_launches is None else between_launches
    tested = _tested(logs, level, launches)
    values = {"default": before, "tuned": after, "improvement": 100 * (1 - np.exp(-tested["gain"])), **tested}
    outcome = np.where(values["gain"] > 0, OUTCOMES.index("faster"), OUTCOMES.index("slower"))
    outcome[~(tested["p"] <= level)] = OUTCOMES.index("no difference")
    outcome[~np.isfinite(values["improvement"])] = OUTCOMES.index("not measured")
    double = is_double(pair)
    doubles = np.zeros((2, *before.shape), dtype=np.bool_)
    if double is not None:
        doubles = np.asarray(double.transpose("method", COMM_SIZE, MESSAGE_SIZE).values, dtype=np.bool_)
    dims = (COMM_SIZE, MESSAGE_SIZE)
    cells = xr.Dataset(
        {
            name: (dims, np.asarray(table))
            for name, table in {**values, "outcome": outcome, "same": doubles.any(axis=0)}.items()
        },
        {name: flat[name].values for name in dims},
    )
    return Improvement(str(cube.attrs.get("collective", "")), cells, level, chosen, launches)


def _tested(logs: xr.Dataset, level: float, launches: Launches) -> dict[str, FloatArray]:
    """Gain as logarithm with its variance and interval, and the corrected p-value of there being none."""
    centre, error, freedom = (np.asarray(logs[name].values) for name in ("centre", "error", "freedom"))
    gain = centre[0] - centre[1]
    between = np.full_like(gain, 2 * (launches.deviation / 100) ** 2)
    variance = error.sum(axis=0) + between
    joint = joint_freedom([*error, between], [*freedom, launches.freedom])
    p = two_sided_p(gain, variance, joint)
    half = half_of(variance, joint, level)
    ends = {name: 100 * (1 - np.exp(-(gain + sign * half))) for name, sign in (("low", -1), ("high", 1))}
    return {"gain": gain, "error": variance, "freedom": joint, "p": holm(p.ravel()).reshape(p.shape), **ends}


@dataclass(frozen=True)
class Verdict:
    """One rule of a decision function, judged by the cells that it decides."""

    #: The leaf, as place in the tree.
    node: int
    #: Its label.
    method: str
    #: As of `dashboard.decisions.function.nodes.Rule`.
    bounds: Mapping[str, tuple[float, float]]
    #: Number of cells measured.
    cells: int
    #: Improvement in percent; NaN without cells. The mean is that of the ratios (their geometric one), which is what is
    #: tested: in the mean of percents one cell at −900 % would outweigh nine that take half the time.
    mean: float
    min: float
    max: float
    #: Cells that are slower beyond noise by themselves.
    slower: int
    #: That the mean gain is none, two-sided, corrected for the number of rules if asked; NaN where nobody can tell.
    p: float
    #: Of the rule as a whole.
    outcome: Outcome
    #: Whether the rule leaves the decision to the library.
    default: bool = False


def judge(measured: Improvement, decision: DecisionFunction, *, corrected: bool = True, **given: Any) -> list[Verdict]:
    """Judge each rule by the mean gain of its cells, so that one lucky cell decides nothing; ordered by their sizes.

    Parameters
    ----------
    measured
        The tuned library decides by this very function.
    decision
        Its leaves are the rules.
    corrected
        Whether p is corrected for the number of rules, so that it is seldom that any of them is called faster or slower
        by chance; else it is seldom of each of them.
    **given
        What the decision function needs beside the sizes; the processes per node of the results are known.

    Raises
    ------
    DecisionError
        When it needs something that is not known.
    """
    leaf = leaves_of(measured, decision, **given)
    rules = sorted(decision.rules_by_place().items(), key=lambda placed: _begin(placed[1]))
    p = np.array([_mean_p(measured, leaf == place) for place, _ in rules])
    return [
        _verdict(measured, place, decision.methods[rule.method], rule.bounds, leaf == place, value)
        for (place, rule), value in zip(rules, (holm(p) if corrected else p).tolist(), strict=True)
    ]


def leaves_of(measured: Improvement, decision: DecisionFunction, **given: Any) -> IntArray:
    """The leaf that decides each cell, as place in the tree, -1 where nothing was measured; arguments as of `judge`."""
    if measured.ppn is not None:
        given = {"ppn": measured.ppn, **given}
    comm, message = np.meshgrid(measured.cells[COMM_SIZE].values, measured.cells[MESSAGE_SIZE].values, indexing="ij")
    there = np.isfinite(measured.cells["improvement"].values)
    return np.where(there, decision.leaf_places(comm, message, **given), -1)


def _begin(rule: Rule) -> list[float]:
    """Where a rule begins, communicator sizes first: what rules are sorted by."""
    return [rule.bounds.get(name, (-np.inf, np.inf))[0] for name in ATTRIBUTES]


def _mean_p(measured: Improvement, part: BoolArray) -> float:
    gain, error, freedom = (measured.cells[name].values[part] for name in ("gain", "error", "freedom"))
    known = np.isfinite(gain) & np.isfinite(error)
    if not known.any():
        return float("nan")
    error, freedom = error[known], freedom[known]
    return float(two_sided_p(gain[known].sum(), error.sum(), _freedom_of_sum(error, freedom)))


def half_of_mean(cells: xr.Dataset, part: BoolArray) -> float:
    """Half of the confidence interval (95 %) of the mean gain of a part of `Improvement.cells`."""
    error, freedom = (np.nan_to_num(cells[name].values[part]) for name in ("error", "freedom"))
    return float(half_of(error.sum(), _freedom_of_sum(error, freedom)) / error.size)


def half_of(error: FloatArray, freedom: FloatArray, level: float = 0.05) -> FloatArray:
    """Half of the confidence interval at 1 - `level`, of a variance and its degrees of freedom."""
    from scipy.special import stdtrit  # noqa: PLC0415 - the first map must not wait for it

    return np.asarray(stdtrit(freedom, 1 - level / 2) * np.sqrt(error))


def _freedom_of_sum(error: FloatArray, freedom: FloatArray) -> FloatArray:
    """Degrees of freedom of the sum of cells' variances: launches are common to all, so it is as unsure as they are."""
    with np.errstate(invalid="ignore"):
        joint = (error.sum() / (error / np.sqrt(freedom)).sum()) ** 2
    return np.asarray(np.nan_to_num(joint, nan=np.inf))


def _verdict(
    measured: Improvement,
    node: int,
    method: Method,
    bounds: Mapping[str, tuple[float, float]],
    part: BoolArray,
    p: float,
) -> Verdict:
    values = measured.cells["improvement"].values[part]
    gains = measured.cells["gain"].values[part]
    least, most = (float(f(values)) if values.size else float("nan") for f in (np.min, np.max))
    mean = float(100 * (1 - np.exp(-gains.mean()))) if values.size else float("nan")
    outcome: Outcome = "not measured" if not values.size else "no difference"
    if p <= measured.level:
        outcome = "faster" if mean > 0 else "slower"
    slower = int((measured.cells["outcome"].values[part] == OUTCOMES.index("slower")).sum())
    alone = method.parameters.get("library_id") == 0 or method.algorithm == DEFAULT
    return Verdict(node, method.label, bounds, values.size, mean, least, most, slower, p, outcome, alone)
