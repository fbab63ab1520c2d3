"""Real measurements with holes: no tree is rewarded for them, and none that heeds them is ruined."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions.grown.cart import cart
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.optimal import optimal_frontier
from dashboard.decisions.judged.frontier import Frontier, frontier
from dashboard.decisions.judged.recommend import recommend
from dashboard.decisions.measured.problem import Problem

pytestmark = pytest.mark.slow

LEAVES = 12


def blanked(cube: xr.Dataset, share: float, seed: int) -> xr.Dataset:
    """The cube without some of its times."""
    time = cube["time"].values.copy()
    time[np.random.default_rng(seed).random(time.shape) < share] = np.nan
    return cube.assign(time=(cube["time"].dims, time))


@pytest.fixture(scope="module", params=[0.005, 0.03, 0.1], ids=["26 holes", "150 holes", "520 holes"])
def problem(request: pytest.FixtureRequest, fast_ethernet_bcast: xr.Dataset) -> Problem:
    return Problem.of(blanked(fast_ethernet_bcast, request.param, 7))


@pytest.fixture(scope="module")
def truth(fast_ethernet_bcast: xr.Dataset) -> Problem:
    return Problem.of(fast_ethernet_bcast)


@pytest.fixture(scope="module")
def front(problem: Problem) -> Frontier:
    return frontier(problem, families=["quadtree", "cart", "c45"], held_out="lines", folds=3)


def test_no_tree_looks_better_than_it_is(front: Frontier, problem: Problem, truth: Problem) -> None:
    """Against what its choices really take, relative to the same fastest times."""
    best = problem.slices[0].dmap["best_time"].values
    for shown, decision in zip(front.table["penalty_mean"], front.decisions, strict=True):
        took = truth.penalties(decision)[0]["chosen_time"].values
        true = 100 * np.maximum(took / best - 1, 0).mean()
        assert true * 0.98 - 0.2 < shown < true * 1.2 + 3


def test_all_trees_are_judged_on_the_same_cells(front: Frontier) -> None:
    assert front.table["cells"].nunique() == front.table["held_out_cells"].nunique() == 1


def test_no_tree_is_better_than_what_is_proven_best(front: Frontier, problem: Problem) -> None:
    best = optimal_frontier(problem, 8)
    small = front.table[(front.table["leaves"] <= 8) & (front.table["family"] != "c45")]
    assert (small["penalty_mean"] >= best.mean[small["leaves"] - 1] - 1e-6).all()


def test_cost_sensitive_cart_is_not_ruined(problem: Problem, truth: Problem) -> None:
    """Within a point and a half of the tree that it grows from everything."""
    holes, full = (truth.summary(cart(each, max_leaves=LEAVES, cost_sensitive=True)).mean for each in (problem, truth))
    assert holes < full + 1.5


def test_the_recommendation_does_not_collapse(front: Frontier, truth: Problem) -> None:
    chosen = recommend(front)
    assert truth.summary(chosen.decision).mean < 6
    assert "do not have" not in chosen.reason


def test_nor_does_the_recommended_tree(problem: Problem, truth: Problem) -> None:
    assert truth.summary(FAMILIES["recommended"].grow(problem, leaves=LEAVES)).mean < 4
