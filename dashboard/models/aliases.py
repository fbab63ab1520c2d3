"""Measured methods and their models: which names mean the same algorithm, and which have no model."""

from collections.abc import Mapping, Sequence

from dashboard.decisions.function.nodes import Method
from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.registry import MODELS

#: Names of Open MPI and MPICH beside those of the models, by collective. Only what is the same algorithm stands
#: here: Open MPI's chain has a fan-out of 4 where the pipeline's is 1 (see `FAN_OUT`), its linear allgather gathers and
#: broadcasts, its k-nomial trees have another radix; there are no models of these.
ALIASES: Mapping[str, Mapping[str, str]] = {
    "barrier": {"linear": "flat_tree", "flat": "flat_tree", "ring": "double_ring", "dissemination": "bruck"},
    "bcast": {
        "flat_tree": "linear",
        "basic_linear": "linear",
        "binary_tree": "binary",
        "split_binary_tree": "split_binary",
        "binomial_tree": "binomial",
    },
    "scatter": {"basic_linear": "linear"},
    "gather": {"basic_linear": "linear"},
    "allgather": {
        "neighbor": "neighbor_exchange",
        "neighbour": "neighbor_exchange",
        "neighbour_exchange": "neighbor_exchange",
        "brucks": "bruck",
    },
    "alltoall": {
        "basic_linear": "linear",
        "pairwise_exchange": "pairwise",
        "modified_bruck": "bruck",
        "brucks": "bruck",
    },
    "reduce": {
        "linear": "flat_tree",
        "basic_linear": "flat_tree",
        "binary_tree": "binary",
        "binomial_tree": "binomial",
        "reduce_scatter_gather": "rabenseifner",
    },
    "allreduce": {"segmented_ring": "ring_segmented", "reduce_scatter_allgather": "rabenseifner"},
    "scan": {"basic_linear": "linear"},
}
#: Where an algorithm with this parameter of 1 is another one that has a model.
FAN_OUT: Mapping[tuple[str, str], str] = {("bcast", "chain"): "pipeline", ("reduce", "chain"): "pipeline"}
_FAN_OUT_NAMES = ("fanout", "fan_out", "chains", "radix")


def algorithm_of(collective: str, algorithm: str, parameters: Mapping[str, object] | None = None) -> str | None:
    """The model's name of a measured algorithm; None when no model covers it."""
    known = MODELS.get(collective, {})
    name = algorithm.lower().replace("-", "_").replace(" ", "_")
    if (collective, name) in FAN_OUT:
        fan_out = next((value for key, value in (parameters or {}).items() if key in _FAN_OUT_NAMES), None)
        name = FAN_OUT[collective, name] if fan_out == 1 else name
    name = ALIASES.get(collective, {}).get(name, name)
    return name if name in known else None


def model_for(collective: str, method: Method) -> CollectiveModel | None:
    """The model of a method; None when there is none."""
    name = algorithm_of(collective, method.algorithm, method.parameters)
    return None if name is None else MODELS[collective][name]


def covered(collective: str, methods: Sequence[Method]) -> tuple[dict[Method, CollectiveModel], list[str]]:
    """Methods with their models, and the labels of those without."""
    models = {method: model_for(collective, method) for method in methods}
    missing = [method.label for method, model in models.items() if model is None]
    return {method: model for method, model in models.items() if model is not None}, missing
