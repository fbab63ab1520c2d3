"""Messages and bytes of schedules against those counted by hand for 6, 8 and 12 processes."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.models.registry import ALL as MODELLED
from dashboard.schedules import ALL, Algorithm, Call, NotApplicableError, Schedule, ScheduleError, schedule

#: Collective, algorithm, elements, segment size; for 6, 8 and 12 processes messages and those of the busiest sender.
MESSAGES = [
    ("barrier", "flat_tree", 0, 0, (10, 5), (14, 7), (22, 11)),
    ("barrier", "double_ring", 0, 0, (12, 2), (16, 2), (24, 2)),
    ("barrier", "recursive_doubling", 0, 0, (12, 3), (24, 3), (32, 4)),
    ("barrier", "bruck", 0, 0, (18, 3), (24, 3), (48, 4)),
    ("bcast", "pipeline", 5000, 1000, (25, 5), (35, 5), (55, 5)),
    ("bcast", "binomial", 5000, 1000, (25, 15), (35, 15), (55, 20)),
    ("bcast", "binary", 5000, 1000, (25, 10), (35, 10), (55, 10)),
    ("bcast", "split_binary", 4800, 1000, (20, 7), (28, 7), (44, 7)),
    ("gather", "linear_sync", 4800, 0, (15, 5), (21, 7), (33, 11)),
    ("allgather", "bruck", 1, 0, (18, 3), (24, 3), (48, 4)),
    ("allgather", "ring", 1, 0, (30, 5), (56, 7), (132, 11)),
    ("allgather", "neighbor_exchange", 1, 0, (18, 3), (32, 4), (72, 6)),
]
#: The same for messages and elements (or blocks) sent in all; None where the table does not say.
ELEMENTS: list[tuple[str, str, int, tuple[Any, Any], tuple[Any, Any], tuple[Any, Any]]] = [
    ("scatter", "binomial", 1, (None, 7), (None, 12), (None, 20)),
    ("allgather", "ring", 1, (30, 30), (56, 56), (132, 132)),
    ("allgather", "bruck", 1, (18, 30), (24, 56), (48, 132)),
    ("alltoall", "bruck", 1, (18, 42), (24, 96), (48, 240)),
    ("reduce", "rabenseifner", 4800, (17, 33600), (31, 40800), (43, 69600)),
    ("allreduce", "recursive_doubling", 4800, (12, None), (24, None), (32, None)),
    ("allreduce", "ring", 4800, (60, None), (112, None), (264, None)),
    ("allreduce", "rabenseifner", 4800, (24, None), (48, None), (64, None)),
    ("reduce_scatter", "recursive_halving", 400, (12, None), (24, None), (32, None)),
    ("reduce_scatter", "ring", 400, (30, None), (56, None), (132, None)),
    ("scan", "linear", 10, (5, None), (7, None), (11, None)),
    ("scan", "binomial", 10, (11, None), (17, None), (33, None)),
]


def made(collective: str, algorithm: str, processes: int, count: int, segment_size: int = 0) -> Schedule:
    parameters = {"segment_size": segment_size} if segment_size else {}
    return schedule(Call(collective, processes, count), algorithm, **parameters)


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: "-".join(row[:2]))
def test_messages_and_the_busiest_sender(row: Any) -> None:
    collective, algorithm, count, segment, *counted = row
    for processes, expected in zip((6, 8, 12), counted, strict=True):
        sent = made(collective, algorithm, processes, count, segment).messages
        assert (len(sent), max(Counter(sent[:, 0].tolist()).values())) == expected


@pytest.mark.parametrize("row", ELEMENTS, ids=lambda row: "-".join(row[:2]))
def test_messages_and_elements(row: Any) -> None:
    collective, algorithm, count, *counted = row
    for processes, (messages, elements) in zip((6, 8, 12), counted, strict=True):
        sent = made(collective, algorithm, processes, count).messages
        assert messages in (None, len(sent))
        assert elements in (None, int(sent[:, 2].sum()))


def test_segments_of_the_ring_are_rounded_up_for_every_block() -> None:
    # 64 KiB over six ranks are blocks of 10923 bytes: two parts of each, 30 messages a phase, and 30 to tell.
    assert len(made("allreduce", "ring_segmented", 6, 1 << 16, 8192).messages) == 90


def test_every_modelled_algorithm_has_a_schedule() -> None:
    modelled = {(each.collective, each.algorithm) for each in MODELLED}
    assert modelled <= {(each.collective, each.name) for each in ALL}
    assert len(modelled) == 35


@given(st.integers(2, 40), st.integers(1, 300), st.integers(1, 400), st.integers(0, 39))
def test_trees_send_every_byte_to_every_other_process_once(processes: int, count: int, segment: int, root: int) -> None:
    for algorithm in ("linear", "pipeline", "binomial", "binary", "split_binary", "k_chain", "k_ary"):
        call = Call("bcast", processes, count, root % processes)
        sent = schedule(call, algorithm, segment_size=segment).messages
        received = Counter[int]()
        for _, to, size in sent.tolist():
            received[to] += size
        assert received == {other: count for other in range(processes) if other != call.root}


@pytest.mark.parametrize(
    ("call", "algorithm", "parameters", "reason"),
    [
        (Call("allgather", 6, 1), "recursive_doubling", {}, "powers of two of processes; found 6"),
        (Call("allgather", 5, 1), "neighbor_exchange", {}, "even numbers of processes; found 5"),
        (Call("allreduce", 8, 7), "ring", {}, "needs 8 elements at least; found 7"),
        (Call("allreduce", 4, 8, commutative=False), "ring", {}, "does not commute"),
        (Call("reduce", 4, 8, commutative=False), "pipeline", {}, "does not commute"),
        (Call("allreduce", 4, 8, commutative=False), "reduce_bcast", {"reduce": "binomial"}, "does not commute"),
        (Call("bcast", 4, 8, element_size=16), "pipeline", {"segment_size": 15}, "element of 16 B"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    call: Call, algorithm: str, parameters: dict[str, Any], reason: str
) -> None:
    with pytest.raises(NotApplicableError, match=reason):
        schedule(call, algorithm, **parameters)


@pytest.mark.parametrize(
    ("collective", "algorithm", "parameters"),
    [
        ("allreduce", "reduce_bcast", {"reduce": "pipeline", "reduce_segment_size": 4}),
        # What is broadcast is all blocks.
        ("allgather", "gather_bcast", {"bcast_segment_size": 64}),
        ("bcast", "orthogonal", {"inner": "linear+binary:segment_size=4"}),
        ("allgather", "orthogonal", {"inner": "gather_bcast:bcast_segment_size=64"}),
    ],
)
def test_parts_are_not_cut_into_more_segments_than_memory_is_for(
    collective: str, algorithm: str, parameters: dict[str, Any]
) -> None:
    with pytest.raises(ScheduleError, match="1,048,576 segments on each of 16 processes"):
        schedule(Call(collective, 16, 1 << 22), algorithm, **parameters)


def test_a_segment_size_that_cuts_no_block_is_none() -> None:
    made = schedule(Call("allgather", 16, 1 << 22), "orthogonal", segment_size=4)
    assert len(made.messages) == 16 * (3 + 3)


def test_fallbacks_are_named_as_what_runs() -> None:
    for call, asked, ran in (
        (Call("allgather", 6, 1), "recursive_doubling", "bruck"),
        (Call("allgather", 5, 1), "neighbor_exchange", "ring"),
        (Call("allreduce", 8, 7), "ring_segmented", "recursive_doubling"),
        (Call("reduce", 8, 7, commutative=False), "rabenseifner", "in_order_binary"),
        (Call("reduce", 8, 7, commutative=False), "flat_tree", "linear_in_order"),
        (Call("reduce_scatter", 8, 7, commutative=False), "ring", "reduce_scatter"),
    ):
        assert schedule(call, asked, fallback=True).algorithm.name == ran


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"collective": "gossip"}, "known are bcast"),
        ({"processes": 0}, "processes is 0; expected a whole number of at least 1"),
        ({"root": 4}, "root is 4; expected a rank from 0 to 3"),
        ({"collective": "allreduce", "root": 1}, "allreduce has no root"),
        ({"count": -1}, "count is -1"),
        ({"counts": (1, 2, 3, 4)}, "bcast has one count"),
        ({"collective": "gatherv", "counts": (1, 2)}, "2 counts for 4 processes"),
    ],
)
def test_calls_outside_their_range_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ScheduleError, match=words):
        Call(**{"collective": "bcast", "processes": 4, **wrong})


def test_unknown_algorithms_and_parameters_are_refused_with_what_there_is() -> None:
    with pytest.raises(ScheduleError, match="did you mean binomial"):
        schedule(Call("bcast", 4), "binomal")
    with pytest.raises(ScheduleError, match="has no parameter 'radix'; it has segment_size"):
        schedule(Call("bcast", 4), "binomial", radix=4)
    with pytest.raises(ScheduleError, match="fan_out is 0; expected a whole number of at least 1"):
        schedule(Call("bcast", 4), "k_chain", fan_out=0)
    with pytest.raises(ScheduleError, match="expected one of"):
        schedule(Call("allreduce", 4), "reduce_bcast", reduce="ring")


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.title.replace(" ", "-"))
def test_no_rank_sends_to_itself_and_one_process_sends_nothing(each: Algorithm) -> None:
    for processes in (1, 2, 5, 8):
        made = schedule(Call(each.collective, processes, 16), each.name, fallback=True)
        sent = made.messages
        assert (sent[:, 0] != sent[:, 1]).all()
        assert len(sent) == 0 or processes > 1
