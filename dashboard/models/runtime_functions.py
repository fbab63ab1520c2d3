"""Runtime functions: the time of a collective, linear or logarithmic in the number of processes.

They know nothing of algorithms: coefficients are fitted to measured times, for each range of communicator sizes, since
libraries change their algorithm there. Source: orthogonal-structures report, section 4, Tables 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.measured.map import DIMS, select_ppn
from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_count
from dashboard.models.errors import ModelError

Form = Literal["linear", "logarithmic", "floor_logarithmic"]
FORMS: tuple[Form, ...] = ("linear", "logarithmic", "floor_logarithmic")
SCALE = 0.1
LEVEL = 0.95
TELLING = 3
"""Communicator sizes without which all forms go through the measurements alike."""
_ROUNDING = 1e-6
_TEXT = {"linear": "p", "logarithmic": "log2(p)", "floor_logarithmic": "floor(log2(p - 1))"}


@dataclass(frozen=True)
class RuntimeFunction:
    """``t(p, b) = startup + (base + growth f(p)) b`` over a range of processes."""

    #: f: p, log2 p or ⌊log2(p - 1)⌋.
    form: Form
    #: τ1, s; None where the function has none.
    startup: float | None
    #: τ and t_c, s/B; either may be negative.
    base: float
    growth: float
    #: Confidence interval of each coefficient, of `LEVEL`.
    intervals: dict[str, tuple[float, float]]
    #: Least and greatest size that it was fitted to: processes, bytes.
    comm_range: tuple[int, int]
    message_range: tuple[int, int]
    #: Median absolute relative residual, percent.
    error: float
    #: Number of communicator sizes that it was fitted to; of fewer than `TELLING` the form is not known.
    comm_sizes: int = TELLING

    def predict(self, comm_size: npt.ArrayLike, message_size: npt.ArrayLike) -> FloatArray:
        """Seconds; sizes broadcast."""
        size = np.asarray(message_size, dtype=float)
        return np.asarray((self.startup or 0.0) + (self.base + self.growth * of_p(self.form, comm_size)) * size)

    def text(self) -> str:
        """For people: ``t = 1.2e-05 + (3.4e-08 + 5.6e-09 log2(p)) b``."""
        first = "" if self.startup is None else f"{self.startup:.4g} + "
        sign = "-" if self.growth < 0 else "+"
        return f"t = {first}({self.base:.4g} {sign} {abs(self.growth):.4g} {_TEXT[self.form]}) b"

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {"error_percent" if name == "error" else name: value for name, value in vars(self).items()}


def of_p(form: Form, comm_size: npt.ArrayLike) -> FloatArray:
    """What the time per byte grows with."""
    count = np.asarray(comm_size, dtype=float)
    if form == "linear":
        return count
    return np.asarray(np.log2(count) if form == "logarithmic" else np.floor(np.log2(np.maximum(count - 1, 1))))


def fit_ranges(comm_size: FloatArray, message_size: FloatArray, time: FloatArray) -> tuple[RuntimeFunction, ...]:
    """Find the form, and one change of it between communicator sizes if that pays.

    Of all forms with and without startup, for all processes or cut in two ranges, the one of the least Bayesian
    information criterion is taken.

    Parameters
    ----------
    comm_size, message_size, time
        Of each measured cell: 2 processes or more, 1 B or more, s.

    Returns
    -------
    tuple of RuntimeFunction
        One or two, by processes.

    Raises
    ------
    ModelError
        When there is too little to fit to, or a time is not above 0.
    """
    wrong = ~((time > 0) & np.isfinite(time))
    if wrong.any():
        raise ModelError(f"a time is {time[wrong][0]:g} s; expected more than 0 s and finite")
    rows, columns = np.unique(comm_size).size, np.unique(message_size).size
    if rows < 2 or columns < 2 or time.size < 4:
        raise ModelError(
            f"{format_count(time.size, 'time')} of {format_count(rows, 'communicator size')} and "
            f"{format_count(columns, 'message size')}: too few for a runtime function, which takes 4 or more, of two "
            "or more of each size"
        )
    ways = []
    for pieces in _cuts(np.stack([comm_size, message_size, time])):
        functions, losses, counts = zip(*map(_best, pieces), strict=True)
        ways.append((_criterion(time.size, sum(losses), sum(counts) + len(pieces) - 1), functions))
    return min(ways, key=lambda way: way[0])[1]


def runtime_functions(
    cube: xr.Dataset,
    methods: Sequence[str] | None = None,
    *,
    ppn: int | None = None,
    message_range: tuple[float, float] = (1, np.inf),
) -> tuple[dict[str, tuple[RuntimeFunction, ...]], dict[str, str]]:
    """Fit runtime functions to each method of a collective.

    Parameters
    ----------
    cube
        Results of one collective.
    methods
        Labels; None takes all.
    ppn
        As for `dashboard.decisions.select_ppn`.
    message_range
        Least and greatest message size that counts, bytes; the report has 10 to 500 KB.

    Returns
    -------
    tuple of dict
        By label the functions, and why methods have none, such as those of which too little was measured.

    Raises
    ------
    ModelError
        When a label is unknown, or too little was measured of all.
    """
    flat, _ = select_ppn(cube, ppn)
    labels = [str(label) for label in flat["method"].values]
    wrong = [label for label in methods or () if label not in labels]
    if wrong:
        raise ModelError(f"there is no method {wrong[0]!r}; these results hold {', '.join(labels)}")
    count, size = flat["comm_size"].values.astype(float), flat["message_size"].values.astype(float)
    inside = (count >= 2)[:, None] & ((size >= max(message_range[0], 1)) & (size <= message_range[1]))[None]
    time = np.asarray(flat["time"].transpose(*DIMS).values, dtype=float)
    functions: dict[str, tuple[RuntimeFunction, ...]] = {}
    left_out: dict[str, str] = {}
    for number, label in enumerate(labels):
        if methods is None or label in methods:
            rows, columns = np.nonzero(inside & ~np.isnan(time[number]))
            try:
                functions[label] = fit_ranges(count[rows], size[columns], time[number][rows, columns])
            except ModelError as error:
                left_out[label] = str(error)
    if not functions:
        raise ModelError(next(iter(left_out.values()), "there is no method to fit runtime functions to"))
    return functions, left_out


def _cuts(data: FloatArray) -> Iterator[tuple[FloatArray, ...]]:
    """The whole, and the whole cut in two between any two communicator sizes, two of them or more on each side."""
    yield (data,)
    for first in np.unique(data[0])[2:-1]:
        parts = data[:, data[0] < first], data[:, data[0] >= first]
        if all(part.shape[1] >= 6 and np.unique(part[1]).size > 1 for part in parts):
            yield parts


def _criterion(times: int, loss: float, coefficients: int) -> float:
    """The Bayesian information criterion."""
    return float(times * np.log(max(loss / times, 1e-30)) + coefficients * np.log(times))


def _best(data: FloatArray) -> tuple[RuntimeFunction, float, int]:
    """Best form of one range with its loss and its number of coefficients."""
    candidates: list[tuple[float, RuntimeFunction, float, int]] = []
    for form in FORMS:
        if np.ptp(of_p(form, data[0])) == 0:
            continue
        for startup in (False, True):
            function, loss = _fitted(data, form, startup)
            count = 3 if startup else 2
            candidates.append((_criterion(data.shape[1], loss, count), function, loss, count))
    # Through two communicator sizes all forms go alike but for rounding: the first of them then.
    least = min(score for score, *_ in candidates)
    return next(each[1:] for each in candidates if each[0] <= least + _ROUNDING)


def _fitted(data: FloatArray, form: Form, startup: bool) -> tuple[RuntimeFunction, float]:  # noqa: FBT001 - private
    from scipy.optimize import least_squares  # noqa: PLC0415 - takes most of a second to import
    from scipy.special import stdtrit  # noqa: PLC0415 - as above

    comm, size, time = data
    columns = [*([np.ones(time.size)] if startup else []), size, size * of_p(form, comm)]
    table = np.stack(columns, axis=1) / time[:, None]
    # Columns of one magnitude, for seconds and seconds per byte lie far apart.
    scale = np.linalg.norm(table, axis=0)
    even = table / scale
    begin = np.linalg.lstsq(even, np.ones(time.size), rcond=None)[0]
    solution = least_squares(
        lambda values: even @ values - 1, begin, jac=lambda _values: even, loss="soft_l1", f_scale=SCALE
    )
    values = solution.x / scale
    free = time.size - values.size
    variance = 2 * solution.cost / free * np.diag(np.linalg.pinv(solution.jac.T @ solution.jac))
    widths = stdtrit(free, (1 + LEVEL) / 2) * np.sqrt(variance) / scale
    names = (["startup"] if startup else []) + ["base", "growth"]
    intervals = {
        name: (float(value - width), float(value + width))
        for name, value, width in zip(names, values, widths, strict=True)
    }
    known = dict(zip(names, values.tolist(), strict=True))
    function = RuntimeFunction(
        form,
        known.get("startup"),
        known["base"],
        known["growth"],
        intervals,
        (int(comm.min()), int(comm.max())),
        (int(size.min()), int(size.max())),
        float(100 * np.median(np.abs(table @ values - 1))),
        np.unique(comm).size,
    )
    return function, 2 * float(solution.cost)
