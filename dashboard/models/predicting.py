"""A cube of predicted times, as `open_results` gives measured ones: what models say instead of measurements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.map import DIMS
from dashboard.domain.arrays import FloatArray
from dashboard.domain.units import format_names, parse_size
from dashboard.models.aliases import covered
from dashboard.models.collectives.model import CollectiveModel, Variant
from dashboard.models.errors import ModelError
from dashboard.models.p2p import PointToPointModel
from dashboard.models.registry import models_of
from loaders.methods import MethodKey, method_label


@dataclass(frozen=True, eq=False)
class Covered:
    """Methods of one collective that there are models of."""

    collective: str
    #: By method, in the order of the results.
    models: Mapping[Method, CollectiveModel]
    #: Labels of the methods that no model covers.
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, collective: str, methods: Sequence[Method]) -> Covered:
        """Find the models of methods.

        Raises
        ------
        ModelError
            When there are no models of the collective, or of none of the methods.
        """
        models_of(collective)
        models, missing = covered(collective, methods)
        if not models:
            raise ModelError(
                f"no model covers any of {format_names(missing) or 'no methods'}; of {collective} there are models of "
                f"{', '.join(models_of(collective))}: name some of these as the methods to choose from"
            )
        return cls(collective, models, tuple(missing))

    @property
    def methods(self) -> tuple[Method, ...]:
        """Those with a model."""
        return tuple(self.models)

    def times(
        self,
        parameters: PointToPointModel,
        comm_size: npt.ArrayLike,
        message_size: npt.ArrayLike,
        *,
        variant: Variant = "corrected",
    ) -> FloatArray:
        """Predicted seconds, (method, …) over sizes that broadcast; NaN where an algorithm does not work.

        One process has nothing to send, so there is nothing to decide: NaN too.
        """
        count, size = np.broadcast_arrays(np.asarray(comm_size), np.asarray(message_size))
        times = np.full((len(self.models), *count.shape), np.nan)
        for number, (method, model) in enumerate(self.models.items()):
            times[number] = model.predict(parameters, count, size, method.segment_size, variant=variant)
        return np.where(times > 0, times, np.nan)


def candidates(
    collective: str, algorithms: Sequence[str] | None = None, segment_sizes: Sequence[int] = (0,)
) -> tuple[Method, ...]:
    """Methods to choose from without measurements: algorithms, the segmented ones with each segment size.

    Parameters
    ----------
    algorithms
        As the models call them; None takes all.
    segment_sizes
        Bytes; 0 = not segmented.
    """
    known = models_of(collective)
    names = list(known) if algorithms is None else list(algorithms)
    for name in names:
        if name not in known:
            raise ModelError(f"there is no {collective} model {name!r}, known are {', '.join(known)}")
    sizes = sorted(dict.fromkeys(int(size) for size in segment_sizes))
    if not sizes or sizes[0] < 0:
        raise ModelError(f"segment sizes are {list(segment_sizes)}; expected bytes from 0 (no segments)")
    cut = {name: sizes if known[name].sizable else [0] for name in names}
    return tuple(Method(method_label(MethodKey(name, size)), name, size) for name in names for size in cut[name])


def methods_named(collective: str, labels: Sequence[str], measured: Sequence[Method] = ()) -> tuple[Method, ...]:
    """Methods by their labels: measured ones, or else algorithms of the models with a segment size.

    Parameters
    ----------
    labels
        As of the results, or such as ``pipeline`` or ``pipeline 8KiB``; each is taken once.
    measured
        Methods of the results.

    Raises
    ------
    ModelError
        When a label is neither, or there is none.
    """
    known = {method.label: method for method in measured}
    methods = {label: known[label] if label in known else _named(collective, label) for label in labels}
    if not methods:
        raise ModelError("no methods are named to choose from")
    return tuple(methods.values())


def _named(collective: str, label: str) -> Method:
    name, _, size = label.partition(" ")
    try:
        segment = parse_size(size) if size else 0
    except ValueError as error:
        raise ModelError(f"method {label!r}: {error}; expected a segment size, as in pipeline 8KiB") from None
    (method,) = candidates(collective, [name], [segment])
    return method


def predicted_cube(
    known: Covered,
    comm_size: npt.ArrayLike,
    message_size: npt.ArrayLike,
    parameters: PointToPointModel,
    *,
    variant: Variant = "corrected",
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Lay predictions out as a cube.

    Parameters
    ----------
    comm_size, message_size
        Axes: processes and bytes, ascending.
    parameters
        Of the network; their model is used.
    variant
        Of the formulas.
    attrs
        Further attributes, such as the system.

    Returns
    -------
    Dataset
        ``time`` (s) over ``method``, ``comm_size`` and ``message_size``; attrs say that it was modelled.
    """
    rows, columns = np.asarray(comm_size, dtype=np.int64), np.asarray(message_size, dtype=np.int64)
    time = known.times(parameters, rows[:, None], columns[None, :], variant=variant)
    text = json.dumps(parameters.to_dict(), sort_keys=True)
    identity = "|".join(
        [known.collective, text, variant, str(known.methods), str(rows.tolist()), str(columns.tolist())]
    )
    cube = xr.Dataset(
        {"time": (DIMS, time, {"units": "s"})},
        coords={
            "method": [method.label for method in known.methods],
            "algorithm": ("method", [method.algorithm for method in known.methods]),
            "segment_size": ("method", np.array([m.segment_size for m in known.methods], dtype=np.int64)),
            **{name: ("method", values) for name, values in _further(known.methods).items()},
            "comm_size": rows,
            "message_size": columns,
        },
        attrs={
            **(attrs or {}),
            "collective": known.collective,
            "benchmark": f"{parameters.name} model",
            "statistic": f"predicted by the {parameters.name} model",
            "sources": "[]",
            "digest": hashlib.sha256(identity.encode()).hexdigest()[:16],
        },
    )
    cube["segment_size"].attrs["units"] = cube["message_size"].attrs["units"] = "B"
    cube["comm_size"].attrs["units"] = "processes"
    return cube


def _further(methods: Sequence[Method]) -> dict[str, list[Any]]:
    """Parameters of methods as coordinates; only those that all have, since a column has one kind of values."""
    common = [name for name in methods[0].parameters if all(name in method.parameters for method in methods)]
    return {name: [method.parameters[name] for method in methods] for name in common}
