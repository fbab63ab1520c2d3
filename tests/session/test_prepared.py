"""What a treatment makes of measurements: values that are worked out by hand, and choices that are refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.domain.errors import DecisionError, OptionError
from dashboard.models.completing import completed
from dashboard.models.parameter_text import find_parameters
from dashboard.session.choice import Choice
from dashboard.session.prepared import prepare
from dashboard.session.treatment import DEFAULTS, Treatment, Workload
from tests.cubes import cube_of, named

#: The first method is 4 % slower than the second at one size, which alone keeps the map from being one region.
NEARLY = cube_of([[[1.0, 1.04, 1.0]], [[2.0, 1.0, 2.0]]], [4], [1, 8, 64])


@pytest.mark.parametrize(
    ("chosen", "learnt"),
    [
        ({}, [0, 1, 0]),
        ({"tolerance": 3}, [0, 1, 0]),
        ({"tolerance": 5}, [0, 0, 0]),
        ({"tolerance": 5, "ties": "fastest"}, [0, 1, 0]),
    ],
)
def test_ties_within_the_tolerance_are_settled_for_the_simplest_map(chosen: dict[str, Any], learnt: list[int]) -> None:
    prepared = prepare(NEARLY, **chosen)
    assert prepared.learnt.slices[0].labels.tolist() == [learnt]
    # Judged is by what was measured.
    assert prepared.problem.slices[0].labels.tolist() == [[0, 1, 0]]


#: Nearly tied cells without any order.
NOISY = cube_of(1 + 0.04 * np.random.default_rng(8).random((3, 8, 12)), list(range(2, 10)), [2**n for n in range(12)])


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("quadtree", {}),
        ("exact", {}),
        ("octree", {}),
        ("c45", {"pruned": False}),
        ("cart", {}),
        ("cart", {"cost_sensitive": True}),
        ("optimal", {"leaves": 6}),
        ("search", {}),
        ("intervals", {}),
        ("recommended", {}),
    ],
)
def test_what_families_say_of_ties_is_what_they_do(family: str, options: dict[str, Any]) -> None:
    choice = Choice.of(family, options)
    plain, tied = (prepare(NOISY, **chosen).grow(choice) for chosen in ({}, {"tolerance": 5}))
    maps = [decision.predict(*np.meshgrid(NOISY.comm_size, NOISY.message_size)) for decision in (plain, tied)]
    assert choice.by_labels == bool((maps[0] != maps[1]).any())
    assert ("treatment" in tied.provenance) == choice.by_labels
    assert "treatment" not in plain.provenance


def test_missing_times_are_interpolated_or_a_models_for_learning_alone() -> None:
    cube = cube_of([[[1e-4, np.nan, 4e-4]], [[3e-4, 3e-4, 3e-4]]], [4], [1024, 4096, 16384])
    cube = cube.assign_coords(algorithm=("method", ["linear", "binomial"]))
    between = prepare(cube, interpolate=True)
    # In the middle of two sizes on a logarithmic axis, the geometric mean of both times.
    assert between.learnt.slices[0].cube["time"].values[0, 0, 1] == pytest.approx(2e-4)
    assert np.isnan(between.problem.slices[0].cube["time"].values[0, 0, 1])
    completing = prepare(cube, complete="hockney", parameters="grig-tcp")
    by_model = completing.learnt.slices[0].cube["time"].values
    (remark,) = completing.remarks
    assert remark.startswith(
        "Missing times are predicted for deciding, not for judging: 1 time predicted by the hockney"
    )
    expected = completed(cube, find_parameters("grig-tcp", "hockney").of("hockney"))["time"].values
    assert by_model == pytest.approx(expected)
    assert np.isfinite(by_model).all()


def test_what_no_model_can_complete_says_why_as_what_cannot_be_decided_on() -> None:
    with pytest.raises(DecisionError, match="two or more message sizes are needed"):
        _ = prepare(cube_of(np.ones((1, 1, 1)), [2], [8]), complete="hockney").learnt


def test_trees_that_are_quick_are_kept_and_those_that_were_kept_first_go_first() -> None:
    prepared = prepare(NEARLY)
    choices = [Choice.of("quadtree", {"max_depth": depth}) for depth in range(17)]
    first, second, *_ = [prepared.decided(choice) for choice in choices]
    assert prepared.decided(choices[1]) is second
    assert prepared.decided(choices[0]) is not first
    assert prepared.decided(choices[16], first.decision).given is first.decision


def test_a_treatment_takes_what_its_options_allow_and_nothing_else() -> None:
    chosen = Treatment.of({"tolerance": 5, "without": ["linear"]})
    assert (chosen.tolerance, chosen.without) == (5.0, ("linear",))
    assert chosen.changed() == {"tolerance": 5.0, "without": ("linear",)}
    assert hash(chosen) == hash(Treatment.of({"without": ("linear",), "tolerance": 5.0}))
    with pytest.raises(OptionError, match=f"a treatment has no colour; it has {', '.join(DEFAULTS)}"):
        Treatment.of({"colour": 1})
    with pytest.raises(OptionError, match="ties"):
        Treatment.of({"ties": "slowest"})
    with pytest.raises(OptionError, match="tolerance"):
        Treatment.of({"tolerance": -1})


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"complete": "hockney", "parameters": "grig-mx"}, "--complete hockney --complete-with grig-mx"),
        # Those of no model.
        ({"parameters": "grig-mx"}, ""),
        (
            {"tolerance": 2.5, "keep_doubtful": True, "outliers": True},
            "--tolerance 2.5 --without-outliers --keep-doubtful",
        ),
    ],
)
def test_a_treatment_is_typed_as_the_commands_take_it(chosen: dict[str, Any], words: str) -> None:
    assert " ".join(Treatment.of(chosen).words()) == words


def test_workloads_of_the_same_calls_are_equal() -> None:
    calls = pd.DataFrame({"collective": ["bcast"], "comm_size": [4], "message_size": [8], "calls": [2.0]})
    assert Workload.of(calls) == Workload.of(calls.copy())
    assert Workload.of(calls) != Workload.of(calls.assign(calls=3.0))


def test_what_could_not_be_looked_at_is_said() -> None:
    """Without repetitions there is nothing to test, and no single one to be left out."""
    cube = NEARLY.drop_vars(("time_std", "repetitions"))
    prepared = prepare(cube, statistical=0.05, outliers=True)
    prepared.work_out(lambda *_: None)
    said = " ".join(prepared.remarks)
    assert "No cell can be tested for ties: one repetition" in said
    assert "No outlier was found: nothing is left out (no single repetitions in these results" in said
    assert "can be tested" not in " ".join(prepare(NEARLY, statistical=0.05).remarks)


def test_where_times_are_weighed_what_ties_with_the_best_is_not_counted_as_wrong() -> None:
    """4 % off at one size of three: wrong without a tolerance, and by what C4.5 learns where the fastest win ties."""
    counts: dict[str, list[int]] = {"optimal": [], "c45": []}
    for tree, options in (("optimal", {"leaves": 1}), ("c45", {"min_cases": 3})):
        for tolerance, ties in ((0, "simplest"), (5, "simplest"), (5, "fastest")):
            decided = prepare(NEARLY, tolerance=tolerance, ties=ties).decide(tree, **options)
            ((cases, wrong),) = decided.counts(decided.decision.simplified()).values()
            assert cases == 3
            counts[tree].append(wrong)
    assert counts == {"optimal": [1, 0, 0], "c45": [1, 0, 1]}
    tied = prepare(cube_of([[[1.0, 1.01]], [[1.01, 1.0]]], [4], [1, 8]), statistical=0.001).decide("optimal", leaves=1)
    assert tied.counts(tied.decision) == {0: (2, 0)}


def test_what_is_filled_in_does_not_choose_the_processes_per_node() -> None:
    times = np.ones((2, 1, 3, 2)) * np.array([1.0, 2.0, 3.0])[:, None]
    times[:, 0, 1, 0] = np.nan
    cube = cube_of(times, [4], [8, 16, 32])
    for prepared in (prepare(cube), prepare(cube, interpolate=True)):
        assert prepared.most_measured == prepared.decision_map.attrs["ppn"] == prepared.tested.attrs["ppn"] == 2
        assert prepared.problem.slices[0].given == {"ppn": 2}
    assert int(prepared.shown["time"].isel(ppn=0).count()) == 6


@pytest.mark.parametrize("without", ["third", "default"])
def test_against_the_library_it_is_judged_at_the_processes_per_node_that_are_left_with_most(without: str) -> None:
    """At two processes per node another method is measured most, which is left out; at one all take a third less."""
    times = np.array([3.0, 2.0, 1.0])[:, None, None, None] * np.array([1.0, 10.0]) * np.ones((3, 1, 3, 2))
    times[2, ..., 0] = times[:2, 0, 2, 1] = np.nan
    cube = named(cube_of(times, [4], [8, 16, 32]), ["default", "second", "third"])
    gain = prepare(cube, without=(without,)).decide("quadtree").gain
    assert gain is not None
    assert (gain.mean, gain.cells) == {"third": (pytest.approx(100 / 3), 3), "default": (pytest.approx(200 / 3), 2)}[
        without
    ]
