"""Time lines of algorithms."""

import holoviews as hv
import pytest

from dashboard.models import LogGP
from dashboard.models.programs import programs_of
from dashboard.models.simulator import simulate
from dashboard.plots.models.timeline import kinds_of, message_columns, timeline, timeline_table, work_columns

NETWORK = LogGP.of_microseconds(latency=10, overhead=2, gap=5, gap_per_byte=0.1, gamma=0.05)


def test_a_linear_broadcast_by_hand() -> None:
    """The root sends every g + (m - 1) G; each message takes L + 2 o + (m - 1) G."""
    run = simulate(programs_of("bcast", "linear", 3, 11), NETWORK)
    messages = message_columns(run)
    assert messages["process"].tolist() == [0, 0]
    assert messages["receiver"].tolist() == [-1, -2]
    assert messages["time"] == pytest.approx([0, 6e-6])
    assert messages["arrival"] == pytest.approx([15e-6, 21e-6])
    sends = work_columns(run, "send")
    assert sends["end"] - sends["start"] == pytest.approx([2e-6, 2e-6])
    assert sends["told"].tolist() == ["process 0 sends 11 B to 1", "process 0 sends 11 B to 2"]
    assert "done after 21.00 µs" in timeline_table(run)


def test_rows_of_processes_go_down_and_all_work_is_drawn() -> None:
    run = simulate(programs_of("reduce", "pipeline", 4, 4096, 1024), NETWORK)
    assert set(kinds_of(run)) == {"send", "receive", "compute"}
    for kind, count in kinds_of(run).items():
        columns = work_columns(run, kind)
        assert len(columns["start"]) == count
        assert (columns["low"] < columns["high"]).all()
    plot = hv.renderer("bokeh").get_plot(timeline("Time line", run))
    labels = dict(plot.state.left[0].major_label_overrides)
    assert {labels[at] for at in labels} == {"0", "1", "2", "3"}
    hatches = {each.glyph.hatch_pattern for each in plot.state.renderers if hasattr(each.glyph, "hatch_pattern")}
    assert {"/", "x"} <= hatches
