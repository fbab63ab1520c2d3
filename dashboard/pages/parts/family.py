"""Controls of a family of trees, made from the options that it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.decisions.families import FAMILIES
from dashboard.decisions.family import Family
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option
from dashboard.pages.parts.widgets import DiscreteSlider, MultiChoice, Select, Switch, TextInput
from dashboard.session.choice import Choice, titles, write_value
from dashboard.session.state import State

#: Where an option has no upper end, sliders end here.
MOST_INT, MOST_FLOAT = 256, 100.0
LEAST_FLOAT = 1e-4
#: Stands for None on a slider, whose own None means that nothing is chosen.
UNLIMITED = "unlimited"
_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


def steps(option: Option, current: Any) -> dict[str, Any]:
    """Positions of a slider: values by how they are written, the current one among them.

    Parameters
    ----------
    option
        Of kind ``int`` or ``float``.
    current
        Value it has.
    """
    low = option.low if option.low is not None else 0
    if option.kind == "int":
        high = MOST_INT if option.high is None else option.high
        near = set(range(int(low), min(int(high), 16) + 1))
        far = {int(step * 2**power) for power in range(3, 24) for step in (1.0, 1.25, 1.5, 1.75)}
        values: set[Any] = (
            near | {value for value in far if 16 < value <= high} | ({int(high)} if option.high else set())
        )
    elif option.log:
        high = MOST_FLOAT if option.high is None else option.high
        least = low or LEAST_FLOAT
        decades = range(math.floor(math.log10(least)), math.ceil(math.log10(high)) + 1)
        grid = {float(f"{step * 10.0**decade:.12g}") for decade in decades for step in _ROUND}
        values = {float(low), *(value for value in grid if least <= value <= high)}
    else:
        high = option.high if option.high is not None else max(1.0, 10 * (option.default or 0.1))
        values = {float(f"{low + (high - low) * at / 100:.12g}") for at in range(101)}
    values |= {value for value in (option.default, current) if value is not None}
    ends = {option.unlimited: UNLIMITED} if option.unlimited else {}
    return {write_value(option, value): value for value in sorted(values)} | ends


class FamilyControls(Viewer):
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
        self._filling = False
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
        self._filling = True
        try:
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
                _fill(widget, family.option(name), choice.options[name])
                if family.option(name).kind == "attributes" and (possible := self.attributes()) is not None:
                    widget.options = [each for each in family.option(name).choices if each in possible]
        finally:
            self._filling = False

    def _widget(self, option: Option, value: Any) -> Any:
        if option.name in self.names:
            widget = Select(options=[value], value=value, width=240, **_common(option))
        else:
            widget = _MAKERS[option.kind](option, value)
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
        values = {n: None if w.value == UNLIMITED else w.value for n, w in self.widgets.items()}
        for option in family.options:
            if option.kind == "attributes" and not values.get(option.name):
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


def _label(option: Option) -> str:
    return option.title[:1].upper() + option.title[1:]


def _common(option: Option) -> dict[str, Any]:
    return {"label": _label(option), "description": option.help}


def _slider(option: Option, value: Any) -> Any:
    known = UNLIMITED if value is None else value
    return DiscreteSlider(options=steps(option, value), value=known, width=250, **_common(option))


def _switch(option: Option, value: Any) -> Any:
    return Switch(value=value, margin=(10, 10, 14, 10), **_common(option))


def _select(option: Option, value: Any) -> Any:
    return Select(options=list(option.choices), value=value, width=200, **_common(option))


def _several(option: Option, value: Any) -> Any:
    return MultiChoice(
        options=list(option.choices),
        value=list(value or ()),
        placeholder=option.unlimited,
        min_width=260,
        width=400,
        **_common(option),
    )


def _name(option: Option, value: Any) -> Any:
    if option.choices:
        return Select(options=_names(option, value), value=value, width=220, **_common(option))
    return TextInput(value=value, placeholder="all" if not option.default else "", width=260, **_common(option))


def _names(option: Option, value: str) -> dict[str, str]:
    """Names that are offered by how they are shown, the current one among them."""
    return {write_value(option, each): each for each in dict.fromkeys((*option.choices, value))}


_MAKERS: dict[str, Callable[[Option, Any], Any]] = {
    "int": _slider,
    "float": _slider,
    "flag": _switch,
    "choice": _select,
    "attributes": _several,
    "name": _name,
}


def _fill(widget: Any, option: Option, value: Any) -> None:
    if option.kind == "attributes":
        value = list(value or ())
    elif value is None:
        value = UNLIMITED
    if option.kind == "name" and option.choices:
        widget.options = _names(option, value)
    if widget.value == value and not (option.kind in {"int", "float"} and value not in widget.options.values()):
        return
    if option.kind in {"int", "float"}:
        widget.param.update(options=steps(option, None if value == UNLIMITED else value), value=value)
    else:
        widget.value = value
