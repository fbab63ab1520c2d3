"""Fields of a form as they stand in an address."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from dashboard.domain.errors import OptionError
from dashboard.session.choice import written_options


class Fields:
    """What of some fields is not as it is when the form is opened, and the same put into them again.

    Parameters
    ----------
    fields
        Widgets by name: of texts, numbers, choices and switches.
    changed
        Called when somebody has changed one of them.
    open_ended
        Those whose choices are not known before the machine was looked at: a name that is none of them is kept.
    withheld
        Those that no address says.
    """

    def __init__(
        self,
        fields: Mapping[str, Any],
        changed: Callable[[], None],
        open_ended: Collection[str] = (),
        withheld: Collection[str] = (),
    ) -> None:
        self.fields = {name: field for name, field in fields.items() if name not in withheld}
        self._changed, self._open_ended, self._filling = changed, open_ended, False
        self._usual = {name: field.value for name, field in self.fields.items()}
        for field in fields.values():
            field.param.watch(self._take, "value")

    def _take(self, _: Any) -> None:
        if not self._filling:
            self._changed()

    @contextmanager
    def filling(self) -> Iterator[None]:
        """While the form itself sets its fields."""
        before, self._filling = self._filling, True
        try:
            yield
        finally:
            self._filling = before

    def changed(self) -> dict[str, Any]:
        """Values that are not as usual, as `dashboard.session.choice.write_options` takes them."""
        values = {name: field.value for name, field in self.fields.items() if field.value is not None}
        return {name: _written(value) for name, value in values.items() if value != self._usual[name]}

    def show(self, text: str) -> None:
        """Show what an address says of them; what is no name of theirs is left out.

        Raises
        ------
        OptionError
            A value cannot be what the field holds.
        """
        with self.filling():
            for name, value in written_options(text).items():
                if name in self.fields:
                    self._fill(name, value)

    def _fill(self, name: str, text: str) -> None:
        field, value = self.fields[name], self._value(name, text)
        if (options := getattr(field, "options", None)) is not None:
            values = options.values() if isinstance(options, Mapping) else options
            unknown = [each for each in (value if isinstance(value, list) else [value]) if each not in values]
            if unknown and name not in self._open_ended:
                raise OptionError(f"{name} is {unknown[0]!r}, expected one of {', '.join(map(str, values))}")
            if unknown:
                further = {each: each for each in unknown}
                field.options = {**options, **further} if isinstance(options, Mapping) else [*options, *unknown]
        field.value = value

    def _value(self, name: str, text: str) -> Any:
        """A value of the kind that the field has from the beginning."""
        usual = self._usual[name]
        if isinstance(usual, list):
            return [unquote(each) for each in text.split(",") if each]
        if isinstance(usual, str):
            return unquote(text)
        kind, expected = (bool, "true or false") if isinstance(usual, bool) else (int | float, "a number")
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, kind) or isinstance(value, bool) != isinstance(usual, bool):
            raise OptionError(f"{name} is {text!r}, expected {expected}")
        return value


def _written(value: Any) -> Any:
    """With signs that stand between options, and between names of a list, in the code of addresses."""
    if isinstance(value, str):
        return value.replace("%", "%25").replace(";", "%3B")
    return [_written(each).replace(",", "%2C") for each in value] if isinstance(value, list) else value
