"""Charts and tables of tuned against default, looked at as data."""

import holoviews as hv
import numpy as np
import pytest
from bokeh.models import Tool

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.decisions.judged.improvement import Improvement, improvement, judge
from dashboard.plots.improvement import improvement_chart, improvement_table, verdict_table
from tests.cubes import cube_of


@pytest.fixture
def gains() -> Improvement:
    time = np.array([[[2.0, 4.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 20.0]]])
    cube = cube_of(time, [4, 8], [8, 1024]).assign_coords(method=["default", "tuned"])
    return improvement(cube)


def marks(chart: hv.Overlay) -> hv.Scatter:
    (scatter,) = [layer for layer in chart if isinstance(layer, hv.Scatter)]
    return scatter


def test_half_the_time_lies_one_up_and_twenty_times_lies_below_with_ticks_in_percent(gains: Improvement) -> None:
    chart = improvement_chart({"rules": gains}, "message_size", 4)
    assert marks(chart).dimension_values(1).tolist() == pytest.approx([1.0, 2.0])
    assert marks(chart).dimension_values("percent").tolist() == ["+50.00 %", "+75.00 %"]
    below = marks(improvement_chart({"rules": gains}, "comm_size", 1024))
    assert below.dimension_values(1).tolist() == pytest.approx([2.0, -np.log2(20)])
    ticks = dict(hv.Store.lookup_options("bokeh", chart, "plot").kwargs["yticks"])
    assert ticks[0.0] == "0"
    assert ticks[1.0] == "+50"


def test_the_picture_holds_a_gain_of_a_thousand_times() -> None:
    time = np.array([[[2.0, 1000.0]], [[1.0, 1.0]]])
    far = improvement(cube_of(time, [4], [8, 1024]).assign_coords(method=["default", "tuned"]))
    shown = hv.Store.lookup_options("bokeh", improvement_chart({"rules": far}, "message_size", 4), "plot").kwargs
    assert shown["ylim"][1] > np.log2(1000)
    assert "+99.9" in dict(shown["yticks"]).values()


def test_marks_are_filled_where_the_difference_is_beyond_noise(gains: Improvement) -> None:
    chart = improvement_chart({"rules": gains}, "message_size", 8)
    assert marks(chart).dimension_values("beyond").tolist() == [0.0, 1.0]
    assert marks(chart).dimension_values("told").tolist() == ["within noise", "slower beyond noise"]


def test_charts_render(gains: Improvement) -> None:
    chart = improvement_chart({"a": gains, "b": gains}, "comm_size", 8)
    assert hv.renderer("bokeh").get_plot(chart).state.renderers


def test_a_chart_without_tools_stays_where_it_is_when_the_page_is_scrolled_over_it(gains: Improvement) -> None:
    toolbar = hv.render(improvement_chart({"a": gains}, "comm_size", 8)).toolbar
    assert not any(isinstance(tool, Tool) for tool in (toolbar.active_scroll, toolbar.active_drag))


def test_tables_tell_the_figures_and_escape_names(gains: Improvement) -> None:
    text = improvement_table({"<b>": gains})
    assert "Improvement, less time than the library" in text
    assert "&lt;b&gt;" in text
    assert "−1,900.0 %" in text
    decision = DecisionFunction("bcast", [Method("<i>", "linear")], Leaf(0))
    verdicts = verdict_table(judge(gains, decision))
    assert "&lt;i&gt;" in verdicts
    assert "always" in verdicts
