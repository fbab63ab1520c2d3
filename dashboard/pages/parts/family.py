"""Controls of a family of trees, made from the options that it has."""

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.family import Family
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option
from dashboard.pages.parts.options import common, fill, value_of, widget_of
from dashboard.pages.parts.views import Filling
from dashboard.pages.parts.widgets import Select
from dashboard.session.choice import Choice, titles
from dashboard.session.state import State


class FamilyControls(Filling):
    """Family chooser with the controls of the family.

    Parameters
    ----------
    get
        Gives the choice as it is.
    put
        Takes another.
    of
        Gives the choice that a family had last; called with its name.
    own
        Families whose options have controls elsewhere.
    label
        Of the chooser.
    """

    def __init__(
        self,
        get: Callable[[], Choice],
        put: Callable[[Choice], None],
        of: Callable[[str], Choice] = Choice.of,
        own: tuple[str, ...] = (),
        label: str = "Tree",
    ) -> None:
        super().__init__()
        self._get, self._put, self._of, self._own = get, put, of, own
        self._made = ""
        self.widgets: dict[str, Any] = {}
        self.family = Select(
            label=label,
            options=titles(),
            value=get().family,
            width=175,
            description="How the decision function is grown from the measurements. Each way names its publication "
            "below; the dissertation compares quadtrees (5.3) with C4.5 (5.4).",
        )
        self.family.param.watch(self._set_family, "value")
        self.source = pn.pane.HTML("", margin=(0, 10, 6, 10), styles={"opacity": "0.8", "font-size": "12px"})
        self.options = pn.FlexBox(align_items="end", sizing_mode="stretch_width", margin=0)
        self.attributes: Callable[[], tuple[str, ...] | None] = lambda: None
        #: Further families that can be chosen, by title; and for an option its possible names, by title.
        self.given: Callable[[], Mapping[str, str]] = dict
        self.names: dict[str, Callable[[], Mapping[str, str]]] = {}
        self.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.family, self.options, self.source, sizing_mode="stretch_width", margin=0)

    def remake(self) -> None:
        """Make the widgets anew, with what can be chosen now."""
        self._made = ""
        self.refresh()

    def refresh(self) -> None:
        """Follow what is chosen."""
        choice = self._get()
        family = FAMILIES[choice.family]
        with self.filling():
            offered = {**titles(), **self.given(), family.title: choice.family}
            self.family.param.update(options=offered, value=choice.family)
            self.source.object = _source(family)
            if self._made != choice.family:
                self._made = choice.family
                known = () if choice.family in self._own else family.options
                self.widgets = {option.name: self._widget(option, choice.options[option.name]) for option in known}
                self.options.objects = list(self.widgets.values())
            for name, widget in self.widgets.items():
                if name in self.names:
                    known, value = dict(self.names[name]()), choice.options[name]
                    widget.options = known if value in known.values() else {"–": value, **known}
                fill(widget, family.option(name), choice.options[name])
                if family.option(name).kind == "names" and (possible := self.attributes()) is not None:
                    widget.options = [each for each in family.option(name).choices if each in possible]

    def _widget(self, option: Option, value: Any) -> Any:
        if option.name in self.names:
            widget = Select(options=[value], value=value, width=240, **common(option))
        else:
            widget = widget_of(option, value)
        widget.param.watch(self._set_option, "value")
        return widget

    def _set_family(self, event: Any) -> None:
        if not self._filling:
            self._put(self._of(event.new))
            self.refresh()

    def _set_option(self, event: Any) -> None:
        if self._filling:
            return
        family = FAMILIES[self._get().family]
        values = self._values(family)
        moved = next((name for name, widget in self.widgets.items() if widget is event.obj), None)
        if moved is not None and (group := family.option(moved).group):
            # The option that was moved takes the place of the others of its group.
            values = {n: v for n, v in values.items() if n == moved or family.option(n).group != group}
        try:
            choice = Choice.of(family.name, values)
        except OptionError as error:
            # Only typed names can be wrong; what was chosen before stays.
            self.source.object = f'<span style="color: #e53935" role="alert">{escape(str(error))}</span>'
        else:
            self._put(choice)
            self.source.object = _source(family)

    def _values(self, family: Family) -> dict[str, Any]:
        now = self._get().options
        values = {n: value_of(w) for n, w in self.widgets.items()}
        for option in family.options:
            if option.kind == "names" and not values.get(option.name):
                # Where no attribute has no meaning, what was chosen before stays.
                values[option.name] = None if option.unlimited else now[option.name]
        return values


def follow_state(controls: FamilyControls, state: State) -> None:
    """Offer what the results of a state allow, and the rules files that were checked."""
    controls.attributes, controls.given = state.view.attributes, state.view.given
    controls.names["file"] = lambda: {name: key for key, name in state.rules.items()}
    controls.remake()


def _source(family: Family) -> str:
    return f"{escape(family.title)}: {escape(family.source)}" if family.source else ""
