"""What calls really take in a simulation: by formulas, by simulated schedules, or as measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import xarray as xr

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.map import methods_of
from dashboard.domain.algorithm_names import normal
from dashboard.domain.arrays import FloatArray, IntArray
from dashboard.domain.units import parse_size
from dashboard.models.errors import NotApplicableError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.programs import programs_of
from dashboard.models.simulator import simulate
from dashboard.online.errors import OnlineError
from dashboard.online.expressions import evaluate
from dashboard.online.selection import Calls


class Truth(Protocol):
    """Times of the methods of one collective."""

    @property
    def methods(self) -> tuple[Method, ...]:
        """In the order of their AlgIDs."""

    def times(self, calls: Calls) -> FloatArray:
        """``(call, method)`` seconds; NaN where there is no such method."""

    def default(self, calls: Calls, times: FloatArray) -> FloatArray:
        """``(call,)`` seconds of what the library decides by itself; NaN where that is not known.

        `times` are what the methods take, as `times` gives them or with a drift.
        """


@dataclass(frozen=True)
class Formulas:
    """Times by formulas over m, N, n, P = N·n and g = ⌈log₂ P⌉; the library's decision likewise is an AlgID."""

    formulas: Mapping[str, str]
    constants: Mapping[str, float]
    decided: str = "1"

    @property
    def methods(self) -> tuple[Method, ...]:
        """One for each formula."""
        return tuple(Method(name, name) for name in self.formulas)

    def times(self, calls: Calls) -> FloatArray:
        """See `Truth`."""
        values = self._values(calls)
        rows = [np.broadcast_to(evaluate(text, values), np.shape(values["m"])) for text in self.formulas.values()]
        times = np.stack(rows, axis=-1).astype(np.float64)
        if not (np.isfinite(times) & (times > 0)).all():
            raise OnlineError("a formula gives times that are not positive numbers")
        return times

    def default(self, calls: Calls, times: FloatArray) -> FloatArray:
        """See `Truth`."""
        alg = np.broadcast_to(evaluate(self.decided, self._values(calls)), np.shape(calls.message_size))
        if not ((alg >= 1) & (alg <= len(self.formulas))).all():
            raise OnlineError(f"the library's decision must be one of the methods 1 to {len(self.formulas)}")
        return np.asarray(times[np.arange(alg.size), alg.astype(int) - 1])

    def _values(self, calls: Calls) -> dict[str, Any]:
        size, nodes, ppn = (np.asarray(each, np.float64) for each in (calls.message_size, calls.nodes, calls.ppn))
        processes = nodes * ppn
        return {
            **self.constants,
            "m": size,
            "N": nodes,
            "n": ppn,
            "P": processes,
            "g": np.ceil(np.log2(np.maximum(processes, 1))),
        }


class Simulated:
    """Times of own schedules, message by message (`dashboard.models.simulator`); each kind of call is simulated once.

    Parameters
    ----------
    methods
        Names of algorithms of the models, with a segment size behind some: ``pipeline 8KiB``.
    """

    def __init__(self, collective: str, methods: Sequence[str], model: PointToPointModel) -> None:
        parts = [name.partition(" ") for name in methods]
        self.methods = tuple(
            Method(name, algorithm, parse_size(size) if size else 0)
            for name, (algorithm, _, size) in zip(methods, parts, strict=True)
        )

        @cache
        def time(place: int, processes: int, message_size: int) -> float:
            method = self.methods[place]
            try:
                made = programs_of(collective, method.algorithm, processes, message_size, method.segment_size)
            except NotApplicableError:
                return float("nan")
            return simulate(made, model).time

        self._time = time

    def times(self, calls: Calls) -> FloatArray:
        """See `Truth`."""
        pairs = list(zip(np.ravel(calls.comm_size).tolist(), np.ravel(calls.message_size).tolist(), strict=True))
        rows = [[self._time(place, *pair) for place in range(len(self.methods))] for pair in pairs]
        return np.array(rows, dtype=np.float64)

    def default(self, calls: Calls, times: FloatArray) -> FloatArray:
        """Not known: no library decides."""
        return np.full(np.size(calls.message_size), np.nan)


class Measured:
    """Times as they were measured, at the measured sizes only.

    Parameters
    ----------
    cube
        Results of one collective with the time of each method; one of them may be ``default``.
    """

    def __init__(self, cube: xr.Dataset) -> None:
        if "ppn" not in cube.dims:
            cube = cube.expand_dims(ppn=[int(cube.attrs.get("ppn", 1))])
        time = cube["time"].transpose("comm_size", "message_size", "ppn", "method")
        listed = methods_of(cube)
        own = [place for place, method in enumerate(listed) if normal(method.algorithm) == "default"]
        others = [place for place in range(len(listed)) if place not in own]
        if not others:
            raise OnlineError("only the library's own decision was measured; there is nothing to choose from")
        self.methods = tuple(listed[place] for place in others)
        self._axes = [cube[name].to_numpy() for name in ("comm_size", "message_size", "ppn")]
        values = time.to_numpy()
        self._times, self._default = values[..., others], values[..., own[0]] if own else None
        measured = np.isfinite(self._times).sum(axis=-1) > 1
        self.cells = [
            tuple(int(axis[place]) for axis, place in zip(self._axes, at, strict=True)) for at in np.argwhere(measured)
        ]

    def calls(self) -> Calls:
        """All cells in which several methods were measured."""
        processes, sizes, ppn = np.array(self.cells, dtype=np.int64).T
        return Calls(sizes, -(-processes // ppn), ppn, processes)

    def _places(self, calls: Calls) -> tuple[IntArray, ...]:
        wanted = (calls.comm_size, calls.message_size, calls.ppn)
        return tuple(np.searchsorted(axis, values) for axis, values in zip(self._axes, wanted, strict=True))

    def times(self, calls: Calls) -> FloatArray:
        """See `Truth`."""
        return np.asarray(self._times[self._places(calls)], dtype=np.float64)

    def default(self, calls: Calls, times: FloatArray) -> FloatArray:
        """See `Truth`. As it was measured: which method it took is not known, and so no drift of these."""
        if self._default is None:
            return np.full(np.size(calls.message_size), np.nan)
        return np.asarray(self._default[self._places(calls)], dtype=np.float64)
