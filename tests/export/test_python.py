"""The Python export: a module without dependencies that decides as the decision function does."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact, quadtree, statistics
from dashboard.export import ExportError, to_python
from tests.cubes import synthetic_cube
from tests.export.compiling import (
    LETTERS,
    METHODS,
    drawn_tree,
    hostile_labels,
    random_sizes,
    sizes_at_borders,
    small_sizes,
    trees,
)


def module_of(source: str) -> dict[str, Any]:
    """Run the source as a module with nothing in it but Python's own names."""
    assert source.isascii()
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "exported.py", "exec", dont_inherit=True), names)  # noqa: S102
    return names


def assert_same(decision: DecisionFunction, *columns: np.ndarray, **given: Any) -> None:
    decide = module_of(to_python(decision))["colltune_bcast"]
    found = [decide(*sizes) for sizes in zip(*(column.tolist() for column in columns), strict=True)]
    np.testing.assert_array_equal(found, decision.predict(*columns[:2], **given))


@pytest.mark.parametrize("decision", trees(), ids=repr)
def test_decides_as_the_decision_function_at_borders(decision: DecisionFunction) -> None:
    assert_same(decision, *sizes_at_borders(decision))


def test_decides_so_at_a_hundred_thousand_random_sizes() -> None:
    decision = exact(decision_map(synthetic_cube(64, 60, 20, seed=5)))
    assert_same(decision, *random_sizes(100_000))


def test_composite_attributes_are_computed() -> None:
    attributes = ("comm_size", "message_size", "total_size", "even", "power_of_two")
    decision = DecisionFunction("bcast", LETTERS, drawn_tree(attributes, 1))
    assert set(decision.simplified().attributes) == set(attributes)
    assert_same(decision, *random_sizes(100_000))
    assert_same(decision, *small_sizes(100_000))


def test_processes_per_node_are_a_further_parameter() -> None:
    tree = drawn_tree(("comm_size", "message_size", "ppn", "nodes", "data_per_node"), 4)
    decision = DecisionFunction("bcast", LETTERS, tree, provenance={"ppns": [1, 4]})
    comm, message = small_sizes(50_000)
    ppn = np.random.default_rng(1).integers(-1, 40, comm.size)
    assert_same(decision, comm, message, ppn, ppn=ppn)
    assert_same(decision, comm, message, ppn=4)  # the most measured, where the caller does not tell it


def test_one_tree_of_several_collectives_gives_a_function_for_each() -> None:
    names = ["bcast", "reduce"]
    root = drawn_tree(("collective", "comm_size", "message_size"), 7)
    decision = DecisionFunction("bcast+reduce", LETTERS, root, categories={"collective": names})
    module = module_of(to_python(decision))
    comm, message = small_sizes(5000)
    for name in names:
        decide = module[f"colltune_{name}"]
        found = [decide(*sizes) for sizes in zip(comm.tolist(), message.tolist(), strict=True)]
        np.testing.assert_array_equal(found, decision.predict(comm, message, collective=name))


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
    done = subprocess.run(
        [sys.executable, "-I", "-S", file], input="4 25\n4 26\n", capture_output=True, text=True, check=True
    )
    assert done.stdout == "1 0\n2 0\n"


def test_nothing_but_sys_is_imported() -> None:
    tree = ast.parse(to_python(DecisionFunction("bcast", LETTERS, drawn_tree(("total_size", "even"), 3))))
    imported = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert imported == ["sys"]
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


def test_names_from_files_can_do_no_harm() -> None:
    labels = ['"""', "'''", "\ud800", "\\", "\nimport os", *hostile_labels()]
    methods = [Method(label, label, 7, {label: label}) for label in labels]
    tree: Leaf | Split = Leaf(0)
    for index in range(1, len(labels)):
        tree = Split((Test("message_size", float(-index)),), (Leaf(index), tree))
    facts = {"system": "\nimport os", "network": '"""', "date": "\r\nx", "library": "\\"}
    module = module_of(to_python(DecisionFunction("bcast\n", methods, tree, provenance=facts), provenance=facts))
    assert module["colltune_bcast__methods"] == tuple(labels)
    assert module["colltune_bcast_"](2, -5) == 5


def test_header_tells_where_the_source_comes_from(fast_ethernet_bcast: xr.Dataset) -> None:
    decision = quadtree(decision_map(fast_ethernet_bcast), max_depth=3, threshold=0.9)
    facts = {
        "date": "2026-11-20",
        "version": "1.2.3",
        "statistics": {"bcast": statistics(fast_ethernet_bcast, decision)},
    }
    text = " ".join(re.sub(r"\n# ?", " ", to_python(decision, provenance=facts)).split())
    assert "colltune 1.2.3, 2026-11-20" in text
    assert f"digest {fast_ethernet_bcast.attrs['digest']}" in text
    assert "quadtree (max_depth 3, threshold 0.9)" in text
    assert "bytes of the vector" in text


def test_what_cannot_be_written_is_refused() -> None:
    bcast = DecisionFunction("bcast", METHODS, Leaf(0))
    with pytest.raises(ExportError, match="no decision function"):
        to_python([])
    with pytest.raises(ExportError, match="two decision functions would define colltune_bcast"):
        to_python([bcast, bcast])
