"""Grids too large for all their rectangles: the trees found, and the bounds, against what is best."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions.grown.optimal import (
    decide,
    leaves,
    lines,
    optimal,
    optimal_depth,
    optimal_frontier,
    optimal_price,
    prices,
    windows,
)
from dashboard.decisions.grown.optimal.prices import priced
from dashboard.decisions.grown.optimal.rectangles import LONGEST, Rectangles, lines_of
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube


@pytest.fixture(scope="module", autouse=True)
def few_rectangles() -> Iterator[None]:
    """Take a dozen rows for a large grid."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "COARSE", 600)
        patch.setattr(lines, "THIN", 9)
        patch.setattr(windows, "STAGES", ((60, 4), (200, 2)))
        patch.setattr(lines, "MOST_BOUNDED", 5)
        yield


@contextmanager
def restricted() -> Iterator[pytest.MonkeyPatch]:
    """While grids of a hundred rectangles count as large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decide, "LARGEST", 100)
        yield patch


cubes = st.builds(
    synthetic_cube,
    st.integers(6, 14),
    st.integers(6, 14),
    st.integers(2, 6),
    st.integers(0, 10**6),
    missing=st.sampled_from([0.0, 0.0, 0.02]),
    noise=st.sampled_from([0.0, 0.2, 1.0]),
)


@pytest.mark.soak
@settings(max_examples=15)
@given(cubes)
def test_the_best_of_so_many_leaves_is_between_bound_and_found(cube) -> None:  # noqa: ANN001
    problem = Problem.of(cube)
    with restricted():
        frontier = optimal_frontier(problem, 12)
        decision = frontier.decision(12)
    best = optimal_frontier(problem, 12)
    assert (frontier.lower_bound <= best.mean + 1e-8).all()
    assert (best.mean <= frontier.mean + 1e-8).all()
    assert frontier.mean[frontier.proven] == pytest.approx(best.mean[frontier.proven], abs=1e-8)
    facts = decision.provenance["optimal"]
    mean = problem.summary(decision).mean
    assert decision.leaves <= 12
    assert mean == pytest.approx(frontier.mean[-1], abs=1e-8)
    assert facts["gap"] == pytest.approx(100 * (mean - facts["lower_bound"]) / mean if mean else 0, abs=1e-5)


@pytest.mark.slow
@settings(max_examples=15)
@given(cubes, st.sampled_from([0.0, 0.1, 2.0]))
def test_the_best_at_a_price_is_between_bound_and_found(cube, price: float) -> None:  # noqa: ANN001
    problem = Problem.of(cube)
    with restricted():
        decision = optimal_price(problem, price)
    best = optimal_price(problem, price)
    worth = [problem.summary(tree).mean + price * tree.leaves for tree in (best, decision)]
    facts = decision.provenance["optimal"]
    assert facts["lower_bound"] - 1e-8 <= worth[0] <= worth[1] + 1e-8
    assert worth[1] * (1 - facts["gap"] / 100) == pytest.approx(facts["lower_bound"], abs=1e-8)


@settings(max_examples=15)
@given(cubes, st.integers(0, 4))
def test_the_best_of_a_depth_is_between_bound_and_found(cube, max_depth: int) -> None:  # noqa: ANN001
    problem = Problem.of(cube)
    with restricted():
        decision = optimal_depth(problem, max_depth)
    best = optimal_depth(problem, max_depth)
    assert decision.depth <= max_depth
    low = decision.provenance["optimal"]["lower_bound"]
    assert low - 1e-8 <= problem.summary(best).mean <= problem.summary(decision).mean + 1e-8


def test_lines_close_in_on_the_only_cut_there_is() -> None:
    time = np.ones((2, 60, 60))
    time[0, :, 27:], time[1, :, :27] = 2.0, 2.0
    problem = Problem.of(cube_of(time, range(2, 62), range(1, 61)))
    with restricted() as patch:
        patch.setattr(lines, "COARSE", 5000)
        decision = optimal(problem, leaves=2)
    assert decision.to_text().split(":")[0] == "message_size <= 27"
    assert decision.provenance["optimal"] == {"proven": True, "gap": 0.0, "lower_bound": 0.0}


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 5), st.integers(0, 99))
def test_compiled_code_gives_the_same_to_the_last_digit(rows: int, columns: int, many: int, seed: int) -> None:
    random, rectangles = np.random.default_rng(seed), Rectangles(rows, columns)
    leaves = np.where(random.random(rectangles.count) < 0.1, np.inf, random.random(rectangles.count))
    charged = random.random(many)
    plain = priced(leaves, rectangles, charged)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prices, "COMPILED", 0)
        assert np.array_equal(priced(leaves, rectangles, charged), plain)


@given(st.data())
def test_lines_around_cuts_are_no_more_than_allowed_and_have_the_cuts(data: st.DataObject) -> None:
    extent = data.draw(st.integers(2, 90))
    count = data.draw(st.integers(2, extent))
    before = lines._evenly(extent, count)
    used = data.draw(st.sets(st.sampled_from(before[:-1].tolist())))
    starts = lines._around(np.array(sorted(used), dtype=np.int64), before, extent, count)
    assert used <= set(starts.tolist())
    assert (starts[0], starts[-1]) == (0, extent)
    assert (np.diff(starts) > 0).all()
    assert starts.size - 1 <= count


@pytest.mark.parametrize("shape", [(1, 5000), (200, 200), (27, 300), (64, 65), (3, 2)])
def test_lines_keep_the_number_of_rectangles_down(shape: tuple[int, int]) -> None:
    rows, columns = lines_of(*shape, 10**6)
    assert rows <= shape[0]
    assert columns <= shape[1]
    assert (rows, columns) == shape or columns == LONGEST or 0.8e6 < Rectangles.number_of(rows, columns) <= 1.05e6


def test_too_many_cuts_end_in_a_bound_instead_of_a_proof() -> None:
    checkers = np.indices((9, 10)).sum(axis=0) % 2
    problem = Problem.of(cube_of([1.0 + checkers, 2.0 - checkers], range(2, 11), range(1, 11)))
    sure = optimal_frontier(problem, 90)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "MOST_CUTS", 40)
        patch.setattr(leaves, "FEWEST_CUTS", 40)
        frontier = optimal_frontier(problem, 90)
    assert sure.proven.all()
    assert not frontier.proven.all()
    assert (frontier.lower_bound <= sure.mean + 1e-8).all()
    assert (sure.mean <= frontier.mean + 1e-8).all()
    assert frontier.mean[frontier.proven] == pytest.approx(sure.mean[frontier.proven], abs=1e-8)
    assert frontier.decision(90).leaves == 90


def test_times_without_any_order_are_bounded_closely() -> None:
    time = 1 + np.random.default_rng(0).random((5, 18, 18))
    problem = Problem.of(cube_of(time, range(2, 20), range(1, 19)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "THIN", 20)
        patch.setattr(windows, "STAGES", ((6000, 8),))
        patch.setattr(decide, "LARGEST", 100)
        frontier = optimal_frontier(problem, 6)
    best = optimal_frontier(problem, 6)
    assert (frontier.lower_bound <= best.mean + 1e-8).all()
    assert frontier.lower_bound[-1] > 0.96 * best.mean[-1]
