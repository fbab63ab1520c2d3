"""What can be chosen of a family: defaults, ranges, and what is said when a value does not fit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import OptionError
from dashboard.decisions.grown.families import family
from dashboard.decisions.grown.family import Family
from dashboard.domain.options import Option

DEPTH = Option("max_depth", "Depth", "Levels.", None, "int", low=0, high=20, unlimited="no limit")
SHARE = Option("threshold", "Threshold", "Share.", 1.0, "float", low=0, high=1)
CASES = Option("min_cases", "Cases", "Cases in a branch.", 2, "int", low=1)
PRUNED = Option("pruned", "Pruned", "Cut back.", True, "flag")
RULE = Option("rule", "Rule", "Which.", "gain", "choice", choices=("gain", "ratio"))
ATTRIBUTES = Option("attributes", "Attributes", "What.", ("a", "b"), "names", choices=("a", "b", "c"))
ANY = Option("any", "any", "What.", None, "names", unlimited="all")
WORDS = Option("words", "words", "Which.", (), "words", flag="--word")
FAMILY = Family(
    "bush", "Bush", "nobody", (DEPTH, SHARE, CASES, PRUNED, RULE, ATTRIBUTES), lambda *_: None, lambda _: []
)


@pytest.mark.parametrize(
    ("option", "value", "taken"),
    [
        (DEPTH, None, None),
        (DEPTH, 3, 3),
        (DEPTH, 3.0, 3),
        (DEPTH, 0, 0),
        (SHARE, 1, 1.0),
        (CASES, 10**6, 10**6),
        (PRUNED, False, False),
        (RULE, "ratio", "ratio"),
        (ATTRIBUTES, "c,a", ("c", "a")),
        (ATTRIBUTES, ["b"], ("b",)),
        (ATTRIBUTES, "a, a,", ("a",)),
        (ANY, "x,y=1", ("x", "y=1")),
        (ANY, (), None),
        (WORDS, "--a='b c' d,e;f", ("--a=b c", "d,e;f")),
        (WORDS, ["b c"], ("b c",)),
        (WORDS, "", ()),
    ],
)
def test_values_are_taken_as_grow_wants_them(option: Option, value: Any, taken: Any) -> None:
    checked = option.checked(value)
    assert checked == taken
    assert type(checked) is type(taken)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (DEPTH, -1, "max_depth is -1, expected a whole number from 0 to 20, or None for no limit"),
        (DEPTH, 21, "from 0 to 20"),
        (DEPTH, 2.5, "a whole number"),
        (DEPTH, "3", "a whole number"),
        (DEPTH, True, "a whole number"),
        (DEPTH, float("inf"), "a whole number"),
        (SHARE, float("nan"), "threshold is nan, expected a number from 0 to 1"),
        (SHARE, 1.01, "from 0 to 1"),
        (SHARE, None, "threshold is None"),
        (SHARE, [1], "a number"),
        (CASES, 0, "expected a whole number from 1"),
        (PRUNED, 1, "yes or no"),
        (PRUNED, "yes", "yes or no"),
        (RULE, "gini", "rule is 'gini', expected one of gain, ratio"),
        (ATTRIBUTES, "a,d", "a, d, expected some of a, b, c"),
        (ATTRIBUTES, "", "attributes is"),
        (ATTRIBUTES, (), "attributes is nothing"),
        (ATTRIBUTES, None, "attributes is nothing"),
        (ATTRIBUTES, 3, "attributes is 3"),
        (ATTRIBUTES, [1], "attributes is 1"),
        (WORDS, "--a='b", "words .*: No closing quotation"),
    ],
)
def test_others_are_refused_with_the_name_and_what_is_allowed(option: Option, value: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words.replace("(", r"\(")):
        option.checked(value)


def test_defaults_fill_in_what_is_not_said() -> None:
    assert FAMILY.checked({"max_depth": 3}) == {
        "max_depth": 3,
        "threshold": 1.0,
        "min_cases": 2,
        "pruned": True,
        "rule": "gain",
        "attributes": ("a", "b"),
    }


@given(st.fixed_dictionaries({}, optional={"max_depth": st.integers(0, 20), "threshold": st.floats(0, 1)}))
def test_what_was_checked_passes_again(options: dict[str, Any]) -> None:
    once = FAMILY.checked(options)
    assert FAMILY.checked(once) == once


def test_options_that_there_are_not_name_the_nearest() -> None:
    with pytest.raises(
        OptionError, match=r"bush has no option maxdepth, it has max_depth, .*; did you mean max_depth\?"
    ):
        FAMILY.checked({"maxdepth": 3})
    with pytest.raises(OptionError, match=r"it has none$"):
        Family("leaf", "Leaf", "", (), lambda *_: None, lambda _: []).checked({"x": 1})


def test_options_of_a_group_take_each_others_place() -> None:
    """An optimal tree is asked for by leaves, by depth or by a price, and by leaves when nothing is said."""
    optimal = family("optimal")
    assert optimal.checked({}) == {"leaves": 8, "max_depth": None, "price": None}
    assert optimal.checked({"max_depth": 3}) == {"leaves": None, "max_depth": 3, "price": None}
    assert optimal.checked({"leaves": None}) == optimal.checked({})
    with pytest.raises(OptionError, match=r"leaves 4, price 0.5 are given, expected one of leaves, max_depth, price"):
        optimal.checked({"leaves": 4, "price": 0.5})
