"""Trees of any family over the sizes between: what they learn, and what that is worth at sizes nobody measured."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dashboard.decisions.judged.frontier import frontier
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.dense import with_sizes_between
from dashboard.session.prepared import Choice, Prepared, prepare
from dashboard.session.treatment import Workload
from tests.cubes import cube_of

CUBE = cube_of([[[1e-6, 4e-6], [2e-6, 8e-6]], [[3e-6, 3e-6], [3e-6, 3e-6]]], [2, 6], [16, 256])


def test_times_between_are_on_straight_lines_and_measured_ones_stay() -> None:
    dense, weights = with_sizes_between(Problem.of(CUBE).slices[0])
    assert dense["comm_size"].values.tolist() == [2, 3, 4, 5, 6]
    assert dense["message_size"].values.tolist() == [16, 32, 64, 128, 256]
    chosen = {name: CUBE[name] for name in ("comm_size", "message_size")}
    assert (dense.sel(chosen)["time"] == CUBE["time"]).all()
    assert dense["time"].sel(comm_size=2, message_size=64).values == pytest.approx([2e-6, 3e-6])
    assert int(dense["predicted"].sum()) == dense["time"].size - CUBE["time"].size
    assert dense.attrs["surfaces"].startswith("42 times at 5 × 5 sizes")
    assert (weights == 1).all()


def test_sizes_between_share_the_calls_of_a_workload() -> None:
    calls = pd.DataFrame({"collective": "bcast", "comm_size": [2, 6], "message_size": [16, 256], "calls": [8.0, 24.0]})
    (part,) = prepare(CUBE, surfaces=True, workload=Workload.of(calls)).learnt.slices
    assert part.weights is not None
    assert (part.weights.shape, part.weights.sum()) == ((5, 5), pytest.approx(32))


def held_out(prepared: Prepared, tree: str, **options: int) -> float:
    return prepared.held_out(Choice.of(tree, options)).within.mean


@pytest.mark.parametrize(("collective", "part"), [("bcast", 0.55), ("allreduce", 0.2)])
@pytest.mark.parametrize("tree", ["c45", "quadtree"])
def test_what_is_lost_at_sizes_left_out_falls(
    collective: str, part: float, tree: str, fast_ethernet: xr.DataTree
) -> None:
    """Issue K's table: 5.56 to 2.84 % of bcast; allreduce needs curves of powers of two and of others."""
    cube = fast_ethernet[collective].to_dataset()
    plain, dense = (held_out(prepare(cube, surfaces=chosen), tree) for chosen in (False, True))
    assert dense < part * plain


def test_nothing_is_judged_by_what_is_predicted() -> None:
    """The first method is the faster up to 144 bytes at 2 processes, between the measured 16 and 256."""
    plain, dense = (prepare(CUBE, surfaces=chosen).decide("c45", min_cases=1, pruned=False) for chosen in (False, True))
    assert [each.decision.predict_one(2, 128) for each in (plain, dense)] == [1, 0]
    assert dense.prepared.learnt.slices[0].cube.sizes["comm_size"] == 5
    assert dense.penalties[0]["penalty"].shape == (2, 2)
    dense.prepared.work_out(lambda *_: None)
    assert "predicted for deciding, not for judging: 42 times" in " ".join(dense.prepared.remarks)


def test_the_recommended_tree_predicts_by_itself() -> None:
    plain, dense = (prepare(CUBE, surfaces=chosen) for chosen in (False, True))
    decided, again = (each.decide("recommended") for each in (plain, dense))
    assert again.decision.root == decided.decision.root
    assert again.decision.provenance == decided.decision.provenance
    assert again.counts(again.decision) == decided.counts(decided.decision)
    # On the frontier, too.
    first, second = (
        frontier(each.problem, families=["recommended"], prepare=each.learn).decisions for each in (plain, dense)
    )
    assert all(any(tree.root == known.root for known in first) for tree in second)


def test_a_method_that_ran_as_another_wins_no_size_between_either() -> None:
    """The second one is said to have run as the first, in a little less time."""
    time = CUBE["time"].values.copy()
    time[1] = 0.9 * time[0]
    double = CUBE.assign(time=(CUBE["time"].dims, time), double_of=(CUBE["time"].dims, np.full(time.shape, -1)))
    double["double_of"][1] = 0
    double["double_of"].attrs["methods"] = [str(CUBE["method"].values[0])]
    (part,) = prepare(double, surfaces=True).learnt.slices
    assert part.labels.shape == (5, 5)
    assert (part.labels == 0).all()


def test_repetitions_of_sizes_between_take_no_room() -> None:
    sample = np.ones((2, 2, 2, 50)) * CUBE["time"].values[..., None]
    cube = CUBE.assign(sample=((*CUBE["time"].dims, "repetition"), sample))
    dense, _ = with_sizes_between(Problem.of(cube).slices[0])
    assert dense["sample"].chunks is not None
    assert dense["sample"].sel(comm_size=6, message_size=256).values.shape == (2, 50)
