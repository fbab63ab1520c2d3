"""Which measured methods have a model: names of Open MPI, of benchmarks and of the dissertation."""

import pytest
import xarray as xr

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.measured.map import methods_of
from dashboard.models.aliases import ALIASES, FAN_OUT, algorithm_of, covered, model_for
from dashboard.models.registry import MODELS


def test_every_alias_leads_to_a_model_and_hides_none() -> None:
    for collective, names in ALIASES.items():
        for alias, name in names.items():
            assert name in MODELS[collective], (collective, alias)
            assert alias not in MODELS[collective], (collective, alias)
    for (collective, algorithm), name in FAN_OUT.items():
        assert name in MODELS[collective]
        assert algorithm not in MODELS[collective]


@pytest.mark.parametrize(
    ("collective", "algorithm", "expected"),
    [
        ("bcast", "split_binary_tree", "split_binary"),
        ("bcast", "Binary-Tree", "binary"),
        ("reduce", "linear", "flat_tree"),
        ("allgather", "neighbor", "neighbor_exchange"),
        ("allreduce", "segmented_ring", "ring_segmented"),
        # These do other things: a fan-out of 4, another radix, a gather with a broadcast.
        ("bcast", "chain", None),
        ("bcast", "knomial", None),
        ("bcast", "scatter_allgather", None),
        ("allgather", "linear", None),
        ("alltoall", "linear_sync", None),
        ("allreduce", "nonoverlapping", None),
        ("pt2pt", "pingpong", None),
    ],
)
def test_names_that_mean_the_same_algorithm(collective: str, algorithm: str, expected: str | None) -> None:
    assert algorithm_of(collective, algorithm) == expected


def test_a_chain_of_fan_out_one_is_the_pipeline() -> None:
    model = model_for("bcast", Method("chain fanout=1", "chain", 0, {"fanout": 1}))
    assert model is MODELS["bcast"]["pipeline"]
    assert model_for("bcast", Method("chain fanout=4", "chain", 0, {"fanout": 4})) is None


def test_methods_of_the_sample_data(fast_ethernet_bcast: xr.Dataset) -> None:
    models, missing = covered("bcast", methods_of(fast_ethernet_bcast))
    assert len(models) == 17
    assert {label.split()[0] for label in missing} == {
        "chain",
        "knomial",
        "scatter_allgather",
        "scatter_allgather_ring",
    }
