"""What the ranks of a proof run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.proof.worker ORDER RESULTS``.

Every call of an order is made once (with sockets, until two in a row sent the same), with data whose result is
known; what each process sent to each other is counted meanwhile.
"""

import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.order import NOT_STEADY, Call, Order, Seen, line_of, sum_of
from dashboard.benchmarks.proof.sockets import Connection, bytes_sent
from dashboard.benchmarks.ranks.cellrun import graph_of
from dashboard.benchmarks.ranks.counting import Sent, counted, counters_of
from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.benchmarks.ranks.operations import Operation, Types
from dashboard.benchmarks.ranks.selection import answered, heard
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.timing import dissemination
from dashboard.benchmarks.ranks.world import mpi_of

Todo = list[tuple[Cell, tuple[Call, ...]]]
_MOST_TURNS = 6
#: Makes a call, and tells what this process sent meanwhile.
_Around = Callable[[Callable[[], None]], Sent]


def main(argv: Sequence[str]) -> None:
    """Make the calls of an order."""
    order, results = Order.load(Path(argv[0])), Path(argv[1])
    mpi = mpi_of(order.ranks)
    with results.open("a", encoding="utf-8") as lines:
        Worker(mpi, order, lines).run()


class Worker:
    """One process of the job.

    Parameters
    ----------
    lines
        Where the first process writes what happened.
    """

    def __init__(self, mpi: Any, order: Order, lines: TextIO) -> None:
        self._mpi, self._world, self._order, self._lines = mpi, mpi.COMM_WORLD, order, lines
        self._rank = int(self._world.Get_rank())
        self._output = ""
        self._tools = ToolInterface()
        self._types = Types(mpi.BYTE, mpi.UINT8_T, mpi.SUM)
        counting = order.evidence == "messages"
        self._counters = counters_of(self._tools, order.counters, mpi) if counting else None

    def run(self) -> None:
        """Make all calls, one communicator size after the other, first those that verdicts need."""
        entries = sorted(self._order.calls.items(), key=lambda entry: (entry[0].comm_size, entry[0].collective))
        for needed in (True, False):
            todo = [(cell, tuple(call for call in calls if call.needed == needed)) for cell, calls in entries]
            for comm_size, block in groupby(filter(itemgetter(1), todo), key=lambda entry: entry[0].comm_size):
                with subset(self._mpi, self._world, member=self._rank < comm_size, tools=self._tools) as comm:
                    if comm:
                        self._block(list(block), comm)
        self._tools.close()

    def _block(self, block: Todo, comm: Any) -> None:
        """Make the calls of one communicator size."""
        around = partial(counted, self._counters) if self._counters else Sockets(comm).around
        placed = tuple(Counter(comm.allgather(platform.node())).values())
        made: dict[tuple[tuple[str, int], ...], Any] = {}
        for cell, calls in block:
            operation = Operation(cell, comm.Get_rank(), self._types, "uint8")
            for call in calls:
                self._write(line_of(cell, call.name, None))
                communicator = self._communicator(comm, call, made)
                step = partial(self._call, operation, communicator, call)
                self._output = ""
                seen = _seen(operation, step, comm, around, 1 if self._counters else _MOST_TURNS)
                who, lacking = answered(self._output, cell.collective)
                self._write(line_of(cell, call.name, replace(seen, who=who, lacking=lacking, placed=placed)))
            comm.Barrier()
        for communicator in made.values():
            communicator.Free()

    def _communicator(self, comm: Any, call: Call, made: dict[tuple[tuple[str, int], ...], Any]) -> Any:
        """Communicator for a call; where it keeps the settings that it was made with, one for each of these."""
        at_call = self._order.set_at_call
        key = () if at_call else tuple(call.settings.items())
        if not at_call:
            # Of another collective nothing may stay: some methods are made of other collectives' own decisions.
            self._tools.restore()
            self._tools.write(call.settings)
        if key not in made:
            made[key] = comm.Dup()
        return made[key]

    def _call(self, operation: Operation, comm: Any, call: Call) -> None:
        """Make a call; settings that act on all communicators at once are there for nothing else."""
        if not self._order.set_at_call:
            if self._order.listens and not self._rank:
                _, self._output = heard(partial(operation.call, comm))
            else:
                operation.call(comm)
            return
        self._tools.write(call.settings)
        try:
            operation.call(comm)
        finally:
            self._tools.restore()

    def _write(self, line: str) -> None:
        if self._rank == 0:
            self._lines.write(line)
            self._lines.flush()


class Sockets:
    """Counted by Linux at each TCP connection; what the synchronisation sends is taken off."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._empty: dict[int, int] = {}
        for _ in range(_MOST_TURNS):  # the first one makes connections
            last, self._empty = self._empty, self._sent(lambda: None)
            if all(comm.allgather(last == self._empty)):
                break

    def around(self, call: Callable[[], None]) -> Sent:
        """Make a call, and tell what this process sent meanwhile; collective."""
        sent = self._sent(call)
        both = {to: sent.get(to, 0) - self._empty.get(to, 0) for to in {*sent, *self._empty}}
        return [(to, 0, size) for to, size in sorted(both.items()) if size]

    def _sent(self, call: Callable[[], None]) -> dict[int, int]:
        # By barriers of plain messages: one of the library might be what is being watched.
        dissemination(self._comm)
        before = bytes_sent()
        dissemination(self._comm)
        try:
            call()
        finally:
            dissemination(self._comm)
            after = bytes_sent()
            dissemination(self._comm)
        return self._by_rank({ends: count - before.get(ends, 0) for ends, count in after.items()})

    def _by_rank(self, sent: Mapping[Connection, int]) -> dict[int, int]:
        owners = {own: rank for rank, ends in enumerate(self._comm.allgather(list(sent))) for own, _ in ends}
        counts: dict[int, int] = {}
        for (_, other), count in sent.items():
            if count and other in owners:
                counts[owners[other]] = counts.get(owners[other], 0) + count
        return counts


def _seen(operation: Operation, step: Callable[[], None], control: Any, around: _Around, turns: int) -> Seen:
    """Call until what was sent is seen twice, or once where one turn is enough; collective."""
    last: list[Sent] = []
    for _ in range(turns):
        operation.prepare(0)
        sent: Sent = []
        try:
            sent = around(step)
            problem = "" if operation.right(0) else f"wrong result on rank {operation.rank}"
        except RuntimeError as error:
            problem = f"refused: {' '.join(str(error).split())}"[:200]
        answers = control.allgather((problem, sent))
        if first := next((fault for fault, _ in answers if fault), ""):
            return Seen(first)
        rows = [row for _, row in answers]
        if turns == 1 or rows == last:
            return Seen("", {**graph_of(rows), "sum": sum_of(rows)})
        last = rows
    return Seen(NOT_STEADY)


if __name__ == "__main__":
    main(sys.argv[1:])
