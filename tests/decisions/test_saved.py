"""Decision functions as JSON: what goes out comes back, what is wrong is named."""

import copy
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFormatError, DecisionFunction, Leaf, Method, Split, Test
from tests.decisions.trees import DERIVED, METHODS, decisions

TESTS = (Test("comm_size", math.inf), Test("message_size", 8192))
SAMPLE = DecisionFunction(
    "bcast",
    [Method("linear", "linear"), Method("pipeline 8KiB", "pipeline", 8192, {"fanout": 2})],
    Split(TESTS, (Leaf(0), Leaf(0), Leaf(1), Leaf(1))),
    kind="quadtree",
    options={"max_depth": 1},
    provenance={"digest": "ab"},
)


def changed(path: list[Any], value: Any) -> Any:
    """Give the sample's data with one place changed (or removed, by `KeyError`)."""
    data = copy.deepcopy(SAMPLE.to_dict())
    place = data
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return data


@given(decisions(DERIVED))
def test_what_goes_out_comes_back(decision: DecisionFunction) -> None:
    assert DecisionFunction.from_json(decision.to_json()) == decision
    assert DecisionFunction.from_dict(decision.to_dict()) == decision


def test_the_format_is_the_documented_one() -> None:
    assert SAMPLE.to_dict() == {
        "format": "colltune decision function",
        "version": 1,
        "collective": "bcast",
        "kind": "quadtree",
        "options": {"max_depth": 1},
        "methods": [
            {"label": "linear", "algorithm": "linear", "segment_size": 0, "parameters": {}},
            {"label": "pipeline 8KiB", "algorithm": "pipeline", "segment_size": 8192, "parameters": {"fanout": 2}},
        ],
        "categories": {},
        "provenance": {"digest": "ab"},
        "root": {
            "tests": [{"attribute": "comm_size", "cut": None}, {"attribute": "message_size", "cut": 8192}],
            "children": [{"method": 0}, {"method": 0}, {"method": 1}, {"method": 1}],
        },
    }


def test_optional_parts_may_be_left_out() -> None:
    data = SAMPLE.to_dict()
    for name in ("options", "categories", "provenance"):
        del data[name]
    data["methods"] = [{"label": "a", "algorithm": "a"}, {"label": "b", "algorithm": "b"}]
    assert DecisionFunction.from_dict(data).methods == (Method("a", "a"), Method("b", "b"))


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "decision.json"
    SAMPLE.save(path)
    loaded = DecisionFunction.load(path)
    assert (loaded, loaded.provenance) == (SAMPLE, {"digest": "ab"})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", "format is 'other', expected 'colltune decision function'"),
        (["version"], 2, "version is 2, this colltune reads version 1"),
        (["collective"], KeyError, "collective is None, expected text"),
        (["kind"], 3, "kind is 3, expected text"),
        (["options"], [], r"options is \[\], expected an object"),
        (["methods"], [], "methods is empty"),
        (["methods", 1], "x", r"methods\[1\] is 'x', expected an object"),
        (["methods", 1, "label"], None, r"methods\[1\].label is None, expected text"),
        (["methods", 1, "segment_size"], -1, r"methods\[1\].segment_size is -1, expected 0 or more"),
        (["methods", 1, "segment_size"], True, r"methods\[1\].segment_size is True, expected a whole number"),
        (["categories"], {"collective": [1]}, r"categories.collective\[0\] is 1, expected text"),
        (["root"], KeyError, "root is None, expected an object"),
        (["root", "children", 3], {}, r"root.children\[3\].method is None, expected a whole number"),
        (["root", "children", 3, "method"], 2, r"root.children\[3\].method is 2, expected 0 to 1"),
        (["root", "children", 3, "method"], 1.0, r"method is 1.0, expected a whole number"),
        (["root", "children", 3], KeyError, "root has 2 tests and 3 children, expected 4"),
        (["root", "tests"], KeyError, "root.tests is None, expected a list"),
        (["root", "tests"], [], "root has 0 tests, expected 1 to 8"),
        (["root", "tests", 1, "attribute"], "root", r"root.tests\[1\].attribute is 'root', expected one of comm_size"),
        (["root", "tests", 1, "cut"], KeyError, r"root.tests\[1\] has no cut; write null"),
        (["root", "tests", 1, "cut"], "8", r"root.tests\[1\].cut is '8', expected a number"),
        (["root", "tests", 1, "cut"], math.nan, r"root.tests\[1\].cut is nan, expected a number"),
        (["root", "tests", 1, "cut"], 2**64, "expected a number below"),
    ],
)
def test_what_is_wrong_is_named(path: list[Any], value: Any, message: str) -> None:
    with pytest.raises(DecisionFormatError, match=message) as caught:
        DecisionFunction.from_dict(changed(path, value))
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[1, 2", "not JSON"),
        ("[]", r"the document is \[\], expected an object"),
        ('{"cut": NaN}', "cannot hold NaN; write null for an infinite cut"),
        ("[" * 10**6, "nested too deeply"),
        ("1" * 5000, "not JSON"),
    ],
)
def test_what_is_no_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(DecisionFormatError, match=message):
        DecisionFunction.from_json(text)


def test_several_are_read_from_one_file(tmp_path: Path) -> None:
    decisions = [DecisionFunction(name, [Method("ring", "ring")], Leaf(0)) for name in ("bcast", "reduce")]
    path = tmp_path / "two.json"
    path.write_text(f"[{', '.join(each.to_json() for each in decisions)}]")
    assert DecisionFunction.load_all(path) == decisions
    with pytest.raises(DecisionFormatError, match=r"two\.json: 2 decision functions, not one"):
        DecisionFunction.load(path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{}")
    with pytest.raises(DecisionFormatError, match=r"broken\.json: format is None"):
        DecisionFunction.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DecisionFormatError, match=r"broken\.json: not a text file"):
        DecisionFunction.load(path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
places = st.sampled_from(
    [[name] for name in ("format", "version", "collective", "kind", "options", "methods", "categories", "root")]
    + [["methods", 0], ["methods", 0, "segment_size"], ["methods", 0, "parameters"]]
    + [["root", "tests"], ["root", "tests", 0], ["root", "tests", 0, "cut"], ["root", "tests", 0, "attribute"]]
    + [["root", "children"], ["root", "children", 0], ["root", "children", 0, "method"]]
)


@given(places, json_values)
def test_whatever_is_changed_it_loads_or_is_refused(path: list[Any], value: Any) -> None:
    try:
        decision = DecisionFunction.from_dict(changed(path, value))
    except DecisionError:
        return
    assert 0 <= decision.predict_one(4, 4) < len(decision.methods)


def test_a_long_chain_is_plain_data_but_too_deep_for_json() -> None:
    root = Leaf(0)
    for cut in range(20_000):
        root = Split((Test("message_size", cut),), (Leaf(cut % 2), root))
    decision = DecisionFunction("bcast", METHODS, root)
    assert DecisionFunction.from_dict(decision.to_dict()).leaves == decision.leaves
    with pytest.raises(DecisionError, match="nested too deeply"):
        decision.to_json()


def test_what_json_cannot_hold_is_refused() -> None:
    decision = DecisionFunction("bcast", METHODS, Leaf(0), provenance={"when": object()})
    with pytest.raises(DecisionError, match="cannot be written as JSON"):
        decision.to_json()
