"""The error of online tuning: what can be wrong with its files and settings."""

from __future__ import annotations


class OnlineError(ValueError):
    """A trace, table, model or scenario cannot be used; the message names it, and what would be right."""
