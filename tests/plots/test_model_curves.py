"""What models say and what was measured, as numbers and charts."""

from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from dashboard.models import MACHINES
from dashboard.plots.live import LiveSources
from dashboard.plots.models.chart import chart_columns, residual_chart, time_chart
from dashboard.plots.models.curves import View, evaluate, positions, predicted
from dashboard.plots.models.legend import legend_table
from dashboard.plots.models.methods import ModelMethod, model_methods

GRIG = MACHINES["grig-tcp"]
PARAMETERS: Any = {"hockney": GRIG.of("hockney"), "loggp": GRIG.of("loggp")}


@pytest.fixture
def view(fast_ethernet_bcast: xr.Dataset) -> View:
    known = {each.measured: each for each in model_methods("bcast", fast_ethernet_bcast)}
    methods = tuple(known[label] for label in ("binomial", "pipeline 8KiB"))
    return View("bcast", "message_size", methods, ("hockney", "loggp"), 16, 65536)


def test_methods_that_are_the_same_algorithm_are_found(fast_ethernet_bcast: xr.Dataset) -> None:
    methods = {each.measured: each for each in model_methods("bcast", fast_ethernet_bcast)}
    assert methods["split_binary_tree 8KiB"] == ModelMethod("split_binary", 8192, "split_binary_tree 8KiB")
    assert methods["binary_tree"].algorithm == "binary"
    # Open MPI's chains have a fan-out of 4, its k-nomial tree a radix of 4: other algorithms.
    assert not {"chain", "knomial", "scatter_allgather"} & set(methods)


def test_without_measurements_every_algorithm_is_offered() -> None:
    assert {each.algorithm for each in model_methods("bcast")} == {
        "linear",
        "pipeline",
        "binomial",
        "binary",
        "split_binary",
    }
    assert {each.segment_size for each in model_methods("barrier")} == {0}


def test_binomial_under_hockney_is_log2_p_messages(view: View) -> None:
    at = np.array([1.0, 1024.0, 65536.0])
    expected = 4 * (110.65e-6 + 0.0851e-6 * at)
    assert predicted(view, view.methods[0], GRIG.of("hockney"), at) == pytest.approx(expected)
    over_processes = replace(view, axis="comm_size", message_size=1024)
    times = predicted(over_processes, view.methods[0], GRIG.of("hockney"), [2, 5, 8, 9])
    assert times == pytest.approx(np.array([1, 3, 3, 4]) * (110.65e-6 + 0.0851e-6 * 1024))


def test_points_are_the_measurements_and_residuals_their_percents(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    lines = evaluate(view, PARAMETERS, fast_ethernet_bcast)
    line = fast_ethernet_bcast.sel({"method": "binomial", "comm_size": 16})
    assert (lines.points[0].at == line["message_size"].values).all()
    assert (lines.points[0].time == line["time"].values).all()
    assert (lines.points[0].std == line["time_std"].values).all()
    model = 4 * (110.65e-6 + 0.0851e-6 * lines.points[0].at)
    assert lines.residuals["hockney", 0] == pytest.approx(100 * (model - line["time"].values) / line["time"].values)
    mean, most = lines.deviation("hockney", 0)
    assert mean <= most == pytest.approx(np.abs(lines.residuals["hockney", 0]).max())


def test_sizes_that_were_not_measured_have_curves_only(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    lines = evaluate(replace(view, comm_size=1024), PARAMETERS, fast_ethernet_bcast)
    assert all(points.at.size == 0 for points in lines.points)
    assert all(time.size and np.isfinite(time).all() for _, time in lines.curves.values())
    assert "not measured here" in legend_table(replace(view, comm_size=1024), lines)


def test_over_segment_sizes_a_line_gathers_all_of_an_algorithm(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    over = replace(view, axis="segment_size", methods=(ModelMethod("pipeline", 8192), ModelMethod("pipeline", 1024)))
    assert [each.algorithm for each in over.drawn] == ["pipeline"]
    points = evaluate(over, PARAMETERS, fast_ethernet_bcast).points[0]
    assert points.at.tolist() == [1024, 8192, 16384, 65536]
    cube = fast_ethernet_bcast.sel(comm_size=16, message_size=65536)["time"]
    assert points.time.tolist() == [
        float(cube.sel({"method": f"pipeline{each}"})) for each in (" 1KiB", " 8KiB", " 16KiB", "")
    ]


def test_an_algorithm_for_powers_of_two_has_no_points_between() -> None:
    over = View("allgather", "comm_size", (ModelMethod("recursive_doubling"),), ("hockney",), 16, 1024)
    at, time = evaluate(over, PARAMETERS, None).curves["hockney", 0]
    assert at.tolist() == [2, 4, 8, 16, 32, 64]
    assert np.isfinite(time).all()


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("axis", ["message_size", "comm_size", "segment_size"])
def test_charts_follow_parameters_without_being_drawn_anew(
    view: View, fast_ethernet_bcast: xr.Dataset, axis: Any, *, log: bool
) -> None:
    shown, live = replace(view, axis=axis, log=log), LiveSources()
    columns = chart_columns(shown, evaluate(shown, PARAMETERS, fast_ethernet_bcast))
    for chart in (time_chart, residual_chart):
        hv.renderer("bokeh").get_plot(chart(shown, columns, live))
    slower = {**PARAMETERS, "hockney": replace(GRIG.of("hockney"), alpha=2 * GRIG.of("hockney").alpha)}
    moved = chart_columns(shown, evaluate(shown, slower, fast_ethernet_bcast))
    for name, each in moved.items():
        live.update(name, each)
    for name in ("curves hockney", "residuals hockney"):
        (plot,) = live._plots[name]
        drawn = plot.handles["source"].data["ys"]
        assert all((a == b).all() for a, b in zip(drawn, moved[name]["ys"], strict=True))
        assert any((a != b).any() for a, b in zip(drawn, columns[name]["ys"], strict=True))


def test_measured_sizes_lie_on_the_curve(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    assert set(fast_ethernet_bcast["message_size"].values) <= set(positions(view, fast_ethernet_bcast))
    assert positions(view, None)[[0, -1]].tolist() == [1, 4 << 20]


def test_error_bars_stay_above_zero_on_a_logarithmic_axis(view: View, fast_ethernet_bcast: xr.Dataset) -> None:
    noisy = fast_ethernet_bcast.assign(time_std=3 * fast_ethernet_bcast["time"])
    for log, least in ((True, 1e-12), (False, 0.0)):
        shown = replace(view, log=log)
        spread = chart_columns(shown, evaluate(shown, PARAMETERS, noisy))["bars"]
        assert (spread["low"] >= least).all()
        assert (spread["high"] > spread["low"]).all()
