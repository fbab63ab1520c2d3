"""The state: what it shows, how choices follow the results, sessions apart, addresses."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.session.registry import Bounded, load_results, origin_of, register, results_by_digest
from dashboard.session.samples import sample_start
from dashboard.session.state import PAGES, State
from loaders import LoadError
from tests.cubes import synthetic_cube
from tests.states import sample_state


def tree_of(*collectives: str, seed: int = 1, ppn: bool = False) -> xr.DataTree:
    cubes = {}
    for name in collectives:
        cube = synthetic_cube(5, 6, 4, seed)
        if ppn:
            cube = xr.concat([cube, cube * 2], dim="ppn").assign_coords(ppn=[1, 4])
        cube.attrs["collective"] = name
        cubes[f"/{name}"] = cube
    return xr.DataTree.from_dict(cubes)


def test_a_new_state_has_nothing_to_decide_on() -> None:
    state = State()
    assert state.results is None
    view = state.view
    assert view.cube() is view.decision_map() is view.decision() is view.penalty() is view.statistics() is None
    assert view.sweeps() is None


def test_choices_of_one_session_are_not_seen_by_another(state: State) -> None:
    state.collective = "reduce"
    state.threshold = 0.5
    other = State()
    assert other.param.collective.objects == []
    assert other.collective is None
    assert other.threshold == 1.0
    assert State.param.collective.objects == []


def test_rules_are_written_for_the_library_that_was_measured(state: State) -> None:
    measured = tree_of("bcast")
    measured["bcast"].attrs["library"] = "MPICH"
    assert state.target == "openmpi"
    state.show(register(measured))
    assert (state.target, "target" in state.to_query()) == ("mpich", False)
    state.target = "openmpi"
    linked = State.of(register(measured))
    assert linked.from_query(state.to_query()) == []
    assert linked.target == "openmpi"
    # What was chosen stays.
    state.show(register(tree_of("reduce", seed=2)))
    assert state.target == "openmpi"
    state.target = "c"
    state.show(register(measured))
    assert state.target == "c"


def test_the_collective_with_most_methods_is_shown_first_and_point_to_point_is_not_decided_on(state: State) -> None:
    assert state.collective == "bcast"
    assert "pt2pt" in state.results.children
    assert state.param.collective.objects == ["allgather", "allreduce", "alltoall", "bcast", "reduce"]
    for name in state.param.collective.objects:
        assert state.view.measured(name).identical(state.results[name].to_dataset())


def test_the_sweeps_hold_the_current_choice(state: State) -> None:
    state.max_depth, state.threshold = 2, 0.5
    sweeps, statistics = state.view.sweeps(), state.view.statistics()
    depths = sweeps[0].set_index("max_depth")
    assert depths.loc[2, "leaves"] == statistics["leaves"]
    assert depths.loc[2, "penalty_mean"] == pytest.approx(statistics["penalty"]["mean"])


def test_two_sessions_share_results_and_what_was_computed(state: State) -> None:
    other = sample_state()
    assert other.view.cube() is state.view.cube()
    assert other.view.decision() is state.view.decision()


def test_shared_results_are_read_only(state: State) -> None:
    cube = state.view.cube()
    with pytest.raises(ValueError, match="read-only"):
        cube["time"].values[0, 0, 0] = 1.0


def test_watchers_see_new_results_as_a_whole() -> None:
    state = State()
    seen = []
    state.param.watch(
        lambda *_: seen.append((state.collective, list(state.results.children))), ["results", "collective"]
    )
    state.show(register(tree_of("bcast")))
    state.show(register(tree_of("scan", "reduce")))
    assert seen == [("bcast", ["bcast"]), ("scan", ["scan", "reduce"])]


def test_a_collective_that_new_results_have_too_stays_chosen() -> None:
    state = State.of(register(tree_of("bcast", "reduce")))
    state.collective = "reduce"
    state.show(register(tree_of("allreduce", "reduce", seed=2)))
    assert state.collective == "reduce"


def test_the_processes_per_node_are_those_of_the_results() -> None:
    state = State.of(register(tree_of("bcast", ppn=True)))
    assert state.param.ppn.objects == [None, 1, 4]
    state.ppn = 4
    cube, dmap = state.view.cube(), state.view.decision_map()
    assert dmap.attrs["ppn"] == 4
    assert dmap["best_time"].values == pytest.approx(cube["time"].sel(ppn=4).min("method").values)
    state.show(register(tree_of("bcast")))
    assert state.ppn is None


def test_a_pinned_cell_goes_with_the_sizes_that_have_it(state: State) -> None:
    state.pinned = (16, 393216)
    state.collective = "reduce"
    assert state.pinned == (16, 393216)
    state.collective = "alltoall"
    assert state.pinned is None


def test_files_that_cannot_be_loaded_leave_what_is_shown(state: State, tmp_path: Path) -> None:
    before = state.results_id
    (tmp_path / "empty.sko").write_text("")
    with pytest.raises(LoadError):
        state.load([tmp_path / "empty.sko"])
    assert state.results_id == before


def test_results_with_other_times_or_another_spread_have_another_digest() -> None:
    scattered = tree_of("bcast")
    scattered["bcast"]["time_std"] = scattered["bcast"]["time_std"] * 2
    first, again, *others = map(register, (tree_of("bcast"), tree_of("bcast"), tree_of("bcast", seed=2), scattered))
    assert first is again
    assert len({each.digest for each in (first, *others)}) == 3


def test_results_tell_of_the_files_they_were_loaded_from_last(tmp_path: Path) -> None:
    table, other = tmp_path / "bcast.csv", tmp_path / "notes.csv"
    table.write_text("collective,algorithm,comm_size,message_size,time\nbcast,linear,2,8,1e-5\n")
    other.write_text("nothing measured\n")
    alone, beside, again = (load_results(paths) for paths in ([table], [tmp_path], [table]))
    assert alone.digest == beside.digest == again.digest
    assert [len(each.sources) for each in (alone, beside, again)] == [1, 2, 1]
    assert results_by_digest(alone.digest) is again
    assert origin_of(alone.digest).paths == (str(table),)


def test_results_are_found_by_their_digest() -> None:
    results = register(tree_of("bcast"))
    assert results_by_digest(results.digest) is results
    assert results_by_digest("no such digest") is None


def test_changed_files_are_read_again(tmp_path: Path) -> None:
    start = sample_start()
    file = tmp_path / "bcast__linear__seg0.sko"
    shutil.copy(start.paths[0], file)
    first = load_results([file])
    assert load_results([file]) is first
    shutil.copy(start.paths[1], file)
    assert load_results([file]).digest != first.digest


def test_a_bounded_store_forgets_what_was_not_asked_for_longest() -> None:
    store: Bounded[int] = Bounded(items=2, size=100)
    store.put("a", 1)
    store.put("b", 2)
    store.get("a")
    store.put("c", 3)
    assert [store.get(key) for key in "abc"] == [1, None, 3]


@pytest.mark.parametrize("pack", [np.asarray, lambda array: {"first": array, "again": array}])
def test_a_bounded_store_keeps_to_its_bytes(pack: Callable[[np.ndarray], Any]) -> None:
    store: Bounded[Any] = Bounded(items=10, size=1400)
    for key in "abc":
        store.put(key, pack(np.zeros(60)))
    assert len(store) == 2
    store.put("large", pack(np.zeros(10_000)))
    assert len(store) == 1
    store.put("opaque", lambda: None)
    assert store.get("large") is None, "what cannot be looked through counts as large"


def test_an_address_brings_the_view_back(state: State) -> None:
    chosen = {"page": PAGES[1], "collective": "reduce", "max_depth": 5, "limit_depth": False, "threshold": 0.85}
    chosen |= {"tolerance": 2.5, "pinned": (8, 1024)}
    chosen |= {"compare": "campaigns", "against": "one-machine", "common": False}
    state.param.update(**chosen)
    other = sample_state()
    assert other.from_query(state.to_query()) == []
    assert other.to_query() == state.to_query()
    assert {name: getattr(other, name) for name in chosen} == chosen


def test_an_address_tells_only_what_differs(state: State) -> None:
    assert state.to_query() == {"collective": "bcast", "tree": "quadtree"}


def test_a_number_of_an_address_is_quoted_as_it_stands_there(state: State) -> None:
    assert state.from_query({"depth": -3.0}) == ["The address asks for depth = '-3'; possible are 0 to 12."]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("depth", "99"),
        ("depth", "deep"),
        ("threshold", "nan"),
        ("threshold", "1.5"),
        ("limit", "perhaps"),
        ("ppn", "4"),
        ("collective", "<b>bcast</b>"),
        ("page", "Admin"),
        ("tolerance", "-1"),
        ("pinned", "16"),
        ("pinned", "16,1025"),
        ("pinned", "1,2,3"),
    ],
)
def test_one_bad_value_of_an_address_does_not_touch_the_others(state: State, name: str, value: str) -> None:
    good = {"collective": "reduce", "depth": "4", "threshold": "0.9", "pinned": "8,1024", "page": "Data"}
    refused = state.from_query(good | {name: value})
    assert len(refused) == 1
    assert name in refused[0]
    query = state.to_query()
    assert {key: query.get(key) for key in good if key != name} == {key: good[key] for key in good if key != name}


def test_what_an_address_does_not_name_goes_to_its_default(state: State) -> None:
    state.max_depth = 7
    state.from_query({"threshold": "0.9"})
    assert (state.max_depth, state.threshold, state.collective) == (3, 0.9, "bcast")
