"""What the ranks run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.ranks.worker FOLDER``.

All methods are measured in this one job: their control variables are written through the tool interface, then a
communicator is made that keeps them. Where that cannot be, it is started for one method after the other (``--only``),
with variables of the environment that force it.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan, Todo, missing, placed, point_key, todo_of
from dashboard.benchmarks.campaigns.protocol import PointKey
from dashboard.benchmarks.launchers import leftovers
from dashboard.benchmarks.launchers.launch import CANNOT_SWITCH
from dashboard.benchmarks.libraries.methods import LIBRARY
from dashboard.benchmarks.libraries.own_settings import UNCOUNTED
from dashboard.benchmarks.providers import executor
from dashboard.benchmarks.providers.team import Methods
from dashboard.benchmarks.ranks import again, cellrun, header, selection, surroundings
from dashboard.benchmarks.ranks.counting import Counters, counters_of
from dashboard.benchmarks.ranks.forced import Forced
from dashboard.benchmarks.ranks.known import Known
from dashboard.benchmarks.ranks.mpit import ToolInterface, ToolInterfaceError
from dashboard.benchmarks.ranks.operations import MPI_TYPES, Types, keep_first
from dashboard.benchmarks.ranks.plain import Plain
from dashboard.benchmarks.ranks.progress import Progress
from dashboard.benchmarks.ranks.selection import Selection
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.timing import Group, clock_offset
from dashboard.benchmarks.ranks.world import FAILED, say, why_few
from dashboard.benchmarks.safety import worker as checking
from dashboard.benchmarks.safety.check import faulty_of, order_of_plan
from dashboard.benchmarks.safety.verdict import UNSAFE, as_attr
from dashboard.domain.campaign import SUM
from dashboard.domain.units import format_bytes, format_count
from loaders import RunWriter

if TYPE_CHECKING:
    from dashboard.benchmarks.adaptive.worker import Choosing

_COMPLETE, _TIME_LIMIT = "complete", "time limit"

_NO_TOOLS = (
    "methods cannot be switched within one job: plan with --algorithms default, or install Open MPI 5 or MPICH 5"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is missing of a campaign; exit status 0 when all of it is done or the time is up."""
    parser = argparse.ArgumentParser(prog="python -m mpi4py -m dashboard.benchmarks.ranks.worker", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no cell after so long")
    parser.add_argument("--attempt", type=int, default=1, help="number of this launch of the campaign")
    parser.add_argument(
        "--only",
        nargs=2,
        action="append",
        metavar=("COLLECTIVE", "METHOD"),
        help="measure this method, by its number; may be given again",
    )
    parser.add_argument("--launch", type=int, default=1, help="in which those are measured")
    parser.add_argument("--forced", action="append", default=[], metavar="NAME=VALUE", help="what forces the methods")
    parser.add_argument("--native", type=Path, help="what runs schedules, compiled; without it mpi4py does")
    parser.add_argument("--safety", action="store_true", help="call the methods in every way, and time nothing")
    parser.add_argument("--selection", action="store_true", help="listen to whom the library selects, time nothing")
    args = parser.parse_args(argv)
    only = None
    if args.only:
        forced = dict(word.split("=", 1) for word in args.forced)
        only = Forced([(name, int(number)) for name, number in args.only], args.launch, forced)
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    deadline = time.monotonic() + args.seconds
    worker = Worker(MPI, Campaign(args.folder), args.attempt, deadline, only, args.native)
    if fault := worker.fault():
        if worker.rank == 0:
            say(fault)
        return CANNOT_SWITCH if worker.cannot_switch else FAILED
    try:
        if args.selection:
            worker.listen()
        elif args.safety:
            worker.check()
        else:
            worker.run()
    finally:
        worker.close()
    return 0


class Worker:
    """One process of the job.

    Parameters
    ----------
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
        only: Forced | None = None,
        native: Path | None = None,
    ) -> None:
        self._mpi, self._only = mpi, only
        self._world: Any = Plain(mpi.COMM_WORLD) if only else mpi.COMM_WORLD
        #: Whether the fault is that this library's methods cannot be switched while it runs.
        self.cannot_switch = False
        self.rank = int(self._world.Get_rank())
        self._campaign, self._attempt, self._deadline = campaign, attempt, deadline
        self._plan: Plan = self._world.bcast(campaign.plan() if self.rank == 0 else None)
        self._nodes: list[str] = self._world.allgather(platform.node())
        self._machines: list[str] = self._world.allgather(surroundings.machine())
        self._tools: ToolInterface | None = None
        self._counters: Counters | None = None
        self._switch_problem = ""
        over = any(method.provider != LIBRARY for each in self._plan.methods.values() for method in each)
        self._executor = executor.loaded(mpi, self._world, native) if over else None
        self._known = Known(self._plan)
        #: Whether nothing was missing when this job was started; of the first process only.
        self._nothing_missing = False
        self._again: dict[PointKey, str] = {}
        self._repeated: dict[PointKey, str] = {}
        self._choosing: Choosing | None = None
        #: Of `time.monotonic`: when the time of measuring is up, after which no further cell of a choice is begun.
        self._until = math.inf
        self._progress = Progress(campaign.progress_file if self.rank == 0 else None, attempt)

    def fault(self) -> str:
        """Why this job cannot measure the plan; empty when it can. Collective."""
        plan, size = self._plan, self._world.Get_size()
        version = self._mpi.Get_library_version()
        if size < plan.ranks:
            return f"{size} of {plan.ranks} ranks: {why_few(version)}"
        if plan.library_version and plan.library_version not in version:
            running = " ".join(version.split())[:60]
            return (
                f"the plan was made for {plan.library} {plan.library_version}, but the ranks run {running}; plan anew"
            )
        if plan.apart and self._only is None:
            return "each method of this plan needs a launch of its own: start it by colltune bench run or submit"
        if lost := self._first(self._only.lost(self.rank) if self._only else ""):
            return lost
        try:
            if plan.settings or plan.graph_counters:
                self._tools = ToolInterface()
            if plan.settings and self._only is None:
                self._try_switching()
        except ToolInterfaceError as error:
            self._switch_problem = str(error)
        if self._only is None and plan.settings and (problem := self._first(self._switch_problem)):
            self.cannot_switch = True
            return f"{problem}; {_NO_TOOLS}"
        return ""

    def _first(self, problem: str) -> str:
        """The first problem that a process has; empty when none has one. Collective."""
        return next(filter(None, self._world.allgather(problem)), "")

    def _try_switching(self) -> None:
        """Set every variable of the plan to what it is; ToolInterfaceError when one is not there or cannot be set."""
        if self._tools is not None:
            every = {name for methods in self._plan.settings.values() for settings in methods for name in settings}
            self._tools.write({name: self._tools.read(name) for name in sorted(every)})

    def _count_messages(self) -> None:
        """Make ready for message graphs, where they are wished for and the library counts."""
        if not self._plan.graph_counters:
            return
        problem = self._switch_problem or os.environ.get(UNCOUNTED, "")
        try:
            if self._tools is not None and not problem:
                self._counters = counters_of(self._tools, self._plan.graph_counters, self._mpi)
        except ToolInterfaceError as error:
            problem = str(error)
        if problem and self.rank == 0:
            say(f"message graphs are not recorded: {problem}")

    def check(self) -> None:
        """Call the methods of the plan in every way; what becomes of it is in the campaign's folder."""
        order = order_of_plan(self._plan)
        now = "calling every method in every way, to leave out what is unsafe"
        self._progress.say(now)
        if order is not None:
            ranks = checking.Worker(self._mpi, order, self._campaign.safety)
            ranks.run(lambda far: self._progress.say(f"{now} ({far})"))

    def listen(self) -> None:
        """Have the library say who answers; it is written into the campaign's folder."""
        selected = selection.listen(self._mpi, self._plan, self._nodes)
        if self.rank == 0:
            selected.save(self._campaign.folder)

    def close(self) -> None:
        """Give the tool interface back."""
        if self._tools is not None:
            self._tools.close()

    def run(self) -> None:
        """Measure everything that is missing, in the order of the plan."""
        self._count_messages()
        todo: Todo
        todo, self._known = self._world.bcast(self._todo() if self.rank == 0 else None)
        self._remember_memory()
        gc.disable()
        writer = self._writer() if self.rank == 0 else None
        try:
            self._progress.say("")
            ended = self._adaptively(writer) if self._plan.goal else self._all_of(todo, writer)
            if ended == _COMPLETE:
                self._once_more(todo[0][0].launch if todo else 1, writer)
            self._progress.say("", ended)
        finally:
            if writer is not None:
                writer.close()

    def _all_of(self, todo: Todo, writer: RunWriter | None) -> str:
        """Measure these cells; how that ended."""
        for (comm_size, ppn), block in groupby(todo, key=lambda item: (item[0].comm_size, item[0].ppn)):
            if not self._block(list(block), comm_size, ppn, writer):
                return _TIME_LIMIT
        return _COMPLETE

    def _adaptively(self, writer: RunWriter | None) -> str:
        """Measure what the first process chooses, line after line, until that is enough; how that ended."""
        if self.rank == 0:
            from dashboard.benchmarks.adaptive.worker import Choosing  # noqa: PLC0415 - the other ranks do without it

            self._choosing = Choosing(self._campaign, self._plan, self._nodes)
        choosing = self._choosing
        while True:
            step = self._world.bcast(choosing.next(self._progress.done) if choosing else None)
            todo, self._progress.points, left = step
            self._until = time.monotonic() + left
            if not todo:
                return _COMPLETE
            self._progress.begin()
            if self._all_of(todo, writer) != _COMPLETE:
                return _TIME_LIMIT

    def _once_more(self, launch: int, writer: RunWriter | None) -> None:
        """Measure again what cannot be trusted; what stays so decides nothing."""
        forced = self._only.methods(self._plan) if self._only else None
        worth = self._choosing.again if self._choosing else None
        doubts = again.Doubts(
            self._campaign.results,
            self._plan,
            self._nodes,
            launch,
            forced,
            worth,
            array=self._campaign.root() != self._campaign,
            asked=self._nothing_missing,
            repeated=self._repeated,
        )
        # What is chosen for it has a time of its own.
        self._until = math.inf
        while True:
            self._again = self._world.bcast(doubts.next() if self.rank == 0 else None)
            self._progress.points += len(self._again)
            if not self._again:
                break
            if self._all_of(todo_of(self._plan, self._again.__contains__), writer) != _COMPLETE:
                if self.rank == 0:
                    doubts.look()
                break
        if self._choosing:
            self._choosing.close(len(doubts.left))
        if self.rank == 0 and (words := doubts.words()):
            say(words)

    def _remember_memory(self) -> None:
        """Write down the shared memory of this machine's ranks, which stays when they are killed."""
        mapped = self._world.gather(leftovers.mapped())
        if self.rank == 0:
            here = [
                names for names, machine in zip(mapped, self._machines, strict=True) if machine == self._machines[0]
            ]
            leftovers.remember(self._campaign.folder, set().union(*here))

    def _writer(self) -> RunWriter:
        attrs = {
            **header.attrs_of(self._plan, self._nodes, self._only.variables if self._only else None),
            **self._own(),
        }
        return RunWriter(self._campaign.results, attrs)

    def _own(self) -> dict[str, Any]:
        """What of the header holds for this start."""
        version = " ".join(self._mpi.Get_library_version().split())[:60]
        return {
            "library": self._plan.library or version,
            "library_version": self._plan.library_version or version,
            "attempt": self._attempt,
            **({"executor": self._executor.name} if self._executor else {}),
            **({UNSAFE: as_attr(self._known.faulty)} if self._known.faulty else {}),
        }

    def _todo(self) -> tuple[Todo, Known]:
        """Cells to measure in this launch, and what is known of methods beforehand."""
        done = self._campaign.done()
        known = done.all
        every = missing(self._plan, known)
        self._nothing_missing = self._campaign.settled(self._plan.goal) or not every
        self._progress.points = sum(len(methods) for _, methods in every)
        self._progress.nodes = list(Counter(self._nodes).values())
        # The cells of the next launch are left to ranks started anew.
        launch = self._only.launch if self._only else every[0][0].launch if every else 0
        forced = self._only and self._only.methods(self._plan)

        def here(key: PointKey) -> bool:
            return key not in known and key[-1] == launch and (not forced or key[:2] in forced)

        todo = todo_of(self._plan, here)
        able = [item for item in todo if placed(self._nodes, item[0].comm_size, item[0].ppn)]
        if len(able) < len(todo):
            there = format_count(len(self._progress.nodes), "node")
            say(
                f"{format_count(len(todo) - len(able), 'cell')} with more nodes or more processes on each than this "
                f"job has on {there}: unmeasured"
            )
        refused = {key[:-1]: why for key, why in done.refused.items()}
        return able, Known(self._plan, refused, faulty_of(self._campaign), Selection.read(self._campaign.folder))

    def _block(self, block: Todo, comm_size: int, ppn: int | None, writer: RunWriter | None) -> bool:
        """Measure cells of one communicator size; the other ranks sleep. False when the time is up."""
        members = placed(self._nodes, comm_size, ppn) or []
        with subset(self._mpi, self._world, member=self.rank in members, tools=self._tools) as comm:
            in_time = self._members(block, comm, members, writer) if comm else True
        return bool(self._world.bcast(in_time, 0))

    def _members(self, block: Todo, comm: Any, members: list[int], writer: RunWriter | None) -> bool:
        bound = Methods(self._plan, comm, self._tools if self._only is None else None, self._executor)
        mpi = self._mpi
        one_node = len({self._nodes[member] for member in members}) == 1
        crowded = surroundings.crowded(comm.allgather((surroundings.machine(), os.sched_getaffinity(0))))
        op = mpi.SUM if self._plan.operation == SUM else mpi.Op.Create(keep_first, commute=False)
        try:
            for cell, methods in block:
                now = time.monotonic()
                in_time, left = comm.bcast((now < self._deadline, self._until - now), 0)
                if not in_time:
                    return False
                if left <= 0 and cell is not block[0][0]:
                    # Nothing is left of the time of measuring for the rest of what was chosen.
                    break
                typed = f", {cell.datatype}" if cell.datatype else ""
                size = format_bytes(cell.message_size)
                once_more = "measured again: " if self._again else ""
                self._progress.say(f"{once_more}{cell.collective}, {cell.comm_size} processes, {size}{typed}")
                reduced = getattr(mpi, MPI_TYPES[self._plan.datatype_of(cell)])
                types = Types(mpi.BYTE, reduced, op, commutes=self._plan.operation == SUM)
                offset = clock_offset(comm, same_clock=self._machines[self.rank] == self._machines[0])
                group = Group(comm, mpi.MAX, offset, crowded, one_node)
                team = cellrun.Team(group, types, bound, self._counters, members, self._progress.calling)
                known = {method: self._known.why_not(cell, method) for method in methods}
                most = max(left, 0.0) / len(methods)
                measured = cellrun.measure(team, self._plan, cell, methods, self._attempt, known, most)
                seconds = self._progress.took(sum(not why for why in known.values()))
                if writer is not None:
                    for method, point in zip(methods, measured, strict=True):
                        key = point_key(cell, method)
                        why = self._again.get(key)
                        further = {"again": why} if why else {}
                        writer.append({**point, **self._known.answered(cell, method), "seconds": seconds, **further})
                        if why:
                            self._repeated[key] = why
                self._progress.done += len(methods)
                gc.collect()
        finally:
            bound.free()
        return True


if __name__ == "__main__":
    sys.exit(main())
