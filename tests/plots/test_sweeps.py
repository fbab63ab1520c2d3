"""Sweep charts as data."""

import holoviews as hv
import numpy as np
import pytest

from dashboard.plots.live import LiveSources
from dashboard.plots.sweeps import CHARTS, sweep_chart, sweep_columns
from dashboard.session.prepared import prepare
from dashboard.session.sweep import sweep
from tests.cubes import synthetic_cube

CHOICE = {"max_depth": 2, "threshold": 0.5, "depth_mean": 1.9, "penalty_mean": 3.5}


@pytest.fixture(scope="module")
def swept() -> dict[str, object]:
    prepared = prepare(synthetic_cube(8, 12, 5, seed=4))
    return {"depths": sweep(prepared, "depth"), "thresholds": sweep(prepared, "threshold")}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_holds_its_sweeps_and_the_current_choice(name: str, swept: dict) -> None:
    chart = CHARTS[name]
    drawn = sweep_chart(name, swept, CHOICE, LiveSources())
    lines = [layer for layer in drawn if isinstance(layer, hv.Curve)]
    assert len(lines) == len(chart.sweeps)
    for line, along in zip(lines, chart.sweeps, strict=True):
        assert line.dimension_values(0) == pytest.approx(swept[along][chart.x.name].to_numpy())
        assert line.dimension_values(1) == pytest.approx(swept[along][chart.y.name].to_numpy())
    mark = list(drawn)[-1]
    assert (mark.dimension_values(0)[0], mark.dimension_values(1)[0]) == (CHOICE[chart.x.name], CHOICE[chart.y.name])


def test_a_rendered_chart_follows_without_being_drawn_anew(swept: dict) -> None:
    live = LiveSources()
    plot = hv.renderer("bokeh").get_plot(sweep_chart("constraint", swept, CHOICE, live))
    for layer, columns in sweep_columns("constraint", swept, {**CHOICE, "depth_mean": 0.25}).items():
        live.update(layer, columns)
    sources = [subplot.handles["source"].data for subplot in plot.subplots.values()]
    assert any(np.array_equal(data["depth_mean"], [0.25]) for data in sources)
