"""Among methods as good as the best, those that give fewer rules."""

import itertools
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, OptionError, exact
from dashboard.decisions.measured.noise import indistinguishable
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.simplest import changes, simplest
from tests.cubes import DEGENERATE, cube_of, synthetic_cube

NAN = np.nan


def counted(labels: Any) -> int:
    """Changes from one measured cell to the next, by loops."""
    labels = np.asarray(labels)
    total = 0
    for line in [*labels, *labels.T]:
        known = [label for label in line if label >= 0]
        total += sum(a != b for a, b in itertools.pairwise(known))
    return total


@given(st.integers(0, 60), st.floats(0, 0.8))
def test_tolerance_zero_changes_nothing(seed: int, missing: float) -> None:
    problem = Problem.of(synthetic_cube(4, 6, 4, seed, missing=missing))
    assert simplest(problem, 0) is problem
    assert np.array_equal(simplest(problem).slices[0].labels, problem.slices[0].labels)


@given(st.integers(0, 60), st.floats(0, 0.8), st.floats(0.1, 60))
def test_only_methods_within_the_tolerance_are_taken(seed: int, missing: float, tolerance: float) -> None:
    problem = Problem.of(synthetic_cube(4, 6, 4, seed, missing=missing))
    relabelled = simplest(problem, tolerance)
    old, new = problem.slices[0].labels, relabelled.slices[0].labels
    assert np.array_equal(old < 0, new < 0)
    rows, columns = np.nonzero(new >= 0)
    times = problem.slices[0].times()
    assert (
        times[new[rows, columns], rows, columns] <= np.nanmin(times[:, rows, columns], axis=0) * (1 + tolerance / 100)
    ).all()
    facts = relabelled.provenance["simplest"]
    assert (facts["before"], facts["after"]) == (counted(old), counted(new)) == (changes(old), changes(new))
    assert facts["after"] <= facts["before"]
    assert facts["relabelled"] == (old != new).sum()
    assert "simplest" not in problem.provenance


@given(st.integers(0, 60), st.floats(0, 0.3), st.integers(1, 7), st.sampled_from(["row", "column"]))
def test_a_single_line_gets_the_fewest_changes_there_can_be(seed: int, missing: float, size: int, line: str) -> None:
    """By trying all maps; of those with as few changes none has a smaller sum of penalties."""
    shape = (size, 1) if line == "column" else (1, size)
    problem = Problem.of(synthetic_cube(*shape, 3, seed, missing=missing, noise=0.2))
    part = problem.slices[0]
    relabelled = simplest(problem, 25.0).slices[0].labels.ravel()
    times = part.times().reshape(3, -1)[:, relabelled >= 0]
    fastest = times.min(axis=0, where=~np.isnan(times), initial=np.inf)
    choices = [np.flatnonzero(times[:, cell] <= fastest[cell] * 1.25).tolist() for cell in range(times.shape[1])]

    def cost(labels: Any) -> tuple[int, float]:
        chosen = times[np.asarray(labels), np.arange(len(labels))]
        return sum(a != b for a, b in itertools.pairwise(labels)), float((chosen / fastest).sum())

    least = min(cost(labels) for labels in itertools.product(*choices))
    assert cost(relabelled[relabelled >= 0].tolist()) == pytest.approx(least)


def test_an_island_within_the_tolerance_goes() -> None:
    time = np.ones((2, 5, 5))
    time[1] = 1.5
    time[0, 2, 2], time[1, 2, 2] = 1.04, 1.0
    problem = Problem.of(cube_of(time, range(2, 7), range(1, 6)))
    assert set(simplest(problem, 5).slices[0].labels.ravel()) == {0}
    assert np.array_equal(simplest(problem, 3).slices[0].labels, problem.slices[0].labels)


def test_penalties_stay_relative_to_the_fastest() -> None:
    problem = Problem.of(cube_of([[[1.0, 1.02, 1.0]], [[1.5, 1.0, 1.5]]], [4], [1, 2, 4]))
    relabelled = simplest(problem, 5)
    tree = exact(relabelled.slices[0].dmap)
    assert tree.leaves == 1
    assert relabelled.summary(tree).max == pytest.approx(2.0)


def test_ties_of_a_test_count_beside_the_tolerance() -> None:
    cube = cube_of([[[1.0, 1.2, 1.0]], [[1.5, 1.0, 1.5]]], [4], [1, 2, 4])
    problem = Problem.of(cube)
    tied = xr.DataArray(
        np.array([[[True, True, True]], [[False, True, False]]]), dims=("method", "comm_size", "message_size")
    )
    assert simplest(problem, ties=tied).slices[0].labels.tolist() == [[0, 0, 0]]
    assert simplest(problem, 5).slices[0].labels.tolist() == [[0, 1, 0]]
    turned = tied.transpose("message_size", "method", "comm_size")
    assert simplest(problem, ties=[turned]).slices[0].labels.tolist() == [[0, 0, 0]]


def test_what_was_not_measured_is_never_taken() -> None:
    cube = cube_of([[[1.0, NAN, 1.0, NAN]], [[1.5, 1.0, 1.5, NAN]]], [4], [1, 2, 4, 8])
    tied = xr.ones_like(cube["time"], dtype=bool)
    assert simplest(Problem.of(cube), 5).slices[0].labels.tolist() == [[0, 1, 0, -1]]
    assert simplest(Problem.of(cube), ties=tied).slices[0].labels.tolist() == [[1, 1, 1, -1]]


def test_each_table_of_several_is_labelled() -> None:
    time = np.random.default_rng(0).uniform(1, 1.1, (3, 4, 5, 2))
    problem = Problem.of(cube_of(time, range(2, 6), range(1, 6)), ppn="all")
    relabelled = simplest(problem, 20)
    assert [np.unique(part.labels).size for part in relabelled.slices] == [1, 1]
    with pytest.raises(DecisionError, match="ties are given for 1 tables, expected 2"):
        simplest(problem, ties=xr.DataArray([1]))


@pytest.mark.parametrize("cube", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_results_keep_their_labels(cube: xr.Dataset) -> None:
    problem = Problem.of(cube)
    assert np.array_equal(simplest(problem, 10).slices[0].labels, problem.slices[0].labels)


def test_a_lazy_cube_gives_the_same() -> None:
    cube = synthetic_cube(6, 9, 4, 1, missing=0.2)
    lazy, eager = (simplest(Problem.of(each), 10).slices[0].labels for each in (cube.chunk(comm_size=2), cube))
    assert np.array_equal(lazy, eager)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"tolerance": -1}, "tolerance is -1, expected 0 or more"), ({"tolerance": NAN}, "tolerance is nan")],
)
def test_options_outside_their_range_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(OptionError, match=text):
        simplest(Problem.of(synthetic_cube(2, 2, 2, 0)), **options)


def test_ties_that_do_not_fit_are_refused() -> None:
    problem = Problem.of(synthetic_cube(2, 3, 4, 0))
    with pytest.raises(DecisionError, match="expected bool over 4 method, 2 comm_size, 3 message_size"):
        simplest(problem, ties=xr.DataArray(np.ones((4, 2, 3)), dims=("method", "comm_size", "message_size")))


def test_the_broadcast_of_the_sample_data_needs_far_fewer_rules(fast_ethernet_bcast: xr.Dataset) -> None:
    """Within 5 % the exact map has 101 rectangles; most of them only follow noise."""
    problem = Problem.of(fast_ethernet_bcast)
    before = exact(problem.slices[0].dmap).simplified().leaves
    within = simplest(problem, 5)
    tree = exact(within.slices[0].dmap).simplified()
    assert tree.leaves < 0.65 * before
    assert within.summary(tree).max <= 5
    tied = indistinguishable(fast_ethernet_bcast)["tied"]
    by_test = exact(simplest(problem, ties=tied).slices[0].dmap).simplified()
    assert by_test.leaves < 0.7 * before
