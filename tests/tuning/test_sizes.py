"""At which sizes methods are measured and rules compared, and how the time is divided between both."""

import pytest

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.errors import PlanError
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.tuning import Asked
from dashboard.tuning.sizes import _affordable, _Candidate, _ends, _spread


@pytest.mark.parametrize(
    ("ranks", "rows"),
    [
        (5, (2, 3, 4, 5)),
        (16, tuple(range(2, 17))),
        (17, (2, 3, 4, 6, 8, 12, 16, 17)),
        (64, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)),
        (100, (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100)),
    ],
)
def test_of_many_ranks_powers_of_two_and_halfway_between_them_are_measured(ranks: int, rows: tuple[int, ...]) -> None:
    assert Asked(ranks=ranks).rows == rows


@pytest.mark.parametrize(
    "kept", [{"message_sizes": 64}, {"message_sizes": None}, {"collectives": 5}, {"seconds": "60"}]
)
def test_what_was_asked_before_is_an_error_where_it_cannot_be_read(kept: dict[str, object]) -> None:
    with pytest.raises(PlanError, match=r"what was asked before \(asked\.json\) cannot be read"):
        Asked.of(kept, {})


def test_a_third_of_the_time_is_for_measuring_and_as_much_for_each_of_two_comparisons() -> None:
    asked = Asked(seconds=600.0)
    assert (asked.measuring, asked.comparing) == (200.0, 200.0)
    # A job starts, checks and ends beside that.
    assert asked.limit == 200 + 600


@pytest.mark.parametrize(
    ("collective", "comm_size", "ends"),
    [
        ("bcast", 4, {4, 100, 1001, 4096}),
        ("allreduce", 4, {4, 100, 1004, 4096}),
        ("bcast", 2, set()),
        ("barrier", 4, set()),
    ],
)
def test_rules_are_compared_where_they_begin_and_end_too(collective: str, comm_size: int, ends: set[int]) -> None:
    sizes = Split((Test("message_size", 100),), (Leaf(1), Split((Test("message_size", 1000),), (Leaf(0), Leaf(2)))))
    rules = DecisionFunction(
        collective,
        [Method(name, name) for name in ("default", "ring", "linear")],
        Split((Test("comm_size", 3),), (Leaf(0), sizes)),
    )
    assert _ends(rules, comm_size, (4, 64, 4096)) == ends


def test_of_the_cells_of_a_rule_the_middle_one_comes_first_then_its_ends() -> None:
    cells = [Cell("bcast", 4, size) for size in (1, 2, 3, 4, 5)]
    assert [cell.message_size for cell in _spread(cells)] == [3, 1, 5, 2, 4]


@pytest.mark.parametrize(("seconds", "sizes"), [(0.0, [1, 3]), (20.9, [1, 3]), (21.0, [1, 3, 2]), (99.0, [1, 3, 2, 4])])
def test_each_collective_is_compared_at_what_tells_most_and_then_as_the_time_allows(
    seconds: float, sizes: list[int]
) -> None:
    worths = {"bcast": [(5.0, 10.0, 1), (0.5, 1.0, 2), (0.4, 30.0, 4)], "reduce": [(0.1, 10.0, 3)]}
    candidates = {
        name: [_Candidate(worth, took, Cell(name, 4, size)) for worth, took, size in each]
        for name, each in worths.items()
    }
    assert [cell.message_size for cell in _affordable(candidates, seconds)] == sizes
