"""Parameters of a network from measured collectives, by robust least squares (dissertation, 4.4.1).

The logarithms of measured and predicted times are compared, so that a relative deviation counts as much for a short
time as for a long one, and the loss grows only linearly beyond some percent, since every model is wrong somewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd

from dashboard.decisions.grown.family import Progress
from dashboard.domain.arrays import BoolArray, FloatArray
from dashboard.domain.models import MODEL_NAMES, ModelName, parameter_symbol
from dashboard.domain.units import format_bytes
from dashboard.models.errors import ModelError
from dashboard.models.observations import Observations
from dashboard.models.p2p import CLASSES, PLogP, PointToPointModel
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import as_written

#: Relative residual from which on the loss grows linearly only.
SCALE = 0.1
KNOTS = 12
LEAST = 1e-15
EVALUATIONS = 200
_STEP = 1e-6
_NULL = 1e-5
_GAP_AT = "gap at "
#: Gaps of whole messages are sought up to this, s.
LONGEST_GAP = 3600.0
_HALVES = "o_s and o_r are half of the gap each: assumed, for no overheads were given"
_AS_GIVEN = "o_s and o_r as given, at most the gap; only L and g are fitted (4.4.1)"
#: Of two gaps that differ by less neither is determined by itself.
_SAME = 1e-3


def gap_at(size: float) -> str:
    """Name of PLogP's gap at a size, bytes, as `Fit.intervals` has it."""
    return f"{_GAP_AT}{size:.12g} B"


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted parameters."""

    #: Of the network.
    parameters: PointToPointModel
    #: For each fitted number its confidence interval, low and high, SI units; (0, inf) where these measurements do not
    #: determine it by itself. They count the scatter of independent residuals: a model that is wrong in a systematic
    #: way is not told by them, but by the residuals.
    intervals: Mapping[str, tuple[float, float]]
    #: Of the intervals.
    level: float
    #: One row for each cell: ``collective, method, comm_size, message_size, measured, predicted`` (s) and ``residual``,
    #: predicted / measured - 1.
    residuals: pd.DataFrame
    #: What was assumed and what could not be determined, for people.
    notes: tuple[str, ...] = ()
    #: Measurements, for provenance.
    sources: tuple[str, ...] = ()

    @property
    def median_error(self) -> float:
        """Median of the absolute relative residuals, percent."""
        return float(100 * self.residuals["residual"].abs().median())

    def value(self, name: str) -> float:
        """A fitted number by its name in `intervals`, SI units; also ``gap at 1024 B``."""
        known = self.parameters.to_dict()
        if name in known:
            return float(known[name])
        size = float(name.removeprefix(_GAP_AT).removesuffix(" B"))
        return float(known["gap"][known["sizes"].index(size)])

    def provenance(self) -> dict[str, Any]:
        """What a parameter file remembers."""
        return {
            "how": f"robust least squares to {len(self.residuals)} measured times",
            "sources": list(self.sources),
            "methods": list(dict.fromkeys(self.residuals["method"])),
            "assumed": list(self.notes),
            "level": self.level,
            "intervals": {
                name: [low, high if np.isfinite(high) else None] for name, (low, high) in self.intervals.items()
            },
            "median_error_percent": self.median_error,
        }


@dataclass(frozen=True, eq=False)
class _Unknowns:
    """The numbers to find, as logarithms, and the network that they make.

    Those of `rising` never fall from one to the next: they are sought as sums of steps, each above 0.
    """

    names: tuple[str, ...]
    start: FloatArray
    highest: FloatArray
    build: Callable[[FloatArray], PointToPointModel]
    notes: tuple[str, ...]
    rising: slice

    def steps(self, logs: FloatArray) -> FloatArray:
        """What is sought in place of the logarithms: of what rises those of its steps."""
        sought = logs.copy()
        numbers = np.exp(logs[self.rising])
        sought[self.rising] = np.log(np.maximum(np.diff(numbers, prepend=0.0), 1e-3 * numbers))
        return sought

    def level(self, logs: FloatArray) -> BoolArray:
        """Which numbers of what rises do not rise: held up by the one before, or down by the one behind."""
        same = np.diff(logs[self.rising]) < _SAME
        level = np.zeros(logs.size, dtype=np.bool_)
        level[self.rising] = np.append(same, False) | np.append(False, same) if same.size else False
        return level

    def logs(self, steps: FloatArray) -> FloatArray:
        """The logarithms, of what was sought."""
        logs = steps.copy()
        logs[self.rising] = np.logaddexp.accumulate(steps[self.rising])
        return logs


def fit(
    observed: Observations,
    model: ModelName | str,
    *,
    start: PointToPointModel | None = None,
    gamma: float | None = None,
    scale: float = SCALE,
    level: float = 0.95,
    knots: int = KNOTS,
    progress: Progress | None = None,
) -> Fit:
    """Fit the parameters of one model.

    Parameters
    ----------
    observed
        Measured times (`dashboard.models.observations.observe`).
    start
        Parameters of that model to begin with. PLogP takes its overheads from there and keeps them, as 4.4.1 does;
        without, half of the gap is assumed for each. What is not fitted (the time to copy a byte,
        and gamma where nothing computes) stays as it is there, else it is 0.
    gamma
        Time to compute a byte, s/B; None fits it where the collectives compute.
    scale
        Relative residual from which on the loss grows linearly, above 0.
    level
        Of the confidence intervals, above 0 and below 1.
    knots
        Most sizes at which PLogP's gap is fitted, 2 or more.
    progress
        Called now and then; may raise `dashboard.decisions.grown.family.Cancelled`.

    Raises
    ------
    ModelError
        When there are fewer times than parameters, one message size only under a model that has a time per byte, or
        an option is outside its range.
    """
    _check(model, start, scale, level, knots)
    unknowns = _unknowns(observed, model, start, gamma, knots)
    residuals = _residuals(observed, unknowns, model, progress)
    solution = _solve(residuals, unknowns, scale)
    # As they are written in addresses and commands, which would else predict something else.
    parameters = as_written(unknowns.build(np.exp(solution)))
    intervals = _intervals(residuals, solution, unknowns, scale, level)
    notes = (*unknowns.notes, *_remarks(intervals, observed))
    return Fit(parameters, intervals, level, residual_table(observed, parameters), notes, observed.sources)


def _check(model: str, start: PointToPointModel | None, scale: float, level: float, knots: int) -> None:
    if model not in CLASSES:
        raise ModelError(f"there is no model {model!r}; expected one of {', '.join(CLASSES)}")
    if not scale > 0 or not 0 < level < 1 or knots < 2:
        raise ModelError(
            f"scale is {scale:g}, level {level:g}, knots {knots}; expected above 0, between 0 and 1, and 2 or more"
        )
    if start is not None and start.name != model:
        raise ModelError(f"the fit of {model} cannot start from parameters of {start.name}")


def _residuals(
    observed: Observations, unknowns: _Unknowns, model: str, progress: Progress | None
) -> Callable[[FloatArray], FloatArray]:
    """What is made small: logarithms of predicted less those of measured times."""
    logs = np.log(observed.time)
    if logs.size <= unknowns.start.size:
        raise ModelError(
            f"{logs.size} measured times cannot determine {unknowns.start.size} parameters "
            f"({', '.join(map(parameter_symbol, unknowns.names))}); more sizes are needed"
        )
    calls = 0

    def residuals(values: FloatArray) -> FloatArray:
        nonlocal calls
        calls += 1
        if progress is not None:
            progress(min(calls / (EVALUATIONS * (values.size + 1)), 1.0), f"fitting {model}")
        # LogGP leaves one byte out, (m - 1) G, which is more than parts of less than a byte have.
        times = np.maximum(observed.predict(unknowns.build(np.exp(values))), LEAST)
        return np.asarray(np.log(times) - logs)

    return residuals


def _remarks(intervals: Mapping[str, tuple[float, float]], observed: Observations) -> list[str]:
    loose = [parameter_symbol(name) for name, (_, high) in intervals.items() if not np.isfinite(high)]
    remarks = (
        [f"not determined by these measurements, or only together with others: {', '.join(loose)}"] if loose else []
    )
    return remarks + ([f"no model covers {', '.join(observed.missing)}"] if observed.missing else [])


def fit_all(
    observed: Observations,
    models: tuple[ModelName, ...] = MODEL_NAMES,
    *,
    start: ParameterSet | None = None,
    name: str = "fitted",
    progress: Progress | None = None,
    **options: Any,
) -> tuple[ParameterSet, dict[ModelName, Fit]]:
    """Fit several models to the same measurements; options as for `fit`.

    Returns
    -------
    tuple of ParameterSet and dict
        The parameters with their provenance, and the fit of each model.
    """
    fits = {}
    for each in models:
        begin = start.of(each) if start is not None and each in start.models else None
        fits[each] = fit(observed, each, start=begin, progress=progress, **options)
    provenance = {model: fitted.provenance() for model, fitted in fits.items()}
    how: dict[str, Any] = {"how": "fitted to measured collectives", "sources": list(observed.sources)}
    how |= {"note": "fitted by the formulas as published"} if observed.variant == "as_published" else {}
    how["fits"] = provenance
    return ParameterSet(name, {model: fitted.parameters for model, fitted in fits.items()}, how), fits


def residual_table(observed: Observations, parameters: PointToPointModel) -> pd.DataFrame:
    """What a network predicts beside what was measured; columns as `Fit.residuals`."""
    kept = observed.cells.drop(columns=["algorithm", "segment_size"])
    predicted = observed.predict(parameters)
    return kept.assign(predicted=predicted, residual=predicted / observed.time - 1)


def _unknowns(
    observed: Observations, model: str, start: PointToPointModel | None, gamma: float | None, knots: int
) -> _Unknowns:
    sizes = observed.cells["message_size"].unique()
    if (observed.cells["collective"] == "barrier").all():
        raise ModelError("barriers send no bytes, so they show no time per byte; add another collective")
    if sizes.size < 2:
        raise ModelError(f"all times are of messages of {format_bytes(sizes[0])}; two or more message sizes are needed")
    given = {} if start is None else start.to_dict()
    fixed = {"gamma": given.get("gamma", 0.0) if gamma is None else gamma, "delta": given.get("delta", 0.0)}
    alpha, beta = _rough(observed)
    rough = {"alpha": alpha, "beta": beta}
    if model == "loggp":
        rough = {"latency": 0.6 * alpha, "overhead": 0.2 * alpha, "gap": 0.2 * alpha, "gap_per_byte": beta}
    at = _knots(observed, knots) if model == "plogp" else np.empty(0)
    plogp = start if isinstance(start, PLogP) else None
    if model == "plogp":
        gaps = 0.3 * alpha + beta * at if plogp is None else plogp.gap_at(at)
        rough = {"latency": 0.7 * alpha, **dict(zip(map(gap_at, at), gaps.tolist(), strict=True))}
    first = {name: given.get(name) or value for name, value in rough.items()}
    if gamma is None and observed.computing:
        first["gamma"] = given.get("gamma") or beta / 10
    made = CLASSES[cast("ModelName", model)]
    ranges = made.ranges()
    highest = [ranges[name].high if name in ranges else LONGEST_GAP for name in first]
    # A longer message never takes less of a gap (Kielmann, Bal, Verstoep: LNCS 1800, 2000).
    rising = slice(1, at.size + 1)

    def build(values: FloatArray) -> PointToPointModel:
        known = dict(zip(first, values.tolist(), strict=True))
        single: dict[str, Any] = fixed | {name: value for name, value in known.items() if name in ranges}
        return made(**single, **(_gaps_at(at, values[rising], plogp) if at.size else {}))

    notes = () if not at.size else (_HALVES if plogp is None else _AS_GIVEN,)
    return _Unknowns(tuple(first), np.log(list(first.values())), np.log(highest), build, notes, rising)


def _gaps_at(at: FloatArray, gap: FloatArray, start: PLogP | None) -> dict[str, Any]:
    """What PLogP has at sizes: the gaps, and overheads as given, at most the gap, or else half of it."""
    halves = [gap / 2] * 2
    given = halves if start is None else [start.send_overhead_at(at), start.receive_overhead_at(at)]
    send, receive = (np.minimum(each, gap) for each in given)
    return {"sizes": tuple(at), "gap": tuple(gap), "send_overhead": tuple(send), "receive_overhead": tuple(receive)}


def _knots(observed: Observations, most: int) -> FloatArray:
    """Sizes of messages that are really sent, about evenly on a logarithmic scale."""
    sent = np.unique(np.round(observed.pieces()))
    if sent.size < 2:
        raise ModelError(f"all messages sent are of {format_bytes(sent[0])}; PLogP's gap needs two or more sizes")
    wanted = np.linspace(np.log1p(sent[0]), np.log1p(sent[-1]), most)
    return np.asarray(sent[np.unique(np.abs(np.log1p(sent)[None] - wanted[:, None]).argmin(axis=1))])


def _rough(observed: Observations) -> tuple[float, float]:
    """A latency and a time per byte of the right order to begin with."""
    time, size = observed.time, observed.cells["message_size"].to_numpy(float)
    large = size >= size.max() / 2
    return float(time.min()), max(float((time[large] / size[large]).min()), LEAST * 10)


def _solve(residuals: Callable[[FloatArray], FloatArray], unknowns: _Unknowns, scale: float) -> FloatArray:
    from scipy.optimize import least_squares  # noqa: PLC0415 - takes most of a second to import

    low = np.full(unknowns.start.size, np.log(LEAST))
    start = np.clip(unknowns.steps(unknowns.start), low + 1e-3, unknowns.highest - 1e-3)
    solution = least_squares(
        lambda steps: residuals(unknowns.logs(steps)),
        start,
        bounds=(low, unknowns.highest),
        loss="soft_l1",
        f_scale=scale,
        max_nfev=EVALUATIONS,
    )
    return unknowns.logs(np.asarray(solution.x))


def _intervals(
    residuals: Callable[[FloatArray], FloatArray], solution: FloatArray, unknowns: _Unknowns, scale: float, level: float
) -> dict[str, tuple[float, float]]:
    """Confidence intervals of an M-estimate (Huber): of the logarithms, so that the numbers stay above 0."""
    from scipy.special import stdtrit  # noqa: PLC0415 - as above

    at = residuals(solution)
    slopes = np.stack([(residuals(solution + step) - at) / _STEP for step in _STEP * np.eye(solution.size)], axis=1)
    bent = 1 + (at / scale) ** 2
    free = at.size - solution.size
    spread = float((at**2 / bent).sum() / free) / float((bent**-1.5).mean()) ** 2
    _, singular, rows = np.linalg.svd(slopes, full_matrices=False)
    known = singular > _NULL * singular.max(initial=0.0)
    variance = spread * ((rows[known] / singular[known, None]) ** 2).sum(axis=0)
    loose = (rows[~known] ** 2).sum(axis=0) > _NULL
    half = float(stdtrit(free, (1 + level) / 2)) * np.sqrt(variance)
    # Beyond a factor of a million, or at the rim of what is allowed, nothing is known of it.
    loose |= (half > np.log(1e6)) | (solution < np.log(LEAST) + 1e-6) | unknowns.level(solution)
    low, high = np.exp(solution - np.minimum(half, 700)), np.exp(np.minimum(solution + half, 700))
    return {
        name: (0.0, float("inf")) if loose[number] else (float(low[number]), float(high[number]))
        for number, name in enumerate(unknowns.names)
    }
