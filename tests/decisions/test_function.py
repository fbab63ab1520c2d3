"""The decision function: predictions, rules, counts."""

import math

import numpy as np
import pytest
from hypothesis import given

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Method, Node, Split, Test
from dashboard.decisions.function import table as table_module
from dashboard.decisions.grown.default import is_default
from tests.decisions.trees import DERIVED, METHODS, binary, decision_of, decisions, follow, nodes, values_of

COMM, MESSAGE = np.arange(-3, 24), np.array([-1, 0, 1, 2, 3, 5, 8, 19, 20, 21, 10**6, 10**6 + 1, 2**40])


class TestPredict:
    @given(decisions(DERIVED))
    def test_arrays_single_calls_and_the_definition_agree(self, decision: DecisionFunction) -> None:
        decided = decision.predict(COMM[:, None], MESSAGE)
        assert decided.shape == (COMM.size, MESSAGE.size)
        assert decided.dtype == np.int64
        for row, comm in enumerate(COMM.tolist()):
            for column, message in enumerate(MESSAGE.tolist()):
                expected = follow(decision.root, values_of(comm, message))
                assert decided[row, column] == expected
                assert decision.predict_one(comm, message) == expected

    @given(decisions())
    def test_without_a_table_it_decides_the_same(self, decision: DecisionFunction) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_module, "MOST_CELLS", 0)
            walked = DecisionFunction("bcast", METHODS, decision.root)
            assert np.array_equal(walked.predict(COMM[:, None], MESSAGE), decision.predict(COMM[:, None], MESSAGE))
            assert walked.predict_one(9, 9) == decision.predict_one(9, 9)
            assert np.array_equal(walked.predict_depth(COMM[:, None], 7), decision.predict_depth(COMM[:, None], 7))

    def test_sizes_broadcast(self) -> None:
        decision = decision_of(binary("comm_size", 8, Leaf(0), Leaf(1)))
        assert decision.predict(4, 4).shape == ()
        assert decision.predict([4, 9], 4).tolist() == [0, 1]
        assert decision.predict(np.zeros((2, 1, 3), dtype=int), np.zeros((5, 1), dtype=int)).shape == (2, 5, 3)
        assert decision_of(Leaf(2)).predict(np.ones((2, 1), dtype=int), [1, 2, 3]).tolist() == [[2] * 3] * 2

    def test_whole_numbers_of_any_type_will_do_others_will_not(self) -> None:
        decision = decision_of(binary("message_size", 8, Leaf(0), Leaf(1)))
        assert decision.predict(np.float64(4.0), np.uint64(9)) == 1
        for wrong in (8.5, math.nan, math.inf, "8", None, 2**64 - 1):
            with pytest.raises(DecisionError, match="message_size must be"):
                decision.predict(4, wrong)

    def test_attributes_that_do_not_follow_from_the_sizes_are_given(self) -> None:
        decision = decision_of(binary("ppn", 4, Leaf(0), binary("even", 0, Leaf(1), Leaf(2))))
        assert decision.predict([2, 3], [8], ppn=[[4], [8]]).tolist() == [[0, 0], [2, 1]]
        assert decision.predict_one(3, 8, ppn=8) == 1

    def test_named_values_are_looked_up_in_the_categories(self) -> None:
        root = binary("collective", 0, Leaf(0), Leaf(1))
        decision = decision_of(root, categories={"collective": ["bcast", "reduce"]})
        assert decision.predict(2, 8, collective=["bcast", "reduce"]).tolist() == [0, 1]
        assert decision.predict_one(2, 8, collective="reduce") == 1
        with pytest.raises(DecisionError, match="no value 'scan'; known are bcast, reduce"):
            decision.predict(2, 8, collective="scan")


class TestRules:
    def test_leaves_that_cannot_be_reached_are_no_rules(self) -> None:
        below = binary("comm_size", 8, Leaf(0), Leaf(1))
        decision = decision_of(binary("comm_size", 4, below, binary("even", 1, Leaf(2), Leaf(3))))
        assert [(rule.bounds, rule.method) for rule in decision.rules()] == [
            ({"comm_size": (-math.inf, 4.0)}, 0),
            ({"comm_size": (4.0, math.inf)}, 2),
        ]
        assert decision.leaves == 4

    def test_regions_are_open_at_the_borders(self) -> None:
        regions = decision_of(binary("comm_size", 4, Leaf(0), binary("message_size", 9, Leaf(1), Leaf(2)))).regions()
        inf = math.inf
        assert regions.to_numpy().tolist() == [
            [-inf, 4, -inf, inf, 0, 1],
            [4, inf, -inf, 9, 1, 2],
            [4, inf, 9, inf, 2, 2],
        ]
        assert list(regions) == ["comm_low", "comm_high", "message_low", "message_high", "method", "depth"]

    def test_other_attributes_have_no_regions(self) -> None:
        with pytest.raises(DecisionError, match=r"this one tests \['total_size'\]"):
            decision_of(binary("total_size", 9, Leaf(0), Leaf(1))).regions()


class TestCounts:
    def test_nodes_leaves_and_depths(self) -> None:
        decision = decision_of(binary("comm_size", 4, Leaf(0), binary("message_size", 9, Leaf(1), Leaf(2))))
        assert (decision.nodes, decision.leaves, decision.depth) == (5, 3, 2)
        assert decision.depths().tolist() == [1, 2, 2]
        assert decision.predict_depth([4, 5], 1).tolist() == [1, 2]

    @given(nodes(DERIVED))
    def test_the_arrays_hold_the_whole_tree(self, root: Node) -> None:
        decision = decision_of(root)
        assert decision.tree.to_node() == root
        assert decision.nodes == decision.leaves + decision.tree.widths.size

    def test_a_tree_deeper_than_pythons_stack_works(self) -> None:
        root = Leaf(0)
        for cut in range(3000):
            root = binary("message_size", cut, Leaf(cut % 2), root)
        decision = decision_of(root)
        assert decision.depth == 3000
        assert decision.predict_one(2, 10) == follow(decision.root, values_of(2, 10))
        assert decision.simplified().predict_one(2, 10) == decision.predict_one(2, 10)


class TestMaking:
    def test_a_leaf_must_have_a_method(self) -> None:
        with pytest.raises(DecisionError, match="a leaf has method 4, but there are 4 methods"):
            decision_of(Leaf(4))

    def test_an_attribute_must_be_known(self) -> None:
        with pytest.raises(DecisionError, match="no attribute 'root'; known are comm_size"):
            decision_of(binary("root", 1, Leaf(0), Leaf(1)))

    def test_a_cut_must_be_a_number(self) -> None:
        for cut in (math.nan, -math.inf):
            with pytest.raises(DecisionError, match="a cut is NaN or -inf"):
                decision_of(binary("comm_size", cut, Leaf(0), Leaf(1)))

    def test_a_split_needs_a_child_for_each_outcome(self) -> None:
        with pytest.raises(ValueError, match="1 tests with 3 children"):
            Split((Test("comm_size", 1),), (Leaf(0), Leaf(0), Leaf(0)))

    def test_it_cannot_be_changed(self) -> None:
        decision = decision_of(Leaf(0))
        with pytest.raises(AttributeError, match="cannot be changed"):
            decision.collective = "reduce"

    def test_equal_ones_are_equal_wherever_they_come_from(self) -> None:
        root = binary("comm_size", 4, Leaf(0), Leaf(1))
        decision = decision_of(root, provenance={"digest": "a"})
        other = DecisionFunction("bcast", [Method(m.label, m.algorithm, m.segment_size) for m in METHODS], root)
        assert decision == other
        assert hash(decision) == hash(other)
        assert decision != decision_of(binary("comm_size", 5, Leaf(0), Leaf(1)))
        assert decision != decision_of(Leaf(0))
        assert decision != "bcast"

    def test_it_says_what_it_is(self) -> None:
        decision = decision_of(Leaf(0), kind="quadtree", options={"max_depth": 3})
        assert repr(decision) == "<DecisionFunction bcast: quadtree (max_depth=3), 1 leaf, depth 0, 4 methods>"


def test_named_values_are_drawn_by_their_names() -> None:
    """In a tree of several collectives nobody reads positions."""
    cut = (Test("collective", 1.0),)
    tree = DecisionFunction(
        "a+b+c", METHODS, Split(cut, (Leaf(0), Leaf(1))), categories={"collective": ("bcast", "reduce", "scan")}
    )
    assert tree.to_text().splitlines() == [
        f"collective is bcast or reduce: {METHODS[0].label}",
        f"collective is scan: {METHODS[1].label}",
    ]


def test_leaves_that_no_sizes_reach_decide_nothing() -> None:
    methods = [Method("default", "default"), Method("chain", "chain")]
    beyond = Split((Test("comm_size", 4),), (Leaf(1), Leaf(0)))
    assert is_default(DecisionFunction("bcast", methods, Split((Test("comm_size", 8),), (Leaf(0), beyond))))
    assert not is_default(DecisionFunction("bcast", methods, Split((Test("comm_size", 8),), (beyond, Leaf(0)))))
