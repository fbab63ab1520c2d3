"""What the ranks run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.worker FOLDER``.

The only module that imports mpi4py, and only when it runs. All methods are measured in this one job: their control
variables are written through the tool interface, then a communicator is made that keeps them.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.benchmarks import cellrun, leftovers, mpich, surroundings
from dashboard.benchmarks.campaign import Campaign, write_json
from dashboard.benchmarks.methods import Method
from dashboard.benchmarks.mpit import PeerCounters, ToolInterface, ToolInterfaceError
from dashboard.benchmarks.operations import Types
from dashboard.benchmarks.plan import Cell, Plan, missing, placed, point_key
from dashboard.benchmarks.timing import Group, clock_offset

if TYPE_CHECKING:
    from loaders import RunWriter

_STATISTICS = {
    "skampi": "latest end over processes after a common start; where they share cores (starts: barrier), the longest "
    "time of a process after a barrier",
    "occ": "maximum over processes of a barrier-separated loop, per repetition, less the barrier's time",
}
_WAIT_S = 0.0005
_TYPES = {"uint8": "UINT8_T", "int32": "INT32_T", "float32": "FLOAT", "float64": "DOUBLE"}
_FAILED = 3

_NO_TOOLS = "methods cannot be switched: plan with --algorithms default, or install Open MPI 5 or MPICH 5"

Todo = list[tuple[Cell, list[Method]]]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is missing of a campaign; exit status 0 when all of it is done or the time is up."""
    parser = argparse.ArgumentParser(prog="python -m mpi4py -m dashboard.benchmarks.worker", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no cell after so long")
    parser.add_argument("--attempt", type=int, default=1, help="number of this launch of the campaign")
    args = parser.parse_args(argv)
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    worker = Worker(MPI, Campaign(args.folder), args.attempt, time.monotonic() + args.seconds)
    if fault := worker.fault():
        if worker.rank == 0:
            _say(fault)
        return _FAILED
    worker.run()
    return 0


def _say(text: str) -> None:
    """Print a line that `dashboard.benchmarks.control` finds in the log."""
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
    """

    def __init__(self, mpi: Any, campaign: Campaign, attempt: int, deadline: float) -> None:
        self._mpi, self._world = mpi, mpi.COMM_WORLD
        self.rank = int(self._world.Get_rank())
        self._campaign, self._attempt, self._deadline = campaign, attempt, deadline
        self._started = time.monotonic()
        self._plan: Plan = self._world.bcast(campaign.plan() if self.rank == 0 else None)
        self._nodes: list[str] = self._world.allgather(platform.node())
        self._machines: list[str] = self._world.allgather(surroundings.machine())
        self._tools: ToolInterface | None = None
        self._counters: PeerCounters | None = None
        self._refused: dict[tuple[Any, ...], str] = {}
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
        problem = ""
        if plan.settings:
            try:
                self._tools = ToolInterface()
                if plan.graph_counters:
                    address = self._mpi._addressof(self._world)  # noqa: SLF001 - mpi4py's own way to the handle
                    self._counters = PeerCounters(self._tools, plan.graph_counters, address, size)
            except ToolInterfaceError as error:
                if self._tools is None:
                    problem = f"{error}; {_NO_TOOLS}"
                elif self.rank == 0:
                    _say(f"message graphs are not recorded: {error}")
        return next((one for one in self._world.allgather(problem) if one), "")

    def run(self) -> None:
        """Measure everything that is missing, in the order of the plan."""
        todo: Todo
        todo, self._refused = self._world.bcast(self._todo() if self.rank == 0 else None)
        self._remember_memory()
        gc.disable()
        writer = self._writer() if self.rank == 0 else None
        try:
            self._tell("")
            ended = "complete"
            for (comm_size, ppn), block in groupby(todo, key=lambda one: (one[0].comm_size, one[0].ppn)):
                if not self._block(list(block), comm_size, ppn, writer):
                    ended = "time limit"
                    break
            self._tell("", ended)
        finally:
            if writer is not None:
                writer.close()
            if self._tools is not None:
                self._tools.close()

    def _remember_memory(self) -> None:
        """Write down the shared memory of this machine's ranks, which stays when they are killed."""
        found = self._world.gather(leftovers.mapped())
        if self.rank == 0:
            here = [names for names, machine in zip(found, self._machines, strict=True) if machine == self._machines[0]]
            leftovers.remember(self._campaign.folder, set().union(*here))

    def _writer(self) -> RunWriter:
        from loaders import RunWriter  # noqa: PLC0415 - the other ranks do without all that it brings along

        return RunWriter(self._campaign.results, self._attrs())

    def _todo(self) -> tuple[Todo, dict[tuple[Any, ...], str]]:
        """Cells to measure in this launch, and points that were refused in an earlier one, without its number."""
        done = self._campaign.done()
        every = missing(self._plan, done.all)
        self._points = sum(len(methods) for _, methods in every)
        # The cells of the next launch are left to ranks started anew.
        todo = [one for one in every if one[0].launch == every[0][0].launch]
        able = [one for one in todo if placed(self._nodes, one[0].comm_size, one[0].ppn)]
        if len(able) < len(todo):
            _say(
                f"{len(todo) - len(able)} cells need more nodes or more processes on each than the "
                f"{len(set(self._nodes))} nodes of this job have; they stay unmeasured"
            )
        return able, {key[:-1]: why for key, why in done.refused.items()}

    def _block(self, block: Todo, comm_size: int, ppn: int | None, writer: RunWriter | None) -> bool:
        """Measure cells of one communicator size; the other ranks sleep. False when the time is up."""
        members = placed(self._nodes, comm_size, ppn) or []
        mine = self.rank in members
        if self._tools is not None:
            # The communicator made here is for everything but the operation: it is to keep no method.
            self._tools.restore()
        comm = self._world.Split(0 if mine else self._mpi.UNDEFINED, self.rank)
        in_time = True
        if mine:
            in_time = self._members(block, comm, members, writer)
            comm.Free()
        request = self._world.Ibarrier()
        while not request.Test():
            time.sleep(_WAIT_S)
        return bool(self._world.bcast(in_time, 0))

    def _members(self, block: Todo, comm: Any, members: list[int], writer: RunWriter | None) -> bool:
        switch = Switch(self._plan, comm, self._tools)
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
                team = cellrun.Team(group, types, switch, self._counters, members, self._calls)
                known = {method: self._refused.get(point_key(cell, method)[:-1], "") for method in methods}
                for point in cellrun.measure(team, self._plan, cell, methods, self._attempt, known):
                    if writer is not None:
                        writer.append(point)
                self._done += len(methods)
                gc.collect()
        finally:
            switch.free()
        return True

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

    def _attrs(self) -> dict[str, Any]:
        """What holds for the whole run."""
        plan, nodes = self._plan, len(set(self._nodes))
        version = " ".join(self._mpi.Get_library_version().split())
        return {
            "system": surroundings.system(),
            "network": surroundings.network(nodes),
            "library": plan.library or version[:60],
            "library_version": plan.library_version or version[:60],
            "benchmark": f"colltune bench, {plan.protocol.name}",
            "statistic": _STATISTICS[plan.protocol.name],
            "statistic_kind": "completion",
            "datatype": plan.datatype,
            "ranks": self._world.Get_size(),
            "nodes": nodes,
            "placement": surroundings.placement(self._nodes),
            "cores_per_node": os.cpu_count() or 0,
            "seed": plan.seed,
            "attempt": self._attempt,
            "date": surroundings.now(),
            "protocol": " ".join(f"{name}={value}" for name, value in asdict(plan.protocol).items()),
            "environment": surroundings.settings(),
        }


class Switch:
    """Communicators that each take one method, made when they are first asked for.

    Parameters
    ----------
    plan
        Which control variables make the library take a method.
    comm
        Whose processes they are for.
    tools
        The tool interface; None when the plan sets nothing.
    """

    def __init__(self, plan: Plan, comm: Any, tools: ToolInterface | None) -> None:
        self._plan, self._comm, self._tools = plan, comm, tools
        self._made: dict[tuple[str, Method], Any] = {}
        # MPICH's settings act on all communicators at once: another one, made under them, would be made by the method.
        self._only = comm.Dup() if plan.library == mpich.NAME else None

    def __call__(self, collective: str, method: Method) -> Any:
        """Give the communicator of a method; collective at the first call for it.

        The variables are written at every call: some, such as the radix of Open MPI's k-nomial broadcast, act when a
        communicator is used, not when it is made.
        """
        settings = self._plan.settings_of(collective, method)
        if self._tools is not None and settings:
            if self._only is not None:
                self._tools.restore()
            self._tools.write(settings)
        if self._only is not None:
            return self._only
        key = (collective, method)
        if key not in self._made:
            self._made[key] = self._comm.Dup()
        return self._made[key]

    @contextmanager
    def strictly(self) -> Iterator[None]:
        """Have the library refuse a method that cannot work, where it would else take another one in silence.

        For a single call only: the worker's own communication is to go on whatever is set.
        """
        if self._tools is None or not self._plan.strict:
            yield
            return
        self._tools.write(self._plan.strict)
        try:
            yield
        finally:
            self._tools.restore(self._plan.strict)

    def free(self) -> None:
        """Free all of them; collective."""
        if self._tools is not None and self._only is not None:
            self._tools.restore()
        for comm in (*self._made.values(), *filter(None, [self._only])):
            comm.Free()
        self._made.clear()


if __name__ == "__main__":
    sys.exit(main())
