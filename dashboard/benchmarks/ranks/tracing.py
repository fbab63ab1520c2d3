"""What ranks run that trace a method: ``mpiexec -n P python -m mpi4py -m dashboard.benchmarks.ranks.tracing ORDER``.

Clocks are compared as those of benchmarks are, and repetitions start as theirs do: at a common time, or after a barrier
where processes share cores. Of several repetitions the one of median duration is kept.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.providers.executor import loaded
from dashboard.benchmarks.ranks import surroundings
from dashboard.benchmarks.ranks.operations import MPI_TYPES, keep_first
from dashboard.benchmarks.ranks.timing import Group, Window, after_barrier, clock_offset, synchronised
from dashboard.benchmarks.ranks.world import mpi_of
from dashboard.schedules import Call, program, resolve
from dashboard.schedules.trace import REDUCED, Trace
from loaders import disk

_WARM_UP = 3


def main(argv: Sequence[str]) -> None:
    """Trace what an order names; the first rank writes the trace."""
    order = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    call = Call(**order["call"])
    mpi = mpi_of(call.processes, exactly=True)
    comm = mpi.COMM_WORLD
    executor = loaded(mpi, comm, Path(order["native"]) if order["native"] else None)
    element, dtype = _element(mpi, call)
    made = program(call, *resolve(call, order["algorithm"], order["parameters"]), comm.Get_rank())
    lengths = (call.input_length(comm.Get_rank()), call.output_length(comm.Get_rank()))
    source, target = (np.ones(length, dtype) for length in lengths)
    op = mpi.SUM if call.commutative else mpi.Op.Create(keep_first, commute=False)
    run = executor.bind(comm.Dup(), made, (source, target), element, op, traced=True).traced
    times = comm.gather(_repeated(mpi, comm, run, order["repetitions"]))
    if times is not None:
        facts = {**order["facts"], "executor": executor.name, "system": surroundings.system()}
        trace = Trace(call, order["algorithm"], order["parameters"], _median(times), facts)
        disk.write_text(Path(order["results"]), json.dumps(trace.to_json()))


def _element(mpi: Any, call: Call) -> tuple[Any, Any]:
    """MPI's and NumPy's type of an element."""
    if call.entry.reduces:
        name = REDUCED[call.element_size]
        return getattr(mpi, MPI_TYPES[name]), np.dtype(name)
    return mpi.BYTE.Create_contiguous(call.element_size).Commit(), np.dtype(f"V{call.element_size}")


def _repeated(mpi: Any, comm: Any, run: Any, repetitions: int) -> list[np.ndarray[Any, Any]]:
    """Times of each repetition on the first rank's clock."""
    machines = comm.allgather((surroundings.machine(), os.sched_getaffinity(0)))
    here = machines[comm.Get_rank()][0]
    offset = clock_offset(comm, same_clock=here == machines[0][0])
    one_node = len({machine for machine, _ in machines}) == 1
    group = Group(comm, mpi.MAX, offset, surroundings.crowded(machines), one_node)
    kept: list[np.ndarray[Any, Any]] = []

    def step(_: int) -> None:
        kept.append(run() + offset)

    for count in (_WARM_UP, repetitions):
        kept.clear()
        if group.starts_by_barrier:
            after_barrier(group, step, count)
        else:
            synchronised(group, step, count, Window())
    return kept


def _median(times: Sequence[Sequence[np.ndarray[Any, Any]]]) -> list[np.ndarray[Any, Any]]:
    """The repetition of median duration, by rank, from its first begin on."""
    turns = list(zip(*times, strict=True))
    begins = [min((float(each.min()) for each in turn if each.size), default=0.0) for turn in turns]
    ends = [max((float(each.max()) for each in turn if each.size), default=0.0) for turn in turns]
    middle = int(np.argsort(np.subtract(ends, begins), kind="stable")[(len(turns) - 1) // 2])
    return [each - begins[middle] for each in turns[middle]]


if __name__ == "__main__":
    main(sys.argv[1:])
