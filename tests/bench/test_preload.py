"""Programs that know nothing of colltune take the decided algorithms when the generated library is preloaded."""

import importlib.util
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.targets.preload.library import to_preload
from tests.bench.preloading import LIBRARY, Bench
from tests.conftest import need

RANKS = 6
LINEAR = {(0, rank): 1 for rank in range(1, RANKS)}
#: What each of six processes sends to whom in one call by the definition of the algorithm that is decided.
GRAPHS = {
    "bcast:6:50": LINEAR,
    "bcast:6:500": {(0, 1): 1, (0, 2): 1, (0, 4): 1, (1, 3): 1, (1, 5): 1},
    "bcast:6:4096": {(rank, rank + 1): 4 for rank in range(RANKS - 1)},
    "reduce:6:500": {(rank, 0): 1 for rank in range(1, RANKS)},
    "allreduce:6:4096": {(rank, (rank + 1) % RANKS): 2 * (RANKS - 1) for rank in range(RANKS)},
    "allgather:6:500": {(rank, (rank + 1) % RANKS): RANKS - 1 for rank in range(RANKS)},
    "gather:6:500": {(rank, 0): 1 for rank in range(1, RANKS)},
    "scatter:6:500": {(0, 1): 1, (0, 2): 1, (0, 4): 1, (2, 3): 1, (4, 5): 1},
}


def sized(collective: str, *methods: tuple[str, int], cuts: Sequence[int] = (), radix: int = 0) -> DecisionFunction:
    """Decide by the message size alone; `radix` is that of the last method."""
    made = [Method(f"{name} {size}" if size else name, name, size) for name, size in methods]
    if radix:
        made[-1] = Method(made[-1].label, made[-1].algorithm, 0, {"radix": radix})
    node: Leaf | Split = Leaf(len(made) - 1)
    for place, cut in reversed(list(enumerate(cuts))):
        node = Split((Test("message_size", cut),), (Leaf(place), node))
    return DecisionFunction(collective, made, node)


DECISIONS = [
    sized(
        "bcast",
        *(("basic_linear", 0), ("binomial", 0), ("pipeline", 1024), ("default", 0), ("knomial", 0)),
        cuts=(100, 1000, 10_000, 12_000),
        radix=3,
    ),
    sized("barrier", ("linear", 0)),
    sized("reduce", ("linear", 0), ("binomial", 0), cuts=(1000,)),
    sized("allreduce", ("recursive_doubling", 0), ("ring", 0), cuts=(1000,)),
    # A name that would end a comment or a literal, or be taken for a format.
    DecisionFunction("scan", [Method('linear "*/ %s ??/', "linear")], Leaf(0)),
    sized("exscan", ("recursive_doubling", 0)),
    sized("allgather", ("ring", 0), ("bruck", 0), cuts=(1000,)),
    sized("alltoall", ("pairwise", 0), ("linear", 0), cuts=(1000,)),
    sized("gather", ("basic_linear", 0), ("binomial", 0), cuts=(1000,)),
    sized("scatter", ("binomial", 0), ("basic_linear", 0), cuts=(1000,)),
    sized("reduce_scatter", ("ring", 0)),
    sized("reduce_scatter_block", ("recursive_halving", 0)),
]


@pytest.fixture(scope="module")
def preload(bench: Bench) -> Path:
    return bench.build("libcolltune.so", to_preload(DECISIONS, version=bench.version), *LIBRARY)


def report(text: str) -> dict[tuple[str, str], int]:
    """Calls by collective and by what was decided, or why it was not."""
    lines = re.findall(r"^colltune: (\w+): (\d+) (?:by|passed on:) (.*)$", text, re.MULTILINE)
    return {(collective, what): int(count) for collective, count, what in lines}


def test_an_unmodified_c_program_sends_the_messages_of_the_decided_algorithms(
    bench: Bench, program: Path, preload: Path
) -> None:
    assert bench.graphs(RANKS, *GRAPHS, program=program, preload=preload) == GRAPHS
    alone = bench.graphs(RANKS, *GRAPHS, program=program)
    assert alone["bcast:6:50"] != LINEAR
    assert all(alone.values())


def test_the_radix_of_a_knomial_tree_acts_and_is_put_back(bench: Bench, program: Path, preload: Path) -> None:
    # It is set for a single call, which another thread could take as well.
    alone = {"COLLTUNE_ONE_THREAD": "1"}
    sent = bench.graphs(RANKS, "bcast:6:20000", program=program, preload=preload, said=alone)["bcast:6:20000"]
    unsaid = bench.run(2, program, "calls", "1", "20000", preload=preload, said={"COLLTUNE_REPORT": "1"})
    assert "bcast: 2 passed on: set for a single call while other threads may call" in unsaid.stderr
    # In a tree of radix 3 the root of six has the children 1, 2 and 3; in one of radix 4 also 4.
    assert {pair: count for pair, count in sent.items() if pair[0] == 0} == {(0, 1): 1, (0, 2): 1, (0, 3): 1}


def test_calls_of_an_unmodified_program_of_mpi4py_are_decided(bench: Bench, preload: Path) -> None:
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    program = (sys.executable, "-m", "mpi4py", "-c", "from mpi4py import MPI; MPI.COMM_WORLD.Bcast(bytearray(50))")
    done = bench.run(2, *program, preload=preload, said={"COLLTUNE_REPORT": "1"})
    assert report(done.stderr)["bcast", "basic_linear"] == 2


@pytest.mark.parametrize("ranks", [2, 5])
def test_every_collective_is_right_on_communicators_duplicated_split_and_freed(
    bench: Bench, program: Path, preload: Path, ranks: int
) -> None:
    done = bench.run(ranks, program, "check", preload=preload, said={"COLLTUNE_REPORT": "1"})
    assert done.stdout == "ok\n"
    counted = report(done.stderr)
    for decision in DECISIONS:
        assert counted[decision.collective, decision.methods[0].label] > 0
    assert counted["bcast", "an intercommunicator"] == ranks
    # Four sizes on the world, its duplicate, a part and the duplicate of the part.
    assert counted["allreduce", "an operation that does not commute"] == 4 * (4 * ranks if ranks > 3 else 2 * ranks)


def test_communicators_that_come_and_go_do_not_pile_up(bench: Bench, program: Path, tmp_path: Path) -> None:
    # Only eight may be there at a time, 300 turns make 1500.
    bounded = bench.build(
        "libbounded.so", to_preload(DECISIONS, version=bench.version), *LIBRARY, "-DCOLLTUNE_MOST_IN_ALL=8"
    )
    file = tmp_path / "report.txt"
    done = bench.run(3, program, "lives", "300", preload=bounded, said={"COLLTUNE_REPORT": str(file)})
    assert done.stdout == "ok\n"
    counted = report(file.read_text())
    assert "as many communicators made as allowed" not in {what for _, what in counted}
    assert sum(count for (name, _), count in counted.items() if name == "bcast") == 3 * 300 * 4


def test_beyond_the_bound_calls_are_passed_on_and_counted(bench: Bench, program: Path) -> None:
    bounded = bench.build("libone.so", to_preload(DECISIONS, version=bench.version), *LIBRARY, "-DCOLLTUNE_MOST=1")
    done = bench.run(3, program, "check", preload=bounded, said={"COLLTUNE_REPORT": "1"})
    assert done.stdout == "ok\n"
    counted = report(done.stderr)
    assert counted["reduce", "as many communicators made as allowed"] > 0
    assert ("reduce", "linear") not in counted


def test_two_threads_never_wait_for_each_other(bench: Bench, program: Path, preload: Path) -> None:
    done = bench.run(3, program, "threads", "200", preload=preload, said={"COLLTUNE_REPORT": "1"})
    assert done.stdout == "ok\n"
    counted = report(done.stderr)
    assert sum(count for (name, _), count in counted.items() if name == "bcast") == 3 * 2 * 200


def test_errors_reach_the_error_handler_of_the_program_s_communicator(
    bench: Bench, program: Path, preload: Path
) -> None:
    assert bench.run(2, program, "errors", preload=preload).stdout == "ok\n"


def test_it_can_be_switched_off(bench: Bench, program: Path, preload: Path) -> None:
    said = {"COLLTUNE_REPORT": "1", "COLLTUNE_OFF": "1"}
    counted = report(bench.run(2, program, "check", preload=preload, said=said).stderr)
    assert counted["reduce", "no way to set the method in this library"] > 0
    assert ("reduce", "linear") not in counted


def test_processes_per_node_are_known_to_the_decision(bench: Bench, program: Path) -> None:
    methods = [Method("basic_linear", "basic_linear"), Method("binomial", "binomial")]
    tree = Split((Test("ppn", 3),), (Leaf(0), Leaf(1)))
    built = bench.build(
        "libppn.so", to_preload(DecisionFunction("bcast", methods, tree), version=bench.version), *LIBRARY
    )
    for ranks, label in ((3, "basic_linear"), (4, "binomial")):
        done = bench.run(ranks, program, "calls", "5", "64", preload=built, said={"COLLTUNE_REPORT": "1"})
        assert report(done.stderr) == {("bcast", label): 5 * ranks}


def test_a_component_answers_where_it_is_decided(bench: Bench, program: Path) -> None:
    if bench.version == "4.1":
        pytest.skip("priorities of 4.1 cannot be set while it runs")
    decision = sized("gather", ("basic", 0), ("tuned", 0), cuts=(400,))
    built = bench.build("libcomponents.so", to_preload(decision, version=bench.version), *LIBRARY)
    sent = bench.graphs(RANKS, "gather:6:400", "gather:6:500", program=program, preload=built)
    # Basic gathers linearly; what tuned takes by itself is a tree.
    assert sent["gather:6:400"] == GRAPHS["gather:6:500"]
    assert sent["gather:6:500"] not in ({}, GRAPHS["gather:6:500"])
