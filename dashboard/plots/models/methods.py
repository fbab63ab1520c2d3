"""Which methods the models know, and which of the measured ones they are."""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from dashboard.decisions.measured.map import methods_of
from dashboard.domain.units import format_bytes
from dashboard.models import MODELS
from dashboard.models.aliases import model_for

#: Segment sizes that are offered where none were measured, bytes.
SEGMENTS = (1024, 8192, 65536)


@dataclass(frozen=True)
class ModelMethod:
    """A method that there are models of.

    Attributes
    ----------
    algorithm
        As the models call it.
    segment_size
        Bytes, 0 = not segmented.
    measured
        Label of the measured method that it is; empty: none.
    """

    algorithm: str
    segment_size: int = 0
    measured: str = ""

    @property
    def label(self) -> str:
        """Name for people."""
        return self.algorithm + (f" {format_bytes(self.segment_size)}" if self.segment_size else "")


def model_methods(collective: str, cube: xr.Dataset | None = None) -> tuple[ModelMethod, ...]:
    """Methods of a collective in the order of the dissertation's tables, by segment size.

    Parameters
    ----------
    collective
        Name.
    cube
        Measurements; None: there are none.
    """
    measured: dict[tuple[str, int], str] = {}
    if cube is not None:
        for method in methods_of(cube):
            if (model := model_for(collective, method)) is not None:
                measured.setdefault((model.algorithm, method.segment_size), method.label)
    methods = []
    for name, model in MODELS[collective].items():
        own = {segment for algorithm, segment in measured if algorithm == name}
        more = SEGMENTS if model.segmented and not own - {0} else ()
        segments = sorted({0, *own, *more}) if model.segmented else sorted({0, *own})
        methods += [ModelMethod(name, segment, measured.get((name, segment), "")) for segment in segments]
    return tuple(methods)
