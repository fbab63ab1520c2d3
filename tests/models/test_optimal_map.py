"""Optimal implementations (Figure 6.2): against every segment size there is, and what the figure shows."""

import numpy as np
import pytest

from dashboard.models.errors import ModelError, SizeError
from dashboard.models.optimal_map import optimal_map, times_of
from dashboard.models.presets import machine
from dashboard.models.registry import MODELS, models_of
from tests.models.networks import NETWORKS

SIZES = np.array([1, 100, 2000, 10_000])


@pytest.mark.parametrize("model", ["hockney", "loggp", "plogp"])
def test_no_segment_size_is_better(model: str) -> None:
    network = next(each for name, each in NETWORKS.items() if name == model)
    optimum = optimal_map("bcast", network, [2, 5, 12], SIZES)
    every = np.concatenate([[0], np.arange(1, 10_001)])
    for row, count in enumerate(optimum["comm_size"].values):
        for column, size in enumerate(SIZES):
            best = min(each.predict(network, count, size, every).min() for each in models_of("bcast").values())
            assert best <= optimum["time"].values[row, column] * (1 + 1e-12)
            assert optimum["time"].values[row, column] <= best * 1.001


def test_what_figure_6_2_shows() -> None:
    # Hockney segments later, and in larger pieces; LogGP messages of 1 KB already (6.1.2).
    sizes = [1, 256, 1024, 4096, 65536, 393216]
    hockney = optimal_map("bcast", machine("grig-tcp").of("hockney"), np.arange(4, 29), sizes, multiple=8)
    loggp = optimal_map("bcast", machine("grig-tcp").of("loggp"), np.arange(4, 29), sizes, multiple=8)
    assert (hockney["segment_size"].sel(message_size=slice(1, 1024)) == 0).all()
    assert (hockney["segment_size"].sel(message_size=slice(65536, None)) > 0).all()
    assert (loggp["segment_size"].sel(message_size=1024) > 0).any()
    assert (hockney["segment_size"] % 8 == 0).all()
    large = {"comm_size": 28, "message_size": 393216}
    assert hockney["segment_size"].sel(large) > loggp["segment_size"].sel(large)
    assert set(hockney["candidate"].values[hockney["algorithm"].sel(message_size=1)]) == {"binomial"}


def test_collectives_without_segments_and_wrong_arguments() -> None:
    optimum = optimal_map("allgather", NETWORKS["loggp"], [3, 4, 6], [8, 65536])
    assert (optimum["segment_size"] == 0).all()
    assert (optimum["algorithm"] >= 0).all()
    # What doubles works on 4 processes only.
    assert np.isnan(optimum["candidate_time"].sel(candidate="recursive_doubling")).values.tolist() == [
        [True] * 2,
        [False] * 2,
        [True] * 2,
    ]
    with pytest.raises(ModelError, match="no model of a collective"):
        optimal_map("pt2pt", NETWORKS["loggp"], [4], [8])
    with pytest.raises(ModelError, match="multiples of 0"):
        optimal_map("bcast", NETWORKS["loggp"], [4], [8], multiple=0)
    with pytest.raises(SizeError, match="one process has nothing to send"):
        optimal_map("bcast", NETWORKS["loggp"], [1, 4], [8])


def test_some_algorithm_of_each_collective_works_on_any_number_of_processes() -> None:
    for name in MODELS:
        assert (optimal_map(name, NETWORKS["plogp"], range(2, 24), [0, 1, 1000])["time"] > 0).all()


def test_by_the_parameters_that_it_was_made_with_a_map_takes_its_own_times() -> None:
    optimum = optimal_map("allgather", NETWORKS["loggp"], [3, 4, 6], [8, 1024, 65536])
    assert len(np.unique(optimum["algorithm"])) > 1
    assert np.allclose(times_of(optimum, NETWORKS["loggp"]), optimum["time"].values)
    assert not np.allclose(times_of(optimum, NETWORKS["hockney"]), optimum["time"].values)
