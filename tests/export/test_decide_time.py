"""Time to decide: what is drawn, compiled and told; no test here depends on how fast a machine is."""

import math

import numpy as np
import pandas as pd
import pytest

from dashboard.decisions import DecisionFunction, Leaf, decision_map, exact, quadtree
from dashboard.export import ExportError, source_lines
from dashboard.export.decide_time import decide_time, found_compiler, log_uniform, uniform, workload_sizes
from tests.cubes import synthetic_cube
from tests.export.compiling import LETTERS, drawn_tree

FEW = {"uniform": uniform((2, 20), (1, 4096), 512), "log-uniform": log_uniform((2, 20), (1, 4096), 512)}
C = ("nested ifs", "tables", "tree in memory")


def test_every_variant_decides_alike_and_is_timed_over_all_sizes(gcc: str) -> None:
    decision = exact(decision_map(synthetic_cube(9, 12, 6, 4, noise=0.5)))
    variants = decide_time(decision, FEW, rounds=2, compiler=gcc)
    assert [variant.name for variant in variants] == [*C, "Python function", "Python object", "empty call"]
    for variant in variants:
        assert list(variant.nanoseconds) == list(FEW)
        assert all(math.isfinite(ns) and ns > 0 for ns in variant.nanoseconds.values())
    ifs, table, memory = (variant for variant in variants if variant.name in C)
    # One test less than leaves, of the tree with equal neighbours merged.
    assert ifs.tests == decision.simplified().leaves - 1
    assert table.tests is None
    assert ifs.lines == source_lines(decision)
    # Two cuts, the first child and which attributes, for each node.
    assert memory.size is not None
    assert memory.size > decision.nodes * (2 * 8 + 4 + 2)


@pytest.mark.parametrize("attributes", [("comm_size", "total_size"), ("ppn", "nodes"), ("even", "power_of_two")])
def test_trees_of_other_attributes_are_timed_too(gcc: str, attributes: tuple[str, ...]) -> None:
    decision = DecisionFunction("bcast", LETTERS, drawn_tree(attributes, seed=3, depth=4))
    assert {variant.name for variant in decide_time(decision, FEW, rounds=1, compiler=gcc)} >= set(C)


def test_a_tree_of_one_leaf_has_nothing_to_walk(gcc: str) -> None:
    variants = decide_time(DecisionFunction("bcast", LETTERS[:2], Leaf(1)), FEW, rounds=1, compiler=gcc)
    assert {variant.tests for variant in variants} == {None}


def test_deeper_trees_in_memory_are_larger(gcc: str) -> None:
    dmap = decision_map(synthetic_cube(16, 24, 8, 5, noise=0.5))
    sizes = []
    for depth in (1, 3):
        variants = decide_time(quadtree(dmap, max_depth=depth), FEW, rounds=1, compiler=gcc)
        sizes.append(next(variant.size for variant in variants if variant.name == "tree in memory") or 0)
    assert sizes[0] < sizes[1]


def test_without_a_compiler_there_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ExportError, match="no C compiler: no-such-compiler is not on the PATH; install gcc"):
        found_compiler()


def test_uniform_sizes_reach_both_ends_and_log_uniform_ones_are_mostly_small() -> None:
    comm, message = uniform((2, 5), (0, 1000), 20_000)
    assert (comm.min(), comm.max(), message.min(), message.max()) == (2, 5, 0, 1000)
    assert 480 < message.mean() < 520
    comm, message = log_uniform((2, 64), (1, 1 << 20), 20_000)
    assert (comm.min(), comm.max(), message.min()) == (2, 64, 1)
    # Half of them are below the geometric mean of the ends.
    assert 0.48 < (message <= 1024).mean() < 0.52


def test_calls_of_a_workload_come_as_often_as_it_makes_them() -> None:
    rows = {"collective": ["bcast", "bcast", "reduce"], "comm_size": [4, 8, 2], "message_size": [8, 64, 1]}
    workload = pd.DataFrame({**rows, "calls": [3.0, 1.0, 100.0]})
    comm, message = workload_sizes(workload, "bcast", 10_000)
    assert set(zip(comm.tolist(), message.tolist(), strict=True)) == {(4, 8), (8, 64)}
    assert 0.73 < np.mean(comm == 4) < 0.77
    with pytest.raises(ExportError, match="does not call scan; it calls bcast, reduce"):
        workload_sizes(workload, "scan")
