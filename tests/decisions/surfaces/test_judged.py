"""What left-out lines judge, and what they are silent of."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.workload import weighed
from dashboard.decisions.surfaces import Surfaces, folding_of
from dashboard.decisions.surfaces.along import Slicing
from dashboard.decisions.surfaces.family import recommended
from dashboard.decisions.surfaces.grid import shared
from dashboard.decisions.surfaces.grow import Growing, Table
from dashboard.decisions.surfaces.judged import Left, choose_predictor
from tests.cubes import cube_of

COMM = np.array([2, 3, 4, 6, 8, 12, 16])
MESSAGE = 4 ** np.arange(3, 11)


def noisy(comm: np.ndarray = COMM) -> xr.Dataset:
    """Three methods that cross, with noise."""
    first = np.tile(MESSAGE / 2048.0, (comm.size, 1)) * comm[:, None]
    noise = np.exp(0.1 * np.random.default_rng(1).standard_normal((3, comm.size, MESSAGE.size)))
    return cube_of(1e-5 * noise * np.stack([first, np.sqrt(first), 3.0 + 0.2 * first]), comm, MESSAGE)


def facts(cube: xr.Dataset) -> dict[str, object]:
    """What is said of the recommendation."""
    (fact,) = recommended(Problem.of(cube)).provenance["recommended"]
    return dict(fact)


def test_a_corner_beyond_which_nothing_was_measured_judges_no_predictor() -> None:
    cube = noisy()
    cube["time"] = cube["time"].where(cube["comm_size"] * cube["message_size"] <= 1 << 18)
    # Of no method anything is expected there; the first one was taken then, whichever that was.
    means = [
        [each["mean"] for each in np.atleast_1d(facts(cube.isel(method=order))["tried"])]
        for order in ([0, 1, 2], [2, 0, 1])
    ]
    assert means[0] == pytest.approx(means[1])


def test_lines_without_calls_are_not_left_out() -> None:
    calls = pd.DataFrame({"collective": "bcast", "comm_size": [12, 16], "message_size": 1024, "calls": 1.0})
    cube = noisy().assign_attrs(collective="bcast")
    (fact,) = recommended(weighed(Problem.of(cube), calls)).provenance["recommended"]
    assert "tree of" in fact["said"]
    calls = calls.assign(comm_size=16, message_size=[64, 256])
    (fact,) = recommended(weighed(Problem.of(cube), calls)).provenance["recommended"]
    assert "no communicator size was left out: no calls at those that can be" in fact["said"]


@pytest.mark.parametrize(
    ("sizes", "words", "kind"),
    [
        ([2, 4, 8, 16], "", " but powers of two"),
        ([4, 16], "no communicator size was left out: too few (2)", " but powers of two"),
        ([6, 12, 24, 48], "", " that is a power of two"),
        ([2, 3, 4, 6, 8], "", ""),
        ([2], "of a single communicator size nothing is judged", ""),
    ],
)
def test_it_is_said_of_which_sizes_too_little_was_measured(sizes: list[int], words: str, kind: str) -> None:
    said = str(facts(noisy(np.array(sizes)))["said"])
    assert words in said
    assert ("no communicator size was left out" in said) == ("left out" in words)
    assert f"no communicator size{kind} was measured" in said or not kind
    assert bool(kind) == ("was measured, so" in said)


@pytest.mark.parametrize("collective", ["bcast", "reduce", "allgather", "alltoall"])
def test_bands_hold_at_sizes_of_a_kind_that_was_not_measured(fast_ethernet: xr.DataTree, collective: str) -> None:
    cube = fast_ethernet[collective].to_dataset().transpose("method", "comm_size", "message_size", ...)
    power = (cube["comm_size"].values & (cube["comm_size"].values - 1)) == 0
    known, others = cube.isel(comm_size=power), cube.isel(comm_size=~power)
    sizes = known["comm_size"].values, known["message_size"].values
    surfaces = Surfaces(known["time"].values, *sizes, folding=folding_of(collective, cube["algorithm"].values))
    predicted = surfaces.at(others["comm_size"].values, sizes[1])
    off = np.abs(np.log(others["time"].values) - predicted.log_time)
    assert (off <= predicted.half_width)[np.isfinite(off)].mean() > 0.85


def test_where_there_is_nothing_to_choose_no_figure_is_said() -> None:
    fact = facts(noisy(np.array([2, 4, 8, 16])).isel(method=[1]))
    assert (fact["said"], fact["tried"]) == ("a single method was measured, so there is nothing to choose", [])


def test_a_fold_costs_the_mean_over_its_calls_in_percent_above_the_fastest() -> None:
    judge = Table(np.array([[[1.0, 2.0, 4.0]], [[2.0, 1.0, 4.0]]]), np.array([4]), np.array([8, 16, 32]))
    chosen = np.array([[0, 0, 1]])
    assert Left(judge, judge).penalty(chosen) == pytest.approx(100 / 3)
    called = Table(*(judge.times, judge.comm_sizes, judge.message_sizes), calls=np.array([[1.0, 3.0, 0.0]]))
    assert Left(judge, called).penalty(chosen) == pytest.approx(75)
    _, judged = choose_predictor([Left(judge, judge)])
    assert {each.error for each in judged} == {None}
    assert judged[0].words().endswith("at the only line left out")


def test_expected_penalties_are_percent_above_the_fastest() -> None:
    table = Table(np.array([[[1.0], [3.0]], [[3.0], [1.0]]]), np.array([2, 3]), np.array([8]))
    trees = Growing(table, table.surfaces()).trees("all", 2)
    assert trees is not None
    assert trees.means.tolist() == [pytest.approx(100), 0]


def test_where_nothing_is_known_any_method_costs_the_same_without_a_decision_of_the_library() -> None:
    table = Table(np.array([[[1, 1], [1, np.nan]], [[2, 2], [0.5, np.nan]]]), np.array([2, 3]), np.array([8, 16]))
    trees = Growing(table, table.surfaces()).trees("all", 2)
    assert trees is not None
    # The first method costs 100 % at one of two times five sizes.
    assert trees.means.tolist() == [pytest.approx(10), 0]


@pytest.mark.parametrize(("unknown", "rows"), [([True, True, False], [0.5, 0.5, 1]), ([True, False, False], [1, 1, 1])])
def test_sizes_of_an_unknown_kind_count_no_more_than_the_others(unknown: list[bool], rows: list[float]) -> None:
    assert shared(4 * np.ones((3, 2)), np.array(unknown)).tolist() == [[4 * row, 4 * row] for row in rows]


@pytest.mark.parametrize(("axis", "held"), [("comm_size", 1024), ("message_size", 6)])
def test_a_slice_has_the_measured_points_of_its_line(axis: str, held: int) -> None:
    cube = noisy()
    line = Slicing(cube).along(axis, held)  # type: ignore[arg-type]
    other = {"comm_size": "message_size", "message_size": "comm_size"}[axis]
    measured = line.measured[:, np.isfinite(line.measured).any(axis=0)]
    assert measured.tolist() == cube["time"].sel({other: held}).values.tolist()
