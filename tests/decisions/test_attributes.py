"""Attributes: what they are by definition, and what fixing one leaves of the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Node
from dashboard.decisions.function.attributes import ATTRIBUTES, compute, compute_one, product, products, required
from tests.decisions.trees import METHODS, binary, decision_of, follow, nodes, values_of

TOP, BOTTOM = 2**63 - 1, -(2**63)
NAMES = tuple(name for name in ATTRIBUTES if name != "collective")
COMM = np.array([-3, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 24])
MESSAGE = np.array([-1, 0, 1, 2, 3, 5, 8, 10, 19, 20, 21, 10**6, 2**40])
PPN = np.array([-1, 0, 1, 2, 3, 4, 7, 16])
int64 = st.one_of(
    st.integers(BOTTOM, TOP), st.integers(-3, 3), st.sampled_from([TOP, BOTTOM, 2**31, 2**32, 3037000500])
)


def bounded(bounds: dict[str, tuple[int | None, int | None]]) -> DecisionFunction:
    """Method 1 where each attribute is above the first and at most the second of its bounds, else method 0."""
    root: Node = Leaf(1)
    for name, (low, high) in bounds.items():
        root = root if high is None else binary(name, high, root, Leaf(0))
        root = root if low is None else binary(name, low, Leaf(0), root)
    return decision_of(root)


@given(int64, int64)
def test_products_stop_at_the_ends_of_64_bits(first: int, second: int) -> None:
    expected = min(max(first * second, BOTTOM), TOP)
    assert product(first, second) == expected
    assert products(np.array([first]), np.array([second])).tolist() == [expected]
    assert int(products(np.array(first), np.array(second))) == expected


def test_products_next_to_the_ends_are_exact() -> None:
    # 7 × 1317624576693539401 = 2**63 - 1; floats cannot tell these from 2**63.
    pairs = [(7, 1317624576693539401), (2, 2**62 - 1), (2, 2**62), (-2, 2**62), (3, 3074457345618258603), (-1, BOTTOM)]
    values = products(*np.array(pairs).T)
    assert values.tolist() == [min(max(a * b, BOTTOM), TOP) for a, b in pairs]


@pytest.mark.parametrize("name", NAMES)
def test_arrays_and_single_calls_agree_with_the_definition(name: str) -> None:
    grid = [axis.ravel() for axis in np.meshgrid(COMM, MESSAGE, PPN)]
    many = compute(name, dict(zip(("comm_size", "message_size", "ppn"), grid, strict=True)))
    for value, comm, message, ppn in zip(many.tolist(), *(axis.tolist() for axis in grid), strict=True):
        expected = values_of(comm, message, ppn)[name]
        assert value == expected
        assert compute_one(name, {"comm_size": comm, "message_size": message, "ppn": ppn}) == expected


def test_sizes_of_fewer_bits_are_multiplied_as_whole_numbers() -> None:
    decision = decision_of(binary("total_size", 2**40, Leaf(0), Leaf(1)))
    assert decision.predict(np.array([2**12], dtype=np.int32), np.array([2**20, 2**30], dtype=np.int32)).tolist() == [
        0,
        1,
    ]


def test_what_a_call_must_tell_beside_the_sizes() -> None:
    assert required(["total_size", "even", "comm_size"]) == ()
    assert required(["nodes", "even"]) == required(["data_per_node"]) == required(["ppn"]) == ("ppn",)
    assert required(["collective", "nodes"]) == ("ppn", "collective")
    with pytest.raises(DecisionError, match=r"ppn must be known for attribute nodes"):
        compute("nodes", {"comm_size": COMM})


@given(nodes(NAMES))
def test_decisions_of_derived_attributes_follow_the_definition(root: Node) -> None:
    decision = decision_of(root)
    predicted = decision.predict(COMM[:, None, None], MESSAGE[:, None], ppn=PPN)
    simple = decision.simplified()
    if simple.leaves > 1:
        shape = COMM.size, MESSAGE.size, PPN.size
        same = np.broadcast_to(simple.predict(COMM[:, None, None], MESSAGE[:, None], ppn=PPN), shape)
        assert np.array_equal(same, np.broadcast_to(predicted, shape))
    rules = decision.rules()
    calls = COMM.tolist(), np.resize(MESSAGE, COMM.size).tolist(), np.resize(PPN, COMM.size).tolist()
    for comm, message, ppn in zip(*calls, strict=True):
        values = values_of(comm, message, ppn)
        expected = follow(root, values)
        assert decision.predict_one(comm, message, ppn=ppn) == decision.predict(comm, message, ppn=ppn) == expected
        met = [r for r in rules if all(low < values[name] <= high for name, (low, high) in r.bounds.items())]
        assert [rule.method for rule in met] == [expected]
    assert DecisionFunction.from_json(decision.to_json()) == decision


@given(nodes(NAMES))
def test_all_leaves_of_simplified_trees_are_rules(root: Node) -> None:
    simple = decision_of(root).simplified()
    assert len(simple.rules()) == simple.leaves


def test_the_decision_says_what_it_needs() -> None:
    decision = decision_of(binary("nodes", 4, Leaf(0), binary("data_per_node", 64, Leaf(1), Leaf(2))))
    assert decision.needs == ("ppn",)
    assert decision.predict([16, 17, 17], [8, 16, 17], ppn=4).tolist() == [0, 1, 2]
    for call in (decision.predict, decision.predict_one):
        with pytest.raises(DecisionError, match="needs ppn beside the two sizes"):
            call(2, 8)


@pytest.mark.parametrize(
    "bounds",
    [
        {"comm_size": (8, None), "message_size": (100, None), "total_size": (None, 908)},
        {"comm_size": (0, 4), "message_size": (-1, 10), "total_size": (40, None)},
        {"comm_size": (4, 16), "ppn": (3, None), "nodes": (4, None)},
        {"comm_size": (16, None), "ppn": (None, 4), "nodes": (None, 4)},
        {"message_size": (100, None), "ppn": (3, None), "data_per_node": (None, 403)},
        {"comm_size": (16, 31), "power_of_two": (0, None)},
        {"comm_size": (2, 4), "even": (0, None), "power_of_two": (None, 0)},
        {"comm_size": (1, None), "even": (None, 0), "power_of_two": (0, None)},
        {"comm_size": (2, 3), "even": (0, None)},
    ],
    ids=str,
)
def test_bounds_that_contradict_each_other_are_no_rule(bounds: dict[str, tuple[int | None, int | None]]) -> None:
    decision = bounded(bounds)
    assert {rule.method for rule in decision.rules()} == {0}
    assert decision.simplified().root == Leaf(0)


def test_bounds_that_just_do_not_contradict_each_other_are_a_rule() -> None:
    for bounds in (
        {"comm_size": (8, None), "message_size": (100, None), "total_size": (None, 909)},
        {"comm_size": (4, 17), "ppn": (3, None), "nodes": (4, None)},
        {"comm_size": (15, 31), "power_of_two": (0, None)},
        {"comm_size": (0, None), "even": (None, 0), "power_of_two": (0, None)},
    ):
        assert {rule.method for rule in bounded(bounds).rules()} == {0, 1}


class TestRestricted:
    @given(nodes(NAMES), st.dictionaries(st.sampled_from(["comm_size", "message_size", "ppn"]), st.integers(-2, 24)))
    def test_it_decides_as_the_whole_tree_does_there(self, root: Node, fixed: dict[str, int]) -> None:
        decision = decision_of(root)
        part = decision.restricted(**fixed)
        assert not set(part.attributes) & set(fixed)
        grid = {"comm_size": COMM[:, None, None], "message_size": MESSAGE[:, None], "ppn": PPN}
        call = {name: np.array(fixed[name]) if name in fixed else values for name, values in grid.items()}
        shape = COMM.size, MESSAGE.size, PPN.size
        predicted, expected = part.predict(**call), decision.predict(**call)
        assert np.array_equal(np.broadcast_to(predicted, shape), np.broadcast_to(expected, shape))

    def test_derived_tests_become_tests_of_what_is_left(self) -> None:
        decision = decision_of(binary("nodes", 8, Leaf(0), binary("data_per_node", 1026, Leaf(1), Leaf(2))))
        assert decision.restricted(ppn=4).root == binary(
            "comm_size", 32, Leaf(0), binary("message_size", 256, Leaf(1), Leaf(2))
        )
        assert decision.restricted(comm_size=8).root == Leaf(0)  # never more nodes than processes
        by_ppn = decision_of(binary("nodes", 4, Leaf(0), Leaf(1))).restricted(comm_size=16)
        assert by_ppn.root == binary("ppn", 3, Leaf(1), Leaf(0))
        assert decision_of(binary("total_size", 100, Leaf(0), Leaf(1))).restricted(comm_size=8).root == binary(
            "message_size", 12, Leaf(0), Leaf(1)
        )
        assert decision_of(binary("even", 0, Leaf(0), Leaf(1))).restricted(comm_size=8).root == Leaf(1)

    def test_one_collective_of_several(self) -> None:
        root = binary("collective", 0, binary("comm_size", 4, Leaf(0), Leaf(1)), Leaf(2))
        facts = {"collectives": ["bcast", "reduce"], "system": "grig", "comm_size": [2, 16]}
        decision = DecisionFunction(
            "bcast+reduce", METHODS, root, categories={"collective": ["bcast", "reduce"]}, provenance=facts
        )
        bcast, reduce = (decision.restricted(collective=name) for name in ("bcast", "reduce"))
        assert (bcast.collective, bcast.root) == ("bcast", binary("comm_size", 4, Leaf(0), Leaf(1)))
        assert (reduce.collective, reduce.root, reduce.methods) == ("reduce", Leaf(2), METHODS)
        assert bcast.provenance == {"system": "grig", "comm_size": [2, 16], "part_of": "bcast+reduce"}
        assert bcast.categories == {}
        assert decision.restricted(collective=1).collective == "reduce"
        with pytest.raises(DecisionError, match="expected 0 to 1"):
            decision.restricted(collective=2)
        with pytest.raises(DecisionError, match="no value 'scan'"):
            decision.restricted(collective="scan")

    def test_what_was_fixed_is_remembered(self) -> None:
        decision = decision_of(binary("ppn", 2, Leaf(0), Leaf(1)), provenance={"ppns": [1, 4], "comm_size": [2, 64]})
        assert decision.restricted(ppn=4).provenance == {"comm_size": [2, 64], "ppn": 4}
        assert decision.restricted(comm_size=8).provenance == {"ppns": [1, 4], "comm_size": [8, 8]}
        with pytest.raises(DecisionError, match="no attribute 'cores'"):
            decision.restricted(cores=4)
        with pytest.raises(DecisionError, match="ppn must be whole"):
            decision.restricted(ppn=2.5)
