"""Slices: exact at measured sizes, methods cross where straight lines do, figures of the measured range alone."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions.surfaces import PREDICTORS
from dashboard.decisions.surfaces.along import Slicing
from dashboard.decisions.surfaces.sureness import sureness
from tests.cubes import cube_of


def crossing() -> xr.Dataset:
    """One method takes 1 ms at all sizes, the other a microsecond for each byte: they cross at 1000 B."""
    sizes = 4 ** np.arange(3, 9)
    slow, fast = np.full(sizes.size, 1e-3), 1e-6 * sizes
    return cube_of(np.broadcast_to(np.stack([slow, fast])[:, None], (2, 4, sizes.size)), [2, 4, 8, 16], sizes)


def test_methods_cross_where_their_lines_do() -> None:
    cube = crossing()
    along = Slicing(cube).along("message_size", 8)
    known = np.isfinite(along.measured).all(axis=0)
    assert along.sizes[known].tolist() == cube["message_size"].values.tolist()
    assert along.time[:, known] == pytest.approx(along.measured[:, known])
    assert along.time[1] == pytest.approx(1e-6 * along.sizes)
    assert (along.fastest == np.where(along.sizes < 1000, 1, 0)).all()
    # Always the linear one: as far above as the size is beyond the crossing, by the logarithm of the sizes.
    inside = along.inside
    assert along.sizes[inside][-1] == 4**8 < along.sizes[-1]
    weights = np.gradient(np.log(along.sizes))[inside]
    assert along.weights[inside] == pytest.approx(weights / weights.sum())
    # The flat one is the fastest from 1000 B on.
    assert along.weights[along.fastest == 0].sum() == pytest.approx(np.log(4**8 / 1000) / np.log(4**5), abs=0.02)
    above = 100 * (np.maximum(along.sizes[inside] / 1000, 1) - 1)
    always = along.expected_penalty(np.ones(along.sizes.size, dtype=int))
    assert always == pytest.approx(np.average(above, weights=weights))
    assert along.expected_penalty(along.fastest) == 0


def test_a_slice_over_processes_knows_powers_of_two() -> None:
    time = np.ones((1, 15, 4))
    time[:, [size not in (2, 4, 8, 16) for size in range(2, 17)]] = 2.0
    cube = cube_of(time, np.arange(2, 17), [1, 2, 4, 8])
    along = Slicing(cube.isel(comm_size=[0, 1, 2, 4, 6, 8, 10, 12, 14])).along("comm_size", 4)
    expected = np.where(np.isin(along.sizes, [2, 4, 8, 16]), 1.0, 2.0)
    assert along.time[0, along.inside] == pytest.approx(expected[along.inside])


def test_times_are_predicted_by_what_left_out_sizes_speak_for_unless_they_were_chosen(
    fast_ethernet: xr.DataTree,
) -> None:
    cube = fast_ethernet["alltoall"].to_dataset()
    best = cube["time"].argmin("method").values
    slicing = Slicing(cube)
    assert slicing.predictor.smooth
    assert (sureness(cube, best) == sureness(cube, best, slicing)).all()
    chosen = Slicing(cube.assign_attrs(points="adaptive"))
    assert (chosen.predictor, chosen.judged) == (PREDICTORS[0], [])
    assert (sureness(cube, best) != sureness(cube, best, chosen)).any()
