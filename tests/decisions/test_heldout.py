"""What a decision costs where it was not allowed to look."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.decisions import (
    DecisionError,
    DecisionFunction,
    Leaf,
    OptionError,
    Split,
    Test,
    decision_map,
    penalty,
    quadtree,
    summarise,
)
from dashboard.decisions.grown.family import Cancelled
from dashboard.decisions.judged.folds import folds_of, penalties_of_labels
from dashboard.decisions.judged.heldout import heldout, heldout_many
from dashboard.decisions.judged.penalty import summarise_all
from dashboard.decisions.measured.interpolate import interpolated
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.counted import counted
from tests.cubes import cube_of, named, synthetic_cube

NAN = np.nan


def exact_tree(problem: Problem) -> DecisionFunction:
    return quadtree(problem.single("quadtree").dmap)


def with_samples(cube: xr.Dataset, count: int, spread: float, seed: int = 0) -> xr.Dataset:
    """Repetitions scattered about the times; the times are their medians."""
    random = np.random.default_rng(seed)
    time = cube["time"].values
    sample = time[..., None] * np.exp(spread * random.standard_normal((*time.shape, count)))
    made = cube.assign(sample=((*cube["time"].dims, "repetition"), sample))
    return made.assign(time=(cube["time"].dims, np.median(sample, axis=-1)))


def by_hand(cube: xr.Dataset, axis: str, folds: int) -> list[float]:
    """Held-out penalties by a loop over cells, each tree made from the cube without the fold's lines."""
    losses = []
    # What was not measured counts as all of the measurements tell.
    filled = counted(cube["time"].values, cube["comm_size"].values, cube["message_size"].values)
    cube = cube.assign(filled=(cube["time"].dims, filled))
    for fold in range(folds):
        out = list(range(fold, cube.sizes[axis], folds))
        rest = [line for line in range(cube.sizes[axis]) if line not in out]
        decision = quadtree(decision_map(cube.isel({axis: rest})))
        labels = [str(label) for label in cube["method"].values]
        left = cube.isel({axis: out})
        for p in left["comm_size"].values:
            for m in left["message_size"].values:
                times = left["filled"].sel(comm_size=p, message_size=m).values
                chosen = labels.index(decision.methods[decision.predict_one(int(p), int(m))].label)
                if not np.isnan(times).all():
                    losses.append(100 * (times[chosen] / times.min() - 1))
    return losses


@settings(max_examples=15)
@given(st.integers(0, 30), st.sampled_from(["comm_size", "message_size"]), st.integers(2, 5))
def test_each_line_is_judged_by_a_tree_that_did_not_see_it(seed: int, axis: str, folds: int) -> None:
    cube = synthetic_cube(6, 7, 4, seed, missing=0.1)
    result = heldout(Problem.of(cube), exact_tree, axis, folds)
    expected = np.array(by_hand(cube, axis, folds))
    assert result.figures.cells == expected.size
    assert result.mean == pytest.approx(expected.mean())
    assert result.figures.max == pytest.approx(expected.max())
    assert result.figures.median == pytest.approx(np.median(expected))
    assert (expected <= result.figures.p95 + 1e-9).mean() >= 0.95
    assert (expected < result.figures.p95 - 1e-9).mean() < 0.95


@given(st.integers(0, 30), st.integers(1, 9), st.integers(1, 9), st.integers(2, 12), st.floats(0, 0.8))
def test_folds_partition_the_lines(seed: int, rows: int, columns: int, folds: int, missing: float) -> None:
    problem = Problem.of(synthetic_cube(rows, columns, 3, seed, missing=missing))
    part = problem.slices[0]
    for axis, number in (("comm_size", 1), ("message_size", 0)):
        sizes = np.asarray(part.cube[axis].values)[(part.labels >= 0).any(axis=number)]
        if sizes.size < 2:
            with pytest.raises(DecisionError, match=r"nothing can be left out.*--held-out none"):
                folds_of(problem, axis, folds)
            continue
        made = [make() for make in folds_of(problem, axis, folds)[0]]
        assert len(made) == min(folds, sizes.size)
        assert sorted(value for fold in made for value in fold.left_out) == sizes.tolist()
        judged = np.zeros(part.labels.shape, dtype=np.int64)
        for fold in made:
            assert not set(fold.left_out) & set(fold.learn.slices[0].cube[axis].values.tolist())
            for _, chosen_rows, chosen_columns in fold.places:
                judged[np.ix_(chosen_rows, chosen_columns)] += 1
        assert (judged[part.labels >= 0] == 1).all()


def test_each_fold_says_how_large_its_tree_is() -> None:
    cube = cube_of(np.random.default_rng(4).uniform(1, 2, (3, 5, 6)), range(2, 7), [1, 2, 4, 8, 16, 32])
    for number, fold in enumerate(heldout(Problem.of(cube), exact_tree, "message_size", 3).folds):
        kept = [line for line in range(6) if line % 3 != number]
        assert fold.leaves == quadtree(decision_map(cube.isel(message_size=kept))).leaves


def test_what_is_left_out_is_compared_with_the_default() -> None:
    """By a loop over cells; a cell of half of the calls counts so, one without either time not at all."""
    names = ["default", *[f"m{number}" for number in range(1, 3)]]
    cube = named(synthetic_cube(4, 6, 3, 5, missing=0.15), names)
    calls = np.random.default_rng(2).integers(0, 4, (4, 6)).astype(float)
    problem = Problem.of(cube)
    problem = replace(problem, slices=(replace(problem.slices[0], weights=calls),))
    held = heldout(problem, exact_tree, "message_size", 3)
    saved, weights, slower = [], [], 0
    for fold in range(3):
        kept = [line for line in range(6) if line % 3 != fold]
        decision = quadtree(decision_map(cube.isel(message_size=kept)))
        for row, column in itertools.product(range(4), range(fold, 6, 3)):
            sizes = int(cube["comm_size"][row]), int(cube["message_size"][column])
            own, chosen = cube["time"].values[
                [0, names.index(decision.methods[decision.predict_one(*sizes)].label)], row, column
            ]
            if np.isfinite(own + chosen):
                saved.append(100 * (1 - chosen / own))
                weights.append(calls[row, column])
                slower += bool(chosen > own and calls[row, column])
    assert held.gain is not None
    assert (held.gain.slower, held.gain.cells, held.gain.both) == (slower, np.count_nonzero(weights), len(saved))
    assert held.gain.mean == pytest.approx(np.average(saved, weights=weights))
    assert held.to_dict()["against_default"]["mean"] == held.gain.mean
    uncalled = replace(
        problem, slices=(replace(problem.slices[0], weights=np.where(cube["time"][0].isnull(), 1.0, 0.0)),)
    )
    assert heldout(uncalled, exact_tree, "message_size", 3).to_dict()["against_default"]["mean"] is None
    assert heldout(Problem.of(synthetic_cube(4, 6, 3, 5)), exact_tree, "message_size", 3).gain is None


def test_lines_are_left_out_along_both_axes() -> None:
    # Of these times sizes that were not seen do cost along either axis.
    problem = Problem.of(synthetic_cube(6, 7, 4, 6))
    both = heldout(problem, exact_tree, "lines", 3)
    apart = [heldout(problem, exact_tree, axis, 3) for axis in ("comm_size", "message_size")]
    assert min(held.mean for held in apart) > 1
    assert both.figures.cells == 2 * 6 * 7
    assert both.mean == pytest.approx(np.mean([held.mean for held in apart]))
    assert [fold.figures for fold in both.folds] == [fold.figures for held in apart for fold in held.folds]
    assert (both.maps[0]["judged"].values == 2).all()
    halfway = (apart[0].maps[0]["penalty"] + apart[1].maps[0]["penalty"]) / 2
    xr.testing.assert_allclose(both.maps[0]["penalty"], halfway)
    assert both.spread == pytest.approx(np.std([fold.figures.mean for fold in both.folds], ddof=1))


def test_the_figures_in_sample_stand_beside() -> None:
    cube = synthetic_cube(6, 7, 4, 2)
    problem = Problem.of(cube)
    result = heldout(problem, lambda part: quadtree(part.single("quadtree").dmap, max_depth=1), "comm_size", 3)
    seen = summarise(penalty(cube, quadtree(decision_map(cube), max_depth=1)))
    assert (result.in_sample.mean, result.in_sample.max) == (seen.mean, seen.max)
    given_whole = heldout(problem, exact_tree, "comm_size", 3, grown=quadtree(decision_map(cube), max_depth=1))
    assert given_whole.in_sample == result.in_sample


def test_sizes_beyond_those_decided_on_are_told_apart() -> None:
    """One method is best at one size each: at the ends of the range only the border rule is left."""
    time = [[[1.0, 2.0, 2.0]], [[2.0, 2.0, 2.0]], [[4.0, 4.0, 1.0]]]
    result = heldout(Problem.of(cube_of(time, [4], [1, 2, 4])), exact_tree, "message_size", 3)
    assert result.maps[0]["penalty"].values.tolist() == [[0.0, 100.0, 100.0]]
    assert result.figures.cells == 3
    assert result.within == (100.0, 100.0, 100.0, 100.0, 0, 1, 100.0)


def test_what_was_not_measured_counts_as_all_measurements_tell() -> None:
    time = [[[1.0, 1.0, NAN, 4.0]], [[1.0, 1.0, 1.0, 4.0]]]
    first = lambda part: DecisionFunction("bcast", part.methods, Leaf(0))  # noqa: E731 - always the first
    result = heldout(Problem.of(cube_of(time, [4], [1, 2, 4, 8])), first, "message_size", 4)
    assert result.figures.unmeasured == 1  # at 4 bytes only the other method was measured
    assert result.unjudged == 0
    assert result.maps[0]["penalty"].values[0] == pytest.approx([0, 0, 100, 0])


def test_interpolated_times_decide_but_do_not_judge() -> None:
    cube = interpolated(cube_of([[[1.0, NAN, 1.0, 1.0]], [[2.0, NAN, 2.0, 2.0]]], [4], [1, 2, 4, 8]))
    result = heldout(Problem.of(cube), exact_tree, "message_size", 4)
    assert result.maps[0]["judged"].values.tolist() == [[1, 0, 1, 1]]
    assert (result.figures.cells, result.unjudged) == (3, 1)


def test_a_single_line_is_not_left_out_and_this_is_said() -> None:
    cube = synthetic_cube(1, 7, 3, 1)
    result = heldout(Problem.of(cube), exact_tree, "lines", 9)
    assert result.notes[0] == "only one communicator size is measured, so none can be left out"
    assert result.notes[1] == "7 folds along the message size, since there are no more of them"
    with pytest.raises(DecisionError, match="only one communicator size is measured"):
        heldout(Problem.of(cube), exact_tree, "comm_size")
    with pytest.raises(DecisionError, match="only one message size"):
        heldout(Problem.of(cube.isel(message_size=[0])), exact_tree)


@pytest.mark.parametrize(
    ("scheme", "folds", "text"),
    [("cells", 5, "expected one of lines, comm_size"), ("lines", 1, "folds is 1, expected"), ("lines", 2.5, "2.5")],
)
def test_options_outside_their_range_are_refused(scheme: str, folds: int, text: str) -> None:
    with pytest.raises(OptionError, match=text):
        heldout(Problem.of(synthetic_cube(3, 3, 2, 0)), exact_tree, scheme, folds)


def test_a_workload_weighs_the_judged_cells() -> None:
    cube = cube_of([[[1.0, 2.0, 2.0, 2.0]], [[2.0, 1.0, 1.0, 1.0]]], [4], [1, 2, 4, 8])
    plain = heldout(Problem.of(cube), exact_tree, "message_size", 4)
    assert plain.maps[0]["penalty"].values.tolist() == [[100.0, 0.0, 0.0, 0.0]]
    weighed = heldout(Problem.of(cube, weights=[[3, 0, 1, 0]]), exact_tree, "message_size", 4)
    assert (weighed.mean, weighed.figures.cells, weighed.figures.p95) == (75.0, 2, 100.0)


class TestRepetitions:
    def test_one_half_decides_and_the_other_judges(self) -> None:
        """Two methods take turns at being fast: each half picks the one that is slow in the other."""
        cube = cube_of([[[1.5]], [[1.5]]], [4], [1])
        sample = np.array([[[[1.0, 2.0] * 3]], [[[2.0, 1.0] * 3]]])
        cube = cube.assign(sample=(("method", "comm_size", "message_size", "repetition"), sample))
        result = heldout(Problem.of(cube), exact_tree, "repetitions", 2)
        assert [fold.figures.mean for fold in result.folds] == [100.0, 100.0]
        assert result.in_sample.mean == 0
        assert result.to_dict()["floor"]["mean"] == 100.0

    def test_without_noise_the_exact_tree_costs_nothing(self) -> None:
        cube = with_samples(synthetic_cube(4, 5, 3, 0), 6, 0.0)
        assert heldout(Problem.of(cube), exact_tree, "repetitions", 4).figures.max == 0

    def test_with_noise_it_costs_what_the_best_map_costs(self) -> None:
        cube = with_samples(synthetic_cube(4, 5, 3, 0), 6, 0.5)
        result = heldout(Problem.of(cube), exact_tree, "repetitions", 4)
        assert result.mean > 1
        assert result.floor is not None
        assert result.floor[:4] == pytest.approx(result.figures[:4])

    def test_halves_differ_and_are_the_same_each_time(self) -> None:
        cube = with_samples(synthetic_cube(2, 2, 3, 0), 12, 0.5)
        made, _ = folds_of(Problem.of(cube), "repetitions", 8)
        halves = [make().learn.slices[0].times().tolist() for make in made]
        assert halves == [make().learn.slices[0].times().tolist() for make in made]
        assert len({str(times) for times in halves}) == 8
        assert [make().name for make in made[:2]] == ["decided on odd repetitions", "decided on even repetitions"]
        assert np.allclose(halves[1], np.median(cube["sample"].values[..., 1::2], axis=-1))

    def test_lazy_samples_give_the_same(self) -> None:
        cube = with_samples(synthetic_cube(4, 5, 3, 0), 6, 0.5)
        lazy = Problem.of(cube.chunk(comm_size=2))
        assert heldout(lazy, exact_tree, "repetitions", 2).figures == (
            heldout(Problem.of(cube), exact_tree, "repetitions", 2).figures
        )

    def test_where_there_are_none_the_remedy_is_named(self) -> None:
        with pytest.raises(DecisionError, match="hold only their summary; load files that list every repetition"):
            heldout(Problem.of(synthetic_cube(3, 3, 2, 0)), exact_tree, "repetitions")
        with pytest.raises(DecisionError, match="a single repetition cannot be halved"):
            heldout(Problem.of(with_samples(synthetic_cube(3, 3, 2, 0), 1, 0.1)), exact_tree, "repetitions")


def test_several_settings_are_grown_at_once_for_each_fold() -> None:
    problem = Problem.of(synthetic_cube(6, 7, 4, 5))
    calls = []

    def grow_many(part: Problem) -> dict[int, DecisionFunction]:
        calls.append(part)
        return {depth: quadtree(part.single("quadtree").dmap, max_depth=depth) for depth in range(3)}

    many = heldout_many(problem, grow_many, "message_size", 4)
    assert len(calls) == 5  # four folds and the whole
    for depth in range(3):
        alone = heldout(
            problem, lambda part, d=depth: quadtree(part.single("quadtree").dmap, max_depth=d), "message_size", 4
        )
        assert many[depth].to_dict() == alone.to_dict()


def test_a_setting_that_some_fold_has_not_is_said() -> None:
    problem = Problem.of(synthetic_cube(4, 4, 3, 5))
    turns = iter(range(10))

    def grow_many(part: Problem) -> dict[str, DecisionFunction]:
        made = {"always": exact_tree(part)}
        return made if next(turns) == 1 else {**made, "sometimes": exact_tree(part)}

    many = heldout_many(problem, grow_many, "comm_size", 4)
    assert many["always"].notes == ()
    assert many["sometimes"].notes == ("made of 3 of 4 folds only",)
    assert many["sometimes"].unjudged == 4


def test_several_tables_are_left_out_together() -> None:
    time = np.random.default_rng(1).uniform(1, 2, (3, 5, 4, 2))
    problem = Problem.of(cube_of(time, range(2, 7), [1, 2, 4, 8]), ppn="all")
    ppn = Split((Test("ppn", 1),), (Leaf(0), Leaf(1)))
    result = heldout(problem, lambda part: DecisionFunction("bcast", part.methods, ppn), "comm_size", 2)
    chosen = np.stack([time[0, ..., 0], time[1, ..., 1]], axis=-1)
    assert result.mean == pytest.approx(np.mean(100 * (chosen / time.min(axis=0) - 1)))
    assert len(result.maps) == 2
    assert [table.attrs["ppn"] for table in result.maps] == [1, 2]


def test_it_can_be_stopped_and_tells_how_far_it_is() -> None:
    shares: list[float] = []

    def stop(share: float, words: str) -> None:
        shares.append(share)
        assert words
        if share >= 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        heldout(Problem.of(synthetic_cube(6, 7, 4, 5)), exact_tree, "message_size", 5, progress=stop)
    assert shares == pytest.approx([0, 1 / 6, 2 / 6, 3 / 6])


def test_constant_times_cost_nothing_and_json_holds_it_all() -> None:
    problem = Problem.of(cube_of(np.ones((1, 3, 3)), [1, 2, 3], [1, 2, 3]))
    result = heldout(problem, exact_tree)
    assert (result.mean, result.figures.p95, result.figures.max, result.figures.median) == (0, 0, 0, 0)
    data = result.to_dict()
    assert data["mean"] == 0
    assert data["in_sample"]["cells"] == 9
    assert len(data["folds"]) == 6
    assert data["floor"] is None


def test_small_maps_of_the_sample_data_are_judged_worse_than_they_look(fast_ethernet_bcast: xr.Dataset) -> None:
    """The exact tree costs nothing by the measurements it was made from; at sizes left out it does cost."""
    result = heldout(Problem.of(fast_ethernet_bcast), exact_tree)
    assert result.in_sample.max == 0
    assert result.mean > 1
    assert result.unjudged == 0


def test_what_was_not_decided_at_some_size_has_no_penalty_there() -> None:
    cube = cube_of([[[1.0, 1, 1]], [[2.0, 2, 2]]], [4], [1, 2, 4])
    (table,) = penalties_of_labels(Problem.of(cube.where(cube["message_size"] != 2)), Problem.of(cube))
    assert table["penalty"].values.tolist() == [[0.0, pytest.approx(np.nan, nan_ok=True), 0.0]]
    assert table["unmeasured"].values.tolist() == [[False, True, False]]


def test_nineteen_of_twenty_penalties_are_no_more_than_the_percentile() -> None:
    dims = ("comm_size", "message_size")
    table = xr.Dataset({"penalty": (dims, np.arange(1.0, 1001)[None]), "best": (dims, np.zeros((1, 1000), dtype=int))})
    assert summarise_all([table.assign_attrs(unmeasured=0)]).p95 == 950


def test_cells_that_nobody_measured_are_blank_on_the_map() -> None:
    cube = synthetic_cube(4, 5, 3, 0)
    cube["time"][:, 1, 2] = np.nan
    (table,) = heldout(Problem.of(cube), exact_tree, "lines", 2).maps
    assert np.argwhere(np.isnan(table["penalty"].values)).tolist() == [[1, 2]]
    assert np.argwhere(table["judged"].values == 0).tolist() == [[1, 2]]


def test_it_is_said_where_the_folds_grow_trees_of_another_size() -> None:
    times = np.random.default_rng(0).random((3, 6, 6))
    problem = Problem.of(cube_of(times, range(1, 7), range(1, 7)))
    held = heldout(problem, exact_tree, grown=DecisionFunction("bcast", problem.methods, Leaf(0)))
    assert "the tree has 1 leaf, those of its folds" in held.notes[-1]
    assert not any("of its folds" in note for note in heldout(problem, exact_tree).notes)
