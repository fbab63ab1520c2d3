"""The campaigns there are, with their states."""

import time
from collections.abc import Callable, Sequence
from textwrap import shorten
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.benchmarks.campaigns import control
from dashboard.measuring.kept import Entry
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.widgets import MenuList

NONE_YET = "No campaign yet. Choose on the left what to measure, look at what it costs, and start it."
_ICONS = {
    "planned": ("edit_calendar", "default"),
    "queued": ("hourglass_empty", "info"),
    "running": ("play_circle", "primary"),
    "finished": ("check_circle", "success"),
    "failed": ("error", "error"),
    "cancelled": ("cancel", "warning"),
    "timed out": ("timer_off", "warning"),
}
_HEIGHT = 240
_LONGEST_REASON = 90
_MOST_FAULTS = 5


class CampaignList(Viewer):
    """Campaigns to choose from, the newest first.

    Parameters
    ----------
    chosen
        Called with the name of the one that is clicked.
    item
        Gives a line of the list: ``label`` (the name), ``secondary``, ``icon`` and ``color``.
    none_yet
        What is said where there are none.
    """

    def __init__(
        self,
        chosen: Callable[[str], None],
        item: Callable[[Any], dict[str, Any]] | None = None,
        none_yet: str = NONE_YET,
    ) -> None:
        super().__init__()
        self._chosen, self._item = chosen, item or _item
        self.entries: tuple[Any, ...] = ()
        self.empty = pn.pane.Markdown(none_yet, sizing_mode="stretch_width", visible=False)
        self.faults = pn.pane.Markdown("", sizing_mode="stretch_width", visible=False)
        self.menu = MenuList(items=[], sizing_mode="stretch_width", dense=True, on_click=self._click)
        scroll = {"max-height": f"{_HEIGHT}px", "overflow-y": "auto"}
        self._scroll = pn.Column(self.menu, sizing_mode="stretch_width", margin=0, styles=scroll)

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.empty, self._scroll, self.faults, sizing_mode="stretch_width", margin=0)

    def show(self, entries: Sequence[Any], faults: Sequence[str], selected: str) -> None:
        """Show the campaigns and which of them is on show; what has not changed is left alone."""
        self.entries = tuple(entries)
        self.empty.visible, self._scroll.visible = not entries, bool(entries)
        items = [self._item(entry) for entry in entries]
        if items != self.menu.items:
            self.menu.items = items
        active = next((at for at, entry in enumerate(entries) if entry.name == selected), None)
        if self.menu.active != active:
            self.menu.active = active
        lines = [f"Not listed: {plain(fault)}" for fault in faults[:_MOST_FAULTS]]
        if len(faults) > _MOST_FAULTS:
            lines.append(f"and {len(faults) - _MOST_FAULTS:,} more that cannot be read")
        text = "  \n".join(lines)
        self.faults.param.update(object=text, visible=bool(text))

    def _click(self, item: Any) -> None:
        if isinstance(item, dict) and any(entry.name == item.get("label") for entry in self.entries):
            self._chosen(item["label"])


def _item(entry: Entry) -> dict[str, Any]:
    icon, color = _ICONS.get(entry.state, ("help", "default"))
    explained = entry.reason not in ("", entry.state) and entry.state != "running"
    reason = f" ({shorten(entry.reason, _LONGEST_REASON, placeholder=' …')})" if explained else ""
    what = ", ".join(entry.collectives[:3]) + (" …" if len(entry.collectives) > 3 else "")
    far = control.Counted(entry.points, entry.measured, entry.refused).words()
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.started))
    where = {"local": "this machine", "": "not started"}.get(entry.where, entry.where.capitalize())
    facts = f"{entry.state}{reason} · {far} · {what} · {entry.ranks:,} ranks · {where} · {started}"
    return {"label": entry.name, "secondary": facts, "icon": icon, "color": color}
