"""The target ``python-collectives``: programs that call its functions get what MPI promises. Four ranks."""

import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.libraries.library import Installation
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export import ExportError, to_collectives
from dashboard.export.targets.collectives import choice_of
from tests.conftest import ran

OWN = {"provider": "own"}
GRID = Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "2x2", "inner": "linear"})
LARGE = {
    "bcast": GRID,
    "gather": GRID,
    # Phases that are calls of the library, on communicators of rows and columns.
    "scatter": Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "2x2", "inner": "library"}),
    "allgather": Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "2x2", "inner": "bruck"}),
    "allreduce": Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "2x2", "inner": "ring+library"}),
    "reduce": Method("binomial 64B", "binomial", 64, OWN),
    "alltoall": Method("bruck", "bruck", 0, OWN),
    "scan": Method("linear", "linear", 0, OWN),
    "reduce_scatter": Method("ring", "ring", 0, OWN),
    "barrier": Method("bruck", "bruck", 0, OWN),
}
PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import decided

world = MPI.COMM_WORLD
few = world.Split(int(world.rank < 3), world.rank)
duplicates = []
for comm in (world, few):
    size, rank = comm.size, comm.rank
    for count in (1, 5, 1000):
        for root in range(size):
            mine = np.arange(count, dtype=np.float64) + 1000.0 * rank
            every = np.concatenate([np.arange(count) + 1000.0 * each for each in range(size)])
            buffer = mine.copy()
            decided.bcast(comm, buffer, root)
            assert (buffer == np.arange(count) + 1000.0 * root).all()
            received = np.full(count * size if rank == root else 0, -1.0)
            decided.gather(comm, mine, received if rank == root else None, root)
            assert rank != root or (received == every).all()
            part = np.full(count, -1.0)
            decided.scatter(comm, every if rank == root else None, part, root)
            assert (part == mine).all()
            total = np.full(count, -1.0)
            decided.reduce(comm, mine, total if rank == root else None, MPI.SUM, root)
            assert rank != root or (total == every.reshape(size, -1).sum(axis=0)).all()
        result = np.full(count, -1.0)
        decided.allreduce(comm, mine, result, MPI.MAX)
        assert (result == np.arange(count) + 1000.0 * (size - 1)).all()
        decided.scan(comm, mine, result, MPI.SUM)
        assert (result == every.reshape(size, -1)[: rank + 1].sum(axis=0)).all()
        blocks = np.full(count * size, -1.0)
        decided.allgather(comm, mine, blocks)
        assert (blocks == every).all()
        decided.alltoall(comm, every + rank, blocks)
        assert (blocks == np.concatenate([mine + each for each in range(size)])).all()
        decided.reduce_scatter(comm, every, result, MPI.SUM)
        assert (result == size * mine).all()
        decided.barrier(comm)
assert len(decided._run._programs) > 3
# A part of an array that is not contiguous is refused, and nobody waits.
try:
    decided.bcast(world, np.zeros((4, 4))[:, 0])
except ValueError as error:
    assert "contiguous" in str(error)
else:
    raise AssertionError
for _ in range(3000):
    # More than MPI has communicators for, were duplicates not freed with what they were made of.
    copy = few.Dup()
    decided.bcast(copy, np.zeros(1000))
    copy.Free()
def handle():
    # Smallest number of a communicator that is free: what a new one gets.
    new = world.Dup()
    number = new.py2f()
    new.Free()
    return number
# Rows and columns are freed as well.
before = handle()
for _ in range(20):
    copy = world.Dup()
    decided.allreduce(copy, mine, result, MPI.SUM)
    assert handle() > before
    copy.Free()
assert handle() == before, (handle(), before)
print("right", world.rank, flush=True)
"""


def decision(collective: str) -> DecisionFunction:
    """The library's own decision for a few bytes, else a method of `LARGE`; the library again far above."""
    methods = (Method("default", "default"), LARGE[collective])
    return DecisionFunction(collective, methods, Split((Test("message_size", 8),), (Leaf(0), Leaf(1))))


@pytest.mark.soak
def test_a_program_gets_what_mpi_promises_from_all_of_them(
    installation: Installation, mpirun_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "decided.py").write_text(to_collectives([decision(name) for name in LARGE]), encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    environment = {**mpirun_environment, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
    command = [str(installation.mpiexec), "-n", "4", sys.executable, "-m", "mpi4py", str(program)]
    done = ran(command, env=environment, timeout=120)
    assert sorted(done.stdout.split()) == sorted(["right", "0", "right", "1", "right", "2", "right", "3"])


def test_methods_of_libraries_are_taken_for_the_own_ones_that_are_the_same() -> None:
    assert choice_of(Method("x", "binary_tree", 1024, {"library_id": 5}), "bcast") == ("binary", {"segment_size": 1024})
    assert choice_of(Method("x", "chain", 0, {"fan_out": 4}), "bcast") == ("k_chain", {"fan_out": 4})
    assert choice_of(Method("x", "in-order_binary"), "reduce") == ("in_order_binary", {})
    assert choice_of(Method("x", "default", 0, {"library_id": 0}), "bcast") is None


def test_what_cannot_be_run_is_refused_with_what_can() -> None:
    with pytest.raises(ExportError, match="no own method 'knomial'; there are linear, pipeline"):
        to_collectives(DecisionFunction("bcast", (Method("knomial", "knomial"),), Leaf(0)))
    with pytest.raises(ExportError, match="alltoallw cannot be run so; can be bcast"):
        to_collectives(DecisionFunction("alltoallw", (Method("linear", "linear"),), Leaf(0)))
    wrong = Method("x", "orthogonal", 0, {"provider": "orthogonal", "grid": "2y2"})
    with pytest.raises(ExportError, match="grid '2y2'"):
        to_collectives(DecisionFunction("bcast", (wrong,), Leaf(0)))
