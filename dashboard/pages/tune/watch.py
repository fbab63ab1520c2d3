"""One tuning: its stages as a column, what can be done with it, and what came of it."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.measuring import tunings as kept
from dashboard.pages.measure.watch import LOG_STYLE
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.options import titled
from dashboard.pages.parts.widgets import Button, Figure, FileDownload, Message
from dashboard.pages.tune.form import AGAIN, TITLES
from dashboard.plots import legend, tuning
from dashboard.tuning.bundled import LIMITS, verdict

_SEVERITY = {"proven": "success", "nothing": "info", "failed": "error"}
_EMPTY = "<h3 style='margin: 0'>From the installed MPI to a bundle that is proven faster</h3>"


class TuneWatch(Viewer):
    """Stages, buttons and result of the tuning on show.

    Parameters
    ----------
    actions
        By ``cancel``, ``go_on``, ``again`` and ``open``: what the buttons do.
    bundle
        Gives the packed bundle.
    """

    def __init__(self, actions: Mapping[str, Callable[..., Any]], bundle: Callable[[], Any]) -> None:
        super().__init__()
        wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.title = pn.pane.HTML(_EMPTY, margin=(4, 10, 4, 10), **wide)
        self.outcome = Message(margin=(2, 10, 6, 10))
        self.stages = pn.pane.HTML("", stylesheets=[tuning.STYLE], margin=(4, 10), **wide)
        small: dict[str, Any] = {"size": "small", "margin": (6, 4), "visible": False}
        self.cancel = Button(label="Cancel", color="error", variant="outlined", on_click=actions["cancel"], **small)
        self.go_on = Button(label="Go on", variant="contained", on_click=actions["go_on"], **small)
        self.again = Button(
            label=AGAIN,
            variant="outlined",
            on_click=actions["again"],
            # A screen reader reads this in the label's place.
            description="Check whether the rules still hold, after an upgrade or a new network; only what does not "
            "is measured again, and where there are none, everything.",
            **small,
        )
        self.open = Button(label="Open in Decisions", variant="outlined", on_click=actions["open"], **small)
        self.bundle = FileDownload(bundle, label="Download the bundle", filename="bundle.zip", visible=False)
        self.gain = pn.Column(margin=(8, 4), min_width=330, **wide)
        self.rules = pn.pane.HTML("", stylesheets=[legend.STYLE, "td { white-space: normal; }"], margin=(4, 10), **wide)
        self.readme = pn.pane.HTML("", stylesheets=[LOG_STYLE], margin=(4, 10), **wide)
        self.fold = Fold("What is in the bundle, and how it is switched on", self.readme)
        self.log = pn.pane.HTML("", stylesheets=[LOG_STYLE], margin=(4, 10), **wide)
        self.result = pn.Column(self.gain, self.rules, self.fold, self.log, margin=0, **wide)
        self._drawn: dict[str, Any] = {}
        self.show(None)

    def __panel__(self) -> pn.viewable.Viewable:
        buttons = [self.bundle, self.cancel, self.go_on, self.again, self.open]
        row = pn.Row(*buttons, margin=(0, 6))
        return pn.Column(self.title, self.outcome, row, self.stages, sizing_mode="stretch_width", margin=0)

    def enable(self, may: bool) -> None:  # noqa: FBT001 - what the buttons take
        """Let what starts and ends jobs be pressed, or not."""
        for button in (self.cancel, self.go_on, self.again):
            button.disabled = not may

    def show(self, seen: kept.Tuning | None) -> None:
        """Show a tuning as it is now; None: there is none."""
        steps = tuple(kept.Step(name, "waiting", None, "") for name in kept.stages()) if seen is None else seen.steps
        self._put(self.stages, titled(tuning.stage_list(steps), TITLES))
        state = "" if seen is None else seen.state
        running = state == kept.RUNNING
        self._put(self.title, _EMPTY if seen is None else _title(seen))
        reason = (
            "" if seen is None else seen.reason or verdict(state, seen.facts["decided"]) or kept.SAID.get(state, "")
        )
        reason = f"{reason} {seen.facts[LIMITS]}".strip() if seen is not None and seen.over else reason
        self.outcome.say(titled(reason, TITLES), _SEVERITY.get(state, "warning"))
        over = seen is not None and seen.over
        self.cancel.visible = running
        self.go_on.param.update(visible=seen is not None and not running and not over)
        self.again.visible = over
        self.open.visible = seen is not None and seen.campaign is not None
        there = seen is not None and seen.bundle is not None
        self.bundle.visible = there
        if seen is not None and there:
            self.bundle.filename = f"{seen.name}.zip"
        self._show_result(seen)

    def _put(self, pane: pn.pane.HTML, text: str) -> None:
        if pane.object != text:
            pane.object = text

    def _show_result(self, seen: kept.Tuning | None) -> None:
        over = seen is not None and seen.over
        gain = dict(seen.facts["gain"]) if seen is not None and over else {}
        gain = {name: share for name, share in gain.items() if share["mean"] is not None}
        compared = list(seen.facts["compared"]) if seen is not None and over else []
        if self._drawn.get("result") != (gain, compared):
            self._drawn["result"] = gain, compared
            height: dict[str, Any] = {
                "height": tuning.gain_height(len(gain)),
                "sizing_mode": "stretch_width",
                "margin": 0,
            }
            self.gain.objects = [Figure(tuning.gain_chart(gain), **height)] if gain else []
            self.rules.object = tuning.rules_table(compared)
        text = kept.readme(seen.path) if seen is not None and seen.bundle is not None else ""
        self.fold.disclosure.visible = bool(text)
        self._put(self.readme, f"<pre tabindex='0'>{escape(text)}</pre>")
        log = [] if seen is None or over else kept.tail(seen.path)
        body = f"<div class='log' tabindex='0'><pre>{escape(chr(10).join(log))}</pre></div>"
        self._put(self.log, f"<p><strong>Log</strong></p>{body}" if log else "")


def _title(seen: kept.Tuning) -> str:
    what = kept.OUTCOMES.get(seen.state, seen.state)
    return f"<h3 style='margin: 0'>{escape(seen.name)}: {escape(what)}</h3>"
