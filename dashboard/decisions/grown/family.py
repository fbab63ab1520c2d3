"""What every way of deciding looks like from outside: its name, its options, and how it grows a tree."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.errors import OptionError, meant
from dashboard.domain.options import Option

Progress = Callable[[float, str], None]
"""Called now and then with the share done (0 to 1) and what is under way; may raise `Cancelled`."""


class Cancelled(Exception):
    """A search was told to stop."""


def part_of(progress: Progress | None, number: int, of: int) -> Progress | None:
    """Progress of one part of several of the same length."""
    return None if progress is None else lambda share, what: progress((number + share) / of, what)


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
    labels
        Whether it learns which method each cell has, so that ties are settled before; else it weighs times.
    predicts
        Whether it predicts times between the measured sizes by itself.
    tells
        What else than sizes its trees test, so that one decides several tables: of ``ppn`` and ``collective``.
    """

    name: str
    title: str
    source: str
    options: tuple[Option, ...]
    grow: Callable[..., DecisionFunction]
    path: Callable[[Problem], Iterable[dict[str, Any]]]
    grow_many: Callable[..., list[DecisionFunction]] | None = None
    labels: bool = False
    predicts: bool = False
    tells: tuple[str, ...] = ()

    def option(self, name: str) -> Option:
        """Look up an option; `OptionError` lists those there are."""
        for option in self.options:
            if option.name == name:
                return option
        names = [option.name for option in self.options]
        has = ", ".join(names) or "none"
        raise OptionError(f"{self.name} has no option {name}, it has {has}{meant(name, names)}")

    def described(self, options: Mapping[str, Any]) -> str:
        """It with these options, for people, such as ``CART, most leaves 8``; what it does not know stands as it is."""
        known = {option.name: option for option in self.options}
        settings = [
            f"{known[name].title} {known[name].shown(value)}" if name in known else f"{name} {value}"
            for name, value in options.items()
        ]
        return ", ".join([self.title, *settings])

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their defaults filled in, or `OptionError`; see also `Option.group`."""
        given = {name: self.option(name).checked(value) for name, value in options.items()}
        # Of a group None is none that is given: of all its options one stands.
        given = {name: value for name, value in given.items() if value is not None or not self.option(name).group}
        groups = self._groups(given)
        defaults = {option.name: None if option.group in groups else option.default for option in self.options}
        return {**defaults, **given}

    def _groups(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The groups of which an option is given, and which; `OptionError` where there are two of one."""
        group_members: dict[str, str] = {}
        for name, value in given.items():
            group = self.option(name).group
            if not group:
                continue
            if group in group_members:
                names = [option.name for option in self.options if option.group == group]
                first = group_members[group]
                raise OptionError(
                    f"{first} {given[first]:g}, {name} {value:g} are given, expected one of {', '.join(names)}"
                )
            group_members[group] = name
        return group_members
