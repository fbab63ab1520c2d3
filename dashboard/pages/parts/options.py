"""Widgets made from options as they are declared, and what they hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option
from dashboard.pages.parts.widgets import DiscreteSlider, MultiChoice, Select, Switch, TextInput
from dashboard.session.choice import write_value

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


def _label(option: Option) -> str:
    return option.title[:1].upper() + option.title[1:]


def common(option: Option) -> dict[str, Any]:
    """Label and help of an option's widget."""
    return {"label": _label(option), "description": option.help}


def _slider(option: Option, value: Any) -> Any:
    known = UNLIMITED if value is None else value
    return DiscreteSlider(options=steps(option, value), value=known, width=250, **common(option))


def _switch(option: Option, value: Any) -> Any:
    return Switch(value=value, margin=(10, 10, 14, 10), **common(option))


def _select(option: Option, value: Any) -> Any:
    return Select(options=list(option.choices), value=value, width=200, **common(option))


def _several(option: Option, value: Any) -> Any:
    return MultiChoice(
        options=list(option.choices),
        value=list(value or ()),
        placeholder=option.unlimited,
        min_width=260,
        width=400,
        **common(option),
    )


def _name(option: Option, value: Any) -> Any:
    if option.choices:
        return Select(options=_names(option, value), value=value, width=220, **common(option))
    return TextInput(value=value, placeholder="all" if not option.default else "", width=260, **common(option))


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


def widget_of(option: Option, value: Any, width: int | None = None) -> Any:
    """The widget of an option, by what its values are.

    Parameters
    ----------
    value
        It shows.
    width
        In pixels, instead of the usual one.
    """
    widget = _MAKERS[option.kind](option, value)
    if width is not None and option.kind != "flag":
        widget.width = width
    return widget


def value_of(widget: Any) -> Any:
    """The value that a widget of `widget_of` holds, as its option takes it."""
    return None if widget.value == UNLIMITED else widget.value


def fill(widget: Any, option: Option, value: Any) -> None:
    """Have a widget of `widget_of` show another value."""
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


class OptionFields(Viewer):
    """The widgets of some options, with what they hold.

    Parameters
    ----------
    options
        As they are declared.
    changed
        Called when somebody has changed one of them.
    width
        Of each widget, pixels.
    """

    def __init__(self, options: Iterable[Option], changed: Callable[[], None], width: int) -> None:
        super().__init__()
        self.options = {option.name: option for option in options}
        self._changed, self._filling = changed, False
        self.widgets = {name: widget_of(option, option.default, width) for name, option in self.options.items()}
        for widget in self.widgets.values():
            widget.param.watch(self._take, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(*self.widgets.values(), margin=0)

    def _take(self, _: Any) -> None:
        if not self._filling:
            self._changed()

    def values(self) -> dict[str, Any]:
        """All values by name.

        Raises
        ------
        OptionError
            One of them is not allowed.
        """
        return {name: option.checked(value_of(self.widgets[name])) for name, option in self.options.items()}

    def changed(self) -> dict[str, Any]:
        """Values that are not at their defaults; what is not allowed counts as not there."""
        values = {}
        for name, option in self.options.items():
            try:
                value = option.checked(value_of(self.widgets[name]))
            except OptionError:
                continue
            if value != option.default:
                values[name] = value
        return values

    def show(self, given: Mapping[str, Any]) -> None:
        """Show these values; what is not given goes to its default."""
        self._filling = True
        try:
            for name, option in self.options.items():
                fill(self.widgets[name], option, given.get(name, option.default))
        finally:
            self._filling = False
