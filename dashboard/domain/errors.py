"""What can be wrong with a decision: all are `ValueError`, split by what the user can do about them."""

from __future__ import annotations


class DecisionError(ValueError):
    """A decision cannot be made, read or applied; the message says what was found and what would be right."""


class OptionError(DecisionError):
    """An option is outside its allowed range."""


class NothingMeasuredError(DecisionError):
    """There is no measured cell to decide from."""


class DecisionFormatError(DecisionError):
    """A saved decision function is not as its format says; the message names the place in the file."""
