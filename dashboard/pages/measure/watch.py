"""One campaign: how far it is, what its ranks print, and what can be done with it."""

import math
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import ENDED, UNDER_WAY
from dashboard.benchmarks.campaigns.follow import Sight
from dashboard.domain.units import format_count, format_duration
from dashboard.pages.measure.form import TITLES
from dashboard.pages.parts.options import titled
from dashboard.pages.parts.widgets import Button, LinearProgress, Message

LOG_STYLE = """
div.log { display: flex; flex-direction: column-reverse; max-height: 220px; overflow: auto;
  border: 1px solid rgba(120, 120, 120, 0.4); border-radius: 4px; }
pre { font: 12px/1.4 ui-monospace, monospace; margin: 0; padding: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
p { margin: 2px 0; }
"""
_SEVERITY = {"failed": "error", "timed out": "warning", "cancelled": "warning"}
_MOST_REASONS = 6
#: What helps where a scheduler was asked for the wrong thing.
_OTHERWISE = "Resume asks for the same again: 'colltune bench submit FOLDER' takes another partition, environment, …"


class Watch(Viewer):
    """State, progress, log and buttons of the campaign on show.

    Parameters
    ----------
    actions
        By ``cancel``, ``resume``, ``rerun`` and ``open``: what the buttons do.
    """

    def __init__(self, actions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.title = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 10, 0, 10))
        self.bar = LinearProgress(value=0, sizing_mode="stretch_width", margin=(6, 10), sx={"height": "8px"})
        self.text = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10), stylesheets=[LOG_STYLE])
        self.reason = Message(margin=(6, 10))
        small: dict[str, Any] = {"size": "small", "margin": (6, 4)}
        self.cancel = Button(label="Cancel", color="error", variant="outlined", on_click=actions["cancel"], **small)
        self.resume = Button(label="Resume", variant="contained", on_click=actions["resume"], **small)
        self.rerun = Button(label="Rerun failed points", variant="outlined", on_click=actions["rerun"], **small)
        self.open = Button(label="Open in Decisions", variant="outlined", on_click=actions["open"], **small)
        self.buttons = (self.cancel, self.resume, self.rerun, self.open)
        self.refused = pn.pane.HTML("", sizing_mode="stretch_width", margin=(0, 10), stylesheets=[LOG_STYLE])
        self.log = pn.pane.HTML("", sizing_mode="stretch_width", margin=(4, 10), stylesheets=[LOG_STYLE])

    def __panel__(self) -> pn.viewable.Viewable:
        row = pn.Row(*self.buttons, margin=(0, 6))
        parts = self.title, self.bar, self.text, self.reason, row, self.refused
        return pn.Column(*parts, sizing_mode="stretch_width", margin=0)

    def show(self, name: str, sight: Sight, *, doubts: control.Doubtful, allowed: bool, busy: bool) -> None:
        """Show what was seen.

        Parameters
        ----------
        doubts
            Its times that cannot be trusted and can be measured again.
        allowed
            Whether this session may launch and cancel.
        busy
            Whether something that was asked for is under way.
        """
        now = sight.status
        state, done = now["state"], now["measured"] + now["refused"]
        self.title.object = f"<h3 style='margin: 0'>{escape(name)}: {escape(state)}</h3>"
        self.bar.value = int(100 * max(done / max(1, now["points"]), _of_budget(sight)))
        self.bar.visible = done < now["points"] or state in UNDER_WAY
        self.text.object = f"<p>{escape(_progress(now))}</p>"
        reason = titled(_reason(now), TITLES)
        self.reason.say(reason, _SEVERITY.get(state, "info"))
        missing = done < now["points"]
        self.cancel.param.update(visible=state in UNDER_WAY, disabled=busy or not allowed)
        again = "Start" if state == "planned" else "Resume"
        if not missing:
            took = f", for about {format_duration(doubts.seconds)}" if doubts.seconds else ""
            again = f"Measure {format_count(doubts.points, 'doubtful time')} again{took}"
        may_resume = (missing or doubts.points > 0) and state not in UNDER_WAY
        self.resume.param.update(visible=may_resume, disabled=busy or not allowed, label=again)
        self.rerun.param.update(
            visible=bool(now["refused"]) and state in ENDED,
            disabled=busy or not allowed,
            label=f"Rerun {format_count(now['refused'], 'failed point')}",
        )
        self.open.param.update(visible=True, disabled=not now["measured"])
        self._show_texts(sight)

    def _show_texts(self, sight: Sight) -> None:
        rows = [f"<p>{escape(why)}</p>" for why in sight.refused[:_MOST_REASONS]]
        if len(sight.refused) > _MOST_REASONS:
            rows.append(f"<p>and {len(sight.refused) - _MOST_REASONS} further reasons</p>")
        refusals = f"<details><summary>Refused or wrong</summary>{''.join(rows)}</details>" if rows else ""
        # Turned about, it shows its end without being scrolled there.
        body = f"<div class='log' tabindex='0'><pre>{escape(chr(10).join(sight.log))}</pre></div>"
        log = f"<p><strong>Log</strong></p>{body}" if sight.log else ""
        for pane, text in ((self.refused, refusals), (self.log, log)):
            # A details element that is written anew closes under the reader's eyes.
            if pane.object != text:
                pane.object = text


def _of_budget(sight: Sight) -> float:
    """Share of the time of measuring that an adaptive campaign may take; 0 without a limit."""
    seconds = (sight.chosen.get("goal") or {}).get("seconds") or math.inf
    return min(1.0, float(sight.chosen.get("spent", 0.0)) / (seconds * max(1, len(sight.status["jobs"]))))


def _progress(now: Mapping[str, Any]) -> str:
    said = [control.progress_words(now)]
    if now["state"] == "running" and now["now"]:
        said.append(f"now {now['now']}")
    if now["attempt"] > 1:
        said.append(f"launch {now['attempt']}")
    return ", ".join(said)


def _reason(now: Mapping[str, Any]) -> str:
    said = [now["reason"]] if now["reason"] not in ("", now["state"]) else []
    said += [now["note"]] if now.get("note") else []
    if now["state"] == "failed" and (now["exit_code"] or 0) > 0:
        code = f"exit code {now['exit_code']}"
        said += [code] if code not in now["reason"] else []
    said += [
        f"job {job['id']}: {job['state']}" + (f", {job['reason']}" if job.get("reason") else "")
        for job in now.get("jobs", ())
        if len(now["jobs"]) > 1 and job["id"]
    ]
    missing = now["measured"] + now["refused"] < now["points"]
    said += [_OTHERWISE] if now["state"] == "failed" and now["jobs"] and missing else []
    return "; ".join(map(str, said))
