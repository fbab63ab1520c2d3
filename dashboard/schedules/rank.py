"""What the program of one rank is written with: it posts messages, waits, copies and combines; each writes one row."""

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.call import BETWEEN, Call, View

Rows = npt.NDArray[np.int64]

#: What a row does. The request of a message is the number of its row; a wait has it in place of the peer.
SEND, RECEIVE, WAIT, COPY, COMBINE = range(5)
OPERATIONS = ("send", "receive", "wait", "copy", "combine")
#: Columns: operation; peer or request; tag; buffer, first element and length of a view; buffer and first element of
#: what is copied to or combined into. The tag of a wait is 1 when it is one with the wait before, that of a copy when
#: the models count it.
COLUMNS = ("operation", "peer", "tag", "buffer", "offset", "length", "to_buffer", "to_offset")
INPUT, OUTPUT, SCRATCH = range(3)


#: A message by its way: from, to, tag, and its number among those of the same way.
MessageKey = tuple[int, int, int, int]


def messages_of(rank: int, rows: list[list[int]], *kinds: int) -> Iterator[tuple[MessageKey, int]]:
    """Messages that a rank sends or receives, by `SEND` and `RECEIVE`, with the lines that post them."""
    numbers: dict[tuple[int, int, int], int] = {}
    for line, row in enumerate(rows):
        if row[0] in kinds:
            ends = (rank, row[1]) if row[0] == SEND else (row[1], rank)
            way = (*ends, row[2])
            numbers[way] = number = numbers.get(way, -1) + 1
            yield (*way, number), line


class Log:
    """Rows of one rank, and how much scratch memory they use."""

    def __init__(self) -> None:
        self.rows = array("q")
        self.scratch = 0

    def add(self, *row: int) -> int:
        """Write a row; its number."""
        self.rows.extend(row)
        return len(self.rows) // len(COLUMNS) - 1

    def array(self) -> Rows:
        """All rows, one line for each."""
        return np.frombuffer(self.rows, dtype=np.int64).reshape(-1, len(COLUMNS))


class Rank:
    """One rank of a call, as an algorithm sees it.

    Parameters
    ----------
    log
        Where its operations are written.
    input, output
        Its buffers; those of the call when nothing is said.
    tag
        Added to all tags.

    Attributes
    ----------
    size, root
        Processes, and the root's rank.
    virtual
        Rank counted from the root on.
    input, output
        What it brings and where its result goes; in place the input is part of the output or the other way round.
    """

    def __init__(
        self,
        call: Call,
        rank: int,
        parameters: Mapping[str, Any],
        log: Log | None = None,
        input: View | None = None,
        output: View | None = None,
        *,
        tag: int = 0,
    ) -> None:
        self.call, self.rank, self.parameters = call, rank, parameters
        self.size, self.root, self.tag = call.processes, call.root, tag
        self.virtual = (rank - call.root) % call.processes
        self.log = Log() if log is None else log
        self.input = View(INPUT, 0, call.input_length(rank)) if input is None else input
        self.output = View(OUTPUT, 0, call.output_length(rank)) if output is None else output
        if call.in_place:
            self._share()

    def _share(self) -> None:
        """Let input and output be one, as the standard has it for each collective."""
        call, entry = self.call, self.call.entry
        if (entry.starts_at_root or entry.ends_at_root) and self.rank != self.root:
            return
        if entry.starts_at_root:
            self.output = call.blocks.of(self.input, self.rank)
        elif call.collective in BETWEEN:
            # What it brings would be overwritten while it is still to be sent.
            self.input = self.scratch(self.output.length)
            self.copy(self.output, self.input)
        else:
            self.input = call.blocks.of(self.output, self.rank) if entry.receives == "blocks" else self.output

    def __getitem__(self, name: str) -> Any:
        """Value of a parameter."""
        return self.parameters[name]

    def real(self, virtual: int) -> int:
        """Rank of a virtual rank."""
        return (virtual + self.root) % self.size

    @property
    def segment(self) -> int:
        """Elements of a segment; 0 = not segmented."""
        size = int(self.parameters.get("segment_size", 0))
        return self.call.held_by(size) if size else 0

    def scratch(self, length: int) -> View:
        """Scratch memory for so many elements."""
        self.log.scratch += length
        return View(SCRATCH, self.log.scratch - length, length)

    def send(self, view: View, to: int, tag: int = 0) -> int:
        """Post a send; its request."""
        return self.log.add(SEND, to, self.tag + tag, *view, 0, 0)

    def receive(self, view: View, source: int, tag: int = 0) -> int:
        """Post a receive; its request."""
        return self.log.add(RECEIVE, source, self.tag + tag, *view, 0, 0)

    def wait(self, *requests: int) -> None:
        """Wait for all of these."""
        for place, request in enumerate(requests):
            self.log.add(WAIT, request, int(place > 0), 0, 0, 0, 0, 0)

    def put(self, view: View, to: int, tag: int = 0) -> None:
        """Send and wait."""
        self.wait(self.send(view, to, tag))

    def take(self, view: View, source: int, tag: int = 0) -> None:
        """Receive and wait."""
        self.wait(self.receive(view, source, tag))

    def exchange(self, sent: View, to: int, received: View, source: int, tag: int = 0) -> None:
        """Send and receive at once."""
        coming = self.receive(received, source, tag)
        self.wait(coming, self.send(sent, to, tag))

    def copy(self, source: View, target: View, *, modelled: bool = False) -> None:
        """Copy elements; `modelled`: the models of the algorithm count it (delta)."""
        if source.length and source[:2] != target[:2]:
            self.log.add(COPY, -1, int(modelled), *source, *target[:2])

    def combine(self, lower: View, into: View) -> None:
        """``into = lower op into``, as MPI's ``Reduce_local``: the operand of the lower ranks is the left one."""
        if into.length:
            self.log.add(COMBINE, -1, 0, *lower, *into[:2])

    def merge(self, received: View, result: View, *, lower: bool) -> None:
        """Combine what was received with the own result, in its place; `lower`: what was received comes first."""
        if lower or self.call.commutative:
            self.combine(received, result)
        else:
            self.combine(result, received)
            self.copy(received, result)

    def result(self, *, here: bool) -> View:
        """The own contribution where it can be computed on: in the output, or in scratch memory."""
        result = self.output if here else self.scratch(self.input.length)
        self.copy(self.input, result)
        return result
