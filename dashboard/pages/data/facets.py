"""The choice among results of files that differ in device, campaign, library, …: one widget for each such facet."""

from collections.abc import Mapping, Sequence
from typing import Any

import panel as pn
import param
from panel.viewable import Viewer

from dashboard.pages.parts.widgets import Select
from dashboard.session import reading
from loaders.facets import Choice

_OPEN, _TOGETHER = "not chosen", "all of them together"
#: Value of that: a menu shows nothing where its value is None.
_ALL = "\0"


class FacetChooser(Viewer):
    """Shows a widget for each facet in which the files differ, as soon as they have been looked into.

    Parameters
    ----------
    hints
        To begin with: ``select`` and ``join`` as for `loaders.open_results`.
    """

    changed = param.Event(doc="Another value is chosen.")

    def __init__(self, hints: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = hints or {}
        choice = Choice.of(given.get("select"), given.get("join"))
        self._given: dict[str, str | None] = {**dict(choice.select), **dict.fromkeys(choice.join)}
        self.widgets: dict[str, Select] = {}
        self._body = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._body

    def offer(self, values: Mapping[str, Sequence[str]]) -> None:
        """Show what can be chosen; what was chosen stays.

        Parameters
        ----------
        values
            As `loaders.facets.values` gives them.
        """
        before = self._chosen()
        several = {name: list(there) for name, there in values.items() if len(there) > 1}
        self.widgets = {name: self._widget(name, there, before) for name, there in several.items()}
        for widget in self.widgets.values():
            widget.param.watch(lambda _: self.param.trigger("changed"), "value")
        self._body.objects = list(self.widgets.values())
        self._body.visible = bool(self.widgets)

    def values(self) -> dict[str, str]:
        """The hints that say what is chosen."""
        return reading.chosen(self._chosen())

    def _chosen(self) -> dict[str, str | None]:
        values = {name: widget.value for name, widget in self.widgets.items()}
        return {**self._given, **{name: None if value == _ALL else str(value) for name, value in values.items()}}

    @staticmethod
    def _widget(name: str, there: Sequence[str], before: Mapping[str, str | None]) -> Select:
        value = _ALL if before.get(name, "") is None else before.get(name, "")
        # What was said at the start may be written in other letters.
        same = next((label for label in there if value and label.casefold() == value.casefold()), value)
        options = {_OPEN: "", **{label: label for label in there}, _TOGETHER: _ALL}
        return Select(
            label=name.capitalize(),
            options=options,
            value=same if same in options.values() else "",
            sizing_mode="stretch_width",
            description=f"{reading.SELECT.help} {_TOGETHER.capitalize()}: {reading.JOIN.help}",
        )
