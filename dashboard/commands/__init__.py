"""The subcommands of ``colltune``, one module each, and what they share; `dashboard.cli` is the way in."""

__all__ = ["dispatch", "options", "output"]
