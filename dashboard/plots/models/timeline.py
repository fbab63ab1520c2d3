"""Time line of an algorithm: who sends what when, as Figures 4.16 to 4.18 of the dissertation draw it."""

from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

import holoviews as hv
import numpy as np
from bokeh.models import CustomJSTickFormatter

from dashboard.domain.units import format_bytes, format_count, format_time
from dashboard.models.simulator import Run
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import table
from dashboard.plots.models.chart import TIME_TICKS

ROW = 46
#: More messages than this would be a black patch.
MOST_MESSAGES = 1500
#: Share of a process's row that what it does takes up.
_HALF = 0.3
_HATCH = {"color": "#222222", "alpha": 0.6, "scale": 7}


class Look(NamedTuple):
    """How one kind of work is drawn: colour, hatch and what stands for it in text."""

    color: str
    hatch: str
    sign: str
    title: str


LOOKS: Mapping[str, Look] = {
    "send": Look("#2f8fd8", " ", "", "sends"),
    "receive": Look("#e0a21a", "/", "/", "receives"),
    "compute": Look("#1a9e62", "x", "x", "computes"),
    "copy": Look("#c2479c", ".", "∙", "copies"),
    "wait": Look("#e6e6e6", " ", "", "waits for"),
}
_X, _Y = hv.Dimension("time", label="time"), hv.Dimension("process", label="process")


def kinds_of(run: Run) -> dict[str, int]:
    """Number of pieces of work of each kind that there are, in the order of `LOOKS`."""
    return {kind: count for kind in LOOKS if (count := sum(each.kind == kind for each in run.events))}


def work_columns(run: Run, kind: str) -> dict[str, Any]:
    """Boxes of one kind of work; process 0 is the topmost row."""
    events = [each for each in run.events if each.kind == kind and each.end > each.start]
    rows = np.array([-each.process for each in events], dtype=float)
    labels = [f"process {each.process} {LOOKS[kind].title} {format_bytes(each.size)}" for each in events]
    peer = {"send": " to {}", "receive": " from {}", "wait": ", process {}"}.get(kind, "")
    peers = [peer.format(each.peer) for each in events]
    return {
        "start": np.array([each.start for each in events], dtype=float),
        "low": rows - _HALF,
        "end": np.array([each.end for each in events], dtype=float),
        "high": rows + _HALF,
        "told": np.array([a + b for a, b in zip(labels, peers, strict=True)], dtype=object),
        "span": np.array([f"{format_time(e.start)} to {format_time(e.end)}" for e in events], dtype=object),
    }


def message_columns(run: Run) -> dict[str, Any]:
    """Lines of the messages, from the sender's row to the receiver's."""
    return {
        "time": np.array([each.start for each in run.messages], dtype=float),
        "process": np.array([-each.source for each in run.messages], dtype=float),
        "arrival": np.array([each.end for each in run.messages], dtype=float),
        "receiver": np.array([-each.to for each in run.messages], dtype=float),
    }


def timeline(title: str, run: Run, until: float = 0.0) -> hv.Overlay:
    """Draw a run.

    Parameters
    ----------
    title
        Of the chart.
    run
        As `dashboard.models.simulator.simulate` or `dashboard.models.traced.run_of` gives it.
    until
        End of the axis, seconds, where others are to be compared with it; at least the run's.
    """
    processes = len(run.finished)
    layers: list[hv.Element] = []
    for kind in kinds_of(run):
        look = LOOKS[kind]
        boxes = hv.Rectangles(work_columns(run, kind), ["start", "low", "end", "high"], ["told", "span"]).opts(
            color=look.color,
            # HoloViews has no option for hatches.
            backend_opts={f"glyph.hatch_{name}": each for name, each in {"pattern": look.hatch, **_HATCH}.items()},
            line_color="#222222",
            line_width=0.8,
            **tooltips([("", "@told"), ("time", "@span")]),
        )
        layers.append(boxes)
    columns = message_columns(run)
    lines = hv.Segments(columns, ["time", "process", "arrival", "receiver"])
    layers.append(lines.opts(color="#888888", line_width=1.4, backend="bokeh"))
    ends = hv.Scatter((columns["arrival"], columns["receiver"]), _X, _Y)
    layers.append(ends.opts(marker="circle", size=5, color="#888888", backend="bokeh"))
    return hv.Overlay(layers).opts(
        **framed(
            title,
            max(240, ROW * processes + 90),
            _time_below,
            tools=["pan", "xwheel_zoom", "box_zoom", "save", "reset"],
            grows=False,
            xlabel="time",
            ylabel="process",
            xlim=(0.0, max(run.time, until) * 1.02 or 1.0),
            ylim=(-processes + 0.4, 0.6),
            yticks=[(-each, str(each)) for each in range(processes)],
        )
    )


def _time_below(plot: Any, _: hv.Element) -> None:
    plot.state.below[0].formatter = CustomJSTickFormatter(code=TIME_TICKS)


def timeline_table(run: Run) -> str:
    """Write when each process is done and how long it was busy, and what the boxes mean."""
    kinds = kinds_of(run)
    heads = [("process", True), ("done after", True), *((LOOKS[kind].title, True) for kind in kinds)]
    rows = []
    for process, done in enumerate(run.finished):
        own = [each for each in run.events if each.process == process]
        spent = [sum(each.end - each.start for each in own if each.kind == kind) for kind in kinds]
        rows.append([str(process), format_time(done), *(format_time(each) for each in spent)])
    signs = " ".join(
        f'<span class="swatch" style="background: {LOOKS[kind].color}">{LOOKS[kind].sign or "&nbsp;"}</span> '
        f"{escape(LOOKS[kind].title)}"
        for kind in kinds
    )
    count = format_count(len(run.messages), "message")
    note = f"<p>{signs} – {count}, done after {format_time(run.time)}; a dot is where a message has been received.</p>"
    return note + table("What each process spends its time on", heads, rows)
