"""Times between measured sizes."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError
from dashboard.decisions.measured.interpolate import interpolated, interpolation_error
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan


def test_a_power_of_the_size_is_met_exactly() -> None:
    sizes = np.array([3, 7, 20, 100, 1000])
    time = 2e-6 * sizes**0.7
    gap = np.where([False, True, True, False, False], NAN, time)
    filled = interpolated(cube_of([[gap]], [4], sizes))
    assert filled["time"].values[0, 0] == pytest.approx(time)
    assert filled["interpolated"].values[0, 0].tolist() == [False, True, True, False, False]
    assert filled.attrs["interpolation"].startswith("2 times between measured ones")
    assert np.isnan(filled["time_std"].values[0, 0]).tolist() == [False, True, True, False, False]


def test_nothing_is_extrapolated() -> None:
    cube = cube_of([[[NAN, 1.0, NAN, 2.0, NAN], [NAN, NAN, 1.0, NAN, NAN]]], [2, 4], [1, 2, 4, 8, 16])
    filled = interpolated(cube)
    assert np.isnan(filled["time"].values[0]).tolist() == [
        [True, False, False, False, True],
        [True, True, False, True, True],
    ]
    assert filled["time"].values[0, 0, 2] == pytest.approx(np.sqrt(2))


def test_a_size_of_zero_is_no_neighbour() -> None:
    cube = cube_of([[[1.0, NAN, 4.0]]], [4], [0, 2, 8])
    assert np.isnan(interpolated(cube)["time"].values[0, 0]).tolist() == [False, True, False]


@given(st.integers(0, 50), st.floats(0, 1))
def test_measured_times_stay_and_others_lie_between_their_neighbours(seed: int, missing: float) -> None:
    cube = synthetic_cube(5, 6, 3, seed, missing=missing)
    result = interpolated(cube)
    old, new, marked = cube["time"].values, result["time"].values, result["interpolated"].values
    assert np.array_equal(old[~np.isnan(old)], new[~np.isnan(old)])
    assert np.array_equal(marked, np.isnan(old) & ~np.isnan(new))
    for line, filled in zip(old.reshape(-1, old.shape[-1]), new.reshape(-1, old.shape[-1]), strict=True):
        known = np.flatnonzero(~np.isnan(line))
        inside = (np.arange(line.size) >= known.min()) & (np.arange(line.size) <= known.max()) if known.size else known
        assert np.array_equal(~np.isnan(filled), inside if known.size else np.zeros(line.size, dtype=bool))
        for place in np.flatnonzero(np.isnan(line) & ~np.isnan(filled)):
            ends = line[known[known < place].max()], line[known[known > place].min()]
            assert min(ends) * (1 - 1e-9) <= filled[place] <= max(ends) * (1 + 1e-9)


def test_each_number_of_processes_per_node_by_itself() -> None:
    time = np.array([[[[1.0, 1.0], [NAN, NAN], [4.0, NAN]]]])
    filled = interpolated(cube_of(time, [4], [1, 2, 4]))
    assert filled["time"].values[0, 0, 1].tolist() == pytest.approx([2.0, NAN], nan_ok=True)


def test_lazy_cubes_give_the_same_and_repetitions_stay() -> None:
    cube = synthetic_cube(5, 6, 3, 1, missing=0.4)
    cube = cube.assign(sample=cube["time"].expand_dims(repetition=3, axis=-1))
    filled = interpolated(cube)
    xr.testing.assert_identical(interpolated(cube.chunk(comm_size=2)).compute(), filled)
    assert np.array_equal(np.isnan(filled["sample"].values[..., 0]), np.isnan(cube["time"].values))
    assert filled.attrs["digest"] != cube.attrs["digest"]


def test_the_error_is_that_at_measured_sizes() -> None:
    """At 4 bytes the line from 1 at 2 bytes to 4 at 8 bytes gives 2, where 2.5 was measured: 20 % off."""
    cube = cube_of([[[1.0, 2.5, 4.0]]], [4], [2, 4, 8])
    errors = interpolation_error(cube)
    assert errors["message_size"].tolist() == [4]
    assert errors[["cells", "median", "p95", "max"]].to_numpy().tolist() == [pytest.approx([1, 20, 20, 20])]
    none = interpolation_error(cube, "comm_size")
    assert (len(none), list(none)) == (0, ["comm_size", "cells", "median", "p95", "max"])
    turned = interpolation_error(cube_of([[[1.0], [2.5], [4.0]]], [2, 4, 8], [4]), "comm_size")
    assert turned.to_numpy().tolist() == [pytest.approx([4, 1, 20, 20, 20])]


def test_the_error_is_over_all_numbers_of_processes_per_node() -> None:
    """20 % off at one process per node as above, half as large as measured at two."""
    time = np.stack([[1.0, 2.5, 4.0], [1.0, 4.0, 4.0]], axis=-1)
    errors = interpolation_error(cube_of([[time]], [4], [2, 4, 8]))
    assert errors.to_numpy().tolist() == [pytest.approx([4, 2, 35, 48.5, 50])]


def test_between_the_sizes_of_the_sample_data_it_is_mostly_small(fast_ethernet_bcast: xr.Dataset) -> None:
    errors = interpolation_error(fast_ethernet_bcast).set_index("message_size")
    assert (errors["cells"] == 25 * 11).all()
    assert errors.loc[12288, "median"] < 10


def test_results_without_gaps_or_without_anything_stay_as_they_are() -> None:
    for cube in (synthetic_cube(3, 3, 2, 0), synthetic_cube(1, 1, 1, 0), synthetic_cube(2, 2, 2, 0)):
        xr.testing.assert_equal(interpolated(cube)["time"], cube["time"])
    nothing = synthetic_cube(2, 2, 2, 0)
    nothing["time"] = nothing["time"] * NAN
    assert not interpolated(nothing)["interpolated"].any()


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(DecisionError, match="not above 0 s"):
        interpolated(cube_of([[[1.0, NAN, 0.0]]], [4], [1, 2, 4]))
    with pytest.raises(DecisionError, match="not a cube"):
        interpolated(xr.Dataset())
