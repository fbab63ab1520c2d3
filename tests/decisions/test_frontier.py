"""The frontier: every family over its options, in sample and held out, with the dominated marked."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, OptionError
from dashboard.decisions.function.statistics import statistics
from dashboard.decisions.grown.families import FAMILIES, GIVEN
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.judged import frontier as module
from dashboard.decisions.judged.frontier import Frontier, dominated, frontier, frontiers, settings_of, time_to_decide
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube

NAN = float("nan")
QUICK = ("quadtree", "exact", "cart")


@pytest.fixture(scope="module")
def cube() -> xr.Dataset:
    return synthetic_cube(8, 12, 6, 4, missing=0.1, noise=0.3)


@pytest.fixture(scope="module")
def problem(cube: xr.Dataset) -> Problem:
    return Problem.of(cube)


@pytest.fixture(scope="module")
def front(problem: Problem) -> Frontier:
    return frontier(problem, families=QUICK, held_out="lines", folds=3)


def test_every_setting_of_every_path_is_a_row(front: Frontier, problem: Problem) -> None:
    assert front.table["family"].drop_duplicates().tolist() == list(QUICK)
    for name, part in front.table.groupby("family"):
        wanted = settings_of(FAMILIES[str(name)], problem)
        assert [json.loads(text) for text in part["options"]] == wanted
    assert len(front.decisions) == len(front.table) == len(front.held)


def test_a_row_says_what_its_decision_is(front: Frontier, cube: xr.Dataset) -> None:
    for row, decision in zip(front.table.itertuples(), front.decisions, strict=True):
        expected = statistics(cube, decision)
        assert (row.family, row.leaves, row.nodes) == (decision.kind, expected["leaves"], expected["nodes"])
        assert row.depth == expected["depth"]["max"]
        assert row.expected_depth == expected["depth"]["expected"]
        for name in ("mean", "median", "max"):
            assert getattr(row, f"penalty_{name}") == expected["penalty"][name]
        assert row.unmeasured == expected["penalty"]["unmeasured"]
        assert row.penalty_p95 == Problem.of(cube).summary(decision).p95


def test_a_decision_is_what_its_options_give(front: Frontier, problem: Problem) -> None:
    for row in (0, len(front.decisions) // 2, len(front.decisions) - 1):
        name, options = front.table["family"][row], json.loads(front.table["options"][row])
        assert FAMILIES[name].grow(problem, **options) == front.decisions[row]


def test_held_out_is_judged_where_it_was_not_decided(front: Frontier, problem: Problem, cube: xr.Dataset) -> None:
    """The first fold along the communicator size, done by hand."""
    row = int(front.table.index[front.table["options"] == '{"max_depth": 2}'][0])
    held = front.held[row]
    assert held is not None
    fold = held.folds[0]
    out = np.isin(cube["comm_size"].values, fold.left_out)
    decision = FAMILIES["quadtree"].grow(Problem.of(cube.isel(comm_size=~out)), max_depth=2)
    (table,) = problem.penalties(decision)
    assert np.nanmean(table["penalty"].values[out]) == pytest.approx(fold.figures.mean)
    means = [fold.figures.mean for fold in held.folds]
    assert front.table["held_out_error"][row] == pytest.approx(np.std(means, ddof=1) / np.sqrt(len(means)))


def test_without_holding_out_there_are_no_such_figures(problem: Problem) -> None:
    front = frontier(problem, families=["quadtree"])
    assert front.value == "penalty_mean"
    assert front.scheme is None
    assert front.table["held_out_mean"].isna().all()
    assert front.held == (None,) * len(front.table)
    assert not front.table[["held_out_unmeasured", "held_out_cells"]].to_numpy().any()


def test_no_setting_is_grown_twice(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    grown: Counter[str] = Counter()
    real = FAMILIES["quadtree"]

    def count(part: Problem, **options: Any) -> Any:
        options.pop("progress", None)
        grown[json.dumps([len(part.cases()), options], sort_keys=True)] += 1
        return real.grow(part, **options)

    path = [{"max_depth": 1}, {"threshold": 1.0, "max_depth": 1}, {}, {"max_depth": None}]
    fake = type(real)(real.name, real.title, real.source, real.options, count, lambda _: path)
    monkeypatch.setitem(FAMILIES._loaded, "quadtree", fake)
    front = frontier(
        problem, families=["quadtree", "quadtree"], further={"quadtree": [{"max_depth": 1}, {"max_depth": 3}]}
    )
    assert [json.loads(text) for text in front.table["options"]] == [{"max_depth": 1}, {}, {"max_depth": 3}]
    assert set(grown.values()) == {1}


def test_long_paths_are_thinned_and_keep_their_ends(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(FAMILIES["cart"], problem)
    monkeypatch.setattr(module, "MOST_SETTINGS", 5)
    few = settings_of(FAMILIES["cart"], problem)
    assert len(few) == 5
    assert (few[0], few[-1]) == (settings[0], settings[-1])


def test_what_does_not_suit_is_said() -> None:
    cubes = {name: synthetic_cube(4, 5, 3, seed) for seed, name in enumerate(("bcast", "reduce"))}
    front = frontier(Problem.of(cubes), families=["quadtree", "cart"])
    assert set(front.table["family"]) == {"cart"}
    assert "2 tables" in front.skipped["quadtree"]
    with pytest.raises(OptionError, match="quadtree decides over communicator and message size only"):
        frontier(Problem.of(cubes), families=["quadtree"])


def test_by_itself_it_tries_what_adds_something(problem: Problem) -> None:
    """Over two sizes the octree is the quadtree, and the optimum needs no search."""
    assert set(module._suitable(problem)) == set(FAMILIES) - {"octree", "search", *GIVEN}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"families": ["bush"]}, "no tree 'bush', known are quadtree"),
        ({"criterion": "least"}, "criterion is 'least', expected one of mean, median, p95, max"),
        ({"held_out": "leaves"}, "'leaves', expected one of lines"),
        ({"held_out": "repetitions"}, "repetitions"),
        ({"further": {"quadtree": [{"depth": 1}]}}, "quadtree has no option depth"),
        ({"families": []}, "no family to try"),
    ],
)
def test_what_cannot_be_asked_for(problem: Problem, options: dict[str, Any], words: str) -> None:
    with pytest.raises(DecisionError, match=words):
        frontier(problem, **{"families": ["quadtree"], **options})


def test_progress_goes_up_to_the_end_and_may_cancel(problem: Problem) -> None:
    shares: list[float] = []
    words: set[str] = set()

    def note(share: float, what: str) -> None:
        shares.append(share)
        words.add(what)

    frontier(problem, families=QUICK, held_out="message_size", folds=2, progress=note)
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] <= 1
    assert {"Quadtree", "CART, fold 2 of 2"} <= words

    def stop(share: float, what: str) -> None:
        if what.startswith("CART"):
            raise Cancelled

    with pytest.raises(Cancelled):
        frontier(problem, families=QUICK, progress=stop)


def test_quick_families_come_first_and_those_tried_are_as_in_the_end(problem: Problem) -> None:
    names = ["cart", "quadtree", "exact"]
    so_far = list(frontiers(problem, families=names, held_out="message_size", folds=2))
    assert [set(each.table["family"]) for each in so_far] == [{"quadtree"}, {"quadtree", "exact"}, set(names)]
    assert [each.missing for each in so_far] == [("exact", "cart"), ("cart",), ()]
    last = so_far[-1].table
    assert list(dict.fromkeys(last["family"])) == names
    first = last[last["family"] == "quadtree"].reset_index(drop=True)
    columns = [name for name in last if name != "dominated"]
    pd.testing.assert_frame_equal(so_far[0].table[columns], first[columns])


def test_a_family_that_fails_last_leaves_nothing_to_come(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise DecisionError("not of these")

    failing = {**FAMILIES, "cart": replace(FAMILIES["cart"], grow=refuse, grow_many=None)}
    monkeypatch.setattr(module, "FAMILIES", failing)
    *_, last = frontiers(problem, families=["cart", "quadtree"])
    assert (last.missing, last.skipped) == ((), {"cart": "not of these"})


def test_what_is_prepared_is_learnt_and_not_judged_by(problem: Problem) -> None:
    """Labels turned to one method: every tree is that leaf, judged by the measurements as they are."""
    seen: list[int] = []

    def one_method(part: Problem) -> Problem:
        seen.append(len(part.cases()))
        return part.relabelled([np.where(plane.labels >= 0, 0, -1) for plane in part.slices])

    front = frontier(problem, families=["exact"], held_out="message_size", folds=2, prepare=one_method)
    (decision,) = front.decisions
    assert decision.simplified().leaves == 1
    assert front.table["penalty_mean"][0] == problem.summary(decision).mean > 0
    assert len(seen) == 3
    assert seen[1] + seen[2] == seen[0] == len(problem.cases())


def test_a_workload_weighs_all_figures() -> None:
    cube = cube_of([[[1.0, 2.0, 4.0]], [[2.0, 1.0, 1.0]]], [4], [8, 16, 32])
    front = frontier(Problem.of(cube, weights=[[8, 1, 1]]), families=["quadtree"])
    leaf = front.table[front.table["leaves"] == 1].iloc[0]
    assert leaf["penalty_mean"] == pytest.approx(80.0 if front.decisions[0].predict_one(4, 8) else 40.0)


@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from([0.0, 1.0, 2.0, 3.0, NAN])), max_size=12))
def test_dominated_is_what_another_beats(points: list[tuple[int, float]]) -> None:
    leaves, values = [p[0] for p in points], [p[1] for p in points]

    def beaten(k: int, v: float) -> bool:
        if np.isnan(v):
            return True
        return any(n <= k and w <= v and (n < k or w < v) for n, w in points)

    if points:
        assert dominated(leaves, values).tolist() == [beaten(*point) for point in points]


def test_equal_points_of_one_family_are_listed_once(front: Frontier) -> None:
    free = front.table[~front.table["dominated"]]
    assert not free.duplicated(["family", "leaves", front.value]).any()
    assert front.table.duplicated(["family", "leaves", front.value]).any()


def test_time_to_decide_is_that_of_one_call(front: Frontier, problem: Problem) -> None:
    assert 1e-8 < time_to_decide(problem, front.decisions[-1]) < 1e-2


def test_all_processes_per_node_together() -> None:
    times = np.random.default_rng(1).uniform(1, 2, (3, 4, 5, 2))
    problem = Problem.of(cube_of(times, [2, 4, 8, 16], [1, 2, 4, 8, 16]), ppn="all")
    front = frontier(problem, families=["octree", "cart"])
    assert set(front.table["family"]) == {"octree", "cart"}
    assert time_to_decide(problem, front.decisions[-1]) > 0


def test_a_search_that_takes_minutes_is_only_done_when_asked_for() -> None:
    times = np.random.default_rng(1).uniform(1, 2, (3, 3, 4, 2))
    front = frontier(Problem.of(cube_of(times, [2, 4, 8], [1, 2, 4, 8]), ppn="all"))
    assert "search" not in set(front.table["family"])
    assert "ask for it by name" in front.skipped["search"]
    assert {"octree", "c45", "cart"} <= set(front.table["family"])
