"""A map that fills: who is best so far, and what the decision is expected to lose."""

import holoviews as hv
import pytest
import xarray as xr

from dashboard.plots.colors import MethodKey
from dashboard.plots.filling_map import loss_chart, winners_legend


def test_the_legend_counts_the_cells_of_each_winner() -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[0, 2, 2], [-1, 2, -1]])})
    key = MethodKey.of(["<default>", "linear", "pipeline"])
    legend = winners_legend(key, dmap, 6)
    assert "4 of 6 cells measured; 2 of 3 methods are best somewhere" in legend
    assert "5 of 6 cells measured; 1 cell without a time that can be trusted; 2" in winners_legend(key, dmap, 6, 1)
    assert legend.index("pipeline") < legend.index("&lt;default&gt;")
    assert "linear" not in legend


@pytest.mark.parametrize(("planned", "message"), [(1, "None of 1 cell"), (9, "None of 9 cells")])
def test_before_anything_is_measured_it_says_so(planned: int, message: str) -> None:
    dmap = xr.Dataset({"best": (("comm_size", "message_size"), [[-1]])})
    assert message in winners_legend(MethodKey.of(["a"]), dmap, planned)


def test_the_expected_loss_is_drawn_on_its_way_to_the_end_of_the_budget() -> None:
    drawn = loss_chart([(0.0, 40.0), (5.0, 3.0)], 30.0, 4)
    figure = hv.render(drawn)
    assert (figure.x_range.start, figure.x_range.end) == (0.0, 120.0)
    assert figure.y_range.end > 40
    (points,) = (layer for layer in drawn if isinstance(layer, hv.Scatter))
    assert (points["spent"].tolist(), points["seconds"].tolist()) == ([0.0, 20.0], [0.0, 5.0])
