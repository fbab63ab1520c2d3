"""Where a decision holds that a file says for everywhere: said in the file and beside it."""

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split
from dashboard.decisions import Test as NodeTest
from dashboard.export import TARGETS
from dashboard.export.holds import unsaid
from dashboard.export.writing import Order, write

EVERYWHERE = "The file cannot say so: it decides everywhere"


def decision(**facts: str) -> DecisionFunction:
    return DecisionFunction("bcast", [Method("binomial", "binomial")], Leaf(0), provenance=facts)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"device": "cuda"}, "measured with buffers on the device cuda"),
        (
            {"placement": "scatter", "ppn_note": "4 per node"},
            "measured with the placement scatter; decided for 4 per node",
        ),
        ({"selected": "network=tcp"}, "measured over the network tcp"),
    ],
)
def test_what_a_file_leaves_open_is_said(facts: dict[str, str], said: str) -> None:
    assert unsaid(decision(**facts), TARGETS["openmpi"]) == f"{said}. {EVERYWHERE}"


@pytest.mark.parametrize("facts", [{}, {"device": "host"}, {"device": "CPU"}])
def test_what_every_file_holds_for_is_not(facts: dict[str, str]) -> None:
    assert unsaid(decision(**facts), TARGETS["openmpi"]) == ""


def test_what_the_target_can_say_is_not_either() -> None:
    assert unsaid(decision(device="cuda"), TARGETS["ucc"]) == ""


def test_the_file_and_its_notes_say_it() -> None:
    written = write(Order("openmpi", (decision(device="cuda"),), {}))
    said = f"Measured with buffers on the device cuda. {EVERYWHERE}."
    assert f"# {said}" in written.text
    assert written.parts[0].notes == (said,)


def test_a_collective_of_which_a_file_decides_nothing_is_told() -> None:
    methods = [Method("default", "default"), Method("ring", "ring", 0, {"library_id": 4})]
    # On one process per node, which rules are written for, all is left to the library.
    by_ppn = Split((NodeTest("ppn", 1),), (Leaf(0), Leaf(1)))
    left, said = DecisionFunction("allreduce", methods, by_ppn), DecisionFunction("allgather", methods, Leaf(1))
    written = write(Order("openmpi", (left, said), {}))
    assert [part.leaves_alone for part in written.parts] == [True, False]
