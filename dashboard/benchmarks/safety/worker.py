"""What the ranks of a check run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.safety.worker ORDER RECORDS``.

All methods are called in one job. A method that hangs or takes the job down ends it; started again, it goes on with
the next one, and writes down what the start before died of.
"""

import itertools
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.ranks.mpit import ToolInterface
from dashboard.benchmarks.ranks.plain import Plain
from dashboard.benchmarks.ranks.selection import heard, parse, preferring
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.world import mpi_of
from dashboard.benchmarks.safety.calls import Handles, problem_of
from dashboard.benchmarks.safety.cases import Case, cases
from dashboard.benchmarks.safety.order import ENDED, At, Forced, Order, Records, Step
from dashboard.export.components import answers

_REFUSED = "refused: "
_NOT_ASKED = f"{_REFUSED}not answered by"
_NO_THREADS = f"{_REFUSED}no threads at once in this library"


def main(arguments: Sequence[str]) -> None:
    """Make the calls of an order that are missing in the records."""
    order, records = Order.load(Path(arguments[0])), Path(arguments[1])
    Worker(mpi_of(order.comm_sizes[-1]), order, records).run()


class Worker:
    """One process of the job.

    Parameters
    ----------
    records
        File that the first process adds to.
    """

    def __init__(self, mpi: Any, order: Order, records: Path) -> None:
        self._mpi, self._world, self._order, self._file = mpi, mpi.COMM_WORLD, order, records
        self._rank = int(self._world.Get_rank())
        self._tools = ToolInterface()
        self._handles = Handles(mpi, self._tools.path)
        self._lines = records.open("a", encoding="utf-8") if self._rank == 0 else None

    def run(self, tell: Callable[[str], None] = lambda _: None) -> None:
        """Make all steps that are missing, one communicator size after the other; `tell` hears how many are made."""
        todo = self._world.bcast(self._todo() if self._rank == 0 else None)
        total = len(self._order.steps)
        made = itertools.count(total - len(todo))
        for size, steps in itertools.groupby(todo, key=lambda step: step[2]):
            with subset(self._mpi, self._world, member=self._rank < size, tools=self._tools) as comm:
                for step in steps if comm else ():
                    tell(f"{next(made)} of {total}")
                    self._step(step, comm)
        self._tools.close()

    def _todo(self) -> list[Step]:
        records = Records.read(self._file)
        if (at := records.calling) is not None:
            case, text = cases(at[0], at[2])[at[3]], os.environ.get(ENDED) or "never came back"
            if at[:2] in records.died:
                line = self._fault(at, case, text, dead=True)
            else:
                line = {"died": at, "words": case.words(at[0], at[2]), "text": text}
                self._write(line)
            records.take(line)
        return records.missing(self._order)

    def _step(self, step: Step, comm: Any) -> None:
        """Call one method in every way on the communicators of one size."""
        name, number, size = step
        forced = self._order.methods[name][number]
        made: dict[tuple[str, int], tuple[Any, Sequence[str]]] = {}
        count = 0
        every = cases(name, size)
        for place, case in enumerate(every):
            at = (name, number, size, place)
            self._write({"at": at})
            count += 1
            problem = self._called(name, case, forced, comm, made)
            if place and problem.startswith((_NOT_ASKED, _NO_THREADS)):
                count -= 1
                continue
            if not problem:
                continue
            # What is left of the call in these communicators must not reach the next one.
            made.clear()
            if not place and problem.startswith(_REFUSED):
                self._write({"refused": step, "why": problem.removeprefix(_REFUSED)})
                break
            self._fault(at, case, problem)
        self._write({"done": step, "cases": count})
        self._tools.restore()
        for communicator, _ in made.values():
            communicator.Free()

    def _called(
        self, name: str, case: Case, forced: Forced, comm: Any, made: dict[tuple[str, int], tuple[Any, Sequence[str]]]
    ) -> str:
        """Make the call of a case; what is wrong on the first process where something is."""
        if case.threads > 1 and self._mpi.Query_thread() < self._mpi.THREAD_MULTIPLE:
            return _NO_THREADS
        self._tools.restore()
        keys = [(case.made, thread) for thread in range(case.threads)]
        missing = [key for key in keys if key not in made]
        if self._order.set_at_call:
            made.update((key, self._made(case, comm)) for key in missing)
        self._tools.write(forced.settings)
        if not self._order.set_at_call:
            made.update((key, self._made(case, comm, forced.component)) for key in missing)
        _, selected = made[keys[0]]
        who = answers(selected, name)
        if forced.component not in ("", who):
            problem = f"{_NOT_ASKED} {forced.component}: on this communicator {who or 'another part'} answers {name}"
        else:
            problem = problem_of(self._handles, name, case, [made[key][0] for key in keys])
        if self._order.set_at_call:
            self._tools.restore()
        flag, most = np.array([bool(problem)], np.uint8), np.zeros(1, np.uint8)
        comm.Allreduce(flag, most, op=self._mpi.MAX)
        if not most[0]:
            return ""
        return next((text for text in Plain(comm).allgather(problem) if text), "")

    def _made(self, case: Case, comm: Any, component: str = "") -> tuple[Any, Sequence[str]]:
        """A communicator of its own for a case, and the components that the library says it has selected for it."""
        make = partial(self._preferring, case, comm, component)
        communicator, output = heard(make) if self._order.environment else (make(), "")
        return communicator, parse(output)

    def _preferring(self, case: Case, comm: Any, component: str) -> Any:
        rank = comm.Get_rank()
        if case.made == "reversed":
            communicator = comm.Split(0, -rank)
        else:
            communicator = comm.Dup() if case.made == "duplicated" else comm.Split(rank % 2, rank)
        if case.made == "between":
            half, communicator = communicator, communicator.Create_intercomm(0, comm, 1 - rank % 2)
            half.Free()
        if not component:
            return communicator
        preferred = preferring(communicator, component)
        communicator.Free()
        return preferred

    def _fault(self, at: At, case: Case, text: str, *, dead: bool = False) -> dict[str, Any]:
        line = {"fault": at, "kind": case.kind, "words": case.words(at[0], at[2]), "text": text, "dead": dead}
        self._write(line)
        return line

    def _write(self, record: dict[str, Any]) -> None:
        if self._lines is not None:
            self._lines.write(json.dumps(record) + "\n")
            self._lines.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
