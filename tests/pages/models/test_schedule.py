"""The tab *Schedule*: pictures of own algorithms, step by step."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import holoviews as hv
import pytest

from dashboard.cli import main
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.schedule import Scheduled, in_theme
from dashboard.plots.backend import use_bokeh
from dashboard.plots.models import timeline
from dashboard.schedules import ALGORITHMS, Call
from tests.schedules.test_trace import traced
from tests.states import sample_state
from tests.uploading import upload


@pytest.fixture
def tab() -> Scheduled:
    """The tab, with the binomial tree of a broadcast."""
    use_bokeh()
    part = Scheduled(ModelChoice(sample_state()))
    part.update()
    part.algorithm.value = "binomial"
    return part


def arrows(svg: str) -> tuple[int, int]:
    """Ways drawn fully, and pale."""
    pale = re.search(r'<g opacity="0.15">(.*?)</g>', svg, re.DOTALL)
    lines = svg.count('fill="none"')
    faint = pale[1].count('fill="none"') if pale else 0
    return lines - faint, faint


def test_a_binomial_tree_is_drawn_step_by_step(tab: Scheduled) -> None:
    # Table 4.2: P - 1 messages in ⌈log₂ P⌉ steps; 1, 2, 4 of them at once.
    assert "7 messages of 448 B in all, 3 steps" in tab.counts.object
    assert arrows(tab.graph.object) == (7, 0)
    for step, count in ((1, 1), (2, 2), (3, 4)):
        tab.step.value = step
        assert arrows(tab.graph.object) == (count, 7 - count)
        assert f"after step {step}<" in tab.held.object
    tab.processes.value = 5
    assert (tab.step.end, tab.root.end) == (3, 4)


def test_the_command_said_draws_the_same_picture(
    tab: Scheduled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tab.algorithm.value = "k_chain"
    tab.segments.value, tab.root.value = 3, 2
    command = shlex.split(unescape(re.search("<code>(.*)</code>", tab.counts.object)[1]))
    assert main([*command[1:], "-o", str(tmp_path / "chain.svg")]) == 0
    assert in_theme((tmp_path / "chain.svg").read_text()) == tab.graph.object
    # On a dark page nothing of it is a white sheet.
    assert not re.search("white|black", tab.graph.object + tab.held.object)
    capsys.readouterr()


def test_what_an_algorithm_cannot_serve_is_said_and_the_next_picture_comes(tab: Scheduled) -> None:
    tab.algorithm.value = "orthogonal"
    tab.processes.value = 5
    assert "no grid of 5 processes" in tab.message.object
    assert not tab.results.visible
    tab.processes.value = 6
    assert tab.results.visible
    assert [menu.label for menu in tab.parameters.objects] == ["Grid", "Inner"]


def test_every_algorithm_of_every_collective_offered_has_a_picture(tab: Scheduled) -> None:
    for collective in tab._choice.param.collective.objects:
        tab._choice.show(collective)
        tab.update()
        for name in ALGORITHMS[collective]:
            tab.algorithm.value = name
            assert tab.results.visible, (collective, name, tab.message.object)
            assert arrows(tab.graph.object)[0] >= 7


def test_the_time_line_of_the_model_stands_below_and_that_of_a_trace_below_it_on_the_same_axis(tab: Scheduled) -> None:
    times = tab.times
    assert times.simulated.object is None
    times.shown.value = True
    alone = times.simulated.object
    assert "7 messages" in times.table.object
    assert not times.rooms[1].visible
    tab.step.value = 2
    assert times.simulated.object is alone
    trace = traced(Call("bcast", 4, 4096, 1, 1), "linear")
    times.file.filename = "trace.json"
    times.file.value = json.dumps(trace.to_json()).encode()
    assert (tab.algorithm.value, tab.processes.value) == ("linear", 4)
    assert "with the parameters of grig-tcp" in times.note.object
    drawn, measured = hv.render(times.simulated.object), hv.render(times.measured.object)
    assert drawn.x_range.end == measured.x_range.end == pytest.approx(1.02 * max(each.max() for each in trace.times))
    assert "waits for" in times.measured_table.object
    assert "4 processes, 4 KiB, native" in times.note.object
    tab.algorithm.value = "binomial"
    assert not times.rooms[1].visible
    assert "choose it to see how it ran" in times.note.object

    times.file.value = json.dumps(traced(Call("allreduce", 2, 8, 0, 8), "ring").to_json()).encode()
    assert tab.algorithm.value == "binomial"
    assert "a trace of allreduce ring: choose it" in times.note.object
    # What is no trace is said, and nothing else changes.
    before = times.simulated.object
    times.file.filename = "<x>.json"
    for content, why in ((b"{", "Expecting"), (b"[]", "not a trace"), (b" " * (5 << 20), "5,242,880 bytes")):
        times.file.value = content
        assert why in times.note.object
        assert "&lt;x&gt;.json" in times.note.object
        assert times.simulated.object is before
    upload(times.file, "empty.json", b"")
    assert "the file is empty" in times.note.object


def test_too_many_messages_are_not_drawn(tab: Scheduled, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_MESSAGES", 6)
    tab.times.shown.value = True
    assert "7 messages are too many" in tab.times.note.object
