"""Predictions that rest on parameters which the measurements of a fit do not determine."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import BoolArray
from dashboard.domain.models import ModelName, parameter_symbol
from dashboard.domain.units import format_count
from dashboard.models.fit import LEAST, gap_at
from dashboard.models.p2p import PLogP, PointToPointModel, of_dict
from dashboard.models.parameter_set import ParameterSet

#: A time that changes by less does not rest on a parameter.
_SHARE = 0.01

Predict = Callable[[PointToPointModel], npt.ArrayLike]


def resting(network: ParameterSet, model: ModelName | str, predict: Predict) -> dict[str, BoolArray]:
    """Which times rest on what a fit did not determine: by its name, those that change with it.

    A gap of PLogP may be as small and as large as at the next sizes at which it is determined, for it never falls;
    other parameters as far as their range allows.

    Parameters
    ----------
    network
        Fitted parameters, as their file remembers the fit; of others nothing is known to be undetermined.
    predict
        Gives times, s, of parameters of that model.
    """
    known = network.of(model)
    others = list(others_of(network, model))
    times = np.asarray(predict(known)) if others else np.empty(0)
    return together((name, np.abs(np.asarray(predict(each)) - times) > _SHARE * times) for name, each in others)


def together(changed: Iterable[tuple[str, BoolArray]]) -> dict[str, BoolArray]:
    """Where anything changes with each parameter, whichever way it is off; those with which nothing does are gone."""
    cells: dict[str, BoolArray] = {}
    for name, where in changed:
        cells[name] = cells[name] | where if name in cells else where
    return {name: where for name, where in cells.items() if where.any()}


def others_of(network: ParameterSet, model: ModelName | str) -> Iterator[tuple[str, PointToPointModel]]:
    """Parameters of a model with one number that its fit did not determine as small, or as large, as it may be."""
    known, loose = network.of(model), network.undetermined(model)
    for name, limits in known.ranges().items():
        if name in loose:
            for value in (0.0 if limits.zero else LEAST, limits.high):
                yield name, of_dict({**known.to_dict(), name: value})
    if isinstance(known, PLogP):
        names = [gap_at(size) for size in known.sizes]
        sure = [place for place, name in enumerate(names) if name not in loose]
        for place, name in enumerate(names):
            if name in loose:
                below = max([known.gap[at] for at in sure if at < place], default=0.0)
                above = min([known.gap[at] for at in sure if at > place], default=2 * max(known.gap))
                # A gap covers both overheads.
                least = max(below, known.send_overhead[place], known.receive_overhead[place])
                for gap in (min(known.gap[place], least), max(known.gap[place], above)):
                    yield name, of_dict({**known.to_dict(), "gap": [*known.gap[:place], gap, *known.gap[place + 1 :]]})


def warning(rests: Mapping[str, BoolArray], what: str = "") -> str:
    """What is said of times, or of `what`, that rest on such parameters, as `resting` has them; empty where none do."""
    if not rests:
        return ""
    cells = np.logical_or.reduce(list(rests.values()))
    many = f"{what or 'times'} of {int(cells.sum()):,} of {format_count(cells.size, 'cell')} rest"
    names = ", ".join(map(parameter_symbol, rests))
    determined = "the measurements of the fit determine that not at all or only with others"
    return f"{many if cells.size > 1 else 'this rests'} on {names}; {determined}: measure before you believe it"
