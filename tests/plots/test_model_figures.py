"""Twins, methods without a model, when segmentation pays, several numbers of processes, and the parameters drawn."""

from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from dashboard.models import MACHINES, Hockney, model_of
from dashboard.models.pingpong import PingPong, parameters_of_table, read_logp_table
from dashboard.plots.models.curves import View, evaluate
from dashboard.plots.models.legend import legend_table, processes_table
from dashboard.plots.models.methods import model_methods
from dashboard.plots.models.parameters import computing_chart, gap_chart, message_charts
from dashboard.plots.models.pays import Ratio, pays_chart, pays_text, ratios_of
from dashboard.plots.models.processes import by_processes, shown_sizes
from tests.conftest import FAST_ETHERNET

NETWORK: Any = dict(parameters_of_table(read_logp_table(FAST_ETHERNET / "pointtopoint.csv")).parameters)


@pytest.fixture
def view(fast_ethernet_bcast: xr.Dataset) -> View:
    known = {each.measured: each for each in model_methods("bcast", fast_ethernet_bcast, every=True)}
    return View("bcast", "message_size", (known["binomial"], known["knomial"]), ("hockney", "plogp"), 16, 65536)


def twinned(cube: xr.Dataset) -> xr.Dataset:
    """The cube with its binomial broadcast once more, as an own method's that takes twice as long."""
    label = "binomial provider=own"
    own = cube.sel({"method": ["binomial"]}).assign_coords(method=[label], provider=("method", ["own"]))
    own["time"] = own["time"] * 2
    return xr.concat([cube.assign_coords(provider=("method", [""] * cube.sizes["method"])), own], "method")


def test_an_own_method_stands_beside_the_librarys_and_both_beside_their_model(
    view: View, fast_ethernet_bcast: xr.Dataset
) -> None:
    cube = twinned(fast_ethernet_bcast)
    twins = [each for each in model_methods("bcast", cube) if (each.algorithm, each.segment_size) == ("binomial", 0)]
    assert [each.label for each in twins] == ["binomial", "binomial (own)"]
    lines = evaluate(replace(view, methods=tuple(twins)), NETWORK, cube)
    assert lines.points[1].time == pytest.approx(2 * lines.points[0].time)
    assert lines.curves["hockney", 0][1] == pytest.approx(lines.curves["hockney", 1][1])


def test_a_method_without_a_model_is_drawn_as_measured(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    lines = evaluate(view, NETWORK, fast_ethernet_bcast)
    expected = fast_ethernet_bcast.sel({"method": "knomial", "comm_size": 16})["time"].values
    assert lines.points[1].time == pytest.approx(expected[np.isfinite(expected)])
    assert {slot for _, slot in lines.curves} == {0}
    assert "no model" in legend_table(view, lines)


def test_segments_pay_where_the_formula_with_them_is_shorter(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    ratios = ratios_of(view, "pipeline", 8192, NETWORK, fast_ethernet_bcast)
    assert set(ratios) == {"hockney", "plogp", "measured"}
    model = model_of("bcast", "pipeline")
    for at, ratio in zip(*ratios["hockney"], strict=True):
        with_segments, without = (float(model.predict(NETWORK["hockney"], 16, at, size)) for size in (8192, 0))
        assert ratio == pytest.approx(with_segments / without)
    # Up to a segment nothing changes; a pipeline of sixteen gains most of what can be gained on a long message.
    (low, high) = ratios["hockney"].pays(8192)[-1]
    assert 8192 < low < 32768 < high == ratios["hockney"].at[-1]
    assert ratios["measured"].ratio[-1] < 0.5
    assert "Hockney: pays at" in pays_text(ratios, 8192)
    assert "pays at no message size" in pays_text({"hockney": Ratio(np.array([1.0]), np.array([1.0]))}, 8192)
    # Of a message of one segment both were the same call: what differs is noise.
    noise = {"measured": Ratio(np.array([8.0, 1024.0, 2048.0]), np.array([0.9, 0.9, 0.9]))}
    assert "Measured: pays at 2 KiB." in pays_text(noise, 1024)
    assert len(pays_chart(ratios)) == 4


def test_a_line_for_each_number_of_processes_over_the_total_buffer(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    sizes = (4, 16)
    alone, lines = by_processes(view, view.methods[0], sizes, NETWORK, fast_ethernet_bcast)
    total = by_processes(view, view.methods[0], sizes, NETWORK, fast_ethernet_bcast, total=True)[1]
    for slot, size in enumerate(sizes):
        assert total.points[slot].at == pytest.approx(size * lines.points[slot].at)
        line = fast_ethernet_bcast.sel({"method": "binomial", "comm_size": size})["time"].values
        assert lines.points[slot].time == pytest.approx(line[np.isfinite(line)])
        assert total.curves["plogp", slot][0] == pytest.approx(size * lines.curves["plogp", slot][0])
    assert "16 processes" in processes_table(alone, lines)
    assert shown_sizes(range(1, 100)) == (2, 18, 34, 50, 67, 83, 99)
    assert shown_sizes([2, 4, 8]) == (2, 4, 8)


def test_parameters_are_drawn_as_they_are() -> None:
    chart = gap_chart(NETWORK)
    assert chart is not None
    drawn = {layer.label: layer for layer in chart if isinstance(layer, hv.Curve)}
    at, gap = (drawn["PLogP g(m)"].dimension_values(place) for place in (0, 1))
    assert gap == pytest.approx(NETWORK["plogp"].gap_at(at))
    assert gap_chart({"hockney": NETWORK["hockney"]}) is None
    trip = PingPong(np.array([1.0, 1000.0]), np.array([1e-4, 2e-4]))
    time, rate = message_charts({"hockney": MACHINES["grig-tcp"].of("hockney")}, trip)
    assert [layer.label for layer in time] == ["Hockney", "ping-pong"]
    assert list(rate)[-1].dimension_values(1) == pytest.approx([0.01, 5.0])
    timed = np.array([0.0, 1024.0]), np.array([1e-7, 1e-6])
    computed = computing_chart(NETWORK, timed)
    assert computed is not None
    assert next(iter(computed)).dimension_values(1) == pytest.approx([1e-6 / 1024])


def test_what_takes_less_than_a_nanosecond_has_ticks() -> None:
    chart = computing_chart({"hockney": Hockney(1e-5, 1e-9, gamma=3.4e-11)}, None)
    ticks = hv.render(chart, backend="bokeh").left[0].ticker.ticks
    # One size alone is drawn over two decades.
    assert len([tick for tick in ticks if 3.4e-12 < tick < 3.4e-10]) == 6


def test_what_costs_the_same_at_each_size_is_drawn_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    ratio = Ratio(np.array([1.0, 1024.0]), np.array([0.0, 0.0]))
    for chart in (computing_chart({"hockney": Hockney(1e-5, 1e-9, gamma=1e-9)}, None), pays_chart({"hockney": ratio})):
        hv.render(chart, backend="bokeh")
    assert not caplog.messages
