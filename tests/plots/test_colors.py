"""One colour and one letter for each method."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.decisions import decision_map
from dashboard.plots.colors import (
    GREY,
    OKABE_ITO,
    SCHEME_TITLES,
    TOL,
    MethodKey,
    as_seen,
    distinct_colors,
    letter_codes,
)
from tests.cubes import cube_of, synthetic_cube


def nearest(colors: tuple[str, ...]) -> np.ndarray:
    """Smallest distance (CIELAB) between two of the colours, for each kind of vision."""
    seen = as_seen(colors)
    distance = np.linalg.norm(seen[:, :, None] - seen[:, None], axis=-1)
    return distance[:, *np.triu_indices(len(colors), 1)].min(axis=1)


def test_white_and_black_are_where_cielab_has_them() -> None:
    assert as_seen(["#ffffff", "#000000"])[0] == pytest.approx(np.array([[100, 0, 0], [0, 0, 0]]), abs=0.02)


@pytest.mark.parametrize(("count", "least"), [(8, 15.0), (12, 15.0), (20, 10.0)])
def test_colors_are_told_apart_under_every_vision(count: int, least: float) -> None:
    # A difference of 2.3 is just noticed side by side; fields some way apart need several times that.
    assert (nearest(distinct_colors(count)) > least).all()


@pytest.mark.parametrize(("count", "least"), [(8, 10.0), (20, 10.0)])
def test_tol_s_colors_are_told_apart_under_every_vision(count: int, least: float) -> None:
    assert (nearest(distinct_colors(count, TOL)) > least).all()


def test_greys_are_grey_apart_on_paper_and_begin_again() -> None:
    greys = distinct_colors(12, GREY)
    lightness, *chroma = np.moveaxis(as_seen(greys)[0], -1, 0)
    assert np.abs(chroma).max() < 0.1
    assert len(set(greys)) == 5
    assert np.diff(np.sort(lightness[:5])).min() > 8
    assert greys[5] == greys[0]


@pytest.mark.parametrize("scheme", [OKABE_ITO, TOL])
@pytest.mark.parametrize("count", [0, 1, 5, 75, 200])
def test_there_are_as_many_colors_as_methods_all_different(count: int, scheme: str) -> None:
    assert len(set(distinct_colors(count, scheme))) == count


def test_a_method_keeps_its_color_when_there_are_more() -> None:
    assert distinct_colors(75)[:20] == distinct_colors(20)


@pytest.mark.parametrize("scheme", SCHEME_TITLES.values())
def test_black_letters_can_be_read_on_every_color(scheme: str) -> None:
    def luminance(color: str) -> float:
        levels = np.array([int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    # Contrast by WCAG 2, whose level AA asks for 4.5.
    darkest = min(map(luminance, distinct_colors(75, scheme)))
    assert (darkest + 0.05) / (luminance("#111111") + 0.05) >= 4.5


def test_letters_are_short_and_all_different() -> None:
    letters = letter_codes(75)
    assert letters[:2] == ("A", "B")
    assert letters[26] == "A2"
    assert len(set(letters)) == 75
    assert max(map(len, letters)) == 2


def test_methods_that_win_most_come_first() -> None:
    key = MethodKey.by_wins(["a", "b", "c"], [1, 5, 1])
    assert key.letters == ("B", "A", "C")
    assert key.name(1) == "b"
    assert key.name(-1) == "not measured"


def test_the_key_is_of_all_processes_per_node_together() -> None:
    # Of two methods, one wins everywhere with one process per node, the other with two, in twice as many cells.
    time = np.full((2, 2, 3, 2), 2.0)
    time[0, :1, :, 0] = 1.0
    time[1, 1:, :, 0] = np.nan
    time[0, 1:, :, 0] = np.nan
    time[1, :, :, 1] = 1.0
    cube = cube_of(time, [2, 4], [1, 2, 4])
    key = MethodKey.of(decision_map(cube, ppn=ppn) for ppn in (1, 2))
    assert key.letters == ("B", "A")


def test_75_methods_are_keyed() -> None:
    key = MethodKey.of([decision_map(synthetic_cube(12, 20, 75, seed=3))])
    assert len(set(key.colors)) == len(set(key.letters)) == 75
