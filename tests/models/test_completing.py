"""Sparse measurements completed by models: marked, calibrated, and better to decide from than the gaps."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.problem import Problem
from dashboard.models.completing import completed
from dashboard.models.errors import ModelError
from dashboard.models.pingpong import parameters_of_table, read_logp_table
from dashboard.models.predicting import Covered, candidates, predicted_cube
from tests.conftest import FAST_ETHERNET
from tests.cubes import synthetic_cube
from tests.models.networks import HOCKNEY

P, SIZES = np.arange(2, 10), np.array([1, 100, 3000, 20_000])


def sparse(cube: xr.Dataset, share: float, seed: int = 3) -> xr.Dataset:
    random = np.random.default_rng(seed)
    return cube.assign(time=cube["time"].where(random.random(cube["time"].shape) >= share))


def predicted() -> xr.Dataset:
    return predicted_cube(Covered.of("bcast", candidates("bcast", segment_sizes=(0, 1024))), P, SIZES, HOCKNEY)


def test_a_perfect_model_gives_back_what_was_left_out() -> None:
    # Three times as slow as predicted, all of it: that is what calibration takes from the measured cells.
    full = predicted().assign(time=predicted()["time"] * 3)
    filled = completed(sparse(full, 0.6), HOCKNEY)
    np.testing.assert_allclose(filled["time"], full["time"])
    assert np.array_equal(filled["modelled"], np.isnan(sparse(full, 0.6)["time"]))
    count = int(filled["modelled"].sum())
    assert filled.attrs["completion"] == f"{count} times predicted by the hockney model, calibrated by method"
    assert filled.attrs["digest"] != full.attrs["digest"]


def test_a_method_that_was_never_measured_takes_what_is_usual() -> None:
    full = predicted().assign(time=predicted()["time"] * 3)
    gaps = full.assign(time=full["time"].where(full["method"] != "pipeline"))
    np.testing.assert_allclose(completed(gaps, HOCKNEY)["time"], full["time"])


def test_a_single_process_calibrates_nothing_and_is_not_completed() -> None:
    """A model has it in no time at all; what was measured there is 1 µs."""
    full = predicted().assign(time=predicted()["time"] * 3)
    alone = full.reindex(comm_size=[1, *P]).assign_attrs(full.attrs)
    few = alone.assign(time=alone["time"].where(alone["comm_size"] < 4))
    few["time"][:, 0, :2] = 1e-6
    filled = completed(few, HOCKNEY)["time"]
    np.testing.assert_allclose(filled.sel(comm_size=P), full["time"])
    assert filled.sel(comm_size=1).isel(message_size=slice(2, None)).isnull().all()


def test_measured_times_and_methods_without_a_model_stay() -> None:
    cube = synthetic_cube(6, 9, 14, seed=4, missing=0.5)
    filled = completed(cube, HOCKNEY)
    measured = cube["time"].notnull().values
    assert np.array_equal(filled["time"].values[measured], cube["time"].values[measured])
    uncovered = np.isin(cube["algorithm"].values, ["chain", "scatter_allgather"])
    assert not filled["modelled"].values[uncovered].any()
    assert filled["time"].notnull().values[~uncovered].all()
    assert "no model covers chain" in filled.attrs["completion"]
    again = completed(filled, HOCKNEY)
    assert np.array_equal(again["modelled"], filled["modelled"])


def test_each_number_of_processes_per_node_by_itself() -> None:
    full = predicted()
    both = xr.concat([full, full.assign(time=full["time"] * 5)], "ppn").assign_coords(ppn=[1, 4])
    random = np.random.default_rng(1)
    gaps = both.assign(time=both["time"].where(random.random(both["time"].shape) > 0.5)).assign_attrs(full.attrs)
    filled = completed(gaps, HOCKNEY)["time"]
    np.testing.assert_allclose(filled, both["time"].transpose(*filled.dims))


def test_a_time_of_zero_is_refused() -> None:
    cube = predicted()
    cube["time"][0, 0, 0] = 0
    with pytest.raises(ModelError, match="a time is 0 s"):
        completed(cube, HOCKNEY)


def test_completed_measurements_decide_better_than_sparse_ones(fast_ethernet_bcast: xr.Dataset) -> None:
    plogp = parameters_of_table(read_logp_table(FAST_ETHERNET / "pointtopoint.csv")).of("plogp")
    truth = Problem.of(fast_ethernet_bcast)
    means = {"sparse": 0.0, "completed": 0.0}
    for seed in range(3):
        gaps = sparse(fast_ethernet_bcast, 0.8, seed)
        for name, cube in (("sparse", gaps), ("completed", completed(gaps, plogp))):
            means[name] += truth.summary(FAMILIES["exact"].grow(Problem.of(cube))).mean / 3
    assert means["completed"] < means["sparse"] / 3
