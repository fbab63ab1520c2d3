"""Methods that cannot be told from the best, and how sure a time is."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_ind_from_stats

from dashboard.decisions import DecisionError, OptionError, decision_map
from dashboard.decisions.measured import samples
from dashboard.decisions.measured.noise import holm, indistinguishable
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan


def of_samples(sample: Any, **attrs: Any) -> xr.Dataset:
    """Lay repetitions (method × communicator size × message size × repetition) out as a cube."""
    sample = np.asarray(sample, dtype=np.float64)
    cube = cube_of(np.nanmedian(sample, axis=-1), range(2, 2 + sample.shape[1]), 1 + np.arange(sample.shape[2]))
    made = cube.assign(sample=(("method", "comm_size", "message_size", "repetition"), sample)).assign_attrs(attrs)
    number = np.isfinite(sample).sum(axis=-1)
    return made.assign(repetitions=(cube["time"].dims, number), time_std=cube["time"] * NAN)


def drawn(noise: str, methods: int, equal: int, cells: int, repetitions: int, seed: int = 1) -> xr.Dataset:
    """Cells where the first `equal` methods are equally fast and the others 3 standard deviations slower."""
    random = np.random.default_rng(seed)
    shape = (methods, 1, cells, repetitions)
    errors = {
        "normal": lambda: random.standard_normal(shape),
        "skewed": lambda: random.exponential(size=shape),
        "outliers": lambda: random.standard_normal(shape) + 10 * (random.random(shape) < 0.1),
    }[noise]()
    slower = np.where(np.arange(methods) < equal, 0.0, 3.0)[:, None, None, None]
    return of_samples(np.exp(0.05 * (slower + errors)))


@pytest.mark.parametrize("noise", ["normal", "skewed", "outliers"])
@pytest.mark.parametrize(("methods", "equal", "repetitions"), [(2, 2, 10), (6, 3, 5), (12, 2, 30)])
def test_the_best_is_in_the_set_as_often_as_the_level_says(
    noise: str, methods: int, equal: int, repetitions: int
) -> None:
    """Method 0 is as fast as any in truth: of 2000 cells it may be missed in 5 %, and a little for chance."""
    cells = 2000
    ties = indistinguishable(drawn(noise, methods, equal, cells, repetitions))
    missed = 1 - float(ties["tied"].values[0].mean())
    assert missed <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / cells)


def test_slower_methods_are_found_out_in_spite_of_outliers() -> None:
    cube = drawn("outliers", 6, 2, 500, 30)
    share = indistinguishable(cube)["tied"].values.mean(axis=(1, 2))
    assert (share[:2] > 0.9).all()
    assert (share[2:] < 0.1).all()


def test_intervals_of_the_median_cover_it() -> None:
    """The median of 2000 cells of skewed repetitions is known: the interval must hold it in 95 % or more."""
    ties = indistinguishable(drawn("skewed", 1, 1, 2000, 25))
    truth = np.exp(0.05 * np.log(2))
    inside = (ties["ci_low"].values <= truth) & (ties["ci_high"].values >= truth)
    assert 0.945 <= inside.mean() <= 0.98


def test_the_interval_is_that_of_the_order_statistics() -> None:
    """Of 10 repetitions the second smallest and second largest: 97.9 % (tables of the sign test)."""
    ties = indistinguishable(of_samples([[[[7, 1, 2, 3, 4, 5, 6, 8, 9, 10]]]]))
    assert (float(ties["ci_low"].item()), float(ties["ci_high"].item())) == pytest.approx((2, 9))


def test_yuens_test_agrees_with_scipy() -> None:
    cube = drawn("skewed", 2, 2, 20, 13)
    ties = indistinguishable(cube)
    logs = np.log(cube["sample"].values[:, 0])
    best = cube["time"].values[:, 0].argmin(axis=0)
    for cell in range(20):
        slower, fastest = logs[1 - best[cell], cell], logs[best[cell], cell]
        expected = ttest_ind(slower, fastest, equal_var=False, trim=0.2, alternative="greater").pvalue
        assert ties["p"].values[1 - best[cell], 0, cell] == pytest.approx(expected)


def test_summaries_are_compared_by_welchs_test_and_holm() -> None:
    cube = cube_of([[[1.0]], [[1.02]], [[1.05]], [[NAN]]], [4], [8])  # 2 % standard deviation, 10 repetitions
    ties = indistinguishable(cube)
    raw = [
        ttest_ind_from_stats(np.log(t), 0.02, 10, 0.0, 0.02, 10, equal_var=False, alternative="greater").pvalue
        for t in (1.02, 1.05)
    ]
    assert ties["p"].values[[1, 2], 0, 0] == pytest.approx([raw[0], 2 * raw[1]])
    assert ties["tied"].values[:, 0, 0].tolist() == [True, False, False, False]
    assert "mean, standard deviation and number" in ties.attrs["note"]


def test_one_repetition_is_not_testable_and_this_is_said() -> None:
    ties = indistinguishable(of_samples([[[[1.0]]], [[[1.0000001]]]]))
    assert ties["tied"].values.ravel().tolist() == [True, False]
    assert not ties["testable"].any()
    assert np.isnan(ties["ci_low"]).all()
    assert ties.attrs["untestable"] == 1
    assert "1 of 1 cells not testable: one repetition" in ties.attrs["note"]
    bare = synthetic_cube(2, 2, 3, 0).drop_vars(["time_std", "repetitions"])
    assert indistinguishable(bare).attrs["untestable"] == 4


def test_a_cell_of_one_method_has_nothing_to_test() -> None:
    ties = indistinguishable(of_samples([[[[1.0, 1.1, 1.2]]]]))
    assert ties["tied"].all()
    assert (ties.attrs["several"], ties.attrs["untestable"]) == (0, 0)


def test_constant_times_are_told_apart_exactly() -> None:
    sample = np.array([1.0, 1.0, 1.001])[:, None, None, None] * np.ones((3, 1, 1, 5))
    assert indistinguishable(of_samples(sample))["tied"].values.ravel().tolist() == [True, True, False]


def test_cells_without_repetitions_fall_back_to_their_summary() -> None:
    cube = of_samples(np.random.default_rng(0).uniform(1, 1.2, (2, 1, 2, 8)))
    sample = cube["sample"].values.copy()
    sample[:, :, 1] = NAN
    cube = cube.assign(sample=(cube["sample"].dims, sample), time_std=cube["time"] * 0.02)
    plain = indistinguishable(cube.drop_vars("sample"))
    mixed = indistinguishable(cube)
    assert mixed["p"].values[:, :, 1] == pytest.approx(plain["p"].values[:, :, 1], nan_ok=True)
    assert not np.allclose(mixed["ci_low"].values[:, :, 0], plain["ci_low"].values[:, :, 0])


@given(st.integers(0, 60), st.floats(0, 0.9), st.sampled_from([0.5, 0.05, 1e-6]))
def test_the_best_is_always_in_the_set(seed: int, missing: float, level: float) -> None:
    cube = synthetic_cube(4, 5, 5, seed, missing=missing)
    ties = indistinguishable(cube, level)
    best = decision_map(cube)["best"].values
    rows, columns = np.nonzero(best >= 0)
    assert ties["tied"].values[best[rows, columns], rows, columns].all()
    assert not ties["tied"].values[np.isnan(cube["time"].values)].any()
    assert ties.attrs["cells"] == rows.size
    measured = ~np.isnan(cube["time"].values)
    assert (ties["ci_low"].values[measured] <= cube["time"].values[measured]).all()
    assert (ties["ci_high"].values[measured] >= cube["time"].values[measured]).all()


@given(st.integers(0, 30))
def test_a_stricter_level_never_leaves_out_more(seed: int) -> None:
    cube = synthetic_cube(4, 5, 5, seed, noise=0.02)
    strict, loose = (indistinguishable(cube, level)["tied"].values for level in (0.001, 0.1))
    assert (strict | ~loose).all()


@given(st.integers(0, 20))
def test_lazy_cubes_give_the_same_block_by_block(seed: int) -> None:
    sample = np.exp(np.random.default_rng(seed).normal(0, 0.1, (3, 4, 5, 7)))
    sample[0, 1, 2, 3:] = NAN
    cube = of_samples(sample)
    xr.testing.assert_identical(indistinguishable(cube.chunk(comm_size=1, message_size=2)), indistinguishable(cube))


def test_large_samples_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = of_samples(np.exp(np.random.default_rng(0).normal(0, 0.1, (3, 4, 5, 7))))
    ties = indistinguishable(cube)
    shapes = []
    original = samples.sample_blocks

    def small(cube: xr.Dataset) -> Any:
        for place, block in original(cube, 3 * 7 * 8 * 2):
            shapes.append(block.shape)
            yield place, block

    monkeypatch.setattr("dashboard.decisions.measured.noise.sample_blocks", small)
    xr.testing.assert_identical(indistinguishable(cube), ties)
    assert set(shapes) == {(3, 1, 2, 7), (3, 1, 1, 7)}


def test_processes_per_node_are_chosen() -> None:
    time = np.random.default_rng(0).uniform(1, 1.1, (3, 2, 2, 2))
    cube = cube_of(time, [2, 4], [1, 2])
    assert indistinguishable(cube, ppn=2).attrs["ppn"] == 2
    assert np.array_equal(
        indistinguishable(cube, ppn=2)["tied"].values, indistinguishable(cube.isel(ppn=1, drop=True))["tied"].values
    )


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    with pytest.raises(OptionError, match=f"level is {level}"):
        indistinguishable(synthetic_cube(2, 2, 2, 0), level)


@pytest.mark.parametrize("time", [0.0, -1.0, np.inf])
def test_times_that_are_none_are_refused(time: float) -> None:
    with pytest.raises(DecisionError, match="not above 0 s"):
        indistinguishable(cube_of([[[time]], [[1.0]]], [4], [8]))
    with pytest.raises(DecisionError, match="not above 0 s"):
        indistinguishable(of_samples([[[[1.0, time, 1.0]]]]))
    with pytest.raises(DecisionError, match="not a cube"):
        indistinguishable(xr.Dataset())


def test_corrected_probabilities_are_no_more_than_1() -> None:
    assert holm(np.array([0.9, 0.4, 0.01])).tolist() == pytest.approx([0.9, 0.8, 0.03])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]
