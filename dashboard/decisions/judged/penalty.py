"""The performance penalty: what a decision costs against the best that was measured."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.measured.doubles import as_run
from dashboard.decisions.measured.map import decision_map, methods_of, select_ppn, time_blocks
from dashboard.decisions.surfaces.counted import Counted, Window
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray
from dashboard.domain.errors import DecisionError

#: Percent that no measurement tells: what rounding leaves.
_TRACE = 1e-6


class PenaltySummary(NamedTuple):
    """Penalties of all measured cells; percent, NaN when there are none."""

    #: Over the cells (with a weight above 0).
    min: float
    max: float
    #: Plain or weighted, as `penalty` was asked for.
    mean: float
    median: float
    #: Cells where something was measured, but not the chosen method; they count by `dashboard.domain.unmeasured.RULE`.
    unmeasured: int
    #: Cells that have a penalty: all where something was measured, but those whose chosen method these measurements do
    #: not have at all. A cell that was judged twice counts twice.
    cells: int
    #: What 95 % of the cells do not exceed, plain or weighted as the mean is.
    p95: float = math.nan

    def to_dict(self, *names: str) -> dict[str, Any]:
        """Some of it by name, as JSON takes it: None for what is not a number."""
        figures = self._asdict()
        return {name: figures[name] if math.isfinite(figures[name]) else None for name in names}

    @property
    def order(self) -> tuple[int, float]:
        """What the better of two decisions has less of: cells without a measured time, then the mean penalty."""
        return self.unmeasured, float(np.nan_to_num(self.mean, nan=np.inf))


def penalty(
    cube: xr.Dataset,
    decision: DecisionFunction,
    *,
    ppn: int | None = None,
    weights: Any = None,
) -> xr.Dataset:
    """Compare a decision with the best measured method in every cell.

    A method that ran as another one has that one's time. Where the chosen method was not measured and another was, it
    counts by `dashboard.domain.unmeasured.RULE`, so that all decisions are judged on the same cells.

    Parameters
    ----------
    cube
        The measurements, not necessarily those the decision was made from; its methods are matched
        with the decision's by label.
    decision
        The decision function.
    ppn
        As for `select_ppn`.
    weights
        How often each cell is used in a workload, ``(comm_size, message_size)``; 0 or more.

    Returns
    -------
    Dataset with dims ``comm_size``, ``message_size``
        ``penalty`` in percent, ``100 * (chosen_time - best_time) / best_time``, NaN where nothing was measured or the
        cube does not have the chosen method; ``chosen`` and ``best`` (indices into the cube's methods; -1 = none),
        ``chosen_time`` and ``best_time`` in seconds; ``unmeasured``, whether something but not the chosen was measured,
        and ``chosen_time`` is what it counts; ``weight`` if given. ``attrs["unmeasured"]`` is their number.

    Raises
    ------
    DecisionError
        When the weights have another shape, or the decision needs an attribute the cube lacks.
    """
    dmap = decision_map(cube, ppn=ppn)
    table = penalty_of(cube, chosen_methods(cube, decision, dmap), dmap)
    if weights is None:
        return table
    values = checked_weights(weights, table)
    if not values.any():
        raise DecisionError("weights must not all be 0")
    return table.assign(weight=(SIZES, values))


def penalty_of(
    cube: xr.Dataset, chosen: IntArray, dmap: xr.Dataset, known: Counted | Window | None = None
) -> xr.Dataset:
    """Compare what is chosen with the best measured method in every cell: as `penalty`, without weights.

    Parameters
    ----------
    chosen
        As `chosen_methods` gives it.
    dmap
        The decision map of this cube.
    known
        What methods count where they were not measured, if that is there already or known of more than this cube.
    """
    flat = select_ppn(cube, dmap.attrs.get("ppn"))[0]
    best, best_time = (np.asarray(dmap.variables[name].transpose(*SIZES).values) for name in ("best", "best_time"))
    chosen_time = _times_of(chosen, flat)
    unmeasured = np.isnan(chosen_time) & (best >= 0)
    assumed = unmeasured & (chosen >= 0)
    if assumed.any():
        methods, which = np.unique(chosen[assumed], return_inverse=True)
        chosen_time[assumed] = (known or Counted(flat)).times(methods)[which.ravel(), *np.nonzero(assumed)]
    tables: dict[str, Any] = {"penalty": 100.0 * (chosen_time - best_time) / best_time}
    tables |= {"chosen": chosen, "chosen_time": chosen_time, "best": best, "best_time": best_time}
    tables["unmeasured"] = unmeasured
    result = xr.Dataset(
        {name: (SIZES, values) for name, values in tables.items()},
        coords=dmap.coords,
        attrs={**dmap.attrs, "unmeasured": int(unmeasured.sum())},
    )
    result["penalty"].attrs["units"] = "%"
    result["chosen_time"].attrs["units"] = result["best_time"].attrs["units"] = "s"
    return result


def _times_of(chosen: IntArray, flat: xr.Dataset) -> FloatArray:
    """Measured time (seconds) of the chosen method of each cell; NaN where there is none."""
    times = np.full(chosen.shape, np.nan)
    for rows, time in time_blocks(as_run(flat)):
        picked = np.take_along_axis(time, np.maximum(chosen[rows], 0)[None], axis=0)[0]
        times[rows] = np.where(chosen[rows] >= 0, picked, np.nan)
    return times


def untied(tables: Sequence[xr.Dataset], tolerance: float, tests: Sequence[xr.Dataset] = ()) -> list[BoolArray]:
    """Where the chosen method does not tie with the best.

    Parameters
    ----------
    tables
        What `penalty` gave, one for each table.
    tolerance
        Percent of the best within which methods tie with it.
    tests
        For each table what cannot be told from the best (`dashboard.decisions.measured.noise.indistinguishable`), which
        ties with it, too; none: nothing was tested.

    Returns
    -------
    list of ndarray
        Shape ``(comm_size, message_size)``; so are cells without a penalty.
    """
    apart = [~(table["penalty"].values <= tolerance + _TRACE) for table in tables]
    if not tests:
        return apart
    chosen = [table["chosen"].values for table in tables]
    tied = [
        np.take_along_axis(test["tied"].values, np.maximum(places, 0)[None], axis=0)[0] & (places >= 0)
        for test, places in zip(tests, chosen, strict=True)
    ]
    return [cells & ~alike for cells, alike in zip(apart, tied, strict=True)]


def summarise(penalties: xr.Dataset) -> PenaltySummary:
    """Sum up what `penalty` gave, weighted if it was."""
    return summarise_all([penalties])


def summarise_all(tables: Sequence[xr.Dataset]) -> PenaltySummary:
    """Sum up what `penalty` gave for several tables, such as one for each number of processes per node."""
    unmeasured = sum(int(table.attrs["unmeasured"]) for table in tables)
    values = np.concatenate([table["penalty"].values.ravel() for table in tables])
    weight = np.concatenate([weights_of(table).ravel() for table in tables])
    there = ~np.isnan(values) & (weight > 0)
    values, weight = values[there], weight[there]
    if not values.size:
        return PenaltySummary(np.nan, np.nan, np.nan, np.nan, unmeasured, 0)
    mean = float(np.average(values, weights=weight))
    order = np.argsort(values, kind="stable")
    values, sums = values[order], np.cumsum(weight[order])
    # The median is the value that half of the weight is below; halfway between two when exactly half is.
    half = sums[-1] / 2
    lower, upper = np.searchsorted(sums, half), np.searchsorted(sums, half, side="right")
    median = float(values[lower] + values[min(int(upper), values.size - 1)]) / 2
    least, most, p95 = (float(values[place]) for place in (0, -1, np.searchsorted(sums / sums[-1], 0.95)))
    return PenaltySummary(least, most, mean, median, unmeasured, int(values.size), p95)


def weights_of(table: xr.Dataset) -> FloatArray:
    """How much each cell of what `penalty` gave counts."""
    return np.asarray(table["weight"].values if "weight" in table else np.ones(table["penalty"].shape))


def chosen_methods(cube: xr.Dataset, decision: DecisionFunction, dmap: xr.Dataset) -> IntArray:
    """What a decision takes in each cell ``(comm_size, message_size)``, as index into the cube's methods.

    It is -1 where the cube does not have the method; `dmap` is its decision map. Errors are those of `penalty`.
    """
    flat, chosen_ppn = select_ppn(cube, dmap.attrs.get("ppn"))
    places = {method.label: index for index, method in enumerate(methods_of(flat))}
    index = np.array([places.get(method.label, -1) for method in decision.methods], dtype=np.int64)
    given = given_of(flat, decision, chosen_ppn)
    return index[decision.predict(flat["comm_size"].values[:, None], flat["message_size"].values[None, :], **given)]


def given_of(cube: xr.Dataset, decision: DecisionFunction, ppn: int | None) -> dict[str, Any]:
    """What a decision over these results must be told beside the sizes."""
    given: dict[str, Any] = {} if ppn is None else {"ppn": ppn}
    if "collective" in decision.attributes:
        given["collective"] = str(cube.attrs.get("collective"))
    if "ppn" in decision.needs and ppn is None:
        raise DecisionError("this decision needs ppn, but these results do not say their processes per node")
    return given


def checked_weights(weights: Any, cube: xr.Dataset) -> FloatArray:
    """Lay weights out as the map of a cube without ``ppn``, one for all cells or ``(comm_size, message_size)``."""
    shape = (cube.sizes["comm_size"], cube.sizes["message_size"])
    if isinstance(weights, xr.DataArray):
        weights = weights.transpose(*SIZES)
        for name in SIZES:
            if name in weights.coords and not np.array_equal(weights[name].values, cube[name].values):
                raise DecisionError(f"weights are given for other values of {name} than the results have")
    values = np.asarray(weights, dtype=np.float64)
    values = np.full(shape, values) if values.ndim == 0 else values
    if values.shape != shape:
        raise DecisionError(f"weights have shape {values.shape}, expected {shape} (communicator × message sizes)")
    if not np.isfinite(values).all() or (values < 0).any():
        raise DecisionError("weights must be finite and 0 or more")
    return values
