"""Applications by hand: what collectives a step calls, how often and with how much, and what a way gains."""

import math
from typing import Any

import pytest

from dashboard.models.applications import Use, gain, phase_times, predicted, uses
from dashboard.models.published import Runtime

JACOBI = {"application": "jacobi", "size": 10, "processes": 4}
#: Two stages of four processes each.
SOLVER = {"variant": "task", "size": 10, "processes": 8, "stages": 2, "iterations": 3}


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("row", [Use("allgather", 4, 24)]),
        ("column", [Use("allreduce", 4, 80), Use("allgather", 4, 24)]),
        ("reduce_bcast", [Use("reduce", 4, 80), Use("bcast", 4, 80)]),
        # Of three numbers each, and with them the norm.
        ("gather_scatter", [Use("gather", 4, 80), Use("scatter", 4, 32)]),
    ],
)
def test_a_step_of_jacobi_calls(variant: str, expected: list[Use]) -> None:
    assert uses({**JACOBI, "variant": variant}, "original") == expected


@pytest.mark.parametrize(("application", "evaluations"), [("pab", 1), ("pabm", 1 + 3)])
def test_a_step_of_a_solver_evaluates_each_stage_inside_its_group(application: str, evaluations: int) -> None:
    order = {**SOLVER, "application": application}
    assert uses(order, "original") == [Use("allgather", 4, 24, evaluations), Use("allgather", 8, 48)]
    assert uses(order, "orthogonal") == [Use("allgather", 4, 24, evaluations), Use("allgather", 2, 48)]
    assert uses({**order, "variant": "data"}, "original") == [Use("allgather", 8, 16, 2 * evaluations)]
    # A stage for each process leaves nothing to exchange inside of it.
    assert uses({**order, "stages": 8}, "original") == [Use("allgather", 8, 160)]


class Linear(Runtime):
    """A microsecond for each process and a nanosecond for each byte."""

    def seconds(self, comm_size: float, message_size: float) -> float:
        return 1e-6 * comm_size + 1e-9 * message_size


def test_a_step_takes_its_part_of_the_computing_and_its_calls() -> None:
    def runtime(collective: str) -> Runtime:
        return {"allgather": Linear()}[collective]

    order: dict[str, Any] = {**SOLVER, "application": "pabm"}
    calls = 4 * (4e-6 + 24e-9) + 8e-6 + 48e-9
    assert predicted(order, "original", "", runtime, 0.8) == pytest.approx(0.1 + calls)
    assert phase_times({"phases": {"out": [{"mean": 2.0}, {"mean": 8.0}], "in": [{"mean": 0.0}]}, "steps": 4}) == {
        "out": pytest.approx(1.0),
        "in": 0.0,
    }


def test_a_gain_is_that_of_the_geometric_means_and_needs_two_turns_for_an_interval() -> None:
    mean, low, high, p = gain([2.0, 8.0], [1.0, 4.0])
    assert (mean, low < 50 < high, 0 < p < 1) == (pytest.approx(50), True, True)
    single = gain([2.0], [1.0, 1.0])
    assert single.mean == pytest.approx(50)
    assert math.isnan(single.low)
