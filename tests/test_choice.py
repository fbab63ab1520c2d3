"""Choices of how to decide: checked, compared, written and read."""

import pytest

from dashboard.decisions.grown.families import FAMILIES, GIVEN
from dashboard.domain.errors import OptionError
from dashboard.session.choice import Choice, differences, read_options, titles, write_options


def test_a_choice_has_all_options_and_tells_what_differs_from_the_defaults() -> None:
    choice = Choice.of("cart", {"max_leaves": 8})
    assert set(choice.options) == {option.name for option in FAMILIES["cart"].options}
    assert choice.changed() == {"max_leaves": 8}
    assert choice == Choice.of("cart", {"max_leaves": 8.0})
    assert hash(choice) == hash(Choice.of("cart", {"max_leaves": 8}))
    assert "8" in choice.described()


def test_what_is_not_allowed_is_refused_with_its_range() -> None:
    with pytest.raises(OptionError, match="from 1"):
        Choice.of("cart", {"max_leaves": 0})
    with pytest.raises(OptionError, match="quadtree"):
        Choice.of("quadtre")


@pytest.mark.parametrize(
    "options",
    [
        {"max_leaves": 8, "attributes": ("comm_size", "even"), "cost_sensitive": True},
        {"pruning": 0.125, "criterion": "entropy"},
        {},
    ],
)
def test_options_come_back_from_their_text(options: dict[str, object]) -> None:
    assert Choice.of("cart", read_options("cart", write_options(options))) == Choice.of("cart", options)


@pytest.mark.parametrize("text", ["max_leaves:many", "leaves:3", "max_leaves:0", "cost_sensitive:so", "attributes:x"])
def test_bad_texts_are_refused(text: str) -> None:
    with pytest.raises(OptionError):
        read_options("cart", text)


def test_only_the_settings_that_differ_are_listed() -> None:
    first, second = Choice.of("cart", {"max_leaves": 8}), Choice.of("cart", {"max_leaves": 9})
    assert [row[1:] for row in differences(first, second)] == [("8", "9")]
    assert differences(first, first) == []
    assert differences(first, Choice.of("exact"))[0] == ("family", "CART", "Exact map")
    # Families call the same thing by other names.
    assert ("most leaves", "8", "no limit") in differences(Choice.of("optimal", {"leaves": 8}), Choice.of("cart"))


def test_every_family_can_be_chosen_here() -> None:
    assert set(titles().values()) == set(FAMILIES) - set(GIVEN)
