"""What ranks run: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.applications.worker ORDER RESULT [NATIVE]``.

All ways of an order run in turns in this one job. Before, one rank runs the same alone; every iterate is compared.
"""

import json
import platform
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dashboard.benchmarks.applications import adams, jacobi, systems
from dashboard.benchmarks.applications.communication import COMPUTE, Clock, Communication
from dashboard.benchmarks.applications.order import JACOBI, ORIGINAL, VARIANTS, Order
from dashboard.benchmarks.providers import executor
from dashboard.benchmarks.ranks import surroundings
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.world import mpi_of
from dashboard.domain.arrays import FloatArray
from loaders import disk


class Program(Protocol):
    """An application on one rank."""

    @property
    def mine(self) -> FloatArray:
        """Components that this rank has to show after a step."""

    def step(self) -> float:
        """One iteration, or one step of time; what Jacobi ends by."""


def main(argv: Sequence[str]) -> None:
    """Run an order; the first rank writes the result."""
    order = Order.from_json(json.loads(Path(argv[0]).read_text(encoding="utf-8")))
    mpi = mpi_of(order.processes, exactly=True)
    result = Ranks(mpi, order, Path(argv[2]) if len(argv) > 2 else None).run()
    if mpi.COMM_WORLD.Get_rank() == 0:
        disk.write_text(Path(argv[1]), json.dumps(result))


class Ranks:
    """One process of the job; collective.

    Parameters
    ----------
    native
        The compiled executor of schedules; None: mpi4py runs them.
    """

    def __init__(self, mpi: Any, order: Order, native: Path | None) -> None:
        self._mpi, self._world, self._order = mpi, mpi.COMM_WORLD, order
        self._executor = executor.loaded(mpi, self._world, native)
        self._begin: FloatArray = np.empty((0, 0))

    def run(self) -> dict[str, Any]:
        """All ways in turns; the result on the first rank."""
        order, rank = self._order, self._world.Get_rank()
        alone: dict[str, Any] = {}
        with subset(self._mpi, self._world, member=rank == 0) as comm:
            if comm:
                self._begin = np.empty((0, 0)) if order.application == JACOBI else adams.begin_of(order)
                variant = VARIANTS[order.application][0]
                alone = self._way(
                    replace(order, processes=1, variant=variant, inner={}, ways=(ORIGINAL,)), comm, ORIGINAL
                )
        self._begin = self._world.bcast(self._begin)
        ways: dict[str, dict[str, Any]] = {}
        for way in order.ways:
            # The first messages between two processes connect them.
            self._way(replace(order, steps=1), self._world, way)
        for turn in range(order.repetitions):
            # Each way is first in turn.
            first = turn % len(order.ways)
            for way in order.ways[first:] + order.ways[:first]:
                self._add(ways.setdefault(way, {}), self._way(order, self._world, way), alone)
        nodes = self._world.allgather(platform.node())
        return {
            "order": order.to_json(),
            "library": " ".join(self._mpi.Get_library_version().split())[:60],
            "executor": self._executor.name,
            "nodes": len(set(nodes)),
            "rank_nodes": surroundings.rank_nodes(nodes),
            "alone": {name: alone.get(name) for name in ("seconds", "steps", "residual")},
            "ways": [{"way": way, "grid": str(order.grid(way) or ""), **ways[way]} for way in order.ways],
        }

    @staticmethod
    def _add(record: dict[str, Any], run: dict[str, Any], alone: dict[str, Any]) -> None:
        """Add a run to the record of its way."""
        for name in ("seconds", "set_up"):
            record.setdefault(name, []).append(run[name])
        phases = record.setdefault("phases", {})
        for name, values in run["phases"].items():
            phases.setdefault(name, []).append(values)
        record["steps"] = run["steps"]
        if alone:
            same = run["steps"] == alone["steps"]
            difference = float(np.abs(run["iterates"] - alone["iterates"]).max()) if same else float("inf")
            record["difference"] = max(difference, record.get("difference", 0.0))

    def _way(self, order: Order, comm: Any, way: str) -> dict[str, Any]:
        """Run it once; iterates on the first rank."""
        clock = Clock()
        with ExitStack() as made:
            began = time.perf_counter()
            program = self._program(order, comm, way, clock, made)
            comm.Barrier()
            set_up = time.perf_counter() - began
            clock.start()
            iterates, seconds = _steps(order, program, clock)
            kept = comm.gather(iterates)
            times = comm.gather((seconds, set_up, dict(clock.seconds)))
        if comm.Get_rank():
            return dict.fromkeys(("seconds", "set_up"), 0.0) | {"phases": {}, "steps": 0}
        every = np.concatenate(kept, axis=1)
        names = dict.fromkeys(name for _, _, phases in times for name in phases)
        phases = {name: [each.get(name, 0.0) for _, _, each in times] for name in names}
        return {
            "seconds": max(each for each, _, _ in times),
            "set_up": max(each for _, each, _ in times),
            "phases": {name: {"mean": float(np.mean(of)), "max": max(of)} for name, of in phases.items()},
            "steps": len(every),
            "iterates": every,
            "residual": _residual(order, every[-1]) if order.application == JACOBI else None,
        }

    def _program(self, order: Order, comm: Any, way: str, clock: Clock, made: ExitStack) -> Program:
        def over(members: Any, where: str = "") -> Communication:
            grid = order.grid(way)
            each = Communication(self._mpi, members, self._executor, clock, grid, order.inner, where)
            made.callback(each.free)
            return each

        if order.application == JACOBI:
            return jacobi.Jacobi(order, over(comm))
        if not order.in_tasks:
            return adams.DataParallel(order, over(comm), self._begin)
        rank, width = comm.Get_rank(), order.processes // order.stages
        group = comm.Split(rank // width, rank)
        made.callback(group.Free)
        if way != ORIGINAL:
            comm = comm.Split(rank % width, rank)
            made.callback(comm.Free)
        return adams.TaskParallel(order, over(group, " within a stage"), over(comm, " between stages"), self._begin)


def _steps(order: Order, program: Program, clock: Clock) -> tuple[FloatArray, float]:
    """Iterates of this rank (steps × components), and seconds."""
    kept: list[FloatArray] = []
    began = time.perf_counter()
    for _ in range(order.steps):
        reached = program.step()
        kept.append(program.mine.copy())
        if order.application == JACOBI and reached < order.tolerance:
            break
    clock.lap(COMPUTE)
    return np.array(kept), time.perf_counter() - began


def _residual(order: Order, x: FloatArray) -> float:
    """Largest component of A x − b."""
    matrix, right = systems.linear(order.size, order.seed)
    return float(np.abs(matrix @ x - right).max())


if __name__ == "__main__":
    main(sys.argv[1:])
