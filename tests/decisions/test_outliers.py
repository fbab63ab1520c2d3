"""Times that do not belong are found, shown, and left out only when asked."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, decision_map, penalty, quadtree, summarise
from dashboard.decisions.measured.outliers import outlier_cells, outlier_repetitions, outliers, without_outliers
from loaders import open_results
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan
DIMS = ("method", "comm_size", "message_size")


def frodo() -> xr.Dataset:
    """Broadcast as on Frodo (dissertation, 6.2.2): split-binary with 1 KiB segments jumps to 300 µs at 1448 B."""
    sizes = [256, 512, 1024, 1448, 2048, 4096, 8192]
    split = np.array([60, 62, 64, 64.5, 65, 80, 110]) * 1e-6
    binomial = np.array([61, 63, 66, 68, 70, 120, 240]) * 1e-6
    time = np.stack([np.tile(split, (6, 1)), np.tile(binomial, (6, 1))])
    time[0, 2:, 3] = 300e-6  # from five processes on
    return cube_of(time, [2, 3, 5, 8, 13, 21], sizes)


def with_samples(sample: Any) -> xr.Dataset:
    sample = np.asarray(sample, dtype=np.float64)
    cube = cube_of(np.nanmedian(sample, axis=-1), range(2, 2 + sample.shape[1]), 1 + np.arange(sample.shape[2]))
    return cube.assign(sample=((*DIMS, "repetition"), sample))


def test_the_published_spike_is_found_and_nothing_else() -> None:
    table = outliers(frodo())
    assert table["message_size"].tolist() == [1448] * 4
    assert table["comm_size"].tolist() == [5, 8, 13, 21]
    assert set(table["method"]) == {"linear"}  # the first of cube_of's names stands for split-binary
    assert set(table["reason"]) == {"spike along the message size"}
    assert table["ratio"].to_numpy() == pytest.approx(300 / 64.5, rel=0.01)
    assert set(table["kind"]) == {"cell"}


def test_without_the_spike_a_restricted_tree_costs_little() -> None:
    """As published: the penalties of restricted trees above 40 % were at 1448 B, without it little was left."""
    cube = frodo()
    cleaned = without_outliers(cube, outliers(cube))
    before, after = (summarise(penalty(each, quadtree(decision_map(each), max_depth=1))) for each in (cube, cleaned))
    assert before.max > 40
    assert after.max < 20
    assert cleaned.attrs["left_out"] == "0 repetitions and 4 cells left out as outliers"


def test_two_spikes_side_by_side_do_not_hide_each_other() -> None:
    cube = cube_of([[[1.0, 1.1, 9.0, 8.0, 1.2, 1.3]]], [4], [1, 2, 4, 8, 16, 32])
    assert outlier_cells(cube)["message_size"].tolist() == [4, 8]


def test_a_dip_is_found_too_and_missing_cells_are_passed_over() -> None:
    cube = cube_of([[[1.0, NAN, 0.2, NAN, 1.2, 1.3]]], [4], [1, 2, 4, 8, 16, 32])
    table = outlier_cells(cube)
    assert table["message_size"].tolist() == [4]
    assert table["reason"].tolist() == ["dip along the message size"]
    assert table["expected"].tolist() == pytest.approx([np.sqrt(1.2)])


@pytest.mark.parametrize(("other", "count"), [(0.951, 0), (0.949, 1), (1.049, 0), (1.051, 1)])
def test_what_is_closer_to_the_median_than_so_many_percent_is_no_outlier(other: float, count: int) -> None:
    cube = with_samples([[[[1.0] * 9 + [other]]]])
    assert len(outlier_repetitions(cube)) == count


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=12))
def test_times_that_only_grow_have_no_outliers(steps: list[float]) -> None:
    """However steep: a protocol that changes makes a step, not a spike."""
    time = np.cumprod([1e-6, *steps])
    assert outlier_cells(cube_of([[time]], [4], 2 ** np.arange(time.size))).empty


@given(st.integers(0, 40))
def test_hockney_times_with_little_noise_have_none(seed: int) -> None:
    assert outlier_cells(synthetic_cube(6, 12, 4, seed, missing=0.2, noise=0.05)).empty


def test_along_the_communicator_size_nothing_is_looked_for() -> None:
    assert outlier_cells(cube_of(np.array([[1.0, 1.0, 5.0, 1.0]])[..., None], [2, 3, 4, 5], [8])).empty


def test_repetitions_beyond_tukeys_far_fences_are_found() -> None:
    """1…9: quartiles of the logarithms of 3 and 7, so that the upper fence is 7 · (7/3)³ = 88.9."""
    for value, beyond in ((88, False), (90, True)):
        cube = with_samples([[[[1, 2, 3, 4, 5, 6, 7, 8, value]]]])
        table = outlier_repetitions(cube)
        assert (len(table) == 1) == beyond
    assert table["repetition"].tolist() == [8]
    assert table["expected"].tolist() == pytest.approx([5])
    assert table["ratio"].tolist() == pytest.approx([18])
    assert table["reason"].tolist() == ["above the fence"]


def test_too_few_repetitions_are_not_judged_and_this_is_said() -> None:
    cube = with_samples([[[[1.0, 1.0, 1.0, 50.0, NAN]], [[1.0, 1.0, 1.0, 1.0, 50.0]]]])
    table = outlier_repetitions(cube)
    assert table["comm_size"].tolist() == [3]
    assert "(1 cell with too few repetitions)" in table.attrs["note"]
    assert "no single repetitions" in outlier_repetitions(synthetic_cube(2, 2, 2, 0)).attrs["note"]


def test_leaving_out_takes_the_times_from_what_remains() -> None:
    cube = with_samples([[[[1.0, 2.0, 3.0, 4.0, 5.0, 900.0]], [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]]])
    table = outliers(cube)
    assert len(table) == 1
    cleaned = without_outliers(cube, table)
    assert cleaned["time"].values[0, :, 0].tolist() == [3.0, 1.0]
    assert cleaned["time_std"].values[0, 0, 0] == pytest.approx(np.std([1, 2, 3, 4, 5], ddof=1))
    assert cleaned["repetitions"].values[0, :, 0].tolist() == [5, 10]  # of the other cell nothing is touched
    assert np.isnan(cleaned["sample"].values[0, 0, 0]).tolist() == [False] * 5 + [True]
    assert cleaned.attrs["left_out"] == "1 repetition and 0 cells left out as outliers"
    assert cleaned.attrs["digest"] != cube.attrs["digest"]
    assert cube["sample"].values[0, 0, 0, 5] == 900.0  # the original stays
    assert cleaned["time"].attrs["units"] == "s"


def test_a_cell_that_is_left_out_takes_its_repetitions_along() -> None:
    sample = np.ones((1, 1, 5, 6)) * np.array([1.0, 1.0, 9.0, 1.0, 1.0])[:, None]
    cleaned = without_outliers(with_samples(sample), outliers(with_samples(sample)))
    assert np.isnan(cleaned["time"].values[0, 0]).tolist() == [False, False, True, False, False]
    assert np.isnan(cleaned["sample"].values[0, 0, 2]).all()
    again = without_outliers(cleaned, pd.DataFrame({**outliers(with_samples(sample)), "message_size": [1]}))
    assert again.attrs["left_out"].count("left out as outliers") == 2


def test_nothing_found_changes_nothing() -> None:
    cube = synthetic_cube(3, 3, 2, 0, noise=0.01)
    table = outliers(cube)
    assert table.empty
    assert without_outliers(cube, table) is cube
    nothing = cube.assign(time=cube["time"] * NAN)
    assert outliers(nothing).empty
    assert outliers(cube_of([[[1.0]]], [2], [1])).empty


@given(st.integers(0, 15))
def test_lazy_cubes_give_the_same(seed: int) -> None:
    random = np.random.default_rng(seed)
    sample = np.exp(random.normal(0, 0.1, (2, 4, 5, 9)))
    sample[random.random(sample.shape) < 0.03] *= 20
    cube = with_samples(sample)
    lazy = cube.chunk(comm_size=2, repetition=3)
    table = outliers(cube)
    pd.testing.assert_frame_equal(outliers(lazy), table)
    cleaned = without_outliers(lazy, table)
    assert len(table) == 0 or cleaned["sample"].chunks is not None
    xr.testing.assert_identical(cleaned.compute(), without_outliers(cube, table))


def test_each_number_of_processes_per_node_by_itself() -> None:
    time = np.ones((1, 1, 5, 2))
    time[0, 0, 2, 1] = 9
    cube = cube_of(time, [4], [1, 2, 3, 4, 5])
    table = outliers(cube)
    assert table["ppn"].tolist() == [2]
    cleaned = without_outliers(cube, table)
    assert np.isnan(cleaned["time"].values).sum() == 1
    assert np.isnan(cleaned["time"].values[0, 0, 2, 1])


def test_what_does_not_fit_the_cube_is_refused() -> None:
    cube = frodo()
    table = outliers(cube)
    with pytest.raises(DecisionError, match="comm_size 5, which these results do not have"):
        without_outliers(cube.isel(comm_size=[0, 1]), table)
    with pytest.raises(DecisionError, match="no column ppn"):
        without_outliers(cube.expand_dims(ppn=[1, 2]), table)
    with pytest.raises(DecisionError, match="repetition 7 is to be left out"):
        without_outliers(cube, table.assign(kind="repetition", repetition=7))


def test_the_warm_up_stands_out_in_the_raw_data_of_pico(shared: Any) -> None:
    """PICO's own summary drops the first fifth of the repetitions: outliers must be more frequent there."""
    cube = open_results(shared / "data" / "pico" / "raw")["bcast"].to_dataset()
    table = outliers(cube)
    counts = table["repetition"].value_counts()
    assert counts.index[0] == 0
    early = counts.index < cube.sizes["repetition"] / 5
    assert counts[early].mean() > 1.5 * counts[~early].mean()
    cleaned = without_outliers(cube, table)
    assert float(cleaned["time_std"].median()) < float(cube["time_std"].median()) / 2


def test_the_cell_after_a_spike_is_no_dip() -> None:
    """Times double with the size; 37 times too much at 8 B makes 16 B look low, which it is not."""
    time = np.array([1.0, 2.0, 4.0, 8.0 * 37, 16.0, 32.0, 64.0])[None, None]
    table = outlier_cells(cube_of(time, [4], 2 ** np.arange(7)))
    assert table["message_size"].tolist() == [8]
