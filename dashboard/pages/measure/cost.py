"""What a campaign would cost, and its start."""

from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.campaigns.pace import GUESSED, about, most, roughly, too_short
from dashboard.domain.units import format_count, format_duration
from dashboard.measuring.asked import Offer
from dashboard.measuring.kept import NAME_RULE
from dashboard.pages.measure.form import WIDTH
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.widgets import Button, Message, TextInput

_STYLE = """
table { border-collapse: collapse; font-size: 13px; }
td { padding: 1px 14px 1px 0; vertical-align: top; }
td:last-child { font-variant-numeric: tabular-nums; }
ul { margin: 6px 0 0; padding-left: 18px; font-size: 12.5px; }
pre { max-height: 320px; overflow: auto; font: 12px/1.4 ui-monospace, monospace; margin: 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
"""


class Cost(Viewer):
    """Estimate, name, script and the button that starts.

    Parameters
    ----------
    start
        Called when the button is pressed.
    """

    def __init__(self, start: Any) -> None:
        super().__init__()
        self.estimate = pn.pane.HTML("", width=WIDTH - 20, margin=(4, 10), stylesheets=[_STYLE])
        self.fault = Message(WIDTH)
        self.named = TextInput(
            label="Name of the campaign",
            description=f"Of its folder: {NAME_RULE}. Results, log and plan are kept there.",
            width=WIDTH,
            size="small",
        )
        self.start = Button(label="Start", color="primary", variant="contained", on_click=start, disabled=True)
        self.script = pn.pane.HTML("", stylesheets=[_STYLE], width=WIDTH - 30)
        self.fold = Fold("What will be run", self.script)
        self._suggested = ""

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(
            self.estimate, self.fault, self.named, self.fold, pn.Row(self.start, margin=0), width=WIDTH + 20, margin=0
        )

    def suggest(self, name: str) -> None:
        """Suggest a name, unless one was typed."""
        if self.named.value in ("", self._suggested):
            self._suggested = self.named.value = name

    def show(self, offered: Offer | None, fault: str, script: str, seconds: float | None) -> None:
        """Show what was worked out.

        Parameters
        ----------
        offered
            What would be measured; None: nothing can be.
        fault
            Why not, or why it cannot be started.
        script
            What would be run; empty: not known.
        """
        self.estimate.object = "" if offered is None else _sentence(offered, seconds)
        self.fault.say(fault, "warning")
        self.fold.disclosure.visible = bool(script)
        if script:
            self.script.object = f"<pre tabindex='0'>{escape(script)}</pre>"


def _sentence(offered: Offer, seconds: float | None) -> str:
    methods = ", ".join(f"{escape(name)} {count:,}" for name, count in offered.methods.items())
    points, goal = f"{offered.points:,} in {format_count(offered.cells, 'cell')}", offered.plan.goal
    ends = [] if goal is None else [("Ends", goal.words())]
    limit = offered.limit if seconds is None else seconds
    rows = [
        ("Points", points if goal is None else f"chosen from {points}"),
        ("Methods", methods),
        *ends,
        ("Likely to take", f"{about(offered.seconds)} ({GUESSED})"),
        ("At most", most(offered.at_most, limit, checked=offered.checked)),
        ("Core-hours", f"about {roughly(offered.core_hours):g}"),
        ("Time limit", format_duration(limit)),
    ]
    body = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
    notes = [f"{format_count(count, 'cell')} left out: {escape(why)}" for why, count in offered.left_out.items()]
    notes += map(escape, offered.remarks)
    notes += [f"{why[0].upper()}{why[1:]}." for why in [too_short(limit, offered.seconds)] if why]
    listed = f"<ul>{''.join(f'<li>{note}</li>' for note in notes)}</ul>" if notes else ""
    return f"<table aria-label='Estimate'>{body}</table>{listed}"
