"""The installed Open MPI takes the written rules and does what they say, seen in who sends to whom."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.targets.openmpi.rules import to_openmpi
from tests.bench.preloading import Bench, Graph

PROCESSES = 6
Graphs = Callable[..., list[Graph]]


@pytest.fixture(scope="module")
def graphs(mpiexec: str, gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Graphs:
    """Give ``graphs(rules, *calls)``: for each call what each process sent to whom, under these rules."""
    bench = Bench.of(Path(mpiexec), tmp_path_factory.mktemp("rules"))
    program, path = bench.program("collectives"), bench.folder / "rules.conf"
    variables = {"coll": "^han", "coll_tuned_use_dynamic_rules": "1", "coll_tuned_dynamic_rules_filename": str(path)}

    def run(rules: str, *calls: str) -> list[Graph]:
        path.write_text(rules)
        said = {f"OMPI_MCA_{name}": value for name, value in variables.items()}
        return list(bench.graphs(PROCESSES, *calls, program=program, said=said).values())

    return run


def from_root(graph: Graph) -> list[int]:
    """Whom the first process sends to."""
    return sorted(to for source, to in graph if source == 0)


def test_each_region_of_a_broadcast_is_decided_as_written(graphs: Graphs) -> None:
    methods = [
        Method("linear", "linear"),
        Method("pipeline 1KiB", "pipeline", 1024),
        Method("binomial", "binomial"),
        Method("binary", "binary"),
    ]
    small = Split((Test("message_size", 999),), (Leaf(1), Leaf(0)))
    large = Split((Test("message_size", 999),), (Leaf(2), Split((Test("message_size", 4999),), (Leaf(3), Leaf(1)))))
    decision = DecisionFunction("bcast", methods, Split((Test("comm_size", 5),), (small, large)))
    calls = ("bcast:4:999", "bcast:5:1000", "bcast:6:999", "bcast:6:1000", "bcast:6:4999", "bcast:6:8192")
    *others, pipeline = graphs(to_openmpi(decision, provenance={"system": "a # 7 cluster"}), *calls)
    assert [from_root(graph) for graph in others] == [[1], [1, 2, 3, 4], [1, 2, 4], [1, 2], [1, 2]]
    assert pipeline == {(rank, rank + 1): 8 for rank in range(5)}


@pytest.mark.parametrize("collective", ["allgather", "allgatherv"])
def test_thresholds_of_blocks_act_at_the_same_block_at_every_communicator(graphs: Graphs, collective: str) -> None:
    methods = [Method("ring", "ring"), Method("bruck", "bruck")]
    tree = Split((Test("message_size", 100),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction(collective, methods, tree, provenance={"comm_size": [2, PROCESSES]})
    sizes = [(size, block) for size in (3, 4, 5, 6) for block in (100, 101)]
    every = graphs(to_openmpi(decision), *(f"{collective}:{size}:{block}" for size, block in sizes))
    for (size, block), graph in zip(sizes, every, strict=True):
        ring = {(rank, (rank + 1) % size): size - 1 for rank in range(size)}
        assert (graph == ring) == (block == 100), (size, block)


def test_a_file_with_a_fault_is_dropped_without_a_word(graphs: Graphs) -> None:
    good = "1\n7\n1\n2\n1\n0 1 0 0\n"
    bad = good.replace("0 1 0 0", "5 1 0 0")
    (linear,), (own,) = (graphs(text, "bcast:6:64") for text in (good, bad))
    assert from_root(linear) == [1, 2, 3, 4, 5]
    assert from_root(own) != [1, 2, 3, 4, 5]


def test_a_smaller_communicator_takes_the_first_set_and_a_hidden_set_never_acts(graphs: Graphs) -> None:
    # What the reader says of the library in tests/export/rules: the first set also for less, 8 hides behind 3.
    first, hidden = ("1\n7\n1\n16\n1\n0 1 0 0\n", "1\n7\n3\n2\n1\n0 1 0 0\n5\n1\n0 3 0 0\n4\n1\n0 6 0 0\n")
    (linear,) = graphs(first, "bcast:6:64")
    assert from_root(linear) == [1, 2, 3, 4, 5]
    assert [from_root(graph) for graph in graphs(hidden, "bcast:4:64", "bcast:5:64")] == [[1, 2, 3], [1, 2, 4]]
