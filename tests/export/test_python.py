"""The Python export: a module without dependencies that decides as the decision function does."""

import ast
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.decisions import DecisionFunction, Leaf, Split, Test, decision_map, exact
from dashboard.export import to_python
from tests.conftest import ran
from tests.cubes import synthetic_cube
from tests.export.compiling import (
    LETTERS,
    METHODS,
    drawn_tree,
    hostile_labels,
    labelled,
    module_of,
    sizes_at_borders,
    small_sizes,
)


def assert_same(decision: DecisionFunction, *columns: np.ndarray, **given: Any) -> None:
    decide = module_of(to_python(decision))["colltune_bcast"]
    answers = [decide(*sizes) for sizes in zip(*(column.tolist() for column in columns), strict=True)]
    np.testing.assert_array_equal(answers, decision.predict(*columns[:2], **given))


def test_processes_per_node_are_a_further_parameter() -> None:
    tree = drawn_tree(("comm_size", "message_size", "ppn", "nodes", "data_per_node"), 4)
    decision = DecisionFunction("bcast", LETTERS, tree, provenance={"ppns": [1, 4]})
    comm, message = small_sizes(50_000)
    ppn = np.random.default_rng(1).integers(-1, 40, comm.size)
    assert_same(decision, comm, message, ppn, ppn=ppn)
    assert_same(decision, comm, message, ppn=4)  # the most measured, where the caller does not tell it


def test_deep_trees_are_nested_no_deeper_than_the_logarithm_of_their_leaves() -> None:
    for first in (True, False):
        tree: Leaf | Split = Leaf(0)
        for cut in range(2000, 0, -1):
            sides = (Leaf(cut % 3), tree) if first else (tree, Leaf(cut % 3))
            tree = Split((Test("message_size", float(cut if first else 2000 - cut)),), sides)
        decision = DecisionFunction("bcast", METHODS, tree)
        assert_same(decision, *sizes_at_borders(decision))
    decision = exact(decision_map(synthetic_cube(64, 60, 20, seed=5)))
    deepest = max(len(line) - len(line.lstrip()) for line in to_python(decision).splitlines()) // 4
    assert deepest <= 1 + np.log2(decision.simplified().leaves)


def test_run_as_a_program_it_answers_lines_of_sizes(tmp_path: Path) -> None:
    decisions = [
        DecisionFunction("bcast", METHODS, Split((Test("total_size", 100.0),), (Leaf(1), Leaf(2)))),
        DecisionFunction("reduce", METHODS, Leaf(0)),
    ]
    file = tmp_path / "decide.py"
    file.write_text(to_python(decisions), encoding="ascii")
    done = ran([sys.executable, "-I", "-S", file], input="4 25\n4 26\n")
    assert done.stdout == "1 0\n2 0\n"


def test_nothing_but_sys_is_imported() -> None:
    tree = ast.parse(to_python(DecisionFunction("bcast", LETTERS, drawn_tree(("total_size", "even"), 3))))
    imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert imported == ["sys"]
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


def test_names_from_files_can_do_no_harm() -> None:
    labels = ['"""', "'''", "\ud800", "\\", "\nimport os", *hostile_labels()]
    facts = {"system": "\nimport os", "network": '"""', "date": "\r\nx", "library": "\\"}
    module = module_of(to_python(labelled("bcast\n", labels, facts), provenance=facts))
    assert module["colltune_bcast__methods"] == tuple(labels)
    assert module["colltune_bcast_"](2, -5) == 5
