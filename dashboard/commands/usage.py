"""The error of everything that is wrong with how the command is called."""

from __future__ import annotations


class Usage(Exception):  # noqa: N818 - not a fault of the program, the user's
    """The command was called wrongly; the message says how to call it."""
