"""Own methods and grids in a preloaded library: right for programs that know nothing of them, message by message."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export import TARGETS, ExportError
from dashboard.export.naming import said
from dashboard.export.targets.preload.library import to_preload
from dashboard.export.targets.preload.own import CALLED
from dashboard.export.writing import Order, write
from dashboard.schedules import ALL, Call, schedule
from tests.bench.preloading import LIBRARY, Bench
from tests.cubes import cube_of

RANKS = 6
#: Numbers of processes that schedules are written for; the world of four, its halves, and five that have none.
PREPARED = (2, 4, 6)


def own(collective: str, algorithm: str, segment_size: int = 0, **parameters: Any) -> DecisionFunction:
    """An own method, and above 10 kB another one; a single one where there is no other that serves."""
    provider = "orthogonal" if algorithm == "orthogonal" else "own"
    method = Method(algorithm, algorithm, segment_size, {"provider": provider, **parameters})
    return DecisionFunction(collective, [method], Leaf(0))


#: Of each collective one with programs of every kind: segments, parts of a vector, blocks, trees, other than powers.
DECISIONS = [
    own("barrier", "bruck"),
    DecisionFunction(
        "bcast",
        [
            Method("pipeline 1KiB", "pipeline", 1024, {"provider": "own"}),
            Method("split_binary", "split_binary", 0, {"provider": "own"}),
            Method("binomial", "binomial"),
        ],
        Split(
            (Test("message_size", 10_000),),
            (
                Split((Test("message_size", 8),), (Leaf(1), Leaf(0))),
                Split((Test("message_size", 30_000),), (Leaf(2), Leaf(1))),
            ),
        ),
    ),
    own("reduce", "rabenseifner"),
    own("allreduce", "ring_segmented", 1024),
    own("scan", "binomial"),
    own("exscan", "linear_segmented", 1024),
    own("allgather", "bruck"),
    own("alltoall", "bruck"),
    own("gather", "binomial"),
    own("scatter", "binomial"),
    own("reduce_scatter", "recursive_halving"),
]


def cubes(decisions: list[DecisionFunction], sizes: tuple[int, ...] = PREPARED) -> dict[str, Any]:
    """Measurements at some numbers of processes and the sizes that the decisions tell apart."""
    messages = [1, 1000, 4096, 20_000, 100_000]
    times = np.ones((1, len(sizes), len(messages)))
    return {each.collective: cube_of(times, sizes, messages) for each in decisions}


@pytest.fixture(scope="module")
def preload(bench: Bench) -> Path:
    text = to_preload(DECISIONS, cubes=cubes(DECISIONS), version=bench.version)
    return bench.build("libown.so", text, *LIBRARY)


@pytest.mark.parametrize("ranks", [4, 5])
def test_every_collective_is_right_on_communicators_duplicated_split_and_freed(
    bench: Bench, program: Path, preload: Path, ranks: int
) -> None:
    done = bench.run(ranks, program, "check", preload=preload, said={"COLLTUNE_REPORT": "1"})
    assert done.stdout == "ok\n", done.stderr
    acted = set(re.findall(r"^colltune: (\w+): \d+ by ", done.stderr, re.MULTILINE))
    # Halves of five have two and three processes.
    assert acted == {decision.collective for decision in DECISIONS}
    passed = re.findall(
        r"^colltune: (\w+): \d+ passed on: an own method that is not prepared", done.stderr, re.MULTILINE
    )
    assert bool(passed) is (ranks != 4)


@pytest.mark.parametrize(("ranks", "grid"), [(4, "2x2"), (6, "3x2")])
def test_phases_of_grids_are_calls_of_the_library_on_groups_that_are_freed_with_their_parent(
    bench: Bench, program: Path, ranks: int, grid: str
) -> None:
    decisions = [own(name, "orthogonal", grid=grid, inner="library") for name in CALLED]
    text = to_preload(decisions, cubes=cubes(decisions, (ranks,)), version=bench.version)
    built = bench.build(f"lib{grid}.so", text, *LIBRARY)
    done = bench.run(ranks, program, "check", preload=built, said={"COLLTUNE_REPORT": "1"})
    assert done.stdout == "ok\n", done.stderr
    assert set(re.findall(r"^colltune: (\w+): \d+ by orthogonal", done.stderr, re.MULTILINE)) == set(CALLED)
    if ranks == 4:
        assert bench.run(ranks, program, "lives", "40", preload=built).stdout == "ok\n"


def test_an_unmodified_program_sends_the_messages_of_the_schedules(bench: Bench, program: Path) -> None:
    grid = {"grid": "2x3", "inner": "linear"}
    methods = [
        Method("pipeline", "pipeline", 1024, {"provider": "own"}),
        Method("circulant", "circulant", 512, {"provider": "own"}),
        Method("grid", "orthogonal", 0, {"provider": "orthogonal", **grid}),
    ]
    longer = Split((Test("message_size", 4096),), (Leaf(1), Leaf(2)))
    bcast = DecisionFunction("bcast", methods, Split((Test("message_size", 2048),), (Leaf(0), longer)))
    decisions = [bcast, own("allreduce", "ring")]
    text = to_preload(decisions, cubes=cubes(decisions, (RANKS,)), version=bench.version)
    built = bench.build("libschedules.so", text, *LIBRARY)
    plans = {
        "bcast:6:2048": schedule(Call("bcast", RANKS, 2048), "pipeline", segment_size=1024),
        "bcast:6:4096": schedule(Call("bcast", RANKS, 4096), "circulant", segment_size=512),
        "bcast:6:20000": schedule(Call("bcast", RANKS, 20_000), "orthogonal", **grid),
        "allreduce:6:4096": schedule(Call("allreduce", RANKS, 4096), "ring"),
    }
    expected = {
        call: Counter((int(source), int(to)) for source, to, _ in plan.messages) for call, plan in plans.items()
    }
    assert bench.graphs(RANKS, *plans, program=program, preload=built) == expected


def test_errors_reach_the_error_handler_of_the_program_s_communicator(
    bench: Bench, program: Path, preload: Path
) -> None:
    assert bench.run(2, program, "errors", preload=preload).stdout == "ok\n"


def test_they_can_be_switched_off(bench: Bench, program: Path, preload: Path) -> None:
    said = {"COLLTUNE_REPORT": "1", "COLLTUNE_OFF": "1"}
    counted = bench.run(2, program, "check", preload=preload, said=said).stderr
    assert "passed on" in counted
    assert not re.findall(r": \d+ by ", counted)


def test_two_threads_run_own_methods_at_once(bench: Bench, program: Path, preload: Path) -> None:
    assert bench.run(4, program, "threads", "100", preload=preload).stdout == "ok\n"


def test_what_a_program_without_python_cannot_run_is_refused_with_the_reason() -> None:
    first = own("gather", "linear_sync")
    with pytest.raises(ExportError, match="first_segment=1024 cuts messages at a number of bytes"):
        to_preload(first, cubes=cubes([first]))
    mixed = own("bcast", "orthogonal", grid="2x3", inner="library+linear")
    with pytest.raises(ExportError, match="some phases are calls of the library and some are not"):
        to_preload(mixed, cubes=cubes([mixed]))
    deep = own("bcast", "orthogonal", grid="x".join("2" * 9), inner="library")
    with pytest.raises(ExportError, match="has 9 dimensions; at most 8 can be"):
        to_preload(deep, cubes=cubes([deep], (512,)))
    with pytest.raises(ExportError, match="give the measurements"):
        to_preload(DECISIONS[0])
    # One that was learnt for its number of processes needs none.
    assert "on 4 processes;" in to_preload(own("barrier", "bruck", processes=4))


def test_only_the_target_s_own_methods_include_those_that_it_runs() -> None:
    methods = [
        Method("linear", "linear", 0, {"provider": "own"}),
        Method("linear_sync", "linear_sync", 0, {"provider": "own"}),
    ]
    grid = Method("grid", "orthogonal", 0, {"provider": "orthogonal", "grid": "3x4", "inner": "library"})
    for name in ("preload", "preload-mpich"):
        kept = [said(TARGETS[name], "gather", method, {}, {}) for method in (*methods, grid)]
        # The synchronised gather cuts at a number of bytes.
        assert kept == [True, False, True]
        # Nothing is to be written for what is left to the library, which is not the same as lacking it.
        assert said(TARGETS[name], "gather", Method("default", "default"), {}, {})
    assert not said(TARGETS["openmpi"], "gather", grid, {}, {})


def test_which_processes_have_schedules_stands_at_the_head() -> None:
    told = "'rabenseifner' runs over the library, on 2, 4, 6 processes; on others the library decides there."
    written = write(Order("preload", (DECISIONS[2],), cubes(DECISIONS)))
    assert told in " ".join(written.text.replace(" * ", " ").split())
    assert written.parts[0].notes == (told,)


def _served() -> Iterator[tuple[str, DecisionFunction]]:
    """Every own method, with small segments where it has some, and grids with every inner method."""
    for algorithm in ALL:
        if algorithm.collective not in {decision.collective for decision in DECISIONS}:
            continue
        names = {parameter.name: parameter for parameter in algorithm.parameters}
        first = {"first_segment": 0} if "first_segment" in names else {}
        variants = [(0, first), *((size, first) for size in (1024, 100) if "segment_size" in names)]
        variants += [(0, {"radix": radix}) for radix in (2, 3, 8) if "radix" in names]
        variants += [(0, {"inner": inner}) for inner in getattr(names.get("inner"), "values", ())]
        for size, parameters in variants:
            yield algorithm.collective, own(algorithm.collective, algorithm.name, size, **parameters)


@pytest.mark.soak
def test_every_own_method_is_right_in_every_way_that_programs_call(bench: Bench, program: Path) -> None:
    waiting = list(_served())
    while waiting:
        # One of each collective at a time.
        together = dict(reversed(waiting))
        waiting = [each for each in waiting if together[each[0]] is not each[1]]
        decisions = list(together.values())
        text = to_preload(decisions, cubes=cubes(decisions, tuple(range(2, 9))), version=bench.version)
        built = bench.build("libevery.so", text, *LIBRARY)
        for ranks in (5, 6, 7, 8):
            done = bench.run(ranks, program, "check", preload=built, said={"COLLTUNE_REPORT": "1"})
            assert done.stdout == "ok\n", (decisions, done.stderr)
