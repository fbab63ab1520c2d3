"""Functions written as C, by ifs and by tables, and as Python: all decide as the decision function does."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Split, Test, decision_map, exact, quadtree, statistics
from dashboard.decisions.grown.octree import octree
from dashboard.decisions.measured.problem import Problem
from dashboard.export import ExportError, to_c, to_c_table, to_python
from loaders import open_results
from tests.cubes import synthetic_cube
from tests.export.compiling import (
    LETTERS,
    METHODS,
    Compiler,
    drawn_tree,
    module_of,
    random_sizes,
    sizes_at_borders,
    small_sizes,
    trees,
)

WRITERS: dict[str, Callable[..., str]] = {"c": to_c, "c-table": to_c_table, "python": to_python}
Answers = Callable[..., np.ndarray]


@pytest.fixture(params=WRITERS)
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def write(target: str) -> Callable[..., str]:
    return WRITERS[target]


@pytest.fixture
def answers(target: str, request: pytest.FixtureRequest) -> Answers:
    """What the written functions answer to sizes, a row each, with a column for each collective."""
    if target != "python":
        compiler: Compiler = request.getfixturevalue("compiler")
        return lambda decision, *columns: compiler.answers(WRITERS[target](decision), *columns)

    def called(decision: DecisionFunction, *columns: np.ndarray) -> np.ndarray:
        functions = [made for name, made in module_of(to_python(decision)).items() if name.startswith("colltune_")]
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        return np.array([[decide(*row) for decide in functions if callable(decide)] for row in rows])

    return called


def assert_same(answers: Answers, decision: DecisionFunction, *columns: np.ndarray) -> None:
    given = {"ppn": columns[2]} if len(columns) > 2 else {}
    np.testing.assert_array_equal(answers(decision, *columns)[:, 0], decision.predict(*columns[:2], **given))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_they_decide_as_the_decision_function_at_borders(answers: Answers, decision: DecisionFunction) -> None:
    assert_same(answers, decision, *sizes_at_borders(decision))


def test_they_decide_so_at_a_hundred_thousand_drawn_sizes(answers: Answers) -> None:
    decision = exact(decision_map(synthetic_cube(64, 60, 20, seed=5)))
    assert_same(answers, decision, *random_sizes(100_000))
    assert_same(answers, decision, *small_sizes(100_000))


@pytest.mark.parametrize(
    "options", [{"max_depth": 0}, {"max_depth": 1}, {"max_depth": 3}, {}, {"threshold": 0.9}], ids=str
)
def test_they_decide_so_for_real_measurements(
    answers: Answers, fast_ethernet_bcast: xr.Dataset, options: dict[str, Any]
) -> None:
    decision = quadtree(decision_map(fast_ethernet_bcast), **options)
    assert_same(answers, decision, *sizes_at_borders(decision))
    assert_same(answers, decision, *random_sizes(20_000))


def test_attributes_that_follow_from_the_sizes_are_computed(answers: Answers) -> None:
    attributes = ("comm_size", "message_size", "total_size", "even", "power_of_two")
    decision = DecisionFunction("bcast", LETTERS, drawn_tree(attributes, 1))
    assert set(decision.simplified().attributes) == set(attributes)
    assert_same(answers, decision, *random_sizes(100_000))
    assert_same(answers, decision, *small_sizes(100_000))


def test_processes_per_node_are_a_further_parameter(answers: Answers) -> None:
    tree = drawn_tree(("comm_size", "message_size", "ppn", "nodes", "data_per_node"), 4, depth=5)
    comm, message = small_sizes(100_000)
    ppn = np.random.default_rng(1).integers(-1, 40, comm.size)
    assert_same(answers, DecisionFunction("bcast", LETTERS, tree), comm, message, ppn)


def test_an_octree_of_real_measurements_decides_by_them(answers: Answers, shared: Path) -> None:
    cube = open_results(shared / "data" / "pico" / "pico_consolidated.csv", system="mare_nostrum")["allreduce"]
    problem = Problem.of(cube.to_dataset(), ppn="all")
    decision = octree(problem)
    cases = problem.cases(("comm_size", "message_size", "ppn"))
    np.testing.assert_array_equal(answers(decision, *cases.values.T.astype(np.int64))[:, 0], cases.best)
    comm, message = random_sizes(100_000)
    assert_same(answers, decision, comm, message, np.random.default_rng(1).integers(-1, 9, comm.size))


def test_one_tree_of_several_collectives_gives_a_function_for_each(answers: Answers) -> None:
    names = ["bcast", "reduce", "scan"]
    root = drawn_tree(("collective", "comm_size", "message_size", "total_size"), 7)
    decision = DecisionFunction("bcast+reduce+scan", LETTERS, root, categories={"collective": names})
    comm, message = small_sizes(20_000)
    columns = answers(decision, comm, message)
    for column, name in enumerate(names):
        np.testing.assert_array_equal(columns[:, column], decision.predict(comm, message, collective=name))


@pytest.mark.parametrize("writer", [to_c, to_c_table])
def test_c_has_one_function_and_one_table_for_each_collective_and_one_more_that_ends_in_ppn(
    compiler: Compiler, writer: Callable[..., str]
) -> None:
    tested = {"bcast": "data_per_node", "reduce": "even", "reduce_scatter": "total_size"}
    decisions = [
        DecisionFunction(name, METHODS, Split((Test(attribute, 4.0),), (Leaf(1), Leaf(2))))
        for name, attribute in tested.items()
    ]
    made = compiler.build(writer(decisions), "-c")
    listed = subprocess.run(["nm", "-g", str(made)], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1].removeprefix("colltune_") for line in listed.splitlines()}
    assert names == {"bcast_ppn", *tested, *(f"{name}_methods" for name in tested)}


def test_the_head_tells_where_it_comes_from(write: Callable[..., str], fast_ethernet_bcast: xr.Dataset) -> None:
    decision = quadtree(decision_map(fast_ethernet_bcast), max_depth=3, threshold=0.9)
    numbers = statistics(fast_ethernet_bcast, decision)
    facts = {"date": "2026-11-20", "version": "1.2.3", "statistics": {"bcast": numbers}, "sources": ["a.sko", "b.sko"]}
    text = " ".join(re.sub(r"\n( \*|#)", " ", write(decision, provenance=facts)).split())
    assert "colltune 1.2.3, 2026-11-20" in text
    assert f"digest {fast_ethernet_bcast.attrs['digest']}, 2 sources" in text
    # In the words of the pages; what was read from rules names no tree.
    assert "Decision: Quadtree, maximum depth (levels) 3, accuracy threshold (share) 0.9." in text
    assert "read from rules of a library (openmpi-1)" in write(decision.changed(kind="openmpi-1", options={}))
    assert f"mean {numbers['penalty']['mean']:.4g} %" in text
    assert "bytes of the vector" in text


def test_what_cannot_be_written_is_refused(write: Callable[..., str]) -> None:
    bcast = DecisionFunction("bcast", METHODS, Leaf(0))
    with pytest.raises(ExportError, match="no decision function"):
        write([])
    with pytest.raises(ExportError, match="2 decision functions for bcast; one file can hold one"):
        write([bcast, bcast])
    with pytest.raises(ExportError, match="tests the collective, but names none"):
        write(DecisionFunction("bcast+reduce", METHODS, Split((Test("collective", 0.0),), (Leaf(1), Leaf(2)))))


def test_a_penalty_that_is_not_known_is_no_figure() -> None:
    decision = DecisionFunction("bcast", METHODS, Leaf(0))
    unknown = dict.fromkeys(("mean", "median", "min", "max"))
    numbers = {"penalty": {**unknown, "unmeasured": 0}, "leaves": 1, "nodes": 1, "depth": {"max": 0}}
    source = to_c(decision, provenance={"statistics": {"bcast": numbers}})
    assert "Before merging: 1 leaf, 1 node; depth max 0." in source
    assert "Performance penalty at measured sizes against the best measured method: not known." in source
