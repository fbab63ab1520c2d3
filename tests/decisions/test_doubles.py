"""A method that ran as another one wins no cell under its own name, and tells how much two measurements differ."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import decision_map, penalty, quadtree
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.doubles import as_run, competing, difference
from dashboard.decisions.measured.noise import indistinguishable
from dashboard.decisions.measured.problem import Problem
from loaders.cube import with_doubles
from tests.cubes import cube_of


@pytest.fixture
def cube() -> xr.Dataset:
    # Methods 0 and 2 ran the same program at the smaller size; there 2 took 20 % less time.
    time = np.array([[[1.0, 4.0]], [[3.0, 2.0]], [[0.8, 5.0]]])
    made = cube_of(time, [8], [4, 64])
    labels = [str(label) for label in made["method"].values]
    return with_doubles(made, [[[0, 0]], [[0, 0]], [[1, 0]]], ["", labels[0]])


def test_the_true_method_wins_and_the_double_keeps_its_time(cube: xr.Dataset) -> None:
    dmap = decision_map(cube)
    assert dmap["best"].values.tolist() == [[0, 1]]
    assert dmap["best_time"].values.tolist() == [[1.0, 2.0]]
    assert dmap["measured"].values.tolist() == [[2, 3]]
    assert float(cube["time"][2, 0, 0]) == 0.8
    assert decision_map(cube.drop_vars("double_of"))["best"].values.tolist() == [[2, 1]]


def test_the_double_is_not_tied_with_the_best(cube: xr.Dataset) -> None:
    tied = indistinguishable(cube)["tied"].values
    assert tied[:, 0, 0].tolist() == [True, False, False]


def test_who_chooses_the_double_gets_what_ran(cube: xr.Dataset) -> None:
    alone = quadtree(decision_map(cube.isel(method=[2]).drop_vars("double_of")))
    lost = penalty(cube, alone)["penalty"].values
    assert lost[0].tolist() == pytest.approx([0.0, 150.0])


def test_the_noise_is_the_difference_of_two_measurements_of_one_program(cube: xr.Dataset) -> None:
    noise = difference(cube)
    labels = [str(label) for label in cube["method"].values]
    assert (noise["cells"], noise["pairs"]) == (1, 1)
    assert noise["median"] == pytest.approx(20.0)
    assert noise["methods"] == [{"method": labels[2], "double_of": labels[0], "cells": 1}]
    assert difference(cube.drop_vars("double_of"))["median"] is None


def test_without_doubles_the_cube_is_as_it_was(cube: xr.Dataset) -> None:
    plain = cube.drop_vars("double_of")
    assert competing(plain) is plain


def test_of_what_ran_and_its_double_trees_take_what_ran_wherever_it_stands(cube: xr.Dataset) -> None:
    # The double stands first.
    first = cube.isel(method=[2, 1, 0])
    for tree in (FAMILIES["cart"].grow(Problem.of(first)), FAMILIES["optimal"].grow(Problem.of(first), leaves=2)):
        assert tree.methods[tree.predict_one(8, 4)].label == str(first["method"].values[2])


def test_trees_that_go_by_cost_take_what_ran(cube: xr.Dataset) -> None:
    problem = Problem.of(cube)
    assert (problem.cases().costs()[~np.isnan(problem.cases().costs())] >= 0).all()
    for family, options in (("optimal", {"leaves": 2}), ("cart", {"cost_sensitive": True})):
        decision = FAMILIES[family].grow(problem, **options)
        assert decision.predict(np.array([8, 8]), np.array([4, 64])).tolist() == [0, 1]


def test_a_double_of_what_is_not_there_counts_as_not_measured(cube: xr.Dataset) -> None:
    part = cube.isel(method=[1, 2])
    assert np.isnan(as_run(part)["time"].values[1, 0, 0])
    assert decision_map(part)["best"].values.tolist() == [[0, 0]]
