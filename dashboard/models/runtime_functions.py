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


def of_p(form: Form | str, comm_size: npt.ArrayLike) -> FloatArray:
    """What the time per byte grows with."""
    count = np.asarray(comm_size, dtype=float)
    if form == "linear":
        return count
    if form == "logarithmic":
        return np.asarray(np.log2(count))
    if form == "floor_logarithmic":
        return np.asarray(np.floor(np.log2(np.maximum(count - 1, 1))))
    raise ModelError(f"there is no form {form!r}; expected one of {', '.join(FORMS)}")


@dataclass(frozen=True, eq=False)
class _Data:
    comm: FloatArray
    size: FloatArray
    time: FloatArray

    def between(self, low: float, high: float) -> _Data:
        kept = (self.comm >= low) & (self.comm <= high)
        return _Data(self.comm[kept], self.size[kept], self.time[kept])


def fit_ranges(
    comm_size: npt.ArrayLike, message_size: npt.ArrayLike, time: npt.ArrayLike
) -> tuple[RuntimeFunction, ...]:
    """Find the form, and one change of it between communicator sizes if that pays.

    Of all forms with and without startup, for all processes or cut in two ranges, the one of the least Bayesian
    information criterion is taken.

    Returns
    -------
    tuple of RuntimeFunction
        One or two, by processes.
    """
    data = _checked(comm_size, message_size, time)
    best: tuple[float, tuple[RuntimeFunction, ...]] | None = None
    for pieces in _cuts(data):
        fitted = [_best(piece) for piece in pieces]
        count = sum(coefficients for _, _, coefficients in fitted) + len(fitted) - 1
        squares = sum(loss for _, loss, _ in fitted)
        score = data.time.size * float(np.log(max(squares / data.time.size, 1e-30)))
        score += count * float(np.log(data.time.size))
        if best is None or score < best[0]:
            best = score, tuple(function for function, _, _ in fitted)
    assert best is not None  # noqa: S101 - the uncut range is always there
    return best[1]


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


def _checked(comm_size: npt.ArrayLike, message_size: npt.ArrayLike, time: npt.ArrayLike) -> _Data:
    arrays = (np.asarray(each, dtype=float).ravel() for each in (comm_size, message_size, time))
    data = _Data(*arrays)
    if not data.comm.size == data.size.size == data.time.size:
        raise ModelError("there must be as many communicator sizes and message sizes as times")
    for name, values, low in (("communicator size", data.comm, 2), ("message size", data.size, 1)):
        if not (values >= low).all():
            raise ModelError(f"{name} is {values[~(values >= low)][0]:g}; expected {low} or more")
    wrong = ~((data.time > 0) & np.isfinite(data.time))
    if wrong.any():
        raise ModelError(f"a time is {data.time[wrong][0]:g} s; expected more than 0 s and finite")
    if np.unique(data.comm).size < 2 or np.unique(data.size).size < 2 or data.time.size < 4:
        raise ModelError(
            f"{data.time.size} times of {np.unique(data.comm).size} communicator sizes and "
            f"{np.unique(data.size).size} message sizes are too few for a runtime function; expected 4 or more, of two "
            "or more each"
        )
    return data


def _cuts(data: _Data) -> Iterator[tuple[_Data, ...]]:
    """The whole, and the whole cut in two between any two communicator sizes, two of them or more on each side."""
    yield (data,)
    sizes = np.unique(data.comm)
    for place in range(2, sizes.size - 1):
        parts = data.between(sizes[0], sizes[place - 1]), data.between(sizes[place], sizes[-1])
        if all(part.time.size >= 6 and np.unique(part.size).size > 1 for part in parts):
            yield parts


def _best(data: _Data) -> tuple[RuntimeFunction, float, int]:
    """Best form of one range with its loss and its number of coefficients."""
    candidates: list[tuple[float, RuntimeFunction, float, int]] = []
    for form in FORMS:
        if np.ptp(of_p(form, data.comm)) == 0:
            continue
        for startup in (False, True):
            function, loss = _fitted(data, form, startup)
            count = 3 if startup else 2
            score = data.time.size * np.log(max(loss / data.time.size, 1e-30)) + count * np.log(data.time.size)
            candidates.append((float(score), function, loss, count))
    # Through two communicator sizes all forms go alike but for rounding: the first of them then.
    least = min(score for score, *_ in candidates)
    _, function, loss, count = next(each for each in candidates if each[0] <= least + _ROUNDING)
    return function, loss, count


def _fitted(data: _Data, form: Form | str, startup: bool) -> tuple[RuntimeFunction, float]:  # noqa: FBT001 - private
    from scipy.optimize import least_squares  # noqa: PLC0415 - takes most of a second to import
    from scipy.special import stdtrit  # noqa: PLC0415 - as above

    growth = of_p(form, data.comm)
    if np.ptp(growth) == 0:
        raise ModelError(f"{_TEXT[form]} is the same at all these communicator sizes; more of them are needed")
    columns = [*([np.ones(data.time.size)] if startup else []), data.size, data.size * growth]
    table = np.stack(columns, axis=1) / data.time[:, None]
    # Columns of one magnitude, for seconds and seconds per byte lie far apart.
    scale = np.linalg.norm(table, axis=0)
    even = table / scale
    begin = np.linalg.lstsq(even, np.ones(data.time.size), rcond=None)[0]
    solution = least_squares(
        lambda values: even @ values - 1, begin, jac=lambda _values: even, loss="soft_l1", f_scale=SCALE
    )
    values = solution.x / scale
    free = data.time.size - values.size
    variance = 2 * solution.cost / free * np.diag(np.linalg.pinv(solution.jac.T @ solution.jac))
    widths = stdtrit(free, (1 + LEVEL) / 2) * np.sqrt(variance) / scale
    names = (["startup"] if startup else []) + ["base", "growth"]
    intervals = {
        name: (float(value - width), float(value + width))
        for name, value, width in zip(names, values, widths, strict=True)
    }
    known = dict(zip(names, values.tolist(), strict=True))
    function = RuntimeFunction(
        next(each for each in FORMS if each == form),
        known.get("startup"),
        known["base"],
        known["growth"],
        intervals,
        (int(data.comm.min()), int(data.comm.max())),
        (int(data.size.min()), int(data.size.max())),
        float(100 * np.median(np.abs(table @ values - 1))),
        np.unique(data.comm).size,
    )
    return function, 2 * float(solution.cost)
