"""Two campaigns side by side."""

import xarray as xr

from dashboard.pages.compare.campaigns import CampaignsView
from dashboard.session.choice import Choice
from dashboard.session.recipes import as_command
from dashboard.session.registry import load_results, register
from dashboard.session.samples import sample_start
from dashboard.session.state import State
from tests.cli.command import Run
from tests.cubes import opposed_cubes, synthetic_cube


def campaign(seed: int, system: str, **attrs: str) -> xr.DataTree:
    cube = synthetic_cube(6, 9, 4, seed=seed).assign_attrs(collective="bcast", system=system, **attrs)
    return xr.DataTree.from_dict({"/bcast": cube})


def shown(*trees: xr.DataTree) -> tuple[State, CampaignsView]:
    state = State(page="Compare")
    for tree in trees:
        state.show(register(tree))
    view = CampaignsView(state)
    view.visible = True
    view.follow()
    return state, view


def test_a_single_campaign_can_be_set_beside_a_sample_which_its_address_names() -> None:
    state, view = shown(campaign(1, "frodo"))
    assert "loaded on the page [Data](?page=Data)" in view.message.object
    assert not view.body.visible
    view.other.value = view.other.options["sample: Fast Ethernet, our own benchmark"]
    assert view.body.visible
    assert "On A the decision of B" in view.penalties.object
    stranger = State.of(register(campaign(1, "frodo")))
    assert not stranger.from_query(state.to_query())
    assert stranger.against == "fast-ethernet-own"


def test_the_other_is_chosen_among_those_loaded_in_this_session() -> None:
    state, view = shown(campaign(1, "frodo"), campaign(2, "grig"))
    titles = [title for title, digest in view.other.options.items() if digest in state.loaded]
    assert len(titles) == 1
    assert "frodo" in titles[0]
    assert "Choose a campaign" in view.message.object
    view.other.value = view.other.options[titles[0]]
    assert state.against == view.other.value
    assert view.body.visible
    assert "grig" in view.facts.object
    assert "points more than one made from A itself" in view.penalties.object


def test_what_is_shown_is_what_the_decisions_cost() -> None:
    state, view = shown(campaign(1, "frodo"), campaign(2, "grig"))
    state.against = next(iter(state.loaded))
    table = view._comparison.ported.table.set_index(["made", "judged"])["mean"]
    assert view.maps.scene.cube.attrs["system"] == "frodo"
    assert f"costs {table['A', 'B'] - table['B', 'B']:,.2f} points more" in view.penalties.object
    view.judged.value = "A"
    assert view.maps.scene.cube.attrs["system"] == "grig"


def test_methods_of_one_only_are_said_to_be_left_out() -> None:
    fewer = campaign(2, "grig")["bcast"].to_dataset().isel(method=slice(3))
    state, view = shown(campaign(1, "frodo"), xr.DataTree.from_dict({"/bcast": fewer}))
    view.other.value = next(digest for digest in view.other.options.values() if digest in state.loaded)
    assert "Decided and judged among the 3 methods that both have." in view.penalties.object
    view.common.value = False
    assert "that both have" not in view.penalties.object


def test_however_much_faster_a_campaign_is_ratios_have_three_digits() -> None:
    slow = campaign(1, "frodo")
    cube = slow["bcast"].to_dataset()
    state, view = shown(xr.DataTree.from_dict({"/bcast": cube.assign(time=cube["time"] * 0.00412)}), slow)
    state.against = next(iter(state.loaded))
    assert view.ratios.object.count(">0.00412<") == 3 * cube.sizes["method"]


def test_a_campaign_without_the_collective_is_an_error_not_a_blank() -> None:
    other = campaign(2, "grig")
    renamed = xr.DataTree.from_dict({"/scan": other["bcast"].to_dataset().assign_attrs(collective="scan")})
    state, view = shown(renamed, campaign(1, "frodo"))
    state.against = next(iter(state.loaded))
    assert "it holds scan" in view.background.text.object
    assert not view.message.visible
    assert not view.body.visible


def test_both_are_shown_at_the_processes_per_node_that_both_have() -> None:
    several = opposed_cubes()["bcast"]
    frodo, grig = (several.isel(ppn=[at]).assign_attrs(system=name) for at, name in ((1, "frodo"), (0, "grig")))
    state, view = shown(*(xr.DataTree.from_dict({"/bcast": cube}) for cube in (frodo, grig, several)))
    first, second, _ = state.loaded
    state.param.update(against=first, compare="campaigns")
    assert "2 processes per node on both sides" in view.penalties.object
    assert view._comparison.ported.table["mean"].tolist() == [0, 0, 0, 0]
    assert "On A the decision of B costs as much as one made from A itself" in view.penalties.object
    # All was measured, and nothing is said of what was not.
    assert "not measured" not in view.penalties.object.partition("</table>")[2].lower()
    assert "--ppn 2" in as_command(state)
    state.against = second
    assert view._comparison.ported.table["mean"].tolist() == [0, 0, 0, 0]
    assert "--ppn 1" in as_command(state)
    state.show(register(xr.DataTree.from_dict({"/bcast": frodo})))
    assert "processes per node" in view.facts.object
    assert "--ppn" not in as_command(state)


def test_a_sample_that_was_loaded_is_offered_once() -> None:
    start = sample_start("fast-ethernet-own")
    state, view = shown(campaign(1, "frodo"))
    state.load(start.paths, **start.hints)
    loaded = state.results_id
    assert "fast-ethernet-own" not in view.other.options.values()
    state.show(register(campaign(1, "frodo")))
    assert loaded not in view.other.options.values()
    assert "fast-ethernet-own" in view.other.options.values()
    # An address may name it either way.
    state.against = loaded
    assert state.against == view.other.value == "fast-ethernet-own"
    assert "On A the decision of B" in view.penalties.object


def test_the_address_names_it_by_digest_and_says_when_it_is_not_there() -> None:
    state, _ = shown(campaign(1, "frodo"), campaign(2, "grig"))
    state.against = next(iter(state.loaded))
    query = state.to_query()
    assert query["against"] == state.against
    stranger = State.of(register(campaign(2, "grig")))
    (message,) = stranger.from_query({"against": "0123abcd"})
    assert "load it on the page Data" in message


def test_both_campaigns_are_judged_as_by_the_command(done: Run) -> None:
    # Both have times that cannot be trusted and a method that is unsafe.
    paths = [str(sample_start(name).paths[0]) for name in ("fast-ethernet-4x2-tuned", "fast-ethernet-tuned")]
    state = State(page="Compare")
    state.show(load_results(paths[:1]))
    state.choose(Choice.of("optimal", {"leaves": 4}))
    state.param.update(collective="allgather", against="fast-ethernet-tuned")
    view = CampaignsView(state)
    view.visible = True
    view.follow()
    order = ["portability", paths[0], "--against", paths[1], "-c", "allgather", "--tree", "optimal", "--leaves", "4"]
    penalties = done(*order, "--json").json["penalties"]
    table = view._comparison.ported.table
    assert [row["mean"] for row in penalties] == table["mean"].tolist()
    assert [row["leaves"] for row in penalties] == table["leaves"].tolist()
