"""Measured times that models can explain: what parameters are fitted to."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from dashboard.decisions.measured.map import DIMS, methods_of, select_ppn
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.models.aliases import model_for
from dashboard.models.collectives.model import CollectiveModel, Variant
from dashboard.models.errors import ModelError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import models_of
from loaders.collectives import REDUCING


@dataclass(frozen=True, eq=False)
class Line:
    """What was measured of one method.

    Attributes
    ----------
    label
        Of the method.
    model
        Its model.
    comm_size, message_size, time
        One entry for each measured cell: processes, bytes, s.
    segment_size
        Bytes, 0 = not segmented.
    """

    label: str
    model: CollectiveModel
    comm_size: FloatArray
    message_size: FloatArray
    time: FloatArray
    segment_size: int = 0

    def predict(self, parameters: PointToPointModel, variant: Variant = "corrected") -> FloatArray:
        """What the model says of each cell, s."""
        sizes = self.comm_size, self.message_size, self.segment_size
        return self.model.predict(parameters, *sizes, variant=variant)

    def pieces(self) -> FloatArray:
        """Bytes of each message that is sent: the segment, or the whole."""
        return np.asarray(self.model.segments(self.comm_size, self.message_size, self.segment_size)[0])


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured times of some methods.

    Attributes
    ----------
    lines
        One for each method.
    missing
        Labels of the methods that no model covers.
    sources
        For provenance.
    variant
        Formulas that they are explained by.
    """

    lines: tuple[Line, ...]
    missing: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    variant: Variant = "corrected"

    @property
    def time(self) -> FloatArray:
        """All times, line by line, s."""
        return np.concatenate([line.time for line in self.lines])

    @property
    def computing(self) -> bool:
        """Whether some collective computes, so that gamma shows."""
        return any(line.model.collective in REDUCING for line in self.lines)

    def predict(self, parameters: PointToPointModel) -> FloatArray:
        """As `time`, but predicted."""
        times = np.empty(sum(line.time.size for line in self.lines))
        for model, places, sizes in self._by_model:
            times[places] = model.predict(parameters, *sizes, variant=self.variant)
        return times

    @cached_property
    def _by_model(self) -> list[tuple[CollectiveModel, IntArray, tuple[FloatArray, ...]]]:
        """Each model with the places of its times, and their communicator, message and segment sizes.

        A fit predicts them some hundred times: the lines of one model, which differ in segments, are predicted at once.
        """
        alike = defaultdict(list)
        ends = np.cumsum([line.time.size for line in self.lines])
        for line, end in zip(self.lines, ends.tolist(), strict=True):
            alike[line.model.collective, line.model.algorithm].append((line, np.arange(end - line.time.size, end)))
        return [
            (
                each[0][0].model,
                np.concatenate([places for _, places in each]),
                (
                    np.concatenate([line.comm_size for line, _ in each]),
                    np.concatenate([line.message_size for line, _ in each]),
                    np.repeat([float(line.segment_size) for line, _ in each], [line.time.size for line, _ in each]),
                ),
            )
            for each in alike.values()
        ]


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
    lines, missing, seen, sources = [], [], [], []
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
            elif (line := _line(method.label, model, flat, time[number], method.segment_size)) is not None:
                lines.append(line)
        sources.append(f"{collective}: digest {cube.attrs.get('digest', 'unknown')}")
    wrong = [label for label in methods or () if label not in seen]
    if wrong:
        raise ModelError(f"there is no method {wrong[0]!r}; these results hold {', '.join(dict.fromkeys(seen))}")
    if not lines:
        raise ModelError(f"no model covers what is measured ({', '.join(missing) or 'nothing'})")
    return Observations(tuple(lines), tuple(missing), tuple(sources))


def _line(label: str, model: CollectiveModel, cube: xr.Dataset, time: FloatArray, segment: int) -> Line | None:
    count, size = cube["comm_size"].values.astype(float), cube["message_size"].values.astype(float)
    rows, columns = np.nonzero(~np.isnan(time) & (model.applies(count) & (count > 1))[:, None])
    if not rows.size:
        return None
    times = time[rows, columns]
    wrong = ~((times > 0) & np.isfinite(times))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ModelError(
            f"the time of {label} at {count[rows[place]]:g} processes, {size[columns[place]]:g} B is {times[place]:g} "
            "s; expected more than 0 s and finite"
        )
    return Line(label, model, count[rows], size[columns], times, segment)
