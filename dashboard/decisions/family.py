"""What every way of deciding looks like from outside: its name, its options, and how it grows a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from dashboard.decisions.errors import OptionError

if TYPE_CHECKING:
    from dashboard.decisions.function import DecisionFunction
    from dashboard.decisions.problem import Problem

Progress = Callable[[float, str], None]
"""Called now and then with the share done (0 to 1) and what is under way; may raise `Cancelled`."""


LONGEST_NAME = 4000


class Cancelled(Exception):  # noqa: N818 - nothing went wrong: somebody asked for it
    """A search was told to stop."""


@dataclass(frozen=True)
class Option:
    """One option of a family; commands and pages make their own from it.

    Attributes
    ----------
    name
        Keyword of `Family.grow`; on the command line with dashes.
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

    def _name(self, value: Any) -> str:
        # A semicolon stands between options in an address.
        if not isinstance(value, str) or ";" in value or len(value) > LONGEST_NAME:
            told = f"text of {len(value):,} signs" if isinstance(value, str) else repr(value)
            raise OptionError(f"{self.name} is {told}, expected at most {LONGEST_NAME:,} signs without ';'")
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
            found = ", ".join(map(str, names)) or "nothing"
            raise OptionError(f"{self.name} is {found}, expected different ones of {', '.join(self.choices)}")
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


@dataclass(frozen=True)
class Family:
    """A way of deciding.

    Attributes
    ----------
    name
        As in ``colltune decide --tree``.
    title
        For people.
    source
        The publication it comes from.
    options
        What can be chosen.
    grow
        ``grow(problem, *, progress=None, **options)`` gives the decision function.
    path
        ``path(problem)``: the settings that a frontier tries, from small trees to large ones.
    grow_many
        ``grow_many(problem, settings, *, progress=None)``: one decision function for each of several
        settings, where that is cheaper than growing each by itself; None where it is not.
    """

    name: str
    title: str
    source: str
    options: tuple[Option, ...]
    grow: Callable[..., DecisionFunction]
    path: Callable[[Problem], Iterable[dict[str, Any]]]
    grow_many: Callable[..., list[DecisionFunction]] | None = None

    def option(self, name: str) -> Option:
        """Look up an option; `OptionError` lists those there are."""
        for option in self.options:
            if option.name == name:
                return option
        names = [option.name for option in self.options]
        near = get_close_matches(name, names, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise OptionError(f"{self.name} has no option {name}, it has {', '.join(names) or 'none'}{meant}")

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their defaults filled in, or `OptionError`; see also `Option.group`."""
        given = {name: self.option(name).checked(value) for name, value in options.items()}
        groups = self._groups(given)
        defaults = {option.name: None if option.group in groups else option.default for option in self.options}
        told = {name: value for name, value in given.items() if value is not None or self._stands(name, groups)}
        return {name: told.get(name, default) for name, default in defaults.items()}

    def _groups(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The groups of which an option is given, and which; `OptionError` where there are two of one."""
        found: dict[str, str] = {}
        for name, value in given.items():
            group = self.option(name).group
            if not group or value is None:
                continue
            if group in found:
                names = [option.name for option in self.options if option.group == group]
                first = found[group]
                raise OptionError(
                    f"{first} {given[first]:g}, {name} {value:g} are given, expected one of {', '.join(names)}"
                )
            found[group] = name
        return found

    def _stands(self, name: str, groups: Mapping[str, str]) -> bool:
        """Whether None may stand: not for the only option of a group that is said, since then none would be left."""
        group = self.option(name).group
        return not group or group in groups
