"""Each collective's check accepts the right result and nothing else; the collectives here are played by NumPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.ranks.operations import Operation, Types, skewed
from dashboard.domain.campaign import DATATYPES
from loaders.collectives import COLLECTIVES

TYPES = Types("byte", "float", "sum")


def test_elements_are_as_long_as_numpy_has_them() -> None:
    assert {name: np.dtype(name).itemsize for name in DATATYPES} == DATATYPES


class Recorder:
    """A communicator that writes down the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.calls.append((name, args))


def played(collective: str, size: int, message: int, root: int, *, skew: bool = False) -> list[Operation]:
    """All processes' operations after the collective, as MPI defines it, by the arguments that they call it with."""
    cell = Cell(collective, size, message)
    team = [Operation(cell, rank, TYPES, "float32", skew=skew) for rank in range(size)]
    comm = Recorder()
    for operation in team:
        operation.prepare(root)
        operation.call(comm, 0, root)
    (name,) = {name for name, _ in comm.calls}
    if name != "Barrier":
        _play(name, [args for _, args in comm.calls], root)
    return team


def _blocks(buffer: Any, size: int) -> list[Any]:
    """The parts of a buffer by the count or counts that it is passed with."""
    array, counts = buffer[0], buffer[1][0] if isinstance(buffer[1], tuple) else buffer[1]
    counts = [counts] * size if isinstance(counts, int) else list(counts)
    assert sum(counts) == array.size
    return np.split(array, np.cumsum(counts)[:-1])


def _play(name: str, calls: list[tuple[Any, ...]], root: int) -> None:
    size, kind = len(calls), name.removesuffix("v").removesuffix("w")
    if kind in ("Bcast", "Reduce", "Gather", "Scatter"):
        assert {args[-1] for args in calls} == {root}
        calls = [args[:-1] for args in calls]
    if kind == "Bcast":
        for args in calls:
            args[0][0][:] = calls[root][0][0]
        return
    sent = [args[0] and [args[0][0].copy(), args[0][1]] for args in calls]
    for rank, (_, received, *further) in enumerate(calls):
        if kind in ("Reduce", "Gather") and rank != root:
            assert received is None
            continue
        if kind == "Reduce_scatter":
            sent = [[array, further[0]] for array, _ in sent]
        if kind in ("Gather", "Allgather", "Alltoall"):
            assert [part.size for part in _blocks(received, size)] == [part.size for part in _sent(kind, sent, rank)]
        if kind != "Exscan" or rank:
            received[0][:] = _RESULTS[kind](sent, rank, root)


def _sent(kind: str, sent: list[Any], rank: int) -> list[Any]:
    """What each process sends to one."""
    return [_blocks(each, len(sent))[rank] if kind == "Alltoall" else each[0] for each in sent]


def _sum(sent: list[Any]) -> Any:
    return np.sum([array for array, _ in sent], axis=0)


#: What a process gets, from what all send, its rank and the root.
_RESULTS: dict[str, Callable[[list[Any], int, int], Any]] = {
    "Reduce": lambda sent, rank, root: _sum(sent),
    "Allreduce": lambda sent, rank, root: _sum(sent),
    "Scan": lambda sent, rank, root: _sum(sent[: rank + 1]),
    "Exscan": lambda sent, rank, root: _sum(sent[:rank]),
    "Gather": lambda sent, rank, root: np.concatenate(_sent("Gather", sent, rank)),
    "Allgather": lambda sent, rank, root: np.concatenate(_sent("Allgather", sent, rank)),
    "Alltoall": lambda sent, rank, root: np.concatenate(_sent("Alltoall", sent, rank)),
    "Scatter": lambda sent, rank, root: _blocks(sent[root], len(sent))[rank],
    "Reduce_scatter": lambda sent, rank, root: _blocks([_sum(sent), sent[0][1]], len(sent))[rank],
    "Reduce_scatter_block": lambda sent, rank, root: np.split(_sum(sent), len(sent))[rank],
}


@pytest.mark.parametrize("collective", COLLECTIVES)
@given(st.integers(2, 7), st.integers(1, 40), st.integers(0, 6))
def test_the_right_result_is_accepted_by_every_process(collective: str, size: int, count: int, root: int) -> None:
    team = played(collective, size, 0 if collective == "barrier" else 4 * count, root % size)
    assert [operation.right(root % size) for operation in team] == [True] * size


@pytest.mark.parametrize("collective", [name for name in COLLECTIVES if name != "barrier"])
@given(st.integers(2, 7), st.integers(1, 40), st.data())
def test_one_wrong_element_anywhere_is_found(collective: str, size: int, count: int, data: st.DataObject) -> None:
    root = 0
    team = played(collective, size, 4 * count, root)
    ranks = {"reduce": (0, 0), "gather": (0, 0), "gatherv": (0, 0), "exscan": (1, size - 1)}
    rank = data.draw(st.integers(*ranks.get(collective, (0, size - 1))))
    held = team[rank].pairs[0][0 if collective == "bcast" else 1]
    held[data.draw(st.integers(0, held.size - 1))] += 1
    assert not team[rank].right(root)


@pytest.mark.parametrize("collective", [name for name in COLLECTIVES if name not in ("barrier", "bcast")])
def test_a_collective_that_does_nothing_is_found(collective: str) -> None:
    operation = Operation(Cell(collective, 4, 16), 1 if collective == "exscan" else 0, TYPES, "float32")
    operation.prepare(0)
    operation.call(Recorder())
    assert not operation.right(0)


def test_counts_are_the_blocks_of_the_project_s_convention() -> None:
    comm = Recorder()
    for collective in ("alltoall", "allreduce", "reduce_scatter"):
        Operation(Cell(collective, 4, 16), 1, TYPES, "float32").call(comm)
    (_, (sent, received)), (_, (vector, _, _)), (_, (blocks, part, counts, _)) = comm.calls
    assert (sent[0].nbytes, sent[1], received[1]) == (64, 16, 16)
    assert (vector[0].nbytes, vector[1]) == (16, 4)
    assert (blocks[0].nbytes, part[0].nbytes, counts) == (64, 16, [4, 4, 4, 4])


@pytest.mark.parametrize("collective", [name for name, each in COLLECTIVES.items() if each.counts != "equal"])
@given(st.integers(2, 9), st.integers(1, 60))
def test_skewed_blocks_come_back_whole_and_make_up_the_message_size(collective: str, size: int, count: int) -> None:
    team = played(collective, size, 4 * count, 0, skew=True)
    assert all(operation.right(0) for operation in team)
    assert sum(team[0].counts) == size * team[0].count
    assert sorted(team[0].counts) == team[0].counts


def test_a_block_of_skewed_counts_grows_with_the_rank() -> None:
    assert skewed(10, 4) == [4, 8, 12, 16]
    assert skewed(1, 3) == [0, 1, 2]


@pytest.mark.parametrize("collective", [name for name in COLLECTIVES if name != "barrier"])
def test_no_page_of_a_buffer_is_touched_first_by_a_timed_call(collective: str) -> None:
    # Memory that was only reserved reads as 0, and each page of it costs more than its share of the call.
    operation = Operation(Cell(collective, 4, 4096), 1, TYPES, "float32", copies=3)
    assert all(array.all() for pair in operation.pairs for array in pair)


def test_buffers_take_turns() -> None:
    comm = Recorder()
    operation = Operation(Cell("bcast", 2, 16), 0, TYPES, "float32", copies=3)
    for turn in range(4):
        operation.call(comm, turn)
    arrays = [args[0][0] for _, args in comm.calls]
    assert len({id(array) for array in arrays}) == 3
    assert arrays[3] is arrays[0]
