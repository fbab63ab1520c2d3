"""Methods that are left out."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import NothingMeasuredError, decision_map, quadtree
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.selection import WITHOUT, left_out, selectable, without_methods, yardstick
from dashboard.export import to_c
from tests.cubes import method_names, synthetic_cube

CUBE = synthetic_cube(6, 8, 12, seed=3)
LABELS = [label for label, _, _ in method_names(12)]
SEVERAL = next(name for name in (algorithm for _, algorithm, _ in method_names(12)) if f"{name} *" in selectable(CUBE))


def test_an_algorithm_with_several_methods_can_be_named_as_a_whole() -> None:
    own = [label for label, algorithm, _ in method_names(12) if algorithm == SEVERAL]
    assert len(own) > 1
    assert selectable(CUBE)[f"{SEVERAL} *"] == len(own)
    assert left_out(CUBE, [f"{SEVERAL} *"]) == own
    assert set(LABELS) < set(selectable(CUBE))


def test_what_is_left_out_is_never_chosen_and_the_next_best_is() -> None:
    best = decision_map(CUBE)["best"].values
    most = LABELS[int(np.bincount(best.ravel()).argmax())]
    rest = without_methods(CUBE, [most])
    assert most not in rest["method"].values
    chosen = decision_map(rest)
    times = CUBE["time"].drop_sel(method=most).min("method")
    np.testing.assert_array_equal(chosen["best_time"].values, times.transpose(*chosen["best_time"].dims).values)
    assert most not in quadtree(chosen).to_text()
    assert f"Methods left out: {most}." in to_c(quadtree(chosen))
    assert "Methods left out" not in to_c(quadtree(decision_map(CUBE)))


def test_a_method_that_ran_as_one_that_is_left_out_is_not_chosen_either() -> None:
    # The first is the fastest everywhere, and the second ran as the first.
    cube = CUBE.assign(time=CUBE["time"].copy(data=CUBE["time"].values + 1.0))
    cube["time"][{"method": [0, 1]}] = 1e-6
    number = np.full(cube["time"].shape, -1)
    number[cube["time"].get_axis_num("method") * (slice(None),) + (1,)] = 0
    cube["double_of"] = (cube["time"].dims, number, {"methods": LABELS})
    dmap = decision_map(without_methods(cube, [LABELS[0]]))
    assert LABELS[1] not in {str(dmap["method"].values[at]) for at in np.unique(dmap["best"].values)}


def test_unknown_names_change_nothing_and_all_names_leave_nothing() -> None:
    assert without_methods(CUBE, ["nobody", "nobody *"]) is CUBE
    with pytest.raises(NothingMeasuredError):
        Problem.of(without_methods(CUBE, LABELS))


def test_methods_are_offered_in_the_order_of_their_sizes(fast_ethernet_bcast: xr.Dataset) -> None:
    names = [name for name in selectable(fast_ethernet_bcast) if name.startswith("binomial")]
    assert names == ["binomial *", "binomial", "binomial 1KiB", "binomial 8KiB", "binomial 16KiB"]


def test_what_any_of_several_tables_lacks_is_left_out_of_them_all() -> None:
    cubes = {"bcast": synthetic_cube(3, 4, 3, 1), "reduce": synthetic_cube(3, 4, 2, 2)}
    chosen = {name: without_methods(cube, ["binary"]) for name, cube in cubes.items()}
    assert WITHOUT not in chosen["reduce"].attrs
    facts = Problem.of(chosen).provenance
    assert facts[WITHOUT] == "binary"
    assert yardstick(facts) == "best of the methods not left out"
    assert yardstick(Problem.of(cubes).provenance) == "best measured method"


def test_an_algorithm_with_a_single_method_is_named_by_it_alone() -> None:
    assert selectable(synthetic_cube(2, 2, 2, seed=3)) == {"linear": 1, "binomial": 1}
