"""The registry of targets, and JSON as the plainest of them."""

import json

import pytest

from dashboard.decisions import DecisionFunction, decision_map, quadtree
from dashboard.export import TARGETS, ExportError, to_c, to_json
from tests.cubes import synthetic_cube


@pytest.fixture(scope="module")
def decision() -> DecisionFunction:
    return quadtree(decision_map(synthetic_cube(9, 12, 5, seed=1)), max_depth=2)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_is_listed_by_its_name(name: str) -> None:
    target = TARGETS[name]
    assert target.name == name
    assert target.title
    assert target.extension.startswith(".")


# The others need a file to start from, or methods of their own library: see their own tests.
@pytest.mark.parametrize("name", sorted({name for name, target in TARGETS.items() if not target.own_methods}))
def test_targets_write_text(name: str, decision: DecisionFunction) -> None:
    assert TARGETS[name].write([decision], {"date": "2026-11-20"}).endswith("\n")


@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"json"}))
def test_two_decisions_of_one_collective_are_refused(name: str, decision: DecisionFunction) -> None:
    with pytest.raises(ExportError, match=f"2 decision functions for {decision.collective}; one file can hold one"):
        TARGETS[name].write([decision, decision], {})


def test_target_c_is_to_c(decision: DecisionFunction) -> None:
    facts = {"date": "2026-11-20"}
    assert TARGETS["c"].write([decision], facts) == to_c(decision, provenance=facts)


def test_json_of_one_decision_loads_back(decision: DecisionFunction) -> None:
    assert DecisionFunction.from_json(to_json([decision])) == decision


def test_json_of_several_is_a_list_of_them(decision: DecisionFunction) -> None:
    saved = json.loads(to_json([decision, decision]))
    assert [DecisionFunction.from_dict(entry) for entry in saved] == [decision, decision]


def test_json_of_none_is_refused() -> None:
    with pytest.raises(ExportError, match="no decision function"):
        to_json([])
