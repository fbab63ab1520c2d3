"""Each collective's check accepts the right result and nothing else; the collectives here are played by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.methods import COLLECTIVES
from dashboard.benchmarks.operations import Operation, Types, skewed
from dashboard.benchmarks.protocol import Cell

TYPES = Types("byte", "float", "sum")


class Recorder:
    """A communicator that writes down the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.calls.append((name, args))


def played(collective: str, size: int, message: int, root: int, *, skew: bool = False) -> list[Operation]:
    """All processes' operations after the collective, as MPI defines it."""
    cell = Cell(collective, size, message)
    team = [Operation(cell, rank, TYPES, "float32", skew=skew) for rank in range(size)]
    for one in team:
        one.prepare(root)
    if collective.endswith("v"):
        _play_of_counts(collective, team)
        return team
    sent = np.array([one.pairs[0][0] for one in team])
    blocks = sent.reshape(size, -1, team[0].count) if message else sent
    for rank, one in enumerate(team):
        result = {
            "bcast": lambda: sent[root],
            "reduce": lambda: sent.sum(0),
            "allreduce": lambda: sent.sum(0),
            "scan": lambda rank=rank: sent[: rank + 1].sum(0),
            "gather": sent.ravel,
            "allgather": sent.ravel,
            "scatter": lambda rank=rank: blocks[root, rank],
            "alltoall": lambda rank=rank: blocks[:, rank].ravel(),
            "reduce_scatter": lambda rank=rank: blocks.sum(0)[rank],
            "barrier": lambda: sent[0],
        }[collective]()
        only_root = collective in ("reduce", "gather")
        if not only_root or rank == root:
            one.pairs[0][0 if collective == "bcast" else 1][:] = result
    return team


def _play_of_counts(collective: str, team: list[Operation]) -> None:
    """What the calls with a count for each process do, by the counts that they are called with."""
    comm = Recorder()
    for one in team:
        one.call(comm)
    sent = [args[0] for _, args in comm.calls]
    received = [args[1] for _, args in comm.calls]
    for rank, (into, counts, _) in enumerate(received):
        if collective == "allgatherv":
            pieces = [array for array, _, _ in sent]
        else:
            pieces = [np.split(array, np.cumsum(to)[:-1])[rank] for array, to, _ in sent]
        assert [piece.size for piece in pieces] == list(counts)
        into[:] = np.concatenate(pieces)


@pytest.mark.parametrize("collective", COLLECTIVES)
@given(st.integers(2, 7), st.integers(1, 40), st.integers(0, 6))
def test_the_right_result_is_accepted_by_every_process(collective: str, size: int, count: int, root: int) -> None:
    team = played(collective, size, 0 if collective == "barrier" else 4 * count, root % size)
    assert [one.right(root % size) for one in team] == [True] * size


@pytest.mark.parametrize("collective", [one for one in COLLECTIVES if one != "barrier"])
@given(st.integers(2, 7), st.integers(1, 40), st.data())
def test_one_wrong_element_anywhere_is_found(collective: str, size: int, count: int, data: st.DataObject) -> None:
    root = 0
    team = played(collective, size, 4 * count, root)
    rank = root if collective in ("reduce", "gather") else data.draw(st.integers(0, size - 1))
    held = team[rank].pairs[0][0 if collective == "bcast" else 1]
    held[data.draw(st.integers(0, held.size - 1))] += 1
    assert not team[rank].right(root)


@pytest.mark.parametrize("collective", [one for one in COLLECTIVES if one not in ("barrier", "bcast")])
def test_a_collective_that_does_nothing_is_found(collective: str) -> None:
    one = Operation(Cell(collective, 4, 16), 0, TYPES, "float32")
    assert not one.verify(Recorder())


def test_counts_are_the_blocks_of_the_project_s_convention() -> None:
    comm = Recorder()
    for collective in ("alltoall", "allreduce", "reduce_scatter"):
        Operation(Cell(collective, 4, 16), 1, TYPES, "float32").call(comm)
    (_, (sent, received)), (_, (vector, _, _)), (_, (whole, part, counts, _)) = comm.calls
    assert (sent[0].nbytes, sent[1], received[1]) == (64, 16, 16)
    assert (vector[0].nbytes, vector[1]) == (16, 4)
    assert (whole[0].nbytes, part[0].nbytes, counts) == (64, 16, [4, 4, 4, 4])


@pytest.mark.parametrize("collective", ["allgatherv", "alltoallv"])
@given(st.integers(2, 9), st.integers(1, 60))
def test_skewed_blocks_come_back_whole_and_make_up_the_message_size(collective: str, size: int, count: int) -> None:
    team = played(collective, size, count, 0, skew=True)
    assert all(one.right(0) for one in team)
    assert sum(team[0].counts) == size * count
    assert sorted(team[0].counts) == team[0].counts
    assert team[-1].pairs[0][1].size == size * count


def test_a_block_of_skewed_counts_grows_with_the_rank() -> None:
    assert skewed(10, 4) == [4, 8, 12, 16]
    assert skewed(1, 3) == [0, 1, 2]


@pytest.mark.parametrize("collective", [one for one in COLLECTIVES if one != "barrier"])
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
