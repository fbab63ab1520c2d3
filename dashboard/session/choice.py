"""A choice of how to decide: a family with the values of its options, comparable, hashable, and as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from dashboard.decisions.grown.families import FAMILIES, GIVEN, family
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

QUADTREE, RECOMMENDED, RULES = "quadtree", "recommended", "rules"
#: Families whose trees are there in milliseconds; the others are grown beside the event loop.
QUICK = (QUADTREE, "exact", *GIVEN)


@dataclass(frozen=True)
class Choice:
    """A family and all its options.

    Attributes
    ----------
    values
        Name and value of each option, in the family's order.
    """

    family: str
    values: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, name: str, options: Mapping[str, Any] | None = None) -> Choice:
        """Fill in the defaults and check; `OptionError` names what is not allowed."""
        checked = family(name).checked(options or {})
        return cls(name, tuple((key, tuple(v) if isinstance(v, list) else v) for key, v in checked.items()))

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options as keywords of `Family.grow`."""
        return dict(self.values)

    @property
    def quick(self) -> bool:
        """Whether its tree is grown while one looks on."""
        return self.family in QUICK

    @property
    def by_labels(self) -> bool:
        """Whether its tree learns the method of each cell, so that ties are settled before."""
        return FAMILIES[self.family].labels and not self.options.get("cost_sensitive")

    @property
    def title(self) -> str:
        """The family, for people."""
        return FAMILIES[self.family].title

    def changed(self) -> dict[str, Any]:
        """The options that are not at their defaults."""
        known = {option.name: option for option in FAMILIES[self.family].options}
        others = {name for name, value in self.values if value is None and known[name].group}
        return {name: value for name, value in self.values if value != known[name].default and name not in others}

    def described(self) -> str:
        """The family with what is not at its defaults, such as ``CART, most leaves 8``."""
        return FAMILIES[self.family].described(self.changed())


def titles() -> dict[str, str]:
    """Families that trees are grown by, by title; those whose libraries are not installed are left out."""
    names = {}
    for name in FAMILIES:
        if name in GIVEN:
            continue
        try:
            names[FAMILIES[name].title] = name
        except ImportError:
            continue
    return names


def differences(first: Choice, second: Choice) -> list[tuple[str, str, str]]:
    """Settings in which two choices differ: title, value of the first, value of the second; – where there is none."""
    sides = [
        {"family": choice.title}
        | {
            option.title: option.shown(value)
            for name, value in choice.values
            for option in [FAMILIES[choice.family].option(name)]
        }
        for choice in (first, second)
    ]
    pairs = [(title, *(side.get(title, "–") for side in sides)) for title in sides[0] | sides[1]]
    return [pair for pair in pairs if pair[1] != pair[2]]


def write_options(options: Mapping[str, Any]) -> str:
    """Write options as they stand in an address: ``max_leaves:8;attributes:comm_size,even``."""

    def text(value: Any) -> str:
        if isinstance(value, str):
            # What stands between options.
            return value.replace("%", "%25").replace(";", "%3B")
        if isinstance(value, list | tuple):
            return ",".join(text(each).replace(",", "%2C") for each in value)
        return json.dumps(value)

    return ";".join(f"{name}:{text(value)}" for name, value in options.items())


def read_options(name: str, text: str) -> dict[str, Any]:
    """Read what `write_options` wrote; `OptionError` says what is wrong."""
    known = family(name)
    return {key: _of_text(known.option(key), value) for key, value in _pairs(text)}


def read_values(options: Iterable[Option], text: str) -> dict[str, Any]:
    """Read what `write_options` wrote of these options; what is none of them is left out.

    Raises
    ------
    OptionError
        A value is not allowed.
    """
    known = {option.name: option for option in options}
    return {key: _of_text(known[key], value) for key, value in _pairs(text) if key in known}


def names_outside(known: Iterable[str], text: str) -> list[str]:
    """Names in what `write_options` wrote, or something like it, that are none of the `known`."""
    return sorted({key for key, _ in _pairs(text)} - set(known))


def _pairs(text: str) -> list[tuple[str, str]]:
    """Names and values that `write_options` wrote."""
    pairs = [part.partition(":") for part in text.split(";") if part]
    return [(key, value) for key, _, value in pairs]


def _of_text(option: Option, text: str) -> Any:
    return option.checked(_parsed(option, text))


def _parsed(option: Option, text: str) -> Any:
    if text == "null":
        return None
    if option.kind in {"names", "words"}:
        return [unquote(each) for each in text.split(",") if each]
    if option.kind in {"choice", "name"}:
        return unquote(text)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise OptionError(f"{option.name} is {text!r}, expected {option.range_text()}") from None
