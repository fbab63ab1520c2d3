"""Measured times that models can explain: what parameters are fitted to."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.map import DIMS, methods_of, select_ppn
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import format_bytes
from dashboard.models.aliases import model_for
from dashboard.models.collectives.model import CollectiveModel, Variant
from dashboard.models.errors import ModelError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import model_of, models_of
from loaders.collectives import REDUCING


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured times of some methods."""

    #: A row for each time: ``collective, algorithm`` as the models call them, ``method`` (its label), ``comm_size,
    #: message_size`` and ``segment_size`` (processes; bytes, 0 = not segmented), ``measured`` (s).
    cells: pd.DataFrame
    #: Labels of the methods that no model covers.
    missing: tuple[str, ...] = ()
    #: For provenance.
    sources: tuple[str, ...] = ()
    #: Formulas that they are explained by.
    variant: Variant = "corrected"

    @property
    def time(self) -> FloatArray:
        """All times, s."""
        return self.cells["measured"].to_numpy(float)

    @property
    def computing(self) -> bool:
        """Whether some collective computes, so that gamma shows."""
        return bool(self.cells["collective"].isin(REDUCING).any())

    def predict(self, parameters: PointToPointModel) -> FloatArray:
        """As `time`, but predicted."""
        return self._of_models(lambda model, *sizes: model.predict(parameters, *sizes, variant=self.variant))

    def pieces(self) -> FloatArray:
        """Bytes of each message that is sent: the segment, or the whole."""
        return self._of_models(lambda model, *sizes: model.segments(*sizes)[0])

    def _of_models(self, work: Callable[..., FloatArray]) -> FloatArray:
        """What models say of their rows: they are given communicator, message and segment sizes."""
        values = np.empty(len(self.cells))
        for model, rows, sizes in self._by_model:
            values[rows] = work(model, *sizes)
        return values

    @cached_property
    def _by_model(self) -> list[tuple[CollectiveModel, IntArray, FloatArray]]:
        """Each model with its rows and their sizes: a fit predicts them some hundred times, those of one at once."""
        sizes = self.cells[["comm_size", "message_size", "segment_size"]].to_numpy(float).T
        rows: Any = self.cells.groupby(["collective", "algorithm"]).indices
        return [(model_of(*names), places, sizes[:, places]) for names, places in rows.items()]


def observe(
    cubes: xr.Dataset | Iterable[xr.Dataset], methods: Sequence[str] | None = None, *, ppn: int | None = None
) -> Observations:
    """Take from measurements what models cover.

    Parameters
    ----------
    cubes
        Results of one or several collectives of one system.
    methods
        Labels of methods; None takes all that a model covers.
    ppn
        As for `dashboard.decisions.select_ppn`.

    Raises
    ------
    ModelError
        When nothing is left, a label is unknown or has no model, or a time is not above 0.
    """
    cells, missing, seen, sources = [], [], [], []
    several = [cubes] if isinstance(cubes, xr.Dataset) else list(cubes)
    for cube in several:
        flat, _ = select_ppn(cube, ppn)
        collective = str(flat.attrs.get("collective"))
        models_of(collective)
        time = np.asarray(flat["time"].transpose(*DIMS).values, dtype=float)
        for number, method in enumerate(methods_of(flat)):
            seen.append(method.label)
            model = model_for(collective, method)
            if methods is not None and method.label not in methods:
                continue
            if model is None:
                missing.append(f"{collective} {method.label}" if len(several) > 1 else method.label)
            else:
                cells.append(_cells(method, model, flat, time[number]))
        sources.append(f"{collective}: digest {cube.attrs.get('digest', 'unknown')}")
    wrong = [label for label in methods or () if label not in seen]
    if wrong:
        raise ModelError(f"there is no method {wrong[0]!r}; these results hold {', '.join(dict.fromkeys(seen))}")
    if not any(map(len, cells)):
        raise ModelError(f"no model covers what is measured ({', '.join(missing) or 'nothing'})")
    return Observations(pd.concat(cells, ignore_index=True), tuple(missing), tuple(sources))


def _cells(method: Method, model: CollectiveModel, cube: xr.Dataset, time: FloatArray) -> pd.DataFrame:
    count, size = cube["comm_size"].values, cube["message_size"].values
    rows, columns = np.nonzero(~np.isnan(time) & (model.applies(count) & (count > 1))[:, None])
    times = time[rows, columns]
    wrong = ~((times > 0) & np.isfinite(times))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ModelError(
            f"the time of {method.label} at {count[rows[place]]:,} processes, {format_bytes(size[columns[place]])} is "
            f"{times[place]:g} s; expected more than 0 s and finite"
        )
    names = {"collective": model.collective, "algorithm": model.algorithm, "method": method.label}
    sizes = {"comm_size": count[rows], "message_size": size[columns], "segment_size": method.segment_size}
    return pd.DataFrame({**names, **sizes, "measured": times})
