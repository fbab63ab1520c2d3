"""The error of everything that is wrong with how the command is called."""

from __future__ import annotations


class Usage(Exception):
    """The command was called wrongly; the message says how to call it."""
