"""All collective models, by collective and algorithm: the one place that pages, commands and exporters ask."""

from collections.abc import Mapping

from dashboard.domain.errors import meant
from dashboard.models.collectives import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    gather,
    reduce,
    reduce_scatter,
    scan,
    scatter,
)
from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.errors import ModelError

MODULES = (barrier, bcast, scatter, gather, allgather, alltoall, reduce, reduce_scatter, allreduce, scan)

#: By collective, then algorithm, in the order of the dissertation's tables.
MODELS: Mapping[str, Mapping[str, CollectiveModel]] = {
    module.MODELS[0].collective: {each.algorithm: each for each in module.MODELS} for module in MODULES
}
ALL: tuple[CollectiveModel, ...] = tuple(each for algorithms in MODELS.values() for each in algorithms.values())


def models_of(collective: str) -> Mapping[str, CollectiveModel]:
    """Algorithms of a collective, by name.

    Raises
    ------
    ModelError
        When there are no models of the collective.
    """
    if collective not in MODELS:
        raise ModelError(_unknown("model of a collective", collective, MODELS))
    return MODELS[collective]


def model_of(collective: str, algorithm: str) -> CollectiveModel:
    """One algorithm of one collective.

    Raises
    ------
    ModelError
        When there is no such model; the message lists those there are.
    """
    algorithms = models_of(collective)
    if algorithm not in algorithms:
        raise ModelError(_unknown(f"{collective} model", algorithm, algorithms))
    return algorithms[algorithm]


def _unknown(what: str, name: str, known: Mapping[str, object]) -> str:
    return f"there is no {what} {name!r}, known are {', '.join(known)}{meant(name, known)}"
