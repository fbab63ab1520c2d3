"""One table of sizes: the measurements of a collective at one number of processes per node, and their map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.grown.quadtree import QuadtreeBuilder
from dashboard.decisions.measured.doubles import as_run, is_double
from dashboard.decisions.measured.map import DIMS
from dashboard.decisions.surfaces.counted import Counted, Window
from dashboard.domain.arrays import FloatArray, IntArray

#: Larger than rounding, smaller than anything that is shown.
_TRACE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Slice:
    """The sizes of one collective at one number of processes per node.

    Attributes
    ----------
    cube
        Its measurements, over ``method``, ``comm_size`` and ``message_size``.
    dmap
        Its decision map; ``best`` are the labels that trees learn.
    given
        Attributes that do not follow from the sizes: ``ppn``, ``collective``.
    weights
        Workload, ``(comm_size, message_size)``; None without.
    methods
        For each method of the cube its position in the problem's methods.
    window
        Where this is a part that is judged by only: what methods count where they were not measured, known of
        more than this part. None: it is known of this one.
    measured
        Of a table with predicted times between its sizes that without them. None: there are none.
    """

    cube: xr.Dataset
    dmap: xr.Dataset
    given: dict[str, Any]
    weights: FloatArray | None
    methods: IntArray
    window: Window | None = None
    measured: Slice | None = None

    @cached_property
    def labels(self) -> IntArray:
        """``(comm_size, message_size)``: the best method's position in the problem's methods, -1 = none."""
        best = np.asarray(self.dmap["best"].transpose(*SIZES).values)
        return np.asarray(np.where(best >= 0, self.methods[best], -1), dtype=np.int64)

    @cached_property
    def builder(self) -> QuadtreeBuilder:
        """Builds quadtrees over the map."""
        return QuadtreeBuilder(self.dmap)

    def times(self) -> FloatArray:
        """Times in seconds, ``(method of the cube, comm_size, message_size)``, NaN where not measured.

        A method that ran as another one has the time of that one, and a trace more: where both would do, the one that
        ran is taken.
        """
        times = np.asarray(as_run(self.cube)["time"].transpose(*DIMS).values, dtype=np.float64)
        double = is_double(self.cube)
        return times if double is None else times * np.where(double.transpose(*DIMS).values, _TRACE, 1.0)

    @cached_property
    def known(self) -> Counted | Window:
        """What methods count where they were not measured."""
        return self.window or Counted(self.cube)

    def counted(self) -> FloatArray:
        """Times as `times`, by which decisions are judged: NaN only where nothing was measured at all."""
        times = self.times()
        missing = np.isnan(times) & (self.labels >= 0)
        if not missing.any():
            return times
        methods = np.flatnonzero(missing.any(axis=(1, 2)))
        filled = times.copy()
        filled[methods] = np.where(missing[methods], self.known.times(methods), times[methods])
        return filled
