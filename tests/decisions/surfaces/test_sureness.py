"""How sure a map is: probabilities that follow from what is known of normal variables."""

import numpy as np
import pytest
from scipy.stats import norm

from dashboard.decisions.surfaces.sureness import DEVIATIONS, expected, sureness
from dashboard.decisions.surfaces.surface import LEAST
from tests.cubes import cube_of


def scattered(times: list[list[list[float]]], shares: list[float]) -> np.ndarray:
    """Sureness of the first method where each method's mean is known to a share of its time."""
    cube = cube_of(times, range(2, 2 + len(times[0])), [8 * 4**place for place in range(len(times[0][0]))])
    count = np.full(cube["time"].shape, 4)
    cube["repetitions"] = cube["time"].dims, count
    cube["time_std"] = cube["time"] * np.array(shares)[:, None, None] * 2
    return sureness(cube, np.zeros(cube["time"].shape[1:], dtype=np.int64))


@pytest.mark.parametrize("apart", [0.0, 0.02, 0.1])
def test_of_two_methods_it_is_what_their_difference_says(apart: float) -> None:
    spreads = np.hypot(LEAST / DEVIATIONS, [0.03, 0.06])
    expected = norm.cdf(apart / np.hypot(*spreads))
    assert scattered([[[1.0]], [[np.exp(apart)]]], [0.03, 0.06])[0, 0] == pytest.approx(expected, abs=0.01)


def test_of_methods_that_are_alike_each_has_its_share() -> None:
    assert scattered([[[1.0]]] * 4, [0.05] * 4)[0, 0] == pytest.approx(0.25, abs=0.01)


def test_a_cell_is_less_sure_where_the_fastest_changes_beside_it() -> None:
    times = [[[1.0, 2.0, 4.0, 8.0, 16.0]], [[9.0, 9.0, 9.0, 9.0, 9.0]]]
    sure = scattered(times, [0.01, 0.01])[0]
    assert sure[:3] == pytest.approx(1.0, abs=0.01)
    assert 0.5 < sure[3] < 0.99
    assert sure[4] < 0.2


def test_where_nothing_is_known_nothing_is_said() -> None:
    cube = cube_of([[[1.0, np.nan, 1.0], [np.nan] * 3], [[2.0, np.nan, 2.0], [np.nan] * 3]], [2, 4], [8, 64, 512])
    shares = sureness(cube, np.array([[0, -1, 1], [-1, -1, -1]]))
    assert np.isnan(shares).tolist() == [[False, True, False], [True, True, True]]
    assert shares[0, [0, 2]] == pytest.approx([1.0, 0.0], abs=0.01)


def test_what_is_expected_between_measured_sizes_is_as_sure_as_methods_are_apart() -> None:
    """A flat method and one that grows with the size: they cross at 1024 B, which was not measured."""
    sizes = 4 ** np.arange(3, 9)
    times = np.broadcast_to(np.stack([np.full(sizes.size, 1e-3), 1e-3 * sizes / 1024])[:, None], (2, 3, 6)).copy()
    times[:, 1] = times[:, :, 2] = np.nan
    best, sure = expected(cube_of(times, [2, 3, 4], sizes))
    assert best[:, [0, 1, 3, 4, 5]].tolist() == [[1, 1, 0, 0, 0]] * 3
    assert sure[0, [0, 5]] == pytest.approx(1.0, abs=0.01)
    assert sure[1, 2] == pytest.approx(0.5, abs=0.05)


def test_between_measured_sizes_methods_are_as_sure_as_their_bands_are_narrow() -> None:
    """On lines without noise the bands are the narrowest."""
    times = np.broadcast_to(np.array([1.0, np.exp(0.004)])[:, None, None], (2, 1, 5)).copy()
    times[:, :, 2] = np.nan
    best, sure = expected(cube_of(times, [2], 4 ** np.arange(3, 8)))
    assert (best[0, 2], sure[0, 2]) == (
        0,
        pytest.approx(norm.cdf(0.004 / np.hypot(*[LEAST / DEVIATIONS] * 2)), abs=0.01),
    )


def test_a_method_that_was_measured_is_shown_before_one_that_is_expected_to_be_faster() -> None:
    times = np.array([[[1.0, 1.0, 1.0]], [[0.5, np.nan, 0.5]]])
    best, sure = expected(cube_of(times, [2], [8, 64, 512]))
    assert best.tolist() == [[1, 0, 1]]
    assert sure[0, 1] < 0.1


def test_before_anything_is_measured_nothing_is_expected() -> None:
    best, sure = expected(cube_of(np.full((2, 2, 3), np.nan), [2, 4], [8, 64, 512]))
    assert (best == -1).all()
    assert np.isnan(sure).all()
