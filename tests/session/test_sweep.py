"""Quadtrees over one of their options: Figures 6.10 and 6.11."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import OptionError, decision_map, quadtree, statistics
from dashboard.session.choice import Choice
from dashboard.session.prepared import prepare
from dashboard.session.sweep import sweep
from tests.cubes import cube_of, synthetic_cube

CUBE = synthetic_cube(9, 20, 6, 3, missing=0.1)
COLUMNS = ("depth_max", "depth_mean", "leaves", "nodes", "penalty_mean", "penalty_max", "penalty_median")


@pytest.mark.parametrize(("along", "option", "last"), [("depth", "max_depth", 5), ("threshold", "threshold", 1)])
def test_it_ends_at_the_exact_tree(along: str, option: str, last: int) -> None:
    swept = sweep(prepare(CUBE), along)
    assert tuple(swept) == (option, *COLUMNS)
    assert swept[option].iloc[-1] == last
    assert swept["leaves"].is_monotonic_increasing
    assert swept["penalty_max"].iloc[-1] == 0


def test_each_row_is_the_tree_of_its_options() -> None:
    row = sweep(prepare(CUBE), "depth", Choice.of("quadtree", {"threshold": 0.8})).iloc[3]
    figures = statistics(CUBE, quadtree(decision_map(CUBE), max_depth=3, threshold=0.8))
    assert row["leaves"] == figures["leaves"]
    assert row["depth_mean"] == figures["depth"]["mean"]
    assert row["penalty_mean"] == figures["penalty"]["mean"]


def test_settings_can_be_chosen() -> None:
    swept = sweep(prepare(CUBE), "threshold", Choice.of("quadtree", {"max_depth": 2}), [0.5, 1.0])
    assert swept["threshold"].tolist() == [0.5, 1.0]
    assert swept["depth_max"].max() <= 2
    with pytest.raises(OptionError, match="threshold is 50"):
        sweep(prepare(CUBE), "threshold", settings=[50])


def test_one_ppn_is_swept() -> None:
    cube = cube_of(np.random.default_rng(0).random((3, 4, 5, 2)) + 1, [2, 3, 4, 5], [1, 2, 3, 4, 5])
    for ppn in (1, 2):
        last = sweep(prepare(cube, ppn=ppn), "depth").iloc[-1]
        assert (last["penalty_max"], last["max_depth"]) == (0, 3)


def test_of_the_broadcast_on_fast_ethernet_it_goes_from_one_method_for_all_to_exact(
    fast_ethernet_bcast: xr.Dataset,
) -> None:
    swept = sweep(prepare(fast_ethernet_bcast), "depth")
    assert swept["max_depth"].tolist() == [0, 1, 2, 3, 4, 5]
    assert swept["leaves"].tolist() == [1, 4, 16, 46, 145, 397]
    assert swept["penalty_mean"].round(2).iloc[[3, 4, 5]].tolist() == [10.76, 5.30, 0.0]
