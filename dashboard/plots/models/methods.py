"""Which methods the models know, and which of the measured ones they are."""

from dataclasses import dataclass

import xarray as xr

from dashboard.decisions.measured.map import methods_of
from dashboard.domain.units import format_bytes
from dashboard.models import MODELS
from dashboard.models.aliases import model_for

#: Segment sizes that are offered where none were measured, bytes.
SEGMENTS = (1024, 8192, 65536)
#: Parameters of measured methods: who offers them, where it is not the library, and the size of a first segment.
PROVIDER, FIRST = "provider", "first_segment"


@dataclass(frozen=True)
class ModelMethod:
    """A method that there are models of, or that was measured.

    Attributes
    ----------
    algorithm
        As the models call it; of one that no model covers its own name.
    segment_size
        Bytes, 0 = not segmented.
    measured
        Label of the measured method that it is; empty: none.
    twin
        Whose it is, where the same method of another provider was measured as well: each stands beside its model.
    modelled
        Whether there is a model.
    """

    algorithm: str
    segment_size: int = 0
    measured: str = ""
    twin: str = ""
    modelled: bool = True

    @property
    def label(self) -> str:
        """Name for people."""
        if not self.modelled:
            return self.measured
        size = f" {format_bytes(self.segment_size)}" if self.segment_size else ""
        return self.algorithm + size + (f" ({self.twin})" if self.twin else "")


def model_methods(collective: str, cube: xr.Dataset | None = None, *, every: bool = False) -> tuple[ModelMethod, ...]:
    """Methods of a collective in the order of the dissertation's tables, by segment size.

    Parameters
    ----------
    cube
        Measurements; None: there are none.
    every
        Also those measured that no model covers, after the others.
    """
    measured: dict[tuple[str, int], dict[str, str]] = {}
    others = []
    for method in methods_of(cube) if cube is not None else ():
        model = model_for(collective, method)
        if model is None:
            others.append(ModelMethod(method.algorithm, method.segment_size, method.label, modelled=False))
            continue
        size = int(method.parameters.get(FIRST, 0)) if model.segmented == "first" else 0
        provider = str(method.parameters.get(PROVIDER, ""))
        measured.setdefault((model.algorithm, size or method.segment_size), {}).setdefault(provider, method.label)
    methods = []
    for name, model in MODELS[collective].items():
        own = {segment for algorithm, segment in measured if algorithm == name}
        more = SEGMENTS if model.segmented and not own - {0} else ()
        for segment in sorted({0, *own, *more}) if model.segmented else sorted({0, *own}):
            twins = measured.get((name, segment), {"": ""})
            first = next(iter(twins))
            methods += [ModelMethod(name, segment, twins[each], each if each != first else "") for each in twins]
    return (*methods, *(others if every else ()))
