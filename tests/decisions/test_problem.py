"""Problems: what ways of deciding are given, as tables of sizes and as training cases."""

import itertools
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import (
    DecisionError,
    DecisionFunction,
    Leaf,
    NothingMeasuredError,
    OptionError,
    Split,
    Test,
    decision_map,
    methods_of,
    penalty,
    quadtree,
    summarise,
)
from dashboard.decisions.judged.penalty import summarise_all
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.counted import counted
from tests.cubes import cube_of, synthetic_cube
from tests.decisions.trees import values_of

NAN = np.nan


def two_ppn() -> xr.Dataset:
    """Two methods at 1 and 2 processes per node; nothing measured in one cell of the first."""
    times = np.array([[[[1.0, 4.0], [5.0, 6.0]]], [[[2.0, 3.0], [4.0, 7.0]]]])
    times[:, 0, 1, 0] = NAN
    return cube_of(times, [4], [8, 16])


def bcast_and_reduce() -> dict[str, xr.Dataset]:
    bcast, reduce = synthetic_cube(4, 6, 5, 1, missing=0.3), synthetic_cube(3, 5, 7, 2)
    return {"bcast": bcast, "reduce": reduce.assign_attrs(collective="reduce")}


def filled(cube: xr.Dataset) -> np.ndarray:
    """Times with what is missing as it counts."""
    return counted(cube["time"].values, cube["comm_size"].values, cube["message_size"].values)


class TestOneTable:
    @given(st.integers(0, 50), st.floats(0, 0.9))
    def test_each_measured_cell_is_one_case(self, seed: int, missing: float) -> None:
        cube = synthetic_cube(4, 6, 5, seed, missing=missing)
        cases = Problem.of(cube).cases()
        times = filled(cube)
        measured = cube["time"].values
        expected = []
        for row, column in itertools.product(range(4), range(6)):
            if np.isnan(times[:, row, column]).all():
                continue
            sizes = int(cube["comm_size"][row]), int(cube["message_size"][column])
            expected.append(
                (sizes, int(np.nanargmin(measured[:, row, column])), times[:, row, column], (0, row, column))
            )
        assert [tuple(values) for values in cases.values.tolist()] == [sizes for sizes, *_ in expected]
        assert cases.best.tolist() == [best for _, best, *_ in expected]
        np.testing.assert_array_equal(cases.times, [times for *_, times, _ in expected])
        assert [tuple(where) for where in cases.where.tolist()] == [where for *_, where in expected]
        assert cases.weights.tolist() == [1.0] * len(cases)
        assert (cases.attributes, cases.methods) == (("comm_size", "message_size"), methods_of(cube))

    def test_costs_are_penalties_of_each_method_in_percent(self) -> None:
        cube = cube_of([[[1.0, 4.0]], [[2.0, 2.0]], [[NAN, 3.0]]], [4], [1, 2])
        costs = Problem.of(cube).cases().costs()
        np.testing.assert_allclose(costs, [[0.0, 100.0, 60.0], [100.0, 0.0, 50.0]])
        for method in range(3):
            decision = DecisionFunction("bcast", methods_of(cube), Leaf(method))
            np.testing.assert_allclose(penalty(cube, decision)["penalty"].values.ravel(), costs[:, method])

    def test_attributes_that_follow_from_the_sizes_are_columns(self) -> None:
        names = ("power_of_two", "total_size", "even", "message_size", "comm_size")
        cases = Problem.of(synthetic_cube(9, 5, 2, 3)).cases(names)
        for values in cases.values.tolist():
            row = dict(zip(names, values, strict=True))
            known = values_of(row["comm_size"], row["message_size"])
            assert row == {name: known[name] for name in names}

    def test_the_map_given_is_taken(self) -> None:
        cube = synthetic_cube(4, 6, 5, 1)
        dmap = decision_map(cube)
        assert Problem.of(cube, dmap=dmap).slices[0].dmap is dmap

    def test_dimensions_in_another_order_are_the_same_problem(self) -> None:
        cube = synthetic_cube(4, 6, 5, 1, missing=0.2)
        turned = cube.transpose("message_size", "method", "comm_size")
        first, second = Problem.of(cube).cases(), Problem.of(turned).cases()
        for name in ("values", "best", "times", "where"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))

    def test_penalties_and_summary_are_those_of_the_cube(self) -> None:
        cube = synthetic_cube(4, 6, 5, 1, missing=0.4)
        decision = quadtree(decision_map(cube), max_depth=1)
        problem = Problem.of(cube)
        (table,) = problem.penalties(decision)
        xr.testing.assert_identical(table, penalty(cube, decision))
        assert problem.summary(decision) == summarise(table)
        assert problem.single("a quadtree").cube is cube


class TestBadInput:
    def test_nothing_measured(self) -> None:
        with pytest.raises(NothingMeasuredError, match="nothing is measured"):
            Problem.of(cube_of([[[NAN]]], [4], [8]))
        with pytest.raises(NothingMeasuredError, match="no collective"):
            Problem.of({})

    @pytest.mark.parametrize("time", [-1.0, 0.0, np.inf])
    def test_times_that_are_no_durations_are_refused(self, time: float) -> None:
        with pytest.raises(DecisionError, match="above 0 s"):
            Problem.of(cube_of([[[time, 1.0]]], [4], [8, 16]))

    @pytest.mark.parametrize(("name", "words"), [("ppn", "do not say it"), ("collective", "decided together")])
    def test_attributes_that_are_not_known_of_the_results(self, name: str, words: str) -> None:
        with pytest.raises(DecisionError, match=words):
            Problem.of(synthetic_cube(2, 3, 2, 1)).cases(("comm_size", name))

    @pytest.mark.parametrize("labels", [[[0, 1, 0]], [[0, 2]], [[0, -1]]])
    def test_labels_that_do_not_fit(self, labels: Any) -> None:
        problem = Problem.of(cube_of([[[1.0, 2.0]], [[2.0, 1.0]]], [4], [8, 16]))
        with pytest.raises(DecisionError, match="labels"):
            problem.relabelled([labels])
        with pytest.raises(DecisionError, match="2 slices"):
            problem.relabelled([[[0, 1]], [[0, 1]]])

    def test_one_map_for_several_tables(self) -> None:
        with pytest.raises(DecisionError, match="one decision map is given for 2"):
            Problem.of(two_ppn(), ppn="all", dmap=decision_map(two_ppn(), ppn=1))


class TestProcessesPerNode:
    def test_all_of_them_are_slices(self) -> None:
        problem = Problem.of(two_ppn(), ppn="all")
        assert [part.given for part in problem.slices] == [{"ppn": 1}, {"ppn": 2}]
        cases = problem.cases(("message_size", "ppn"))
        assert cases.values.tolist() == [[8, 1], [8, 2], [16, 2]]
        assert cases.best.tolist() == [0, 1, 0]
        assert cases.where.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1]]
        assert problem.provenance["ppns"] == [1, 2]
        assert problem.provenance["cells"] == 3
        assert "ppn" not in problem.provenance

    def test_one_of_them_is_one_slice(self) -> None:
        assert Problem.of(two_ppn(), ppn=1).slices[0].given == {"ppn": 1}
        assert Problem.of(two_ppn()).slices[0].given == {"ppn": 2}  # most measured cells
        with pytest.raises(OptionError, match="1, 2 processes per node"):
            Problem.of(two_ppn(), ppn=3)

    def test_all_of_results_without_them_is_the_one_table(self) -> None:
        assert [part.given for part in Problem.of(synthetic_cube(2, 3, 2, 1), ppn="all").slices] == [{}]

    def test_a_decision_over_sizes_only_names_what_there_is(self) -> None:
        with pytest.raises(OptionError, match=r"a quadtree decides .* 2 tables \(processes per node: 1, 2\); .*--ppn"):
            Problem.of(two_ppn(), ppn="all").single("a quadtree")

    def test_penalties_of_each_are_its_own(self) -> None:
        problem = Problem.of(two_ppn(), ppn="all")
        decision = DecisionFunction("bcast", problem.methods, Split((Test("ppn", 1),), (Leaf(0), Leaf(1))))
        first, second = problem.penalties(decision)
        np.testing.assert_array_equal(first["penalty"].values, [[0.0, NAN]])
        np.testing.assert_allclose(second["penalty"].values, [[0.0, 100 / 6]])
        assert problem.summary(decision).mean == pytest.approx(100 / 18)

    def test_those_where_nothing_is_measured_are_no_slice(self) -> None:
        cube = two_ppn()
        cube["time"][..., 0] = NAN
        assert [part.given for part in Problem.of(cube, ppn="all").slices] == [{"ppn": 2}]


class TestCombined:
    def test_methods_are_joined_by_label(self) -> None:
        cubes = bcast_and_reduce()
        problem = Problem.of(cubes)
        labels = [method.label for method in problem.methods]
        assert len(labels) == len(set(labels)) == 7
        assert problem.collective == "bcast+reduce"
        assert problem.categories == {"collective": ("bcast", "reduce")}
        for part, cube in zip(problem.slices, cubes.values(), strict=True):
            assert [labels[place] for place in part.methods] == cube["method"].values.tolist()

    def test_times_stand_with_their_own_method(self) -> None:
        cubes = bcast_and_reduce()
        cases = Problem.of(cubes).cases(("collective", "comm_size", "message_size"))
        cubes = {name: cube.assign(time=(cube["time"].dims, filled(cube))) for name, cube in cubes.items()}
        for (collective, p, m), times in zip(cases.values.tolist(), cases.times, strict=True):
            cube = cubes[cases.categories["collective"][collective]].sel(comm_size=p, message_size=m)
            known = dict(zip(cube["method"].values.tolist(), cube["time"].values.tolist(), strict=True))
            np.testing.assert_equal(times.tolist(), [known.get(method.label, NAN) for method in cases.methods])

    def test_the_name_given_counts_and_not_the_cube_s_own(self) -> None:
        """Results copied under another name must not be decided as what they were copied from."""
        cubes = {name: cube_of([[[1.0]], [[2.0]]], [4], [8]) for name in ("bcast", "reduce")}
        cubes["reduce"] = cube_of([[[2.0]], [[1.0]]], [4], [8])
        problem = Problem.of(cubes)
        root = Split((Test("collective", 0),), (Leaf(0), Leaf(1)))
        decision = DecisionFunction("both", problem.methods, root, categories=problem.categories)
        assert problem.summary(decision).max == 0

    def test_parameters_that_differ_are_left_out(self) -> None:
        bcast = cube_of([[[1.0]]], [4], [8]).assign_coords(fanout=("method", [2]), library_id=("method", [3]))
        reduce = bcast.assign_coords(library_id=("method", [5])).assign_attrs(collective="reduce")
        (method,) = Problem.of({"bcast": bcast, "reduce": reduce}).methods
        assert method.parameters == {"fanout": 2}

    def test_provenance_is_what_all_share(self) -> None:
        cubes = bcast_and_reduce()
        cubes["reduce"].attrs["digest"] = "1" * 16
        known = Problem.of(cubes).provenance
        assert known["system"] == "synthetic"
        assert known["collectives"] == ["bcast", "reduce"]
        assert (known["comm_size"], known["message_size"]) == ([2, 5], [1, 32])
        assert "digest" not in known


class TestWeights:
    cube = cube_of([[[2.0, 3.0], [1.0, 1.0]], [[1.0, 1.0], [2.0, 1.0]]], [4, 8], [1, 2])

    def test_they_go_with_the_cases_and_into_the_summary(self) -> None:
        weights = [[3, 1], [0, 0]]
        problem = Problem.of(self.cube, weights=weights)
        assert problem.cases().weights.tolist() == [3.0, 1.0, 0.0, 0.0]
        decision = DecisionFunction("bcast", problem.methods, Leaf(0))
        assert problem.summary(decision) == summarise(penalty(self.cube, decision, weights=weights))
        assert problem.summary(decision).mean == 125.0

    @pytest.mark.parametrize("weights", [[[1, 2]], [[1, -1], [1, 1]], [[NAN, 1], [1, 1]], [[0, 0], [0, 0]]])
    def test_those_that_make_no_sense_are_refused(self, weights: Any) -> None:
        with pytest.raises(DecisionError, match="weights"):
            Problem.of(self.cube, weights=weights)

    def test_a_collective_that_is_never_called_counts_nothing(self) -> None:
        cubes = {"bcast": self.cube, "reduce": self.cube.assign_attrs(collective="reduce")}
        decision = DecisionFunction("both", Problem.of(cubes).methods, Leaf(0))
        weights = {"bcast": np.ones((2, 2)), "reduce": np.zeros((2, 2))}
        plain = Problem.of(self.cube).summary(DecisionFunction("bcast", methods_of(self.cube), Leaf(0)))
        assert Problem.of(cubes, weights=weights).summary(decision) == plain
        # A workload that does not name a collective does not call it.
        assert Problem.of(cubes, weights={"bcast": np.ones((2, 2))}).summary(decision) == plain
        with pytest.raises(DecisionError, match="weights of recude"):
            Problem.of(cubes, weights={"recude": np.ones((2, 2))})


class TestRelabelled:
    def test_trees_learn_the_new_labels_but_penalties_stay(self) -> None:
        cube = cube_of([[[1.0, 2.0]], [[1.5, 1.0]]], [4], [8, 16])
        problem = Problem.of(cube)
        again = problem.relabelled([[[1, 1]]])
        assert (problem.cases().best.tolist(), again.cases().best.tolist()) == ([0, 1], [1, 1])
        assert again.cases().costs().tolist() == problem.cases().costs().tolist()
        decision = DecisionFunction("bcast", problem.methods, Leaf(1))
        assert again.summary(decision) == problem.summary(decision)
        assert again.summary(decision).max == 50.0

    def test_labels_are_the_cube_s_indices_in_each_slice(self) -> None:
        problem = Problem.of(bcast_and_reduce())
        same = problem.relabelled([part.dmap["best"].values for part in problem.slices])
        np.testing.assert_array_equal(same.cases().best, problem.cases().best)


@given(st.integers(0, 30))
def test_summing_up_several_tables_is_summing_up_all_their_cells(seed: int) -> None:
    """Cells side by side in one table and in two tables are the same cells."""
    cube = synthetic_cube(4, 6, 5, seed)
    decision = DecisionFunction("bcast", methods_of(cube), Leaf(0))
    weights = np.random.default_rng(seed).integers(1, 5, (4, 6))
    halves = [slice(0, 2), slice(2, 4)]
    for given_weights in (None, weights):
        tables = [
            penalty(cube.isel(comm_size=rows), decision, weights=None if given_weights is None else given_weights[rows])
            for rows in halves
        ]
        expected = summarise(penalty(cube, decision, weights=given_weights))
        assert summarise_all(tables) == pytest.approx(expected, nan_ok=True)
