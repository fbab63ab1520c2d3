"""A map that fills: colours stay with their methods however the winners change."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.plots.colors import MethodKey, distinct_colors
from dashboard.plots.filling_map import Order, palette, winners_legend

COUNT = 7
maps = st.lists(st.integers(-1, COUNT - 1), min_size=12, max_size=12).map(lambda cells: np.array(cells).reshape(3, 4))


@given(st.lists(maps, min_size=1, max_size=6))
def test_a_method_that_has_won_keeps_its_colour(seen: list[np.ndarray]) -> None:
    labels, order = [f"m{at}" for at in range(COUNT)], Order()
    colors: dict[int, str] = {}
    for best in seen:
        order = order.follow(best)
        key = order.key(labels)
        assert len(set(key.colors)) == COUNT
        for method in set(best[best >= 0].tolist()):
            assert colors.setdefault(method, key.colors[method]) == key.colors[method]
        painted = order.codes(best, COUNT)
        assert ((painted < 0) == (best < 0)).all()
        shown = [palette(COUNT).colors[code] for code in painted[best >= 0]]
        assert shown == [key.colors[method] for method in best[best >= 0]]
    # The most distinct colours go to methods that are seen.
    assert set(colors.values()) == set(distinct_colors(COUNT)[: len(colors)])


@given(maps)
def test_a_campaign_opened_when_it_has_ended_has_the_colours_of_the_page_decisions(best: np.ndarray) -> None:
    labels = [f"m{at}" for at in range(COUNT)]
    wins = np.bincount(best[best >= 0].ravel(), minlength=COUNT)
    known = MethodKey.by_wins(labels, wins)
    key = Order().follow(best).key(labels)
    assert (key.colors, key.letters) == (known.colors, known.letters)


def test_the_legend_counts_the_cells_of_each_winner() -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[0, 2, 2], [-1, 2, -1]])})
    key = Order((2, 0)).key(["<default>", "linear", "pipeline"])
    told = winners_legend(key, dmap, 6)
    assert "4 of 6 cells measured; 2 of 3 methods are best somewhere" in told
    assert told.index("pipeline") < told.index("&lt;default&gt;")
    assert "linear" not in told


@pytest.mark.parametrize(("planned", "told"), [(1, "None of 1 cell"), (9, "None of 9 cells")])
def test_before_anything_is_measured_it_says_so(planned: int, told: str) -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[-1]])})
    assert told in winners_legend(Order().key(["a"]), dmap, planned)
