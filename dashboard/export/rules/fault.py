"""What is wrong with a rules file, and what a rules file that was read is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from dashboard.domain.units import format_count

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Libraries whose rules are decision functions by communicator and message size.
TRANSLATED = "Open MPI, MPICH, Intel MPI or UCC"


class RulesError(ValueError):
    """The file is no rules file that is known, or cannot be read at all; the message says why."""


class Refused(Exception):
    """The library reads no further than a line."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class Fault:
    """One thing that is not as it should be."""

    #: Where, from 1; None where it is the file as a whole.
    line: int | None
    #: ``error``: the library refuses the file, or a call fails or is decided by what is not meant; ``warning``: it
    #: acts, but hardly as meant; ``note``: good to know.
    severity: Severity
    #: What was found, and what would be right.
    text: str
    #: What the library really does with it.
    effect: str

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {"line": self.line, "severity": self.severity, "text": self.text, "effect": self.effect}

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        return f"{where}{self.severity}: {self.text} → {self.effect}"


@dataclass(frozen=True)
class Listing:
    """Rules of a collective that are read, but not as a decision function."""

    #: How many.
    rules: int
    methods: tuple[str, ...]
    #: How many of them go by more than communicator and message size.
    not_by_sizes: int


@dataclass(frozen=True)
class RulesFile:
    """A rules file as it was read."""

    #: Such as ``openmpi-1``.
    format: str
    #: For people.
    title: str
    #: For each collective what the library really does with the file; empty when it refuses it.
    decisions: Mapping[str, DecisionFunction]
    #: What its author will have meant; the same where there is no doubt.
    meant: Mapping[str, DecisionFunction]
    #: In the order of lines.
    faults: tuple[Fault, ...] = field(default=())
    #: Rules as they stand in the file, by collective, where the reader tells them.
    written: Mapping[str, int] = field(default_factory=dict)
    #: Rules that no decision function is made of, by collective.
    listings: Mapping[str, Listing] = field(default_factory=dict)
    #: What these may go by besides communicator and message size.
    conditions: str = ""
    #: Whether it was written here.
    generated: bool = False
    #: Collectives that stand as in the file that an MPICH itself holds.
    unchanged: frozenset[str] = frozenset()
    #: The file.
    text: str = ""

    def of(self, collective: str) -> RulesFile:
        """The same with the decisions of one collective alone."""
        decisions, meant = (
            {name: each for name, each in known.items() if each.collective == collective}
            for known in (self.decisions, self.meant)
        )
        return replace(self, decisions=decisions, meant=meant)

    def count(self, name: str) -> int:
        """Number of rules of a collective: as they stand there, else as its decision has them."""
        return self.written.get(name, self.meant[name].leaves)

    @property
    def not_by_sizes(self) -> str:
        """Why listed rules are no decision by communicator and message size, in words; empty where none are listed."""
        rules = sum(each.rules for each in self.listings.values())
        others = sum(each.not_by_sizes for each in self.listings.values())
        if not others:
            return f"rules of its kind may go by {self.conditions} as well" if rules else ""
        return f"{others:,} of its {rules:,} rules go by {self.conditions} as well"

    @property
    def as_without(self) -> str:
        """How much of it is as without the file, in words; empty where nothing is."""
        count = format_count(len(self.unchanged), "collective")
        return f"{count} as MPICH has them by itself" if self.unchanged else ""

    @property
    def errors(self) -> int:
        """Number of faults that are errors."""
        return sum(fault.severity == "error" for fault in self.faults)


def in_order(faults: list[Fault]) -> tuple[Fault, ...]:
    """Sort by line, worst first within one; each only once."""
    unique = dict.fromkeys(faults)
    return tuple(sorted(unique, key=lambda fault: (fault.line or 0, SEVERITIES.index(fault.severity))))
