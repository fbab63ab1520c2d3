"""Rules over measurements: what they cost, and that wrong units show."""

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, decision_map, exact, penalty, summarise
from dashboard.domain.errors import OptionError
from dashboard.export.provenance import generated
from dashboard.export.rules.given import of_collective
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import by_blocks, costs, fitted
from dashboard.export.targets.openmpi.rules import to_openmpi
from dashboard.export.targets.settings import to_ucc
from tests.cubes import cube_of, named, synthetic_cube


def test_exported_rules_cost_over_the_measurements_what_the_decision_function_costs() -> None:
    cube = synthetic_cube(6, 8, 5, seed=9, noise=0.5)
    decision = exact(decision_map(cube))
    read = read_text(to_openmpi(decision))
    (cost,), faults = costs(read, {"bcast": cube}, "5.0")
    assert faults == []
    assert cost.acted == cost.meant == summarise(penalty(cube, decision))
    assert cost.lacking == ()


def test_rules_with_blocks_where_totals_are_compared_are_seen_by_their_cost() -> None:
    # linear is the faster up to blocks of 1024 bytes, ring beyond, at every communicator size.
    comm, message = np.array([4, 8, 16]), 2 ** np.arange(4, 18)
    small = np.broadcast_to(np.where(message <= 1024, 1.0, 3.0), (3, 14))
    cube = named(cube_of([small, 4.0 - small], comm, message, collective="allgather"), ["linear", "ring"])
    blocks = "1\n0\n1\n2\n2\n0 1 0 0\n1025 4 0 0\n"
    (cost,), faults = costs(read_text(blocks), {"allgather": cube}, "5.0")
    assert cost.as_blocks is not None
    assert cost.as_blocks.mean == 0.0
    # By hand: as totals, 2, 3 and 4 of the 14 sizes are decided wrongly, which costs 200 %.
    assert cost.meant.mean == pytest.approx(100 * 2 * 9 / 42)
    assert "read as blocks per process these sizes cost 0 % over the measurements, as the totals" in faults[0].text
    assert "compared with 42.9 %" in faults[0].text
    assert "multiply the sizes by the number of processes" in faults[0].effect
    assert costs(read_text(to_openmpi(exact(decision_map(cube)))), {"allgather": cube}, "5.0")[1] == []
    # The head of a file that was written here says what its sizes are.
    (told,), faults = costs(read_text(f"# {generated()}\n{blocks}"), {"allgather": cube}, "5.0")
    assert (told.as_blocks, faults) == (None, [])


def test_segments_tell_methods_apart_and_what_was_not_measured_is_named() -> None:
    cube = synthetic_cube(3, 4, 14, seed=1)
    rules = "1\n7\n1\n0\n3\n0 6 0 0\n8 3 0 1024\n64 7 0 0\n"
    read = read_text(rules)
    fit = fitted(read.decisions["bcast"], cube, "5.0")
    assert [method.label for method in fit.methods] == ["binomial", "pipeline 1KiB", "knomial"]
    (cost,), _ = costs(read, {"bcast": cube, "reduce": cube}, "5.0")
    assert cost.lacking == ("knomial",)


def test_a_dropped_file_acts_nowhere_but_its_meaning_has_a_cost() -> None:
    cube = synthetic_cube(3, 4, 5, seed=1)
    read = read_text("1\n7\n1\n0\n1\n8 6 0 0\n")
    (cost,), _ = costs(read, {"bcast": cube}, "5.0")
    assert cost.acted is None
    assert cost.meant.mean == pytest.approx(summarise(penalty(cube, fitted(read.meant["bcast"], cube, "5.0"))).mean)


def test_why_rules_have_no_cost_is_said() -> None:
    cube = synthetic_cube(3, 4, 5, seed=1)
    read = read_text("1\n7\n1\n0\n1\n0 6 0 0\n")
    rule_costs, (fault,) = costs(read, {"bcast": cube}, "5.0", {"bcast": np.zeros((3, 4))})
    assert rule_costs == []
    assert str(fault) == "warning: bcast: weights must not all be 0 → what these rules cost cannot be told"


def test_totals_taken_for_blocks_join_the_message_sizes_that_are_tested_already() -> None:
    methods = [Method("linear", "linear"), Method("ring", "ring")]
    inner = Split((Test("total_size", 64),), (Leaf(0), Leaf(1)))
    rules = DecisionFunction("allgather", methods, Split((Test("message_size", 16),), (Leaf(1), inner)))
    blocks = by_blocks(rules)
    assert blocks.attributes == ("message_size",)
    assert [rule.bounds for rule in blocks.rules()] == [
        {"message_size": (-np.inf, 16)},
        {"message_size": (16, 64)},
        {"message_size": (64, np.inf)},
    ]
    assert [blocks.predict_one(4, size) for size in (16, 17, 64, 65)] == [1, 0, 0, 1]


@pytest.mark.parametrize(("number", "label"), [(1, "one"), (7, "seven"), (3, "algorithm 3")])
def test_intel_s_rules_are_of_the_methods_that_were_measured_by_these_numbers(number: int, label: str) -> None:
    cube = named(cube_of(np.ones((2, 1, 1)), [4], [64]), ["one", "seven"])
    cube = cube.assign_coords(library_id=("method", [1, 7])).assign_attrs(library="Intel MPI")
    rules = read_text(f"I_MPI_ADJUST_BCAST={number}\n").decisions["bcast"]
    fit = fitted(rules, cube, "5.0")
    assert fit.methods[fit.predict_one(4, 64)].label == label


def test_numbers_of_intel_s_rules_are_no_numbers_of_another_library() -> None:
    cube = named(cube_of(np.ones((2, 1, 1)), [4], [64]), ["chain", "knomial"])
    cube = cube.assign_coords(library_id=("method", [2, 7])).assign_attrs(library="Open MPI")
    rules = read_text('I_MPI_ADJUST_BCAST="2"')
    (cost,), _ = costs(rules, {"bcast": cube}, "5.0")
    assert cost.lacking == ("algorithm 2",)


def test_rules_of_another_collective_are_named() -> None:
    read = read_text("2\n7\n1\n0\n1\n0 6 0 0\n3\n1\n0\n1\n0 2 0 0\n")
    with pytest.raises(OptionError, match="mine has no rules for reduce; it has them for bcast, alltoall"):
        of_collective(read, "reduce", "mine")


def test_rules_of_ucc_are_of_the_methods_that_were_measured_with_their_radix() -> None:
    cube = named(cube_of([[[1.0]], [[2.0]]], [4], [64]), ["knomial", "other"])
    cube = cube.assign_coords(algorithm=("method", ["knomial", "knomial"]), radix=("method", ["4", "2"]))
    cube = cube.assign_attrs(library="UCC")
    rules = read_text(to_ucc(DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0))))
    (decision,) = rules.decisions.values()
    fit = fitted(decision, cube, "5.0")
    assert fit.methods[fit.predict_one(4, 64)].label == "other"


def test_blocks_that_cost_as_much_as_totals_are_not_called_a_mistake() -> None:
    message = 2 ** np.arange(4, 18)
    times = np.ones((3, 3, 14)) * np.array([2.0, 2.0, 1.0])[:, None, None]
    cube = named(cube_of(times, [4, 8, 16], message, collective="allgather"), ["linear", "ring", "bruck"])
    (cost,), faults = costs(read_text("1\n0\n1\n2\n2\n0 1 0 0\n1025 4 0 0\n"), {"allgather": cube}, "5.0")
    assert cost.as_blocks is not None
    assert cost.as_blocks.mean == cost.meant.mean == pytest.approx(100)
    assert faults == []


def test_a_tree_of_mpich_is_the_measured_one_of_its_radix_or_none() -> None:
    cube = named(cube_of(np.array([[[1.0]], [[2.0]]]), [4], [8], collective="bcast"), ["tree", "tree"])
    cube = cube.assign_coords(method=["tree radix=2", "tree radix=4"], radix=("method", [2, 4]))
    methods = [Method(f"tree k={k}", "tree", 0, {"k": k}) for k in ("4", "2", "8")]
    tree = Split((Test("message_size", 8),), (Leaf(0), Split((Test("message_size", 64),), (Leaf(1), Leaf(2)))))
    rules = DecisionFunction("bcast", methods, tree, provenance={"library": "MPICH"})
    assert [each.label for each in fitted(rules, cube, "5.0").methods] == ["tree radix=4", "tree radix=2", "tree k=8"]


def test_rules_without_a_segment_size_are_of_no_method_that_was_measured_with_several() -> None:
    cube = named(cube_of(np.array([[[1.0]], [[2.0]]]), [4], [8], collective="bcast"), ["tree", "tree"])
    cube = cube.assign_coords(method=["tree 1KiB", "tree 8KiB"], segment_size=("method", [1024, 8192]))
    rules = DecisionFunction("bcast", [Method("tree", "tree")], Leaf(0), provenance={"library": "MPICH"})
    assert fitted(rules, cube, "5.0").methods[0].label == "tree"
    assert fitted(rules, cube.isel(method=[1]), "5.0").methods[0].label == "tree 8KiB"
