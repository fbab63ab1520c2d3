"""What methods are called with: every way that MPI allows is there, and memory tells what a call may not touch."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.benchmarks.safety.cases import NOT_COMMUTATIVE, Case, cases
from dashboard.benchmarks.safety.memory import Memory, block, operator, reduced
from loaders.collectives import COLLECTIVES, REDUCING, ROOTED

DATA = [name for name in COLLECTIVES if name != "barrier"]


@pytest.mark.parametrize("collective", DATA)
@pytest.mark.parametrize("size", [2, 5, 8])
def test_every_way_is_tried_and_the_first_case_is_plain(collective: str, size: int) -> None:
    every = cases(collective, size)
    kinds = " / ".join(case.kind for case in every)
    assert every[0].kind == "plain"
    assert every[0].count > 0
    assert len(set(every)) == len(every)
    assert {0, 1, size - 1, size + 1} <= {case.count for case in every}
    assert any(case.count % 2 and case.count > size for case in every)
    for wanted in ("no elements", "ranks reversed", "split in two", "without a pause"):
        assert wanted in kinds
    assert ("in place" in kinds) == (collective != "bcast")
    assert (NOT_COMMUTATIVE in kinds) == (collective in REDUCING)
    assert ("derived" if collective in REDUCING else "strided") in kinds
    assert ("counts that differ" in kinds) == (COLLECTIVES[collective].counts != "equal")
    if collective in ROOTED:
        assert {case.root for case in every} == set(range(size))


def test_a_case_is_told_so_that_it_can_be_called_again() -> None:
    case = Case(13, 2, "in place", "strided")
    assert case.words("gather", 4) == "in place, strided datatype: 4 processes, 13 elements, root 2"
    assert Case(0, 1).words("barrier", 3).endswith("3 processes, late rank 1")


def test_memory_sees_what_a_call_writes_around_and_between_its_elements() -> None:
    memory = Memory("strided", 3)
    memory.put(0, block("strided", 0, 0, 2))
    memory.expect(2, 1)
    memory.array[8] = 1  # the third element's first number
    assert memory.unharmed
    memory.array[9] = 1  # the hole in it
    assert not memory.unharmed
    behind = Memory("plain", 3)
    behind.put(0, block("plain", 0, 0, 3))
    behind.array[3] = 0
    assert not behind.unharmed


def test_the_product_is_associative_and_does_not_commute() -> None:
    first, second, third = (block("matrix", rank, 0, 5) for rank in (1, 2, 3))
    left = reduced("matrix", [reduced("matrix", [first, second]), third])
    right = reduced("matrix", [first, reduced("matrix", [second, third])])
    assert np.array_equal(left, right)
    assert not np.array_equal(reduced("matrix", [first, second]), reduced("matrix", [second, first]))


def test_an_operation_as_mpi_calls_it_replaces_the_right_operand() -> None:
    left, right = block("matrix", 1, 0, 5), block("matrix", 2, 0, 5)
    wanted = reduced("matrix", [left, right])
    operator("matrix")(left.data, right.data, None)
    assert np.array_equal(right, wanted)
