"""What a campaign measures, in which order; placement of communicators."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns.campaign import key_of
from dashboard.benchmarks.campaigns.plan import Plan, buffer_bytes, missing, placed, point_key
from dashboard.benchmarks.campaigns.protocol import Cell, Protocol
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import Method, Variants

LINEAR, PIPELINE = Method("linear", library_id=1), Method("pipeline", 1024, library_id=3)


def plan_of(**changes: Any) -> Plan:
    given: dict[str, Any] = {"ranks": 8, "methods": {"bcast": (LINEAR, PIPELINE)}, "comm_sizes": (2, 4, 8)}
    return Plan(**{**given, "message_sizes": (8, 64, 512, 4096, 32768), **changes})


def test_the_corners_of_the_grid_come_first() -> None:
    cells = plan_of().cells()
    assert [(cell.comm_size, cell.message_size) for cell in cells[:4]] == [(2, 8), (2, 32768), (8, 8), (8, 32768)]
    assert len(set(cells)) == len(cells) == 15


def test_every_launch_measures_all_cells_before_the_next_begins() -> None:
    plan = plan_of(launches=3)
    launches = [cell.launch for cell in plan.cells()]
    assert launches == sorted(launches)
    assert len(launches) == 3 * len(plan_of().cells())
    assert len(set(plan.points())) == len(list(plan.points()))
    with pytest.raises(PlanError, match="launches: 0"):
        plan_of(launches=0)


def test_a_segment_that_holds_the_whole_message_is_not_measured() -> None:
    plan = plan_of(message_sizes=(512, 1024, 1025))
    has = {cell.message_size: PIPELINE in plan.methods_of(cell) for cell in plan.cells()}
    assert has == {512: False, 1024: False, 1025: True}


def test_the_algorithm_for_two_processes_is_measured_with_two_only() -> None:
    two = Method("two_proc", library_id=5)
    plan = plan_of(methods={"alltoall": (LINEAR, two)}, message_sizes=(8,))
    assert {cell.comm_size: two in plan.methods_of(cell) for cell in plan.cells()} == {2: True, 4: False, 8: False}
    alone = plan_of(methods={"alltoall": (two,)}, message_sizes=(8,))
    assert alone.left_out() == {"no method for so many processes or bytes": 2}
    # Of another provider it is another method.
    other = plan_of(methods={"alltoall": (Method("two_proc", provider="own"),)}, message_sizes=(8,))
    assert len(list(other.points())) == 3
    grid = Method("orthogonal", parameters=(("grid", "2x2"),), provider="orthogonal")
    grids = plan_of(methods={"alltoall": (LINEAR, grid)}, message_sizes=(8,))
    assert {cell.comm_size for cell in grids.cells() if grid in grids.methods_of(cell)} == {4}


def test_the_barrier_has_one_cell_for_each_communicator_size() -> None:
    plan = plan_of(methods={"barrier": (LINEAR,)}, message_sizes=())
    assert [(cell.comm_size, cell.message_size) for cell in plan.cells()] == [(2, 0), (8, 0), (4, 0)]


def test_what_cannot_be_measured_is_counted_with_the_reason() -> None:
    plan = plan_of(methods={"reduce": (LINEAR,)}, message_sizes=(1, 4, 1 << 20), memory=1 << 20)
    assert plan.left_out() == {"not a whole number of float32": 3, "buffers above the limit of 1 MiB per process": 3}
    assert {cell.message_size for cell in plan.cells()} == {4}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranks": 1, "comm_sizes": (1,)}, "at least 2"),
        ({"comm_sizes": (2, 9)}, "2 to 8"),
        ({"message_sizes": (0,)}, "at least 1"),
        ({"ppns": (0,)}, "whole numbers from 1"),
        ({"methods": {"bkast": (LINEAR,)}}, "allowed are bcast, reduce"),
        ({"methods": {"bcast": ()}}, "no method"),
        ({"datatype": "float16"}, "float32"),
        ({"datatype": "float32,float16"}, "or several by commas"),
        ({"datatype": "uint8,int32", "goal": Goal(None, 1.0)}, "with one datatype"),
        ({"settings": {"bcast": ({},)}}, "one for each method"),
        ({"only": {"reduce": ((2, 8, (0,)),)}}, "reduce is no collective of this plan"),
        ({"only": {"bcast": ((3, 8, (0,)),)}}, "3 processes and 8 bytes are not of this plan's grid"),
        ({"only": {"bcast": ((2, 8, (9,)),)}}, "allowed are 0 to 1"),
    ],
)
def test_a_plan_that_cannot_be_measured_says_what_is_allowed(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan_of(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "osu"},
        {"min_repetitions": 0},
        {"max_repetitions": 3},
        {"relative_error": 0},
        {"seconds": -1},
        {"buffers": "new"},
        {"roots": "all"},
        {"rounds": 0},
        {"iterations": 0},
    ],
)
def test_a_protocol_outside_its_range_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        Protocol(**changes)


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({"segment_sizes": ()}, "from 0 to 2147483647, at least one"),
        ({"segment_sizes": (2**31,)}, "from 0 to 2147483647, at least one"),
        ({"fan_outs": (0,)}, "from 1 to 2147483647, at least one"),
        ({"radixes": (1,)}, "from 2 to 2147483647, at least one"),
        ({"max_requests": (-1,)}, "from 0 to 2147483647"),
        ({"first_segments": (2**31,)}, "from 0 to 2147483647"),
    ],
)
def test_parameters_outside_their_range_are_refused(changes: dict[str, Any], allowed: str) -> None:
    with pytest.raises(PlanError, match=f"allowed are whole numbers {allowed}$"):
        Variants(**changes)
    assert Variants(max_requests=(0, 4), first_segments=(0,))


def test_each_type_of_elements_has_cells_of_its_own_where_there_are_several() -> None:
    methods = {"reduce": (LINEAR,), "bcast": (LINEAR,)}
    plan = plan_of(methods=methods, comm_sizes=(2,), message_sizes=(4, 8), datatype="float64,int32")
    cells = [(cell.collective, cell.message_size, cell.datatype) for cell in plan.cells()]
    assert sorted(cells) == [
        *(("bcast", 4, ""), ("bcast", 8, "")),
        *(("reduce", 4, "int32"), ("reduce", 8, "float64"), ("reduce", 8, "int32")),
    ]
    assert plan.left_out() == {"not a whole number of float64": 1}
    assert len(set(plan.points())) == len(cells)
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))).cells() == plan.cells()
    # Where there is one, points are what they were in campaigns of before.
    assert {cell.datatype for cell in plan_of(methods=methods).cells()} == {""}
    point = {"collective": "reduce", "algorithm": "linear", "comm_size": 2, "message_size": 8, "library_id": 1}
    assert key_of({**point, "element_type": "int32"}) in set(plan.points())
    assert key_of(point) not in set(plan.points())


def test_only_the_points_that_are_named_are_measured() -> None:
    plan = plan_of(only={"bcast": ((4, 8, (0,)), (2, 4096, (0, 1)))})
    sizes = {(key[1], key[2], key[3]) for key in plan.points()}
    assert sizes == {(LINEAR, 4, 8), (LINEAR, 2, 4096), (PIPELINE, 2, 4096)}


def test_a_plan_comes_back_from_json_as_it_was() -> None:
    plan = plan_of(
        only={"bcast": ((2, 8, (0,)),)},
        ppns=(1, 2),
        protocol=Protocol("occ", seconds=1.5),
        settings={"bcast": ({"a": 1}, {"a": 2})},
        graph_counters=("count",),
        methods={"bcast": (LINEAR, dataclasses.replace(PIPELINE, parameters=(("fan_out", 4),)))},
    )
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize("record", [{}, {"colltune_plan": 2}, {"colltune_plan": 1, "ranks": 4}, [], None])
def test_what_is_no_plan_is_refused(record: Any) -> None:
    with pytest.raises(PlanError):
        Plan.from_json(record)


@given(st.sets(st.integers(0, 26)))
def test_what_is_missing_and_what_is_there_make_the_whole_plan(there: set[int]) -> None:
    plan = plan_of()
    points = list(plan.points())
    done = {points[place] for place in there if place < len(points)}
    left = [point_key(cell, method) for cell, methods in missing(plan, done) for method in methods]
    assert set(left) | done == set(points)
    assert len(left) + len(done) == len(points)
    assert plan.estimate(done).points == len(left)


def test_more_work_is_estimated_to_take_longer() -> None:
    short, long = plan_of().estimate(), plan_of(message_sizes=(8, 64, 512, 4096, 32768, 1 << 20)).estimate()
    assert 0 < short.seconds < long.seconds <= long.at_most
    assert plan_of().estimate(cores=2).seconds > short.seconds
    assert plan_of().estimate(set(plan_of().points())).seconds == 0


def test_buffers_are_what_the_collective_needs() -> None:
    assert buffer_bytes(Cell("alltoall", 8, 100)) == 1600
    assert buffer_bytes(Cell("allgather", 8, 100)) == 900
    assert buffer_bytes(Cell("allreduce", 8, 100)) == 200


def test_communicators_are_placed_node_by_node() -> None:
    nodes = ["a", "a", "a", "b", "b", "b", "c"]
    assert placed(nodes, 3, None) == [0, 1, 2]
    assert placed(nodes, 2, 1) == [0, 3]
    assert placed(nodes, 4, 2) == [0, 1, 3, 4]
    assert placed(nodes, 3, 1) == [0, 3, 6]
    assert placed(nodes, 6, 2) is None
    assert placed(nodes, 3, 2) is None
    assert placed(nodes, 8, None) is None
