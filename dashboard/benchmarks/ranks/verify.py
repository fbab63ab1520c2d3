"""What ranks run that verify own methods: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.ranks.verify ORDER``.

Each case runs twice in a row with different data, the second time with persistent requests, and a third time by the
native executor where that could be built; some of them with a rank that comes late. Every rank compares its buffers
with what the collective promises, and, where the library counts messages, what it sent with the schedule.
"""

import ctypes
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.ranks.counting import Counters, counted, counters_of
from dashboard.benchmarks.ranks.mpit import ToolInterface, ToolInterfaceError
from dashboard.benchmarks.ranks.native import NativeBound
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.world import mpi_of
from dashboard.schedules import NotApplicableError, Program, WrongResultError, algorithm_of, program, resolve
from dashboard.schedules.datatypes import APART, CONTIGUOUS, DATATYPES, Datatype, Elements, by_elements
from dashboard.schedules.expectation import SHAPE, add, after, before, multiply
from dashboard.schedules.grid import cases
from dashboard.schedules.in_process import Combine
from dashboard.schedules.over_mpi import Bound
from dashboard.schedules.schedule import sent_by
from dashboard.schedules.verification import Case, combine_of, fallbacks, guarded

#: A rank in turn comes so late to every eighth case.
_LATE_S, _LATE_EVERY = 0.002, 8


def main(argv: Sequence[str]) -> None:
    """Verify what an order names; the first rank writes a line for each algorithm and number of processes."""
    order = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    mpi = mpi_of(max(order["processes"]))
    with Path(order["results"]).open("a", encoding="utf-8") as lines:
        _Ranks(mpi, order, lines).run()


def thinned(given: Iterator[Case], most: int) -> list[Case]:
    """At most so many cases, spread evenly."""
    every = list(given)
    return every[:: 1 + len(every) // most]


class _Ranks:
    """One process of the job."""

    def __init__(self, mpi: Any, order: Mapping[str, Any], lines: Any) -> None:
        self._mpi, self._world, self._order, self._lines = mpi, mpi.COMM_WORLD, order, lines
        self._rank = int(self._world.Get_rank())
        self._elements = elements_of(mpi)
        self._native = ctypes.CDLL(order["native"]) if order["native"] else None
        self._ops = {
            (known, commutes): mpi.Op.Create(_called(each, known), commutes)
            for commutes, each in _OPERATIONS.items()
            for known in (None, *DATATYPES.values())
        }
        self._counters: Counters | None = None
        self._tools: ToolInterface | None = None
        if order["counters"]:
            self._tools = ToolInterface()
            # Built without what counts messages, a library has its buffers compared alone.
            with suppress(ToolInterfaceError):
                self._counters = counters_of(self._tools, order["counters"], mpi)
        self._write({"graphs": self._counters is not None})

    def run(self) -> None:
        """Verify with one number of processes after the other; those left over wait without using the processor."""
        for size in self._order["processes"]:
            with subset(self._mpi, self._world, member=self._rank < size) as comm:
                for collective, name in self._order["algorithms"] if comm else ():
                    self._algorithm(comm, collective, name)
        for each in (*self._elements.values(), *self._ops.values()):
            each.Free()
        if self._tools is not None:
            self._tools.close()

    def _algorithm(self, comm: Any, collective: str, name: str) -> None:
        """Verify the cases of one algorithm, and write down how they ended."""
        size = int(comm.Get_size())
        count = refused = 0
        failed: list[dict[str, str]] = []
        ran: Counter[tuple[str, str, str]] = Counter()
        for number, case in enumerate(thinned(cases(algorithm_of(collective, name), [size]), self._order["most"])):
            self._write({"begun": str(case)})
            try:
                chosen = resolve(case.call, case.algorithm, dict(case.parameters), fallback=True)
            except NotApplicableError:
                refused += 1
                continue
            count += 1
            ran[collective, name, chosen[0].name] += 1
            if number % _LATE_EVERY == 1 and number % size == self._rank:
                time.sleep(_LATE_S)
            reason = self._case(comm, case, program(case.call, *chosen, self._rank))
            reasons = [text for text in comm.allgather(reason) if text]
            if reasons:
                failed.append({"case": str(case), "reason": reasons[0]})
        ended = {"done": name, "cases": count, "refused": refused, "fallbacks": fallbacks(ran), "failed": failed}
        self._write(ended)

    def _case(self, comm: Any, case: Case, made: Program) -> str:
        """Run a case twice; what is wrong with it here, empty when nothing is."""
        call, element = case.call, self._elements[case.datatype]
        turns = [
            guarded(before(call, turn)[self._rank], made.scratch, case.datatype)
            for turn in range(3 if self._native else 2)
        ]
        bound = [
            Bound(comm, made, buffers.memory, element, combine_of(case), persistent=turn > 0)
            for turn, buffers in enumerate(turns[:2])
        ]
        sent = self._counted(bound[0])
        if case.between:
            comm.Barrier()
        bound[1]()
        for each in bound:
            each.free()
        if self._native:
            op = self._ops[DATATYPES.get(case.datatype), call.commutative]
            NativeBound(self._native, self._mpi, comm, made, turns[2].memory, element, op)()
        try:
            for turn, buffers in enumerate(turns):
                buffers.check(self._rank, after(call, turn)[self._rank])
        except WrongResultError as error:
            return str(error)
        if sent is not None and sent != (planned := sent_by(made, call.element_size)):
            return f"rank {self._rank}: sent {sent}, its schedule says {planned} (to: messages, bytes)"
        return ""

    def _counted(self, bound: Bound) -> dict[int, tuple[int, int]] | None:
        """Run once; messages and bytes to each peer as the library counts them, None where it does not."""
        if self._counters is None:
            bound()
            return None
        return {to: (messages, size) for to, messages, size in counted(self._counters, bound)}

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._rank == 0:
            self._lines.write(json.dumps(record) + "\n")
            self._lines.flush()


_OPERATIONS: Mapping[bool, Combine] = {True: add, False: multiply}


def _called(combine: Combine, known: Datatype | None) -> Callable[[Any, Any, Any], None]:
    """An operation as MPI calls it, with memory in place of arrays or elements."""

    def call(lower: Any, into: Any, _: Any) -> None:
        """Combine the elements of two pieces of memory, in the second."""
        combine(*(np.frombuffer(each, np.int64).reshape(-1, *SHAPE) for each in (lower, into)))

    placed: Callable[[Any, Any], None] = by_elements(combine)

    def by_place(lower: Any, into: Any, _: Any) -> None:
        """Likewise where elements reach beyond what MPI gives."""
        if known is not None and len(into):
            placed(*(_around(known, each) for each in (lower, into)))

    return call if known is None else by_place


def _around(known: Datatype, memory: Any) -> Elements:
    """Elements that MPI gives from the first one's place on, with all that belongs to them."""
    length = len(memory) // known.extent
    begin = np.frombuffer(memory, np.uint8).ctypes.data + known.lower
    size = known.span + (length - 1) * known.extent
    there = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(begin))
    return Elements(known, there, -known.lower, length)


def elements_of(mpi: Any) -> dict[str, Any]:
    """MPI's types of the elements that methods are verified with, by name; each made by the constructor of its name."""
    plain, pair = mpi.INT32_T, mpi.Datatype.Create_struct([1, 1], [0, 4], [mpi.INT8_T, mpi.INT32_T])
    made = {
        CONTIGUOUS: mpi.INT64_T.Create_contiguous(4),
        "vector": plain.Create_vector(4, 1, 2),
        "indexed": mpi.INT16_T.Create_indexed([1, 2, 1], [0, 3, 7]),
        "struct": mpi.Datatype.Create_struct([1] * 4, [0, 8, 16, 24], [plain, mpi.DOUBLE, mpi.INT8_T, mpi.INT64_T]),
        "resized": plain.Create_hindexed([1] * 4, [-4, 0, 8, 20]).Create_resized(-4, 32),
        "nested": pair.Create_vector(2, 1, 2),
        "column": mpi.INT8_T.Create_vector(4, 1, APART).Create_resized(0, 1),
        "empty": plain.Create_contiguous(0),
    }
    return {name: each.Commit() for name, each in made.items()}


if __name__ == "__main__":
    main(sys.argv[1:])
