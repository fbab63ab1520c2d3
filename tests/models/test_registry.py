"""The registry: the algorithms of the design, by name."""

import pytest

from dashboard.models.errors import ModelError
from dashboard.models.registry import ALL, MODELS, model_of, models_of

DESIGN = {
    "barrier": "flat_tree double_ring recursive_doubling bruck",
    "bcast": "linear pipeline binomial binary split_binary",
    "scatter": "linear binomial",
    "gather": "linear linear_sync binomial",
    "allgather": "bruck recursive_doubling ring neighbor_exchange",
    "alltoall": "linear pairwise bruck",
    "reduce": "flat_tree pipeline binomial binary rabenseifner",
    "reduce_scatter": "recursive_halving ring",
    "allreduce": "recursive_doubling ring ring_segmented rabenseifner",
    "scan": "linear linear_segmented binomial",
}


def test_the_algorithms_are_those_of_the_design() -> None:
    assert {collective: " ".join(algorithms) for collective, algorithms in MODELS.items()} == DESIGN


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        ModelError, match="known are linear, pipeline, binomial, binary, split_binary; did you mean pipeline"
    ):
        model_of("bcast", "pipelined")
    with pytest.raises(ModelError, match="did you mean allgather"):
        models_of("allgathr")


def test_every_model_tells_its_source_and_where_it_works() -> None:
    assert {each.table for each in ALL} == {f"4.{number}" for number in range(2, 12)}
    needs = {f"{each.collective} {each.algorithm}": each.validity for each in ALL if each.requires}
    assert needs == {
        "allgather recursive_doubling": "powers of two",
        "allgather neighbor_exchange": "even numbers",
        "reduce rabenseifner": "powers of two",
        "allreduce rabenseifner": "powers of two",
    }
