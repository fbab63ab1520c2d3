"""What the ranks of a check are told, and what they write: the methods to call, and what happened, line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks.selection import ENVIRONMENT
from loaders import disk

#: Collective, number of the method, communicator size.
Step = tuple[str, int, int]
#: The same with the number of the case.
At = tuple[str, int, int, int]
#: Variable in which the supervisor tells how the start before this one ended.
ENDED = "COLLTUNE_ENDED"


@dataclass(frozen=True)
class Forced:
    """A method with what makes the library take it."""

    method: Method
    #: Control variables.
    settings: Mapping[str, int]
    #: Part of the library that is to answer; empty: the one that it finds first.
    component: str = ""


@dataclass(frozen=True)
class Order:
    """What is checked."""

    #: Ascending; the largest is the number of ranks.
    comm_sizes: tuple[int, ...]
    #: By collective.
    methods: Mapping[str, tuple[Forced, ...]]
    #: Whether control variables act at the call, on all communicators; else on those that are made afterwards.
    set_at_call: bool = False

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables with which the ranks must be started: where components are called, the library says whom it has."""
        return ENVIRONMENT if any(forced.component for each in self.methods.values() for forced in each) else {}

    @property
    def steps(self) -> list[Step]:
        """In the order in which they are made: small communicators first, where faults are cheap to look into."""
        return [
            (name, number, size)
            for size in self.comm_sizes
            for name, each in self.methods.items()
            for number in range(len(each))
        ]

    def save(self, path: Path) -> None:
        """Write it."""
        methods = {
            name: [
                {"method": forced.method.to_json(), "settings": dict(forced.settings), "component": forced.component}
                for forced in each
            ]
            for name, each in self.methods.items()
        }
        record = {"comm_sizes": list(self.comm_sizes), "methods": methods, "set_at_call": self.set_at_call}
        disk.write_text(path, json.dumps(record))

    @classmethod
    def load(cls, path: Path) -> Order:
        """Read it."""
        record = json.loads(path.read_text(encoding="utf-8"))
        methods = {
            name: tuple(
                Forced(Method.from_json(entry["method"]), entry["settings"], entry["component"]) for entry in each
            )
            for name, each in record["methods"].items()
        }
        return cls(tuple(record["comm_sizes"]), methods, record["set_at_call"])


@dataclass
class Records:
    """What was written so far."""

    #: Steps with the number of cases that were called.
    done: dict[Step, int] = field(default_factory=dict)
    #: Lines on cases that went wrong: ``at, kind, words, text``.
    faults: list[dict[str, Any]] = field(default_factory=list)
    #: Steps whose method is not for so many processes, with the library's words.
    refused: dict[Step, str] = field(default_factory=dict)
    #: Methods, as (collective, number), that hung or took the job down once, with the words of the case and what
    #: happened: a loaded machine can look so, so that they are called again.
    died: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    #: Those that did it twice: they are called no more.
    dead: set[tuple[str, int]] = field(default_factory=set)
    #: The case that was begun last, if nothing was written after it.
    calling: At | None = None

    @classmethod
    def read(cls, path: Path) -> Records:
        """Read them; a line that a crash cut off counts as not written."""
        records = cls()
        for record in disk.records(disk.read_lines(path)):
            records.take(record)
        return records

    def take(self, record: Mapping[str, Any]) -> None:
        """Add a line."""
        self.calling = None
        match record:
            case {"at": at}:
                self.calling = tuple(at)
            case {"done": step, "cases": count}:
                self.done[tuple(step)] = count
            case {"died": at, "words": words, "text": text}:
                self.died[at[0], at[1]] = (words, text)
            case {"refused": step, "why": why}:
                self.refused[tuple(step)] = why
            case {"fault": at}:
                self.faults.append({**record, "fault": tuple(at)})
                if record.get("dead"):
                    self.dead.add((at[0], at[1]))

    def missing(self, order: Order) -> list[Step]:
        """Steps that are still to be made."""
        return [step for step in order.steps if step not in self.done and step[:2] not in self.dead]
