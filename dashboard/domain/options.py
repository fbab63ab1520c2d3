"""An option as it is declared once: command, page, address and help are made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.domain.errors import OptionError

#: Signs of a name, at most.
LONGEST_NAME = 4000


@dataclass(frozen=True)
class Option:
    """One choice; commands and pages make their own from it.

    Attributes
    ----------
    name
        Keyword of what takes it, such as `Family.grow`; on the command line with dashes.
    title
        For people, with the unit.
    help
        What it does, in a sentence or two.
    default
        Value when nothing is said; None only with `unlimited`.
    kind
        What its values are: whole numbers, numbers, yes or no, one of `choices`, names of attributes, or any name.
    low, high
        Range of numbers, both ends allowed; None = open.
    choices
        Of a choice, or the attributes that may be named.
    unlimited
        What None stands for, such as ``no limit``; empty: None is not allowed.
    log
        Whether its steps are ratios rather than differences.
    group
        Options of one group exclude each other: at most one of them is not None.
    flag
        How the command spells it where that is not its name.
    check
        Of a name: raises `ValueError` that says what is wrong with it.
    """

    name: str
    title: str
    help: str
    default: Any
    kind: Literal["int", "float", "flag", "choice", "attributes", "name"]
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unlimited: str = ""
    log: bool = False
    group: str = ""
    flag: str = ""
    check: Callable[[str], object] | None = None

    def checked(self, value: Any) -> Any:
        """Give the value as `grow` takes it, or raise `OptionError` that names the allowed range."""
        if value is None and self.unlimited:
            return None
        if self.kind == "attributes":
            return self._names(value)
        if self.kind == "choice":
            if value not in self.choices:
                raise OptionError(f"{self.name} is {value!r}, expected one of {', '.join(self.choices)}")
            return value
        if self.kind == "name":
            return self._name(value)
        if self.kind == "flag":
            if not isinstance(value, bool):
                raise OptionError(f"{self.name} is {value!r}, expected yes or no (True or False)")
            return value
        return self._number(value)

    @property
    def flags(self) -> tuple[str, ...]:
        """How the command spells it; where a short form is declared, that and the long one."""
        long = f"--{self.name.replace('_', '-')}"
        if not self.flag:
            return (long,)
        return (self.flag,) if self.flag.startswith("--") else (self.flag, long)

    def typed(self, value: Any) -> list[str]:
        """The words that say it on the command line."""
        flag = self.flags[0]
        if isinstance(value, bool):
            return [flag if value else "--no-" + self.flags[-1].removeprefix("--")]
        return [flag, self.written(value, ",")]

    def written(self, value: Any, between: str = "+") -> str:
        """The value as the command reads it: ``none`` for None, names with a sign between them."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return between.join(value)
        if isinstance(value, float):
            return repr(value).removesuffix(".0")
        return "none" if value is None else str(value)

    def _name(self, value: Any) -> str:
        # A semicolon stands between options in an address.
        if not isinstance(value, str) or ";" in value or len(value) > LONGEST_NAME:
            shown = f"text of {len(value):,} signs" if isinstance(value, str) else repr(value)
            raise OptionError(f"{self.name} is {shown}, expected at most {LONGEST_NAME:,} signs without ';'")
        try:
            if self.check is not None:
                self.check(value)
        except ValueError as error:
            raise OptionError(f"{self.name}: {error}") from error
        return value

    def _names(self, value: Any) -> tuple[str, ...]:
        if isinstance(value, str):
            names: tuple[Any, ...] = tuple(value.split(","))
        else:
            names = tuple(value or ()) if isinstance(value, Iterable | None) else (value,)
        unknown = [name for name in names if name not in self.choices]
        if unknown or not names or len(set(names)) < len(names):
            shown = ", ".join(map(str, names)) or "nothing"
            raise OptionError(f"{self.name} is {shown}, expected different ones of {', '.join(self.choices)}")
        return names

    def _number(self, value: Any) -> Any:
        try:
            number = int(value) if self.kind == "int" else float(value)
            fits = not isinstance(value, bool) and number == value
        except (TypeError, ValueError, OverflowError):
            fits = False
        if not fits or (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise OptionError(f"{self.name} is {value!r}, expected {self.range_text()}")
        return number

    def range_text(self) -> str:
        """Say what numbers are allowed."""
        what = "a whole number" if self.kind == "int" else "a number"
        low = "" if self.low is None else f" from {self.low:g}"
        high = "" if self.high is None else f" to {self.high:g}"
        return f"{what}{low}{high}" + (f", or None for {self.unlimited}" if self.unlimited else "")
