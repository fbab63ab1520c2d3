"""An option as it is declared once: command, page, address and help are made from it."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.domain.errors import OptionError, meant

#: Signs of a text, at most.
LONGEST_NAME = 4000
#: Signs of a name that are shown.
SHORT = 40
_METAVARS = {"int": "N", "float": "X", "choice": "NAME", "names": "NAME[,NAME…]"}


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
        What its values are: whole numbers, numbers, yes or no, one of `choices`, different ones of them (``names``, any
        names where there are no choices), a text, or ``words``: texts that may hold anything, one by one.
    low, high
        Range of numbers, both ends allowed; None = open.
    choices
        Of a choice, or the names that there are; of a text the words that do not mean what they name.
    titles
        Of the choices, for people; empty: the choices themselves.
    unlimited
        What None stands for, such as ``no limit``; empty: None is not allowed.
    log
        Whether its steps are ratios rather than differences.
    group
        Options of one group exclude each other: at most one of them is not None.
    flag
        How the command spells it where that is not its name; a short form stands beside the long one.
    metavar
        What the command's help calls a value.
    check
        Of a text: raises `ValueError` that says what is wrong with it.
    known_as
        Of a text: what it is called for people.
    """

    name: str
    title: str
    help: str
    default: Any
    kind: Literal["int", "float", "flag", "choice", "names", "name", "words"]
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    unlimited: str = ""
    log: bool = False
    group: str = ""
    flag: str = ""
    metavar: str = ""
    check: Callable[[str], object] | None = None
    known_as: Callable[[str], str] = str

    def checked(self, value: Any) -> Any:
        """Give the value as `grow` takes it, or raise `OptionError` that names the allowed range."""
        if value is None and self.unlimited:
            return None
        readers: dict[str, Callable[[Any], Any]] = {
            "names": self._names,
            "words": self._words,
            "choice": self._choice,
            "name": self._name,
            "flag": self._flag,
        }
        return readers.get(self.kind, self._number)(value)

    @property
    def flags(self) -> tuple[str, ...]:
        """How the command spells it; where a short form is declared, that and the long one."""
        if " " in self.flag:
            return tuple(self.flag.split())
        long = f"--{self.name.replace('_', '-')}"
        if not self.flag:
            return (long,)
        return (self.flag,) if self.flag.startswith("--") else (self.flag, long)

    @property
    def valued(self) -> str:
        """What the command's help calls its values."""
        return self.metavar or _METAVARS.get(self.kind, self.name.upper())

    def typed(self, value: Any) -> list[str]:
        """The words that say it on the command line."""
        flag = self.flags[0]
        if self.kind == "words":
            return [f"{flag}={word}" for word in value]
        if isinstance(value, bool):
            return [flag if value else "--no-" + self.flags[-1].removeprefix("--")]
        return [flag, self.written(value, ",")]

    def written(self, value: Any, between: str = "+") -> str:
        """The value as the command reads it: ``none`` for None, names with a sign between them."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if self.kind == "words":
            return shlex.join(value)
        if isinstance(value, list | tuple):
            return between.join(value)
        if isinstance(value, float):
            return repr(value).removesuffix(".0")
        return "none" if value is None else str(value)

    def shown(self, value: Any) -> str:
        """The value for people."""
        if value is None:
            return self.unlimited
        if self.kind == "flag":
            return "on" if value else "off"
        if self.kind in {"names", "words"}:
            return self.written(value, ", ")
        if self.kind == "choice":
            return dict(zip(self.choices, self.titles, strict=False)).get(value, str(value))
        if self.kind == "name":
            text = self.known_as(value)
            return text if len(text) <= SHORT else f"{text[:SHORT]}…"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def _choice(self, value: Any) -> str:
        if value not in self.choices:
            raise OptionError(f"{self.name} is {value!r}, expected one of {', '.join(self.choices)}")
        return str(value)

    def _flag(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise OptionError(f"{self.name} is {value!r}, expected yes or no (True or False)")
        return value

    def _name(self, value: Any) -> str | None:
        if value == "" and self.unlimited:
            return None
        if not isinstance(value, str) or len(value) > LONGEST_NAME:
            shown = f"text of {len(value):,} signs" if isinstance(value, str) else repr(value)
            raise OptionError(f"{self.name} is {shown}, expected text of at most {LONGEST_NAME:,} signs")
        try:
            if self.check is not None:
                self.check(value)
        except ValueError as error:
            raise OptionError(f"{self.name}: {error}") from error
        return value

    def _names(self, value: Any) -> tuple[str, ...] | None:
        if isinstance(value, str):
            names: tuple[Any, ...] = tuple(dict.fromkeys(filter(None, map(str.strip, value.split(",")))))
        else:
            names = tuple(dict.fromkeys(value or ())) if isinstance(value, Iterable | None) else (value,)
        if not names and self.unlimited:
            return None
        known = self.choices or names
        unknown = [str(name) for name in names if not isinstance(name, str) or name not in known]
        if unknown or not names:
            shown, near = ", ".join(map(str, names)) or "nothing", "".join(meant(name, known) for name in unknown[:1])
            raise OptionError(f"{self.name} is {shown}, expected some of {', '.join(map(str, known))}{near}")
        return names

    def _words(self, value: Any) -> tuple[str, ...]:
        try:
            words = tuple(shlex.split(value)) if isinstance(value, str) else tuple(value or ())
        except (TypeError, ValueError) as error:
            raise OptionError(f"{self.title} {value!r}: {error}") from error
        return words

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
