"""What the ranks of a proof are told to call, and what they write down, as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.ranks.counting import Sent
from loaders import disk

#: What is counted: messages and bytes by the library's own monitoring, or bytes of TCP by Linux.
Evidence = Literal["messages", "sockets"]
Key = tuple[Cell, str]
#: Sums of what calls send (`sum_of`) are taken modulo this, so that they fit 64 bits.
PRIME = (1 << 61) - 1
#: Error of a call that went well, but is not known by what it sends.
NOT_STEADY = "what it sent changed from call to call"


@dataclass(frozen=True)
class Call:
    """One way of calling a collective."""

    #: What it is called in the results.
    name: str
    #: Control variables that are written before.
    settings: Mapping[str, int] = field(default_factory=dict)
    #: Whether a verdict needs it: it is made before those that tell methods apart.
    needed: bool = True


@dataclass(frozen=True)
class Order:
    """Calls for one job."""

    #: What is counted.
    evidence: Evidence
    #: Performance variables of the library that count it.
    counters: tuple[str, ...]
    #: Whether control variables act on all communicators at once, else on those that are made afterwards.
    set_at_call: bool
    #: By the sizes at which they are called.
    calls: Mapping[Cell, tuple[Call, ...]]
    #: Whether the library says of every call who answers it.
    listens: bool = False

    def without(self, done: Sequence[Key]) -> Order:
        """What is left when some of it is done."""
        gone = set(done)
        left = {
            cell: tuple(call for call in each if (cell, call.name) not in gone) for cell, each in self.calls.items()
        }
        return replace(self, calls={cell: each for cell, each in left.items() if each})

    def first(self) -> Order:
        """Only the first call."""
        cell, each = next(iter(self.calls.items()))
        return replace(self, calls={cell: each[:1]})

    @property
    def ranks(self) -> int:
        """Processes that are needed."""
        return max(cell.comm_size for cell in self.calls)

    def save(self, path: Path) -> None:
        """Write it for the ranks."""
        calls = [[asdict(cell), [asdict(call) for call in each]] for cell, each in self.calls.items()]
        names = ("evidence", "counters", "set_at_call", "listens")
        record = {name: getattr(self, name) for name in names}
        disk.write_text(path, json.dumps({**record, "calls": calls}))

    @classmethod
    def load(cls, path: Path) -> Order:
        """Read what `save` wrote."""
        record = json.loads(path.read_text(encoding="utf-8"))
        calls = {Cell(**cell): tuple(Call(**call) for call in each) for cell, each in record["calls"]}
        return cls(record["evidence"], tuple(record["counters"]), record["set_at_call"], calls, record["listens"])


@dataclass(frozen=True)
class Seen:
    """What one call did."""

    #: Why it failed, or that its result was wrong; empty when all went well.
    error: str = ""
    #: As `dashboard.benchmarks.ranks.cellrun.graph_of` gives it.
    graph: Mapping[str, Any] = field(default_factory=dict)
    #: Component of the library that the call was given to, by the library's own word, and why it did not answer; empty
    #: where nothing was said.
    who: str = ""
    lacking: str = ""
    #: Processes of the communicator on each node.
    placed: Sequence[int] = (1,)

    @property
    def digest(self) -> str:
        """Of the message graph; empty when there is none."""
        return str(self.graph.get("digest", "")) if not self.error else ""


def sum_of(rows: Sequence[Sent]) -> list[int]:
    """A figure of messages and one of bytes that add up over calls, modulo `PRIME`; `rows` are those of `graph_of`.

    What each two processes sent counts by a random number of their own.
    """
    sums = [0, 0]
    for sender, row in enumerate(rows):
        for to, *numbers in row:
            factor = int.from_bytes(hashlib.sha256(f"{sender} {to}".encode()).digest()[:7])
            sums = [(before + factor * number) % PRIME for before, number in zip(sums, numbers, strict=True)]
    return sums


_KEYS = ("cell", "call")


def line_of(cell: Cell, call: str, seen: Seen | None) -> str:
    """One line of results; without `seen` the line that a call begins."""
    record: dict[str, Any] = {"cell": asdict(cell), "call": call}
    return json.dumps(record | ({} if seen is None else asdict(seen))) + "\n"


def read_lines(path: Path) -> tuple[dict[Key, Seen], Key | None]:
    """Read results; what was called, and the call that was begun and never came back."""
    calls: dict[Key, Seen] = {}
    begun: Key | None = None
    for record in disk.records(disk.read_lines(path)):
        key = (Cell(**record["cell"]), record["call"])
        if "error" in record:
            outcome = {name: value for name, value in record.items() if name not in _KEYS}
            calls[key], begun = Seen(**{**outcome, "placed": tuple(record["placed"])}), None
        else:
            begun = key
    return calls, begun
