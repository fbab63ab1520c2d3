"""What decision functions are made of for targets that know only sizes."""

from typing import Any

import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method
from dashboard.export.parts import usual_ppn


@pytest.mark.parametrize(
    ("facts", "ppn"),
    [({}, 1), ({"ppns": []}, 1), ({"ppns": [2, 8, 4]}, 8), ({"ppn": 4, "ppns": [8]}, 4), ({"ppn": True}, 1)],
)
def test_callers_that_tell_no_processes_per_node_have_the_most_that_were_measured(
    facts: dict[str, Any], ppn: int
) -> None:
    assert usual_ppn(DecisionFunction("bcast", [Method("linear", "linear")], Leaf(0), provenance=facts)) == ppn
