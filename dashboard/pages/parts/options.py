"""Widgets made from options as they are declared, and what they hold."""

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import panel as pn

from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option
from dashboard.pages.parts.views import Filling
from dashboard.pages.parts.widgets import DiscreteSlider, FloatInput, IntInput, MultiChoice, Select, Switch, TextInput
from dashboard.session.choice import read_values

#: Where an option has no upper end, sliders end here.
MOST_INT, MOST_FLOAT = 256, 100.0
LEAST_FLOAT = 1e-4
#: Stands for None on a slider and in a menu, whose own None means that nothing is chosen.
UNLIMITED = "unlimited"
_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


def steps(option: Option, current: Any) -> dict[str, Any]:
    """Positions of a slider: values by how they are written, the current one among them.

    Parameters
    ----------
    option
        Of kind ``int`` or ``float``.
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
    return {option.shown(value): value for value in sorted(values)} | ends


def common(option: Option) -> dict[str, Any]:
    """Label and help of an option's widget."""
    return {"label": option.title[:1].upper() + option.title[1:], "description": option.help}


def _slider(option: Option, value: Any) -> Any:
    known = UNLIMITED if value is None else value
    return DiscreteSlider(options=steps(option, value), value=known, width=250, **common(option))


def _switch(option: Option, value: Any) -> Any:
    return Switch(value=value, margin=(10, 10, 14, 10), **common(option))


def _select(option: Option, value: Any) -> Any:
    known = UNLIMITED if value is None else value
    return Select(options=_choices(option), value=known, width=200, **common(option))


def _choices(option: Option) -> dict[str, str]:
    """Choices by title, what None stands for first."""
    none = {option.unlimited: UNLIMITED} if option.unlimited else {}
    return none | dict(zip(option.titles or option.choices, option.choices, strict=True))


def _several(option: Option, value: Any) -> Any:
    return MultiChoice(
        options=list(dict.fromkeys((*option.choices, *(value or ())))),
        value=list(value or ()),
        placeholder=option.unlimited,
        min_width=260,
        width=400,
        **common(option),
    )


def _name(option: Option, value: Any) -> Any:
    if option.choices:
        return Select(options=_names(option, value or ""), value=value or "", width=220, **common(option))
    return TextInput(value=value or "", placeholder=option.unlimited, width=260, **common(option))


def _words(option: Option, value: Any) -> Any:
    return TextInput(value=shlex.join(value), width=260, **common(option))


def _typed(option: Option, value: Any) -> Any:
    field = IntInput if option.kind == "int" else FloatInput
    ends = {"start": option.low, "end": option.high}
    return field(value=value, width=200, **ends, **common(option))


def _names(option: Option, value: str) -> dict[str, str]:
    """Names that are offered by how they are shown, the current one among them."""
    shown = dict(zip(option.choices, option.titles, strict=False))
    return {shown.get(each, option.shown(each)): each for each in dict.fromkeys((*option.choices, value))}


_MAKERS: dict[str, Callable[[Option, Any], Any]] = {
    "int": _slider,
    "float": _slider,
    "flag": _switch,
    "choice": _select,
    "names": _several,
    "name": _name,
    "words": _words,
}
_SMALL = ("choice", "name", "words", "int", "float")


def titles_of(options: Iterable[Option]) -> dict[str, str]:
    """What a page calls its options, by what the command calls them: for `titled`."""
    return {flag: option.title for option in options for flag in option.flags}


def titled(text: str, titles: Mapping[str, str]) -> str:
    """A sentence of the command, whose options are called as the page calls them."""
    return re.sub(r"--[a-z][a-z-]*[a-z]", lambda flag: titles.get(flag[0], flag[0]), text)


def widget_of(option: Option, value: Any, width: int | None = None, *, typed: bool = False) -> Any:
    """The widget of an option, by what its values are.

    Parameters
    ----------
    width
        In pixels, instead of the usual one.
    typed
        Whether numbers are typed, in fields as small as they can be, rather than chosen on a slider.
    """
    # A field for numbers shows none as 0.
    maker = _typed if typed and option.kind in {"int", "float"} and not option.unlimited else _MAKERS[option.kind]
    widget = maker(option, value)
    if typed and option.kind in _SMALL:
        widget.size = "small"
    if width is not None and option.kind != "flag":
        widget.width = width
    return widget


def value_of(widget: Any) -> Any:
    """The value that a widget of `widget_of` holds, as its option takes it."""
    return None if widget.value == UNLIMITED else widget.value


def fill(widget: Any, option: Option, value: Any) -> None:
    """Have a widget of `widget_of` show another value."""
    slider = isinstance(widget, DiscreteSlider)
    if option.kind == "names":
        value = list(value or ())
        widget.options = list(dict.fromkeys((*widget.options, *value)))
    elif option.kind == "words":
        value = shlex.join(value)
    elif value is None:
        value = "" if option.kind == "name" else UNLIMITED if slider or option.kind == "choice" else None
    if option.kind == "name" and option.choices:
        widget.options = _names(option, value)
    if widget.value == value and not (slider and value not in widget.options.values()):
        return
    if slider:
        widget.param.update(options=steps(option, None if value == UNLIMITED else value), value=value)
    else:
        widget.value = value


class OptionFields(Filling):
    """The widgets of some options, with what they hold.

    Parameters
    ----------
    options
        As they are declared.
    changed
        Called when somebody has changed one of them.
    width
        Of each widget, pixels.
    typed
        As `widget_of` has it.
    """

    def __init__(
        self, options: Iterable[Option], changed: Callable[[], None], width: int, *, typed: bool = False
    ) -> None:
        super().__init__()
        self.options = {option.name: option for option in options}
        self._changed = changed
        self.widgets = {
            name: widget_of(option, option.default, width, typed=typed) for name, option in self.options.items()
        }
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
        return {name: option.checked(self._held(name)) for name, option in self.options.items()}

    def _held(self, name: str) -> Any:
        value, option = value_of(self.widgets[name]), self.options[name]
        # A field for numbers shows 0 when it was emptied.
        return 0 if value is None and option.kind in {"int", "float"} and not option.unlimited else value

    def typed(self) -> dict[str, Any]:
        """All values by name; what is not allowed as it was typed."""
        values = {}
        for name, option in self.options.items():
            value = self._held(name)
            with suppress(OptionError):
                value = option.checked(value)
            values[name] = value
        return values

    def changed(self) -> dict[str, Any]:
        """Values that are not at their defaults; what is not allowed counts as not there."""
        values = {}
        for name, option in self.options.items():
            with suppress(OptionError):
                values[name] = option.checked(self._held(name))
        return {name: value for name, value in values.items() if value != self.options[name].default}

    def read(self, text: str) -> None:
        """Show what `dashboard.session.choice.write_options` wrote; what is none of them is left out.

        Raises
        ------
        OptionError
            A value is not allowed.
        """
        self.show(read_values(self.options.values(), text))

    def show(self, given: Mapping[str, Any]) -> None:
        """Show these values; what is not given goes to its default."""
        with self.filling():
            for name, option in self.options.items():
                fill(self.widgets[name], option, given.get(name, option.default))
