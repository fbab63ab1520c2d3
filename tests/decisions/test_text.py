"""Trees drawn as text."""

import math

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Split, Test
from dashboard.decisions.function.text import region
from tests.decisions.trees import METHODS


def test_one_line_for_each_outcome() -> None:
    inner = Split((Test("even", 0),), (Leaf(2), Leaf(3)))
    tests = (Test("comm_size", math.inf), Test("message_size", 8192))
    decision = DecisionFunction("bcast", METHODS, Split(tests, (Leaf(0), Leaf(0), Leaf(1), inner)))
    assert decision.to_text().splitlines() == [
        "comm_size <= inf, message_size <= 8192: m0",
        "comm_size > inf, message_size <= 8192: m0",
        "comm_size <= inf, message_size > 8192: m1",
        "comm_size > inf, message_size > 8192:",
        "|   even <= 0: m2",
        "|   even > 0: m3",
    ]
    assert decision.simplified().to_text() == "message_size <= 8192: m0\nmessage_size > 8192: m1"


def test_a_leaf_alone() -> None:
    for method in (0, 1):
        assert DecisionFunction("bcast", METHODS, Leaf(method)).to_text() == f"always: m{method}"


def test_cases_and_errors_stand_behind_leaves() -> None:
    """As in Figure 5.5 of the dissertation; a leaf that no case leads to has none."""
    root = Split((Test("comm_size", 4),), (Leaf(0), Split((Test("message_size", 8),), (Leaf(1), Leaf(0)))))
    drawn = DecisionFunction("bcast", METHODS, root).to_text(counts={1: (12, 0), 3: (9, 2)})
    assert drawn.splitlines() == [
        "comm_size <= 4: m0 (12)",
        "comm_size > 4:",
        "|   message_size <= 8: m1 (9/2)",
        "|   message_size > 8: m0 (0)",
    ]


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({}, "always"),
        ({"message_size": (4096.0, math.inf), "comm_size": (8.0, 16.0)}, "8 < processes ≤ 16, message > 4 KiB"),
        ({"message_size": (-math.inf, 4096.0)}, "message ≤ 4 KiB"),
        ({"ppn": (-math.inf, 0.5)}, "per node ≤ 0"),
        ({"even": (-math.inf, 0.0), "power_of_two": (0.0, math.inf)}, "not even, power of two"),
    ],
)
def test_where_a_rule_holds_is_above_its_lower_bound_and_no_more_than_its_upper(
    bounds: dict[str, tuple[float, float]], text: str
) -> None:
    assert region(bounds) == text


def test_of_values_with_names_those_that_are_left_are_told() -> None:
    names = {"library": ("Open MPI", "MPICH", "Intel MPI")}
    assert region({"library": (-math.inf, 1.0)}, names) == "library is Open MPI or MPICH"
    assert region({"library": (1.0, math.inf)}, names) == "library is Intel MPI"
    assert region({"library": (0.0, 1.0)}, names) == "library is MPICH"
    assert region({"collective": (-1.0, 0.0)}, {"collective": ("bcast", "reduce")}) == "collective is bcast"
