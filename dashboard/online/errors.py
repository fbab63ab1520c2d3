"""The error of online tuning: what can be wrong with its files and settings."""


class OnlineError(ValueError):
    """A trace, table, model or scenario cannot be used; the message names it, and what would be right."""
