"""Controls made from the options of a family."""

import pytest

from dashboard.decisions.grown.families import FAMILIES
from dashboard.domain.options import Option
from dashboard.pages.parts.family import FamilyControls
from dashboard.pages.parts.options import UNLIMITED, steps
from dashboard.session.choice import Choice
from dashboard.session.state import State


@pytest.fixture
def state() -> State:
    return State()


@pytest.fixture
def controls(state: State) -> FamilyControls:
    return FamilyControls(state.choice, state.choose, state.choice)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_has_a_control_for_each_option_with_its_help(
    controls: FamilyControls, state: State, name: str
) -> None:
    controls.family.value = name
    assert state.family == name
    assert set(controls.widgets) == {option.name for option in FAMILIES[name].options}
    for option in FAMILIES[name].options:
        assert controls.widgets[option.name].description == option.help
    assert FAMILIES[name].source[:20] in controls.source.object or not FAMILIES[name].source


def test_controls_and_choice_follow_each_other(controls: FamilyControls, state: State) -> None:
    controls.family.value = "cart"
    controls.widgets["max_leaves"].value = 9
    controls.widgets["cost_sensitive"].value = True
    assert state.choice() == Choice.of("cart", {"max_leaves": 9, "cost_sensitive": True})
    state.choose(Choice.of("cart", {"max_leaves": 37, "attributes": ("even",)}))
    controls.refresh()
    assert controls.widgets["max_leaves"].value == 37
    assert controls.widgets["attributes"].value == ["even"]
    controls.widgets["max_leaves"].value = UNLIMITED
    assert state.choice().options["max_leaves"] is None


def test_an_odd_value_has_its_place_on_the_slider() -> None:
    option = Option("k", "leaves", "", None, "int", 1, unlimited="no limit")
    marks = steps(option, 37)
    assert marks["37"] == 37
    assert next(iter(marks)) == "1"
    assert marks["no limit"] == UNLIMITED
    assert list(marks.values())[:-1] == sorted(list(marks.values())[:-1])


@pytest.mark.parametrize("name", FAMILIES)
def test_no_position_of_a_slider_is_refused(name: str) -> None:
    for option in FAMILIES[name].options:
        if option.kind in {"int", "float"}:
            for value in steps(option, option.default).values():
                option.checked(None if value == UNLIMITED else value)
