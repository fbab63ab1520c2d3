"""What can be wrong with a decision: all are `ValueError`, split by what the user can do about them."""

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """What an unknown name may mean, to be put behind an error; empty where nothing is like it."""
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {repr(near[0]) if ' ' in near[0] else near[0]}?" if near else ""


class DecisionError(ValueError):
    """A decision cannot be made, read or applied; the message says what was found and what would be right."""


class OptionError(DecisionError):
    """An option is outside its allowed range."""


class NothingMeasuredError(DecisionError):
    """There is no measured cell to decide from."""


class DecisionFormatError(DecisionError):
    """A saved decision function is not as its format says; the message names the place in the file."""
