"""Pictures of schedules: what is drawn is what a reader of the published figures expects, and it is proper SVG."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dashboard.schedules import ALL, Algorithm, Call, ScheduleError, schedule
from dashboard.schedules.drawing import graph_svg, messages, movement_svg, places, ways_of
from dashboard.schedules.movement import movement
from dashboard.schedules.rank import RECEIVE, SEND
from dashboard.schedules.steps import steps

VECTORS = ("bcast", "reduce", "allreduce", "scan", "exscan")


def held(collective: str, algorithm: str, processes: int, count: int) -> np.ndarray:
    return movement(schedule(Call(collective, processes, count), algorithm))


def test_bruck_s_allgather_is_figure_4_4() -> None:
    # After step k each rank has its own block and the 2^k - 1 that follow it; the last step brings the rest.
    grids = held("allgather", "bruck", 6, 1)
    assert len(grids) == 4
    for grid, blocks in zip(grids, (1, 2, 4, 6), strict=True):
        for rank in range(6):
            assert set(np.flatnonzero(grid[rank])) == {(rank + ahead) % 6 for ahead in range(blocks)}


def test_neighbor_exchange_is_figure_4_6() -> None:
    # Pairs first, then two blocks more in each step.
    grids = held("allgather", "neighbor_exchange", 6, 1)
    assert [set(np.count_nonzero(grid, axis=1)) for grid in grids] == [{1}, {2}, {4}, {6}]
    assert set(np.flatnonzero(grids[1][3])) == {2, 3}


def test_the_ring_of_allreduce_is_figure_4_11() -> None:
    # Computation: the block that a rank has combined last grows by one contribution a step, until it is complete.
    grids = held("allreduce", "ring", 5, 5)
    for step in range(1, 5):
        assert (grids[step].max(axis=1) == step + 1).all()
    for rank in range(5):
        assert grids[4][rank][(rank + 1) % 5] == 5
    assert (grids[8] == 5).all()


def test_segments_that_are_still_on_their_way_are_not_held() -> None:
    made = schedule(Call("bcast", 4, 6), "pipeline", segment_size=2)
    grids = movement(made)
    # Rank r has the segments that have had the time: r steps for the first, and one more for each other.
    for step, grid in enumerate(grids):
        for rank in range(1, 4):
            assert np.count_nonzero(grid[rank]) == 2 * min(max(step - rank + 1, 0), 3)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.title.replace(" ", "-"))
def test_every_algorithm_can_be_drawn_and_ends_with_what_is_promised(each: Algorithm) -> None:
    count = 0 if each.collective == "barrier" else 6 if each.collective in VECTORS else 1
    made = schedule(Call(each.collective, 6, count), each.name, fallback=True)
    for text in (graph_svg(made), movement_svg(made)):
        assert ET.fromstring(text).tag.endswith("svg")  # noqa: S314 - made above
    grids = movement(made)
    if each.collective in ("bcast", "allgather"):
        assert (grids[-1] == 1).all()
    elif each.collective == "allreduce":
        assert (grids[-1] == 6).all()
    elif each.collective == "scan":
        assert (grids[-1] == np.arange(1, 7)[:, None]).all()
    elif each.collective == "alltoall":
        assert all(grids[-1][to][6 * source + to] for source in range(6) for to in range(6))


def test_trees_are_drawn_as_trees() -> None:
    made = schedule(Call("bcast", 7, 1), "binary")
    spots = places(ways_of(messages(made)), 7, 0)
    depths = [y for _, y in spots]
    assert depths[0] < depths[1] == depths[2] < depths[3] == depths[6]
    # Parents stand between their children.
    assert spots[3][0] < spots[1][0] < spots[5][0] < spots[0][0] < spots[2][0]
    # A chain is as deep as it has processes.
    chain = places([(rank, rank + 1, rank + 1) for rank in range(1999)], 2000, 0)
    assert chain[1][0] == chain[0][0]
    assert chain[1999] == (chain[0][0], pytest.approx(1999 * chain[1][1]))
    ring = places(ways_of(messages(schedule(Call("allgather", 7, 1), "ring"))), 7, 0)
    assert len(set(ring)) == 7


def test_messages_have_one_step_at_both_ends_and_ranks_one_message_at_a_time() -> None:
    for algorithm in ("linear", "pipeline", "binomial", "binary", "split_binary", "k_chain"):
        made = schedule(Call("bcast", 9, 12, root=4), algorithm, segment_size=4)
        sent, received = set(), set()
        for rank, (program, rounds) in enumerate(zip(made.programs, steps(made), strict=True)):
            rows = [(*row[:3], step) for row, step in zip(program.rows.tolist(), rounds, strict=True)]
            sent |= {(rank, peer, tag, step) for kind, peer, tag, step in rows if kind == SEND}
            received |= {(peer, rank, tag, step) for kind, peer, tag, step in rows if kind == RECEIVE}
        assert sent == received
        for side in (0, 1):
            assert len({(each[side], each[3]) for each in sent}) == len(sent) == len(made.messages)
    assert [step for *_, step in messages(schedule(Call("bcast", 8, 1), "binomial"))] == [1, 2, 2, 3, 3, 3, 3]


def test_too_much_to_be_drawn_is_refused() -> None:
    with pytest.raises(ScheduleError, match="63 processes are too many to be drawn, at most 62"):
        held("bcast", "binomial", 63, 1)
    with pytest.raises(ScheduleError, match="400 elements are too many"):
        held("alltoall", "linear", 20, 1)
