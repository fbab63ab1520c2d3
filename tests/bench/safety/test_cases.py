"""What methods are called with: every way that MPI allows is there, and memory tells what a call may not touch."""

from collections.abc import Iterable
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest

from dashboard.benchmarks.ranks.exchange import Exchange
from dashboard.benchmarks.safety.cases import NOT_COMMUTATIVE, Case, Made, cases
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
    assert {case.made for case in every} <= {*get_args(Made)}
    by_layout = {"plain": "sum", "pair": "own sum", "matrix": "product"} if collective in REDUCING else {}
    assert all(case.operation == by_layout.get(case.layout, "none") for case in every)
    for wanted in ("no elements", "ranks reversed", "split in two", "without a pause", "2 threads at once"):
        assert wanted in kinds
    # Prefixes are not defined between groups (MPI 5.0, 6.11).
    assert ("between two groups" in kinds) == (collective not in ("scan", "exscan"))
    assert ("in place" in kinds) == (collective != "bcast")
    assert (NOT_COMMUTATIVE in kinds) == (collective in REDUCING)
    assert ("derived" if collective in REDUCING else "strided") in kinds
    assert ("counts that differ" in kinds) == (COLLECTIVES[collective].counts != "equal")
    if collective in ROOTED:
        assert {case.root for case in every} == set(range(size))


#: What each of five processes has afterwards, the even ones in one group and the odd ones in the other; process ``p``
#: brings ``10 p`` plus the number of whom it is for, or 0. By the words of MPI 5.0, 6.2.2 and the collectives' own.
@pytest.mark.parametrize(
    ("collective", "root", "expected"),
    [
        ("bcast", 2, [None, [20], None, [20], None]),
        ("reduce", 1, [None, [60], None, None, None]),
        ("allreduce", 0, [[40], [60], [40], [60], [40]]),
        ("gather", 2, [None, None, [10, 30], None, None]),
        ("scatter", 3, [[30], None, [32], None, [34]]),
        ("allgather", 0, [[10, 30], [0, 20, 40], [10, 30], [0, 20, 40], [10, 30]]),
        ("alltoall", 0, [[10, 30], [1, 21, 41], [12, 32], [3, 23, 43], [14, 34]]),
        ("reduce_scatter_block", 0, [[40, 40], [60, 60, 60], [40, 40], [60, 60, 60], [40, 40]]),
        ("barrier", 0, [None] * 5),
    ],
)
def test_between_groups_each_gets_what_the_other_group_brings(
    collective: str, root: int, expected: list[list[int] | None]
) -> None:
    def block(rank: int, to: int, count: int) -> npt.NDArray[np.int64]:
        return np.full(count, 10 * rank + to)

    def total(parts: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.add.reduce(list(parts))

    for rank, wanted in enumerate(expected):
        mine, theirs = list(range(rank % 2, 5, 2)), list(range(1 - rank % 2, 5, 2))
        exchange = Exchange.between_groups(COLLECTIVES[collective], 1, block, total, mine, theirs)
        result = exchange.gets(mine.index(rank), root)
        assert (result if result is None else result.tolist()) == wanted


def test_a_case_is_told_so_that_it_can_be_called_again() -> None:
    case = Case(13, 2, "in place", "strided")
    assert case.words("gather", 4) == "in place, strided datatype: 4 processes, 13 elements, root 2"
    late = [case.words("barrier", 3) for case in cases("barrier", 3)]
    assert late[:2] == ["plain: 3 processes, late rank 0", "plain: 3 processes, late rank 2"]
    assert not [words for words in late if "element" in words]


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
