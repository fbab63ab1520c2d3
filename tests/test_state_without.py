"""Methods left out, colours and the table's filter: choices of the whole session, told by its address."""

import numpy as np
import pytest

from dashboard.pages.compare.page import ComparePage
from dashboard.pages.decisions.controls import Controls
from dashboard.pages.decisions.page import DecisionsPage
from dashboard.plots.colors import SCHEME_TITLES, MethodKey
from dashboard.plots.view_maps import Scene
from dashboard.session.state import SCHEMES, State
from tests.cubes import named, synthetic_cube
from tests.states import sample_state, state_of

BINARY = "binary_tree *"


def winners(state: State) -> set[str]:
    """Methods that are best somewhere."""
    dmap = state.view.decision_map()
    return {str(dmap["method"].values[at]) for at in np.unique(dmap["best"].values) if at >= 0}


def test_nothing_chooses_what_is_left_out(state: State) -> None:
    most = max(winners(state), key=lambda label: float((state.view.penalty()["best"].values >= 0).sum()))
    state.without = (most,)
    assert most not in winners(state)
    assert most not in {method.label for method in state.view.decision().methods}
    assert most not in {method.label for method in state.view.beside("bcast").problem().methods}
    assert any(most in remark for remark in state.view.remarks())
    state.without = ()
    assert most in winners(state)


def test_methods_keep_their_colours_when_others_are_left_out() -> None:
    # Of names that nobody has declared letters depend on what else there is.
    state = state_of(bcast=named(synthetic_cube(3, 4, 3, seed=1), ["xylo", "xenon", "linear"]))
    before = Scene.of(state.view).key
    state.without = ("xylo",)
    after = Scene.of(state.view).key
    assert after.labels == ("xenon", "linear")
    assert (after.colors, after.letters) == (before.colors[1:], before.letters[1:])


def test_methods_are_called_by_their_own_names_where_an_unsafe_one_is_left_out_by_itself() -> None:
    view = sample_state("fast-ethernet-tuned", collective="allgather").view
    assert "sparbit" in view.measured()["method"].values
    assert Scene.of(view).key.labels == tuple(view.decision_map()["method"].values)
    assert "sparbit" not in Scene.of(view).key.labels


def test_the_address_tells_what_is_left_out_the_colours_and_the_rows(state: State) -> None:
    state.param.update(without=(BINARY, "linear"), scheme="grey", rows="binomial, linear")
    query = state.to_query()
    assert query["without"] == f"{BINARY}|linear"
    other = State.of(state.results)
    assert other.from_query(query) == []
    assert (other.without, other.scheme, other.rows) == (state.without, state.scheme, state.rows)
    assert other.from_query({}) == []
    assert (other.without, other.scheme, other.rows) == ((), "okabe-ito", "")
    (message,) = other.from_query({"without": "nobody's"})
    assert "these results have no such method" in message


def test_the_controls_follow_and_keep_what_another_collective_leaves_out(state: State) -> None:
    controls = Controls(state)
    assert BINARY in controls.without.options
    controls.without.value = [BINARY]
    assert state.without == (BINARY,)
    state.collective = "alltoall"
    assert BINARY not in controls.without.options
    assert controls.without.value == []
    controls.without.value = ["linear"]
    assert set(state.without) == {BINARY, "linear"}
    state.collective = "bcast"
    assert controls.without.value == [name for name in state.without if name in controls.without.options]


def test_where_all_is_left_out_the_page_says_so(state: State) -> None:
    page = DecisionsPage(state)
    state.without = tuple(map(str, state.view.measured()["method"].values))
    assert "every method is left out" in page.message.object
    assert page.message.severity == "error"
    state.without = ()
    assert page.maps.scene is not None
    assert page.body.visible


def test_the_state_names_the_schemes_that_can_be_drawn() -> None:
    assert set(SCHEMES) == set(SCHEME_TITLES.values())
    assert SCHEMES[0] == "okabe-ito"


@pytest.mark.parametrize("scheme", SCHEMES[1:])
def test_maps_are_drawn_anew_in_other_colours(state: State, scheme: str) -> None:
    pages = DecisionsPage(state), ComparePage(state)
    first, second = (MethodKey.of(["linear"], name).colors[0] for name in ("okabe-ito", scheme))
    assert all(first in page.maps.methods.object for page in pages)
    drawn = [page.maps.scene for page in pages]
    state.scheme = scheme
    assert all(second in page.maps.methods.object for page in pages)
    assert all(page.maps.scene is not before for page, before in zip(pages, drawn, strict=True))
    assert all(page.maps.scene.key.scheme == scheme for page in pages)
