"""A tuning as pictures and HTML: its stages, what is gained, what became of each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import holoviews as hv
import numpy as np

from dashboard.domain.tuning import COMPARED
from dashboard.domain.units import format_bytes, format_count, format_duration, format_percent
from dashboard.plots.coverage import sizes_text
from dashboard.plots.frame import framed, tooltips
from dashboard.plots.legend import table

if TYPE_CHECKING:
    from dashboard.measuring.tunings import Step

_ROW_HEIGHT, _AROUND = 44, 92
_GOOD, _GREY = "#1a9e62", "#9a9a9a"
_GOOD_TEXT = "var(--mui-palette-success-main, #1a7f5a)"
#: Sign, colour and word of each state of a stage.
_SIGNS = {
    "done": ("✓", _GOOD_TEXT),
    "running": ("●", "var(--mui-palette-primary-main, #0b6bcb)"),
    "failed": ("✖", "var(--mui-palette-error-main, #b3261e)"),
    "interrupted": ("■", "var(--mui-palette-warning-main, #b25e00)"),
    "waiting": ("○", "inherit"),
}
#: What each stage is about, told before it has anything to say of itself.
_ABOUT = {
    "look": "library, machine, launcher, and what it will cost",
    "measure": "every method in all ways that programs call it, then where the decision can still change",
    "decide": "the recommended tree of each collective",
    "export": "rules for the installed version",
    "lint": "errors of the rules",
    "prove": "who sends what to whom, under the rules",
    "compare": "against the library's own decision, by fresh launches",
    "bundle": "everything to install and switch on",
}
STYLE = """
ol { list-style: none; margin: 0; padding: 0; font-size: 14px; }
li { display: grid; grid-template-columns: 22px 84px 76px 1fr; gap: 0 8px; padding: 5px 0; align-items: baseline;
  border-bottom: 1px solid rgba(120, 120, 120, 0.22); }
li.waiting { opacity: 0.72; }
li.running { font-weight: 500; }
li span { overflow-wrap: anywhere; }
li .seconds { text-align: right; font-variant-numeric: tabular-nums; padding-right: 8px; }
li .bar { grid-column: 4; height: 4px; margin-top: 4px; border-radius: 2px; background: rgba(120, 120, 120, 0.25); }
li .bar i { display: block; height: 4px; border-radius: 2px; background: var(--mui-palette-primary-main, #0b6bcb); }
"""


def stage_list(steps: Sequence[Step]) -> str:
    """Write the stages as a column: sign, name, time, what was done; how far the one at work is."""
    rows = []
    for step in steps:
        sign, color = _SIGNS.get(step.state, _SIGNS["waiting"])
        took = "" if step.seconds is None or step.state != "done" else format_duration(step.seconds)
        said = step.said or _ABOUT.get(step.name, "")
        bar = ""
        if step.state == "running" and step.share is not None:
            bar = f'<div class="bar"><i style="width: {100 * min(step.share, 1.0):.0f}%"></i></div>'
        state = escape(step.state, quote=True)
        rows.append(
            f'<li class="{state}"><span role="img" aria-label="{state}" style="color: {color}">{sign}</span>'
            f'<span>{escape(step.name)}</span><span class="seconds">{took}</span><span>{escape(said)}</span>{bar}</li>'
        )
    return f'<ol aria-label="Stages">{"".join(rows)}</ol>'


def plan_table(methods: Mapping[str, Sequence[str]], comm_sizes: Sequence[int], message_sizes: Sequence[int]) -> str:
    """Write what there is to measure.

    Parameters
    ----------
    methods
        Of each collective the algorithm of each method.
    comm_sizes, message_sizes
        Grid, ascending.
    """
    processes, sizes = sizes_text(comm_sizes, lambda size: f"{size:,}"), sizes_text(message_sizes, format_bytes)
    rows = []
    for collective, algorithms in methods.items():
        names = f'<span style="white-space: normal">{escape(", ".join(dict.fromkeys(algorithms)))}</span>'
        rows.append([escape(collective), f"{len(algorithms):,}", processes, sizes, names])
    heads = [("collective", False), ("methods", True), ("processes", False), ("message sizes", False)]
    return table("What can be measured", [*heads, ("algorithms", False)], rows)


def gain_chart(gain: Mapping[str, Mapping[str, Any]]) -> hv.Overlay:
    """Draw what is gained over the library's own decision by collective, with its interval of 95 %.

    Parameters
    ----------
    gain
        By collective: ``mean, low, high`` (percent of the time; None: nothing is kept) and ``cells``.
    """
    kept = {name: figures for name, figures in gain.items() if figures["mean"] is not None}
    names = list(kept)[::-1]
    rows = np.arange(len(names), dtype=float)
    low, mean, high = (np.array([kept[name][key] for name in names], dtype=float) for key in ("low", "mean", "high"))
    dims = [hv.Dimension(name) for name in ("low", "row", "high", "same")]
    x, y = (
        hv.Dimension("mean", label="less time than the library's own decision [%]"),
        hv.Dimension("at", label="collective"),
    )
    words = [f"{kept[n]['low']:.1f} to {kept[n]['high']:.1f} %" for n in names]
    cells = [format_count(int(kept[n]["cells"]), "size") for n in names]
    columns = {x.name: mean, y.name: rows, "name": names, "told": [format_percent(m) for m in mean]}
    points = hv.Scatter({**columns, "within": words, "cells": cells}, x, [y, "name", "told", "within", "cells"])
    tips = [("", "@name"), ("gain", "@told"), ("95 %", "@within"), ("in", "@cells")]
    layers = [
        hv.VLine(0.0).opts(color=_GREY, line_width=1.5, backend="bokeh"),
        hv.Segments((low, rows, high, rows), dims).opts(color=_GOOD, line_width=5, alpha=0.5, backend="bokeh"),
        points.opts(color=_GOOD, size=11, **tooltips(tips)),
    ]
    ends = np.concatenate([low, high, [0.0]])
    room = 0.06 * max(float(np.ptp(ends)), 1.0)
    return hv.Overlay(layers).opts(
        **framed("What is gained", gain_height(len(names)), tools=["save"], grows=False),
        xlim=(float(ends.min()) - room, float(ends.max()) + room),
        ylim=(-0.6, max(len(names), 1) - 0.4),
        yticks=list(zip(rows.tolist(), names, strict=True)) or [(0.0, "")],
        xlabel=x.label,
        ylabel="",
    )


def gain_height(collectives: int) -> int:
    """Height of `gain_chart` for so many collectives, pixels."""
    return _AROUND + _ROW_HEIGHT * max(collectives, 1)


_JUDGED = (
    "<p>A rule's gain is that of all comparisons together, by which it is kept; what is gained by a collective is that "
    "of the last one alone, which has chosen nothing.</p>"
)


def rules_table(compared: Sequence[Mapping[str, Any]]) -> str:
    """Write every rule that was compared: its region, its method, what it gains, whether it is kept."""
    heads = [("collective", False), ("where", False), ("method", False), ("cells", True), ("gain", True), ("", False)]
    rows = [
        [
            escape(str(rule["collective"])),
            escape(str(rule["rule"])),
            escape(str(rule["method"])),
            f"{rule['cells']:,}",
            format_percent(rule["improvement"]),
            "kept"
            if rule["kept"]
            else "left to the library: " + escape(COMPARED.get(rule["verdict"], rule["verdict"])),
        ]
        for rule in sorted(compared, key=lambda rule: (not rule["kept"], rule["collective"]))
    ]
    return table("Rules against the library's own decision", heads, rows) + _JUDGED if rows else ""
