"""Predictions that rest on parameters which the measurements of a fit do not determine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import BoolArray
from dashboard.domain.models import ModelName, parameter_symbol
from dashboard.domain.units import format_count
from dashboard.models.fit import gap_at
from dashboard.models.p2p import PLogP, PointToPointModel, of_dict
from dashboard.models.parameter_set import ParameterSet

#: A time that changes by less does not rest on a parameter.
_SHARE = 0.01

Predict = Callable[[PointToPointModel], npt.ArrayLike]


def resting(network: ParameterSet, model: ModelName | str, predict: Predict) -> dict[str, BoolArray]:
    """Which times rest on what a fit did not determine: by its name, those that change with it.

    A gap of PLogP may be as large as at the next size at which it is determined, for it never falls; other parameters
    as large as their range allows.

    Parameters
    ----------
    network
        Fitted parameters, as their file remembers the fit; of others nothing is known to be undetermined.
    model
        The model that predicts.
    predict
        Gives times, s, of parameters of that model.
    """
    known = network.of(model)
    others = dict(_larger(known, network.undetermined(model)))
    times = np.asarray(predict(known)) if others else np.empty(0)
    changed = {name: np.abs(np.asarray(predict(each)) - times) > _SHARE * times for name, each in others.items()}
    return {name: where for name, where in changed.items() if where.any()}


def _larger(known: PointToPointModel, loose: Collection[str]) -> Iterator[tuple[str, PointToPointModel]]:
    """The parameters with one number of them larger, by its name."""
    for name, limits in known.ranges().items():
        if name in loose:
            yield name, of_dict({**known.to_dict(), name: limits.high})
    if isinstance(known, PLogP):
        names = [gap_at(size) for size in known.sizes]
        for place, name in enumerate(names):
            if name in loose:
                above = [known.gap[at] for at in range(place + 1, len(names)) if names[at] not in loose]
                gap = max(known.gap[place], above[0] if above else 2 * max(known.gap))
                yield name, of_dict({**known.to_dict(), "gap": [*known.gap[:place], gap, *known.gap[place + 1 :]]})


def warning(network: ParameterSet, rests: Mapping[str, BoolArray]) -> str:
    """What is said of times that rest on such parameters, as `resting` has them; empty where none do."""
    if not rests:
        return ""
    cells = np.logical_or.reduce(list(rests.values()))
    what = f"{int(cells.sum()):,} of {format_count(cells.size, 'cell')} rest" if cells.size > 1 else "this rests"
    names = ", ".join(map(parameter_symbol, rests))
    determined = f"the measurements that {network.name} was fitted to determine that not at all or only with others"
    return f"{what} on {names}; {determined}: measure before you believe it"
