"""What was typed on the page, read into a plan: what it costs, and what is refused with which words."""

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.commands.bench import plan as bench_plan
from dashboard.commands.options import parse
from dashboard.measuring import asked as module
from dashboard.measuring.asked import MOST_POINTS, Asked, offer

LIBRARY = OpenMpi(
    "5.0.11",
    {"bcast": {1: "basic_linear", 3: "pipeline", 6: "binomial"}},
    {"coll_tuned_priority": 30, "coll_tuned_bcast_algorithm": 0, "coll_tuned_bcast_algorithm_segmentsize": 0},
)
HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)
#: One that reduces, too, and has parts that answer calls.
BOTH = Installation(
    HERE.mpiexec,
    replace(
        LIBRARY,
        algorithms={**LIBRARY.algorithms, "reduce": {5: "binomial"}},
        variables={**LIBRARY.variables, "coll_tuned_reduce_algorithm": 0},
        components=("adapt", "basic"),
    ),
)
ASKED = Asked.of(collectives=("bcast",), ranks=4, message_sizes="8,64KiB", segment_sizes="0,1KiB")


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "processors", lambda: 4)


def test_an_offer_counts_what_will_be_measured() -> None:
    offered = offer(ASKED, HERE)
    # default, basic_linear, pipeline, pipeline 1KiB, binomial (which Open MPI cuts, too), by 2 and 4 processes.
    methods = offered.plan.methods["bcast"]
    assert offered.methods == {"bcast": len(methods)}
    assert (offered.cells, offered.points) == (4, len(list(offered.plan.points())))
    assert offered.plan.comm_sizes == (2, 4)
    assert 0 < offered.seconds <= offered.at_most
    assert offered.core_hours == pytest.approx(4 * offered.seconds / 3600)
    assert offered.remarks == ()


def test_what_is_usual_is_usual_in_python_too() -> None:
    sizes = tuple(4 * 4**n for n in range(10))
    assert Asked.of(collectives=("bcast",), ranks=4).wish() == Wish(4, ("bcast",), (2, 4), sizes)


def test_methods_that_have_no_point_are_not_counted() -> None:
    # Segments of 1 KiB hold the whole message.
    offered = offer(ASKED.but(message_sizes="8"), HERE)
    assert offered.methods == {"bcast": len({point[1] for point in offered.plan.points()})}
    assert offered.methods["bcast"] == len([m for m in offered.plan.methods["bcast"] if not m.segment_size])


def test_fewer_sizes_and_a_shorter_protocol_cost_less() -> None:
    full = offer(ASKED, HERE)
    assert offer(ASKED.but(message_sizes="8"), HERE).points < full.points
    assert offer(ASKED.but(point_seconds=0.5), HERE).at_most < full.at_most


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"collectives": ("bkast",)}, "collectives is bkast, expected some of .*bcast"),
        ({"message_sizes": "8-4"}, "message sizes: .* ends at 4"),
        ({"comm_sizes": "2-1000000"}, "communicator sizes: .*more than 4096 sizes"),
        ({"comm_sizes": "2,9"}, "allowed are 2 to 4"),
        ({"segment_sizes": "x"}, "segment sizes: 'x' is not a size"),
        ({"repetitions": "0-9"}, "least repetitions: 0"),
        ({"relative_error": 200.0}, "standard error is 200.0, expected a number from"),
        ({"protocol": "osu"}, "protocol is 'osu', expected one of skampi, occ"),
        ({"buffers": "$(reboot)"}, "expected one of reuse, rotate"),
        ({"algorithms": ("bruck",)}, "no algorithm|has an algorithm"),
        ({"datatype": "complex"}, "expected some of uint8"),
        ({"memory": "4"}, "nothing would be measured: buffers above the limit"),
        ({"ranks": 1}, "ranks is 1, expected a whole number from 2"),
        ({"ranks": 17, "comm_sizes": "2"}, "at most 16 on this machine"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_would_be_right(change: dict, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        offer(ASKED.but(**change), HERE)


def test_a_grid_of_too_many_points_is_refused_before_it_is_laid_out() -> None:
    huge = ASKED.but(message_sizes="1-4000", comm_sizes="2-4", segment_sizes="0-30")
    with pytest.raises(PlanError, match=f"at most {MOST_POINTS:,} make one campaign"):
        offer(huge, HERE)


def test_buffers_beyond_half_of_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "memory", lambda: 1 << 30)
    offer(ASKED.but(message_sizes="32MiB"), HERE)
    with pytest.raises(PlanError, match=r"4 ranks .* need 1\.0 GiB; at most half of the 1\.0 GiB"):
        offer(ASKED.but(message_sizes="128MiB"), HERE)


def test_a_cluster_is_not_bound_by_this_machine() -> None:
    large = ASKED.but(ranks=512, comm_sizes="2-512:x4", message_sizes="64MiB")
    with pytest.raises(PlanError, match="at most 16"):
        offer(large, HERE)
    assert offer(large, HERE, here=False).plan.ranks == 512


@pytest.mark.parametrize(("cores", "ranks", "text"), [(1, 2, "one core"), (4, 8, "8 ranks share 4 cores")])
def test_too_few_cores_are_remarked_on(monkeypatch: pytest.MonkeyPatch, cores: int, ranks: int, text: str) -> None:
    monkeypatch.setattr(module, "processors", lambda: cores)
    (remark,) = offer(ASKED.but(ranks=ranks), HERE).remarks
    assert text in remark


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("relative_error", "until relative standard error"),
        ("rounds", "turns of the methods"),
        ("launches", "launches of the ranks"),
        ("point_seconds", "longest time of a point"),
        ("iterations", "operations in a loop of occ"),
    ],
)
def test_a_number_that_was_taken_out_is_asked_for(name: str, title: str) -> None:
    with pytest.raises(PlanError, match=rf"{title}.* is None, expected a (whole )?number from"):
        offer(ASKED.but(**{name: None}), HERE)


def test_a_library_that_cannot_be_switched_is_remarked_on() -> None:
    fixed = Installation(Path("/nowhere/mpiexec"), Fixed("MPICH", "5.0.2", "methods cannot be switched"))
    offered = offer(ASKED, fixed)
    assert offered.methods == {"bcast": 1}
    assert offered.remarks == ("Methods cannot be switched.",)
    # On a cluster it is the same library; only this machine's cores do not matter there.
    assert offer(ASKED, fixed, here=False).remarks == offered.remarks


@pytest.mark.parametrize(
    "asked",
    [
        ASKED,
        ASKED.but(adaptive=True, budget="2 h", until=1.0),
        ASKED.but(collectives=("bcast", "reduce"), datatype="int32,float64", operation="first", comm_sizes="2,4"),
        ASKED.but(providers=("library", "own"), algorithms=("binomial", "default"), fan_outs="2,8", radixes="2"),
        ASKED.but(protocol="occ", iterations=7, rounds=2, relative_error=0.015, point_seconds=0.5, graphs=False),
        ASKED.but(providers=("orthogonal",), grids="2", inner=("linear",), seed=3, unchecked=True),
        ASKED.but(groups=("1-8=binomial", "16-64KiB=default,binomial"), max_requests="1", first_segments="8"),
        ASKED.but(collectives=None, components="none", launch_per_method=True),
        ASKED.but(ppn="1,2", launches=2, memory="1MiB", roots="rotate", buffers="rotate", repetitions="3-5"),
    ],
)
@pytest.mark.parametrize("spread", [False, True])
def test_the_commands_words_ask_for_the_same_plan(asked: Asked, *, spread: bool) -> None:
    args = parse(["bench", "plan", "FOLDER", *asked.words()])
    assert bench_plan.planned(args, BOTH, spread=spread) == make_plan(asked.wish(spread=spread), BOTH)
