"""What the ranks run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.ranks.worker FOLDER``.

The only module that imports mpi4py, and only when it runs. All methods are measured in this one job: their control
variables are written through the tool interface, then a communicator is made that keeps them. Where that cannot be,
it is started for one method after the other (``--only``), with variables of the environment that force it.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import Plan, missing, placed, point_key
from dashboard.benchmarks.campaigns.protocol import Cell, PointKey
from dashboard.benchmarks.launchers import leftovers
from dashboard.benchmarks.launchers.launch import CANNOT_SWITCH
from dashboard.benchmarks.libraries.methods import LIBRARY, Method
from dashboard.benchmarks.libraries.own_settings import UNCOUNTED
from dashboard.benchmarks.providers import executor
from dashboard.benchmarks.providers.team import Methods
from dashboard.benchmarks.ranks import again, cellrun, header, selection, surroundings
from dashboard.benchmarks.ranks.counting import Counters, counters_of
from dashboard.benchmarks.ranks.mpit import ToolInterface, ToolInterfaceError
from dashboard.benchmarks.ranks.operations import Types
from dashboard.benchmarks.ranks.plain import Plain
from dashboard.benchmarks.ranks.selection import Selection
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.timing import Group, clock_offset
from dashboard.benchmarks.safety import worker as checking
from dashboard.benchmarks.safety.check import faulty_of, order_of_plan
from dashboard.benchmarks.safety.verdict import UNSAFE, Finding, as_attr
from dashboard.export.components import TUNED

if TYPE_CHECKING:
    from loaders import RunWriter

_TYPES = {"uint8": "UINT8_T", "int32": "INT32_T", "float32": "FLOAT", "float64": "DOUBLE"}
_FAILED = 3
_COMPLETE, _TIME_LIMIT = "complete", "time limit"

_NO_TOOLS = (
    "methods cannot be switched within one job: plan with --algorithms default, or install Open MPI 5 or MPICH 5"
)

Todo = list[tuple[Cell, list[Method]]]


@dataclass(frozen=True)
class Only:
    """One method of a collective, by its number in the plan, in one launch; `forced` are the variables that do it."""

    collective: str
    number: int
    launch: int
    forced: Mapping[str, str] = field(default_factory=dict)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is missing of a campaign; exit status 0 when all of it is done or the time is up."""
    parser = argparse.ArgumentParser(prog="python -m mpi4py -m dashboard.benchmarks.ranks.worker", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no cell after so long")
    parser.add_argument("--attempt", type=int, default=1, help="number of this launch of the campaign")
    parser.add_argument(
        "--only", nargs=3, metavar=("COLLECTIVE", "METHOD", "LAUNCH"), help="measure this method, by its number"
    )
    parser.add_argument("--forced", action="append", default=[], metavar="NAME=VALUE", help="what forces the method")
    parser.add_argument("--native", type=Path, help="what runs schedules, compiled; without it mpi4py does")
    parser.add_argument("--safety", action="store_true", help="call the methods in every way, and time nothing")
    parser.add_argument("--selection", action="store_true", help="listen to whom the library selects, time nothing")
    args = parser.parse_args(argv)
    only = None
    if args.only:
        forced = dict(word.split("=", 1) for word in args.forced)
        only = Only(args.only[0], int(args.only[1]), int(args.only[2]), forced)
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    deadline = time.monotonic() + args.seconds
    worker = Worker(MPI, Campaign(args.folder), args.attempt, deadline, only, args.native)
    if fault := worker.fault():
        if worker.rank == 0:
            _say(fault)
        return CANNOT_SWITCH if worker.cannot_switch else _FAILED
    if args.selection:
        worker.listen()
    elif args.safety:
        worker.check()
    else:
        worker.run()
    return 0


def _say(text: str) -> None:
    """Print a line that `dashboard.benchmarks.campaigns.control` finds in the log."""
    sys.stderr.write(f"colltune worker: {text}\n")
    sys.stderr.flush()


class Worker:
    """One process of the job.

    Parameters
    ----------
    mpi
        The module ``mpi4py.MPI``.
    campaign
        Whose missing points are measured.
    attempt
        Number of this launch.
    deadline
        Of `time.monotonic`; no cell is started after it.
    only
        What was forced on these processes; None: methods are switched.
    native
        The compiled executor of schedules; None: mpi4py runs them.
    """

    def __init__(
        self,
        mpi: Any,
        campaign: Campaign,
        attempt: int,
        deadline: float,
        only: Only | None = None,
        native: Path | None = None,
    ) -> None:
        self._mpi, self._only = mpi, only
        self._world: Any = Plain(mpi.COMM_WORLD) if only else mpi.COMM_WORLD
        #: Whether the fault is that this library's methods cannot be switched while it runs.
        self.cannot_switch = False
        self.rank = int(self._world.Get_rank())
        self._campaign, self._attempt, self._deadline = campaign, attempt, deadline
        self._started = self._cell_ended = time.monotonic()
        self._plan: Plan = self._world.bcast(campaign.plan() if self.rank == 0 else None)
        self._nodes: list[str] = self._world.allgather(platform.node())
        self._machines: list[str] = self._world.allgather(surroundings.machine())
        self._tools: ToolInterface | None = None
        self._counters: Counters | None = None
        over = any(method.provider != LIBRARY for each in self._plan.methods.values() for method in each)
        self._executor = executor.loaded(mpi, self._world, native) if over else None
        self._refused: dict[tuple[Any, ...], str] = {}
        self._faulty: tuple[Finding, ...] = ()
        self._selection = Selection()
        self._again: dict[PointKey, str] = {}
        self._done = self._points = 0
        self._now = ""

    def fault(self) -> str:
        """Why this job cannot measure the plan; empty when it can. Collective."""
        plan, size = self._plan, self._world.Get_size()
        version = self._mpi.Get_library_version()
        if size < plan.ranks:
            return (
                f"{size} of {plan.ranks} ranks: the plan needs {plan.ranks}. Is mpiexec that of the MPI library that "
                f"mpi4py found ({version.splitlines()[0][:60]})?"
            )
        if plan.library_version and plan.library_version not in version:
            told = " ".join(version.split())[:60]
            return f"the plan was made for {plan.library} {plan.library_version}, but the ranks run {told}; plan anew"
        if plan.apart and self._only is None:
            return "each method of this plan needs a launch of its own: start it by colltune bench run or submit"
        if lost := self._first(self._not_forced()):
            return lost
        switch_problem = ""
        try:
            if plan.settings or plan.graph_counters:
                self._tools = ToolInterface()
            if plan.settings and self._only is None:
                self._try_switching()
        except ToolInterfaceError as error:
            switch_problem = str(error)
        self._count_messages(switch_problem)
        if self._only is None and plan.settings and (problem := self._first(switch_problem)):
            self.cannot_switch = True
            return f"{problem}; {_NO_TOOLS}"
        return ""

    def _first(self, problem: str) -> str:
        """The first problem that a process has; empty when none has one. Collective."""
        return next((one for one in self._world.allgather(problem) if one), "")

    def _not_forced(self) -> str:
        """What of the method's variables did not reach this process; empty when all did."""
        lost = {n: v for n, v in (self._only.forced if self._only else {}).items() if os.environ.get(n) != v}
        if not lost:
            return ""
        told = " ".join(f"{name}={value}" for name, value in lost.items())
        return f"rank {self.rank} was started without {told}: have the start command hand on its environment to all"

    def _try_switching(self) -> None:
        """Set every variable of the plan to what it is; ToolInterfaceError when one is not there or cannot be set."""
        if self._tools is not None:
            every = {name for each in self._plan.settings.values() for one in each for name in one}
            self._tools.write({name: self._tools.read(name) for name in sorted(every)})

    def _count_messages(self, problem: str) -> None:
        """Make ready for message graphs, where they are wished for and the library counts."""
        if not self._plan.graph_counters:
            return
        problem = problem or os.environ.get(UNCOUNTED, "")
        try:
            if self._tools is not None and not problem:
                address = self._mpi._addressof(self._mpi.COMM_WORLD)  # noqa: SLF001 - mpi4py's own way to the handle
                size = self._world.Get_size()
                self._counters = counters_of(self._tools, self._plan.graph_counters, address, size)
        except ToolInterfaceError as error:
            problem = str(error)
        if problem and self.rank == 0:
            _say(f"message graphs are not recorded: {problem}")

    def check(self) -> None:
        """Call the methods of the plan in every way; what becomes of it is in the campaign's folder."""
        order = order_of_plan(self._plan)
        self._tell("calling every method in every way, to leave out what is unsafe")
        if order is not None:
            checking.Worker(self._mpi, order, self._campaign.safety).run()
        if self._tools is not None:
            self._tools.close()

    def listen(self) -> None:
        """Have the library say who answers; it is written into the campaign's folder."""
        found = selection.listen(self._mpi, self._plan, self._nodes)
        if self.rank == 0:
            found.save(self._campaign.folder)
        if self._tools is not None:
            self._tools.close()

    def run(self) -> None:
        """Measure everything that is missing, in the order of the plan."""
        self._faulty = self._world.bcast(faulty_of(self._campaign) if self.rank == 0 else None)
        self._selection = self._world.bcast(Selection.read(self._campaign.folder) if self.rank == 0 else None)
        todo: Todo
        todo, self._refused = self._world.bcast(self._todo() if self.rank == 0 else None)
        self._remember_memory()
        gc.disable()
        writer = self._writer() if self.rank == 0 else None
        try:
            self._tell("")
            ended = self._adaptively(writer) if self._plan.goal else self._all_of(todo, writer)
            if ended == _COMPLETE:
                self._once_more(todo[0][0].launch if todo else 1, writer)
            self._tell("", ended)
        finally:
            if writer is not None:
                writer.close()
            if self._tools is not None:
                self._tools.close()

    def _all_of(self, todo: Todo, writer: RunWriter | None) -> str:
        """Measure these cells; how that ended."""
        for (comm_size, ppn), block in groupby(todo, key=lambda one: (one[0].comm_size, one[0].ppn)):
            if not self._block(list(block), comm_size, ppn, writer):
                return _TIME_LIMIT
        return _COMPLETE

    def _adaptively(self, writer: RunWriter | None) -> str:
        """Measure what the first process chooses, line after line, until that is enough; how that ended."""
        choosing = None
        if self.rank == 0:
            from dashboard.benchmarks.adaptive.worker import Choosing  # noqa: PLC0415 - the other ranks do without it

            choosing = Choosing(self._campaign, self._plan, self._nodes)
        while True:
            todo, self._points = self._world.bcast(choosing.next(self._done) if choosing else None)
            if not todo:
                return _COMPLETE
            self._cell_ended = time.monotonic()
            if self._all_of(todo, writer) != _COMPLETE:
                return _TIME_LIMIT

    def _once_more(self, launch: int, writer: RunWriter | None) -> None:
        """Measure again what cannot be trusted; what stays so decides nothing."""
        one = self._only
        only = None if one is None else (one.collective, self._plan.methods[one.collective][one.number])
        doubts = again.Doubts(self._campaign.results, self._plan, self._nodes, launch, only)
        while True:
            self._again = self._world.bcast(doubts.next() if self.rank == 0 else None)
            self._points += len(self._again)
            if not self._again or self._all_of(again.todo_of(self._plan, self._again), writer) != _COMPLETE:
                break
        if doubts.told:
            _say(doubts.words())

    def _remember_memory(self) -> None:
        """Write down the shared memory of this machine's ranks, which stays when they are killed."""
        found = self._world.gather(leftovers.mapped())
        if self.rank == 0:
            here = [names for names, machine in zip(found, self._machines, strict=True) if machine == self._machines[0]]
            leftovers.remember(self._campaign.folder, set().union(*here))

    def _writer(self) -> RunWriter:
        from loaders import RunWriter  # noqa: PLC0415 - the other ranks do without all that it brings along

        attrs = {**header.attrs_of(self._plan, self._nodes, self._only.forced if self._only else None), **self._own()}
        return RunWriter(self._campaign.results, attrs)

    def _own(self) -> dict[str, Any]:
        """What of the header holds for this start."""
        version = " ".join(self._mpi.Get_library_version().split())[:60]
        return {
            "library": self._plan.library or version,
            "library_version": self._plan.library_version or version,
            "attempt": self._attempt,
            **({"executor": self._executor.name} if self._executor else {}),
            **({UNSAFE: as_attr(self._faulty)} if self._faulty else {}),
        }

    def _todo(self) -> tuple[Todo, dict[tuple[Any, ...], str]]:
        """Cells to measure in this launch, and points that were refused in an earlier one, without its number."""
        done = self._campaign.done()
        every = missing(self._plan, done.all)
        self._points = sum(len(methods) for _, methods in every)
        # The cells of the next launch are left to ranks started anew.
        todo = (
            [one for one in every if one[0].launch == every[0][0].launch] if self._only is None else self._mine(every)
        )
        able = [one for one in todo if placed(self._nodes, one[0].comm_size, one[0].ppn)]
        if len(able) < len(todo):
            _say(
                f"{len(todo) - len(able)} cells need more nodes or more processes on each than the "
                f"{len(set(self._nodes))} nodes of this job have; they stay unmeasured"
            )
        return able, {key[:-1]: why for key, why in done.refused.items()}

    def _mine(self, every: Todo) -> Todo:
        """Of what is missing, the cells of the one method that is forced."""
        only = self._only
        if only is None:
            return every
        method = self._plan.methods[only.collective][only.number]
        here = [cell for cell, ms in every if method in ms]
        return [(cell, [method]) for cell in here if (cell.collective, cell.launch) == (only.collective, only.launch)]

    def _block(self, block: Todo, comm_size: int, ppn: int | None, writer: RunWriter | None) -> bool:
        """Measure cells of one communicator size; the other ranks sleep. False when the time is up."""
        members = placed(self._nodes, comm_size, ppn) or []
        if self._tools is not None:
            # The communicator made here is for everything but the operation: it is to keep no method.
            self._tools.restore()
        with subset(self._mpi, self._world, member=self.rank in members) as comm:
            in_time = self._members(block, comm, members, writer) if comm else True
        return bool(self._world.bcast(in_time, 0))

    def _members(self, block: Todo, comm: Any, members: list[int], writer: RunWriter | None) -> bool:
        bound = Methods(self._plan, comm, self._tools if self._only is None else None, self._executor)
        mpi = self._mpi
        one_node = len({self._nodes[member] for member in members}) == 1
        crowded = surroundings.crowded(comm.allgather((surroundings.machine(), os.sched_getaffinity(0))))
        types = Types(mpi.BYTE, getattr(mpi, _TYPES[self._plan.datatype]), mpi.SUM)
        try:
            for cell, methods in block:
                if not comm.bcast(time.monotonic() < self._deadline, 0):
                    return False
                self._tell(f"{cell.collective}, {cell.comm_size} processes, {cell.message_size} bytes")
                offset = clock_offset(comm, same_clock=self._machines[self.rank] == self._machines[0])
                group = Group(comm, mpi.MAX, offset, crowded, one_node)
                team = cellrun.Team(group, types, bound, self._counters, members, self._calls)
                known = {method: self._why_not(cell, method) for method in methods}
                measured = cellrun.measure(team, self._plan, cell, methods, self._attempt, known)
                seconds = self._took(sum(not why for why in known.values()))
                if writer is not None:
                    for method, point in zip(methods, measured, strict=True):
                        why = self._again.get(point_key(cell, method))
                        further = {"again": why} if why else {}
                        writer.append({**point, **self._answered(cell, method), "seconds": seconds, **further})
                self._done += len(methods)
                gc.collect()
        finally:
            bound.free()
        return True

    def _why_not(self, cell: Cell, method: Method) -> str:
        """Why a method is not called; empty when it is."""
        key = (cell.collective, method)
        answered = self._answered(cell, method).get("component")
        if answered and (wanted := self._plan.component_of(method)) not in ("", answered):
            return f"not answered by {wanted}: on this communicator {answered} answers {cell.collective}"
        unsafe = next((one for one in self._faulty if (one.collective, one.method) == key and one.excluded), None)
        return (
            f"unsafe: {unsafe.case}: {unsafe.effect}" if unsafe else self._refused.get(point_key(cell, method)[:-1], "")
        )

    def _answered(self, cell: Cell, method: Method) -> dict[str, str]:
        """The component that answers a method's calls, where that is known."""
        if method.provider != LIBRARY:
            return {}
        # An algorithm that is forced is tuned's own, which is asked first then.
        wanted = self._plan.component_of(method)
        who = self._selection.who(cell.collective, cell.comm_size, cell.ppn, wanted)
        return {"component": TUNED if method.library_id and who else who} if who else {}

    def _took(self, points: int) -> float:
        """Seconds for each of so many points since the last cell ended, all that was done between the two with it."""
        since, self._cell_ended = self._cell_ended, time.monotonic()
        return round((self._cell_ended - since) / max(1, points), 6)

    def _calls(self, point: Mapping[str, Any] | None) -> None:
        self._tell(self._now, calling=point)

    def _tell(self, now: str, ended: str = "", calling: Mapping[str, Any] | None = None) -> None:
        """Write how far it is, for whoever watches."""
        self._now = now
        if self.rank:
            return
        record = {"attempt": self._attempt, "done": self._done, "points": self._points, "now": now, "ended": ended}
        record["calling"] = calling
        record["elapsed"] = round(time.monotonic() - self._started, 3)
        write_json(self._campaign.progress_file, record)


if __name__ == "__main__":
    sys.exit(main())
