"""The state and its trees: which is asked for, which is shown, and what they are grown from."""

import numpy as np
import pandas as pd
import pytest

from dashboard.decisions import decision_map
from dashboard.session.choice import Choice
from dashboard.session.state import State
from tests.cubes import cube_of, synthetic_cube
from tests.states import sample_state, state_of


def test_options_of_a_family_are_kept_when_another_is_chosen(state: State) -> None:
    state.choose(Choice.of("cart", {"max_leaves": 5}))
    state.family = "quadtree"
    assert state.choice().options == {"max_depth": 3, "threshold": 1.0}
    state.family = "cart"
    assert state.choice() == Choice.of("cart", {"max_leaves": 5})
    assert state.view.decision().leaves == 5


def test_a_quadtree_is_chosen_through_its_sliders(state: State) -> None:
    state.choose(Choice.of("quadtree", {"max_depth": 2, "threshold": 0.5}))
    assert (state.max_depth, state.limit_depth, state.threshold) == (2, True, 0.5)
    state.choose(Choice.of("quadtree"))
    assert (state.limit_depth, state.view.decision().leaves) == (False, 397)


def test_where_trees_are_deferred_the_last_one_is_shown_until_the_new_one_is_there(state: State) -> None:
    state.deferred = True
    state.max_depth = 4
    before = state.view.decision()
    state.choose(Choice.of("cart", {"max_leaves": 17}))
    wanted = state.choice()
    assert not state.view.ready(wanted)
    assert state.view.decision() is before
    grown = state.view.job(wanted)(None)
    state.settle(wanted, grown, state.view.data_key)
    assert state.shown == wanted
    assert state.view.decision() is grown


def test_a_tree_of_other_measurements_is_never_shown(state: State) -> None:
    state.deferred = True
    state.choose(Choice.of("cart", {"max_leaves": 19}))
    wanted, key = state.choice(), state.view.data_key
    grown = state.view.job(wanted)(None)
    state.collective = "reduce"
    state.settle(wanted, grown, key)
    assert state.view.decision() is None or state.view.decision().collective == "reduce"
    assert state.view.penalty() is None or state.shown != wanted


def test_an_address_brings_the_tree_back(state: State) -> None:
    state.choose(Choice.of("cart", {"max_leaves": 7, "attributes": ("comm_size", "total_size")}))
    state.param.update(other=Choice.of("cart", {"max_leaves": 3}), ties="simplest", outliers=True, together=("reduce",))
    other = sample_state()
    assert other.from_query(state.to_query()) == []
    assert (other.choice(), other.other, other.shown) == (state.choice(), state.other, state.choice())
    assert (other.ties, other.outliers, other.together) == ("simplest", True, ("reduce",))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tree", "forest"),
        ("options", "leaves:2"),
        ("options", "alpha:0.5;max_leaves:0"),
        ("other", "cart?max_leaves:-1"),
        ("ties", "none"),
        ("together", "gather"),
        ("workload", "feed"),
    ],
)
def test_a_bad_tree_in_an_address_is_told(state: State, name: str, value: str) -> None:
    refused = state.from_query({"tree": "cart", "depth": "4", name: value})
    assert len(refused) == 1
    assert name in refused[0]
    assert state.max_depth == 4


def test_options_that_exclude_each_other_in_an_address_are_told(state: State) -> None:
    (refused,) = state.from_query({"tree": "optimal", "options": "leaves:5;max_depth:2"})
    assert "expected one of leaves, max_depth, price" in refused
    assert state.choice() == Choice.of("optimal")


def test_one_tree_for_all_processes_per_node_is_judged_at_the_one_on_show() -> None:
    time = np.random.default_rng(3).random((3, 4, 4, 2))
    state = state_of(bcast=cube_of(time, [2, 4, 8, 16], [1, 2, 4, 8]))
    state.param.update(across=True, family="octree", ppn=2)
    decision = state.view.decision()
    assert "ppn" in decision.attributes
    assert state.view.statistics()["penalty"]["max"] == 0
    assert (state.view.penalty()["chosen"].values == time[..., 1].argmin(axis=0)).all()
    state.ppn = 1
    assert (state.view.penalty()["chosen"].values == time[..., 0].argmin(axis=0)).all()


def test_collectives_decided_together_take_the_collective_as_attribute() -> None:
    state = state_of(bcast=synthetic_cube(4, 5, 3, seed=1, noise=1), reduce=synthetic_cube(4, 5, 3, seed=2, noise=1))
    state.param.update(together=("reduce",), family="cart")
    assert "collective" in state.view.decision().attributes
    assert "collective" in state.view.attributes()
    assert state.view.penalty()["best"].shape == (4, 5)


def test_a_workload_weighs_the_penalties() -> None:
    cube = synthetic_cube(3, 4, 3, seed=4, noise=1)
    state = state_of(bcast=cube)
    state.param.update(max_depth=0)
    call = {"collective": "bcast", "comm_size": 2, "message_size": int(cube["message_size"][1]), "calls": 5.0}
    state.weigh(pd.DataFrame([call]))
    cell = state.view.penalty()["penalty"].sel(comm_size=2, message_size=call["message_size"])
    assert state.view.statistics()["penalty"]["mean"] == pytest.approx(float(cell))
    assert any("5 calls" in remark for remark in state.view.remarks())
    state.weigh(None)
    assert state.view.remarks() == []


def test_outliers_are_left_out_only_when_asked_and_never_silently() -> None:
    time = np.ones((2, 2, 6)) * 1e-5 * 2.0 ** np.arange(6)
    time[1] *= 2
    time[0, :, 3] *= 50
    state = state_of(bcast=cube_of(time, [2, 4], 4 ** np.arange(6)))
    assert (state.view.decision_map()["best"].values[:, 3] == 1).all()
    assert state.view.remarks() == []
    state.outliers = True
    outliers = state.view.outliers()
    assert {3} <= {int(np.log2(size)) // 2 for size in outliers["message_size"]}
    assert np.isnan(state.view.cube()["time"].values[0, :, 3]).all()
    assert f"{len(outliers)} cells" in " ".join(state.view.remarks())


def test_ties_are_those_within_the_tolerance_or_of_the_test(state: State) -> None:
    assert (state.view.needed().tied[0] == (state.view.decision_map()["ties"].values > 1)).all()
    state.tolerance = 5
    dmap = decision_map(state.view.cube(), tolerance=5)
    assert (state.view.needed().tied[0] == (dmap["ties"].values > 1)).all()
    state.statistical = 0.05
    assert "test" in state.view.needed().tied[1]


def test_of_ties_the_simplest_may_be_learnt(state: State) -> None:
    state.param.update(tolerance=5, family="exact", ties="fastest")
    fastest = state.view.decision().leaves
    state.ties = "simplest"
    assert state.view.decision().leaves < fastest
    assert state.view.statistics()["penalty"]["max"] <= 5


def test_interpolated_times_are_learnt_and_marked_but_nothing_is_judged_by_them() -> None:
    time = synthetic_cube(3, 6, 3, seed=6, noise=0.3)["time"].values.copy()
    time[:, 1, 2] = np.nan
    state = state_of(bcast=cube_of(time, [2, 4, 8], 2 ** np.arange(6)))
    assert state.view.needed().estimated is None
    state.interpolate = True
    assert np.argwhere(state.view.needed().estimated).tolist() == [[1, 2]]
    assert np.isnan(state.view.penalty()["penalty"].values[1, 2])
    assert np.isfinite(state.view.penalty()["penalty"].values).sum() == 17
    assert "interpolated" in " ".join(state.view.remarks())


def test_all_approaches_stand_in_one_table_and_those_that_do_not_suit_say_why() -> None:
    state = state_of(bcast=synthetic_cube(4, 5, 3, seed=7, noise=1), reduce=synthetic_cube(4, 5, 3, seed=8, noise=1))
    choices = [Choice.of("exact"), Choice.of("cart", {"max_leaves": 2})]
    table = state.view.approaches_job(choices)(None)
    assert list(table["leaves"]) == [state.view.decision(choices[0]).leaves, 2]
    assert table["penalty_mean"].iloc[0] == 0
    assert (table["held_out"] >= 0).all()
    state.together = ("reduce",)
    table = state.view.approaches_job(choices)(None)
    assert table["told"].iloc[-1]
    assert table["leaves"].notna().sum() == 1


def test_what_is_decided_together_is_judged_over_all_of_it() -> None:
    time = np.random.default_rng(5).random((3, 4, 4, 2))
    state = state_of(bcast=cube_of(time, [2, 4, 8, 16], [1, 2, 4, 8]))
    assert state.view.map_summary() is None
    state.param.update(across=True, family="cart", ppn=1)
    state.choose(Choice.of("cart", {"max_leaves": 1}))
    per_ppn = []
    for ppn in (1, 2):
        state.ppn = ppn
        per_ppn.append(state.view.map_summary().mean)
    assert state.view.statistics()["penalty"]["mean"] == pytest.approx(np.mean(per_ppn))
