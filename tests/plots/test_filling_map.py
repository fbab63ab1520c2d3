"""A map that fills: who is best so far."""

from __future__ import annotations

import pytest
import xarray as xr

from dashboard.plots.colors import MethodKey
from dashboard.plots.filling_map import winners_legend


def test_the_legend_counts_the_cells_of_each_winner() -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[0, 2, 2], [-1, 2, -1]])})
    key = MethodKey.of(["<default>", "linear", "pipeline"])
    told = winners_legend(key, dmap, 6)
    assert "4 of 6 cells measured; 2 of 3 methods are best somewhere" in told
    assert told.index("pipeline") < told.index("&lt;default&gt;")
    assert "linear" not in told


@pytest.mark.parametrize(("planned", "told"), [(1, "None of 1 cell"), (9, "None of 9 cells")])
def test_before_anything_is_measured_it_says_so(planned: int, told: str) -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[-1]])})
    assert told in winners_legend(MethodKey.of(["a"]), dmap, planned)
