"""The search for the tree of least penalty: what it calls the best is the best, and what it calls a bound is one."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions import DecisionFunction, Leaf
from dashboard.decisions.grown.cart import cart
from dashboard.decisions.grown.optimal import optimal, optimal_depth
from dashboard.decisions.grown.search import FAMILY, search
from dashboard.decisions.grown.search.branching import OutOfTime, Search, Watch
from dashboard.decisions.grown.search.cells import Cells
from dashboard.decisions.measured.losses import losses
from dashboard.decisions.measured.problem import Problem
from tests.cubes import DEGENERATE, cube_of, synthetic_cube
from tests.decisions.c45.files import problem_at

SIZES = ("comm_size", "message_size")
COMPOSITE = (*SIZES, "total_size", "even", "power_of_two")


def problem_of(rows: int, columns: int, methods: int, seed: int, missing: float, *, weighed: bool = False) -> Problem:
    weights = np.random.default_rng(seed).integers(0, 3, (rows, columns)) + np.eye(rows, columns)
    cube = synthetic_cube(rows, columns, methods, seed, missing, noise=0.5)
    return Problem.of(cube, weights=weights if weighed else None)


def small(cells: int = 4) -> st.SearchStrategy[Problem]:
    """Problems so small that every tree can be tried."""
    return st.builds(
        problem_of,
        st.integers(1, cells),
        st.integers(1, cells),
        st.integers(1, 4),
        st.integers(0, 2**32 - 1),
        st.sampled_from([0.0, 0.0, 0.4]),
        weighed=st.booleans(),
    )


def least_by_trying_all(problem: Problem, attributes: tuple[str, ...], depth: int, leaves: int) -> float:
    """What the best tree loses, by its definition."""
    cases = problem.cases(attributes)
    table, _ = losses(cases)

    @cache
    def least(members: tuple[int, ...], levels: int, ends: int) -> float:
        chosen = list(members)
        best = float(table[chosen].sum(axis=0).min())
        if levels == 0 or ends == 1:
            return best
        for column in cases.values[chosen].T:
            for cut in np.unique(column)[:-1]:
                yes = tuple(member for member, value in zip(members, column, strict=True) if value <= cut)
                no = tuple(member for member, value in zip(members, column, strict=True) if value > cut)
                for share in range(1, ends):
                    best = min(best, least(yes, levels - 1, share) + least(no, levels - 1, ends - share))
        return best

    return least(tuple(range(len(table))), depth, leaves)


def lost(problem: Problem, decision: DecisionFunction) -> float:
    """What a decision loses, by the table that trees are grown by."""
    cases = problem.cases(SIZES)
    table, _ = losses(cases)
    return float(table[np.arange(len(table)), decision.predict(*cases.values.T)].sum())


@given(small(), st.sampled_from([SIZES, ("message_size",), COMPOSITE]), st.integers(0, 4), st.integers(1, 7))
def test_nothing_is_better_than_what_is_proven(
    problem: Problem, attributes: tuple[str, ...], depth: int, leaves: int
) -> None:
    decision = search(problem, attributes=attributes, max_depth=depth, max_leaves=leaves, seconds=None)
    best = least_by_trying_all(problem, attributes, depth, leaves)
    assert lost(problem, decision) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert decision.provenance["search"]["proven"] is True
    assert decision.provenance["search"]["gap"] == 0
    assert decision.depth <= depth
    assert decision.leaves <= leaves
    assert DecisionFunction.from_json(decision.to_json()) == decision


# The sums of penalties (%) that STreeD 1.4.0 proved to be the least, as instance-cost-sensitive classification
# of one yes/no attribute for each cut. In allgat27c one method takes up to 10^8 times as long as the best.
@pytest.mark.parametrize(
    ("dataset", "attributes", "depth", "leaves", "expected"),
    [
        ("bcast27", SIZES, 2, 3, 11346.772334),
        ("bcast27", SIZES, 2, 4, 10058.577769),
        ("bcast27", SIZES, 3, 5, 7394.41357),
        ("bcast27", SIZES, 3, 8, 6311.211357),
        ("bcast27", (*SIZES, "even", "power_of_two"), 3, 6, 6559.475196),
        ("bcast27", (*SIZES, "even", "power_of_two"), 3, 8, 5627.879929),
        ("allgat27c", SIZES, 3, 5, 3056.510129),
        ("allgat27c", SIZES, 3, 8, 2470.180874),
        ("allgat27c", (*SIZES, "even", "power_of_two"), 3, 6, 1759.289939),
        ("allgat27c", (*SIZES, "even", "power_of_two"), 3, 8, 1613.418382),
    ],
)
def test_the_best_trees_are_those_of_streed(
    shared: Any, dataset: str, attributes: tuple[str, ...], depth: int, leaves: int, expected: float
) -> None:
    problem = problem_at(shared / "data" / "c45" / dataset)
    decision = search(problem, attributes=attributes, max_depth=depth, max_leaves=leaves, seconds=None)
    assert decision.provenance["search"]["proven"]
    assert problem.summary(decision).mean * 1296 == pytest.approx(expected, rel=1e-8)


def test_measured_broadcasts_are_as_good_as_streed_finds(fast_ethernet_bcast: Any) -> None:
    problem = Problem.of(fast_ethernet_bcast)
    for (depth, leaves), expected in {(2, 4): 1403.179966, (3, 6): 834.524035, (3, 8): 646.397496}.items():
        decision = search(problem, max_depth=depth, max_leaves=leaves, seconds=None)
        assert problem.summary(decision).mean * 209 == pytest.approx(expected, rel=1e-8)


def test_composite_attributes_gain(shared: Any) -> None:
    """What the dissertation found for allgather (6.3.3): tests of even and power of two make trees smaller."""
    problem = problem_at(shared / "data" / "c45" / "allgat27c")
    plain = problem.summary(search(problem, attributes=SIZES, seconds=None)).mean
    decision = search(problem, attributes=COMPOSITE, seconds=None)
    assert problem.summary(decision).mean < 0.7 * plain
    assert set(decision.attributes) & {"total_size", "even", "power_of_two"}


def stopping(after: int) -> Callable[[], None]:
    """A clock that stops a search after so many steps."""
    left = [after]

    def alive() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OutOfTime

    return alive


@pytest.mark.parametrize("steps", [1, 4, 16, 64, 128])
def test_a_search_that_is_stopped_knows_a_tree_and_a_bound(steps: int) -> None:
    cells = Cells.of(problem_of(9, 12, 6, 5, 0.0).cases(COMPOSITE))
    best, _ = Search(cells, lambda: None).branch(cells.all, 4, 16, np.inf)
    watch = Watch(*cells.leaf(cells.all))
    with pytest.raises(OutOfTime):
        Search(cells, stopping(steps)).branch(cells.all, 4, 16, watch.lost, watch)
    assert watch.bound <= best * (1 + 1e-9)
    assert watch.lost >= best * (1 - 1e-9)
    assert watch.lost == pytest.approx(cells.lost(watch.tree, cells.all))


def test_without_time_it_is_cart_and_says_so() -> None:
    problem = problem_of(9, 12, 6, 5, 0.0)
    decision = search(problem, max_depth=4, seconds=0)
    said = decision.provenance["search"]
    mean = problem.summary(decision).mean
    assert said == {"proven": False, "lower_bound": 0.0, "gap": 100.0}
    assert mean <= problem.summary(cart(problem, max_depth=4, cost_sensitive=True)).mean
    assert json.loads(decision.to_json())["provenance"]["search"]["proven"] is False


def test_a_proven_tree_is_the_same_at_each_run() -> None:
    problem = problem_of(9, 12, 6, 5, 0.1)
    assert search(problem, attributes=COMPOSITE, seconds=None) == search(problem, attributes=COMPOSITE, seconds=None)


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    search(problem_of(9, 12, 6, 5, 0.0), max_depth=4, progress=lambda share, _words: seen.append(share))
    assert seen[-1] == 1
    assert all(0 <= share <= 1 for share in seen)


def test_what_was_not_measured_counts_by_the_rule() -> None:
    """The second method is the best where it is measured; the last size is 18 doublings away: 180 %."""
    problem = Problem.of(cube_of([[[1.2, 1.2, 1.2, 1.2]], [[1.0, 1.0, 1.0, np.nan]]], [4], [1, 2, 4, 1 << 20]))
    assert search(problem, max_leaves=1).root == Leaf(0)
    assert problem.summary(search(problem, max_leaves=2)).max == 0
    nowhere = Problem.of(cube_of([[[1.0, np.nan]], [[np.nan, 1.0]]], [4], [1, 2]))
    decision = search(nowhere, max_leaves=1)
    assert nowhere.summary(decision).unmeasured == 1
    assert decision.provenance["search"] == {"proven": True, "lower_bound": pytest.approx(5), "gap": 0.0}


@pytest.mark.parametrize("cube", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_results(cube: Any) -> None:
    for depth in (0, 1, 4):
        decision = search(Problem.of(cube), max_depth=depth)
        assert decision.provenance["search"]["proven"]
        assert decision.leaves <= 2
        assert depth == 0 or Problem.of(cube).summary(decision)[1:4] == (0, 0, 0)


def test_more_cuts_than_there_is_room_for_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(12, 20, 4, 5, 0.0)
    monkeypatch.setattr("dashboard.decisions.grown.search.run.MOST_SUMS", 200)
    cells = Cells.of(problem.cases(SIZES))
    coarse = cells.coarse(200)
    assert max(values.size for values in coarse.distinct) < 12
    assert coarse.table.sum() == pytest.approx(cells.table.sum())
    for values, fine, ranks in zip(coarse.distinct, cells.distinct, coarse.ranks.T, strict=True):
        assert set(values) <= set(fine)
        assert values[-1] == fine[-1]
        assert ranks.max() == values.size - 1
    decision = search(problem, max_depth=4)
    assert decision.provenance["search"]["proven"] is False
    mean = problem.summary(decision).mean
    assert decision.provenance["search"]["gap"] == 100
    assert mean <= problem.summary(cart(problem, max_depth=4, cost_sensitive=True)).mean


def test_coarse_stages_change_nothing_that_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(12, 20, 4, 5, 0.0)
    plain = search(problem, seconds=None, attributes=COMPOSITE)
    monkeypatch.setattr("dashboard.decisions.grown.search.run.COARSE", (100, 400))
    monkeypatch.setattr("dashboard.decisions.grown.search.run.COARSE_WORK", 10_000)
    staged = search(problem, seconds=None, attributes=COMPOSITE)
    assert staged.provenance["search"]["proven"]
    assert lost(problem, staged) == pytest.approx(lost(problem, plain))


def test_the_path_leads_to_ever_better_trees() -> None:
    problem = problem_of(5, 6, 4, 3, 0.0)
    means = [problem.summary(FAMILY.grow(problem, **setting)).mean for setting in FAMILY.path(problem)]
    assert means == sorted(means, reverse=True)
    assert means[0] > means[-1]


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 5), st.integers(0, 2**32 - 1), st.integers(0, 4))
@settings(max_examples=15)
def test_over_two_sizes_it_is_the_best_tree_of_rectangles(
    rows: int, columns: int, methods: int, seed: int, depth: int
) -> None:
    """Another way to the same trees: dynamic programming over rectangles of sizes."""
    problem = problem_of(rows, columns, methods, seed, 0.0)
    by_depth = search(problem, max_depth=depth, seconds=None)
    assert lost(problem, by_depth) == pytest.approx(lost(problem, optimal_depth(problem, depth)), abs=1e-9)
    by_leaves = search(problem, max_depth=depth, max_leaves=depth + 1, seconds=None)
    assert lost(problem, by_leaves) == pytest.approx(lost(problem, optimal(problem, leaves=depth + 1)), abs=1e-9)
