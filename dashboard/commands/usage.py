"""The error of everything that is wrong with how the command is called."""


class Usage(Exception):
    """The command was called wrongly; the message says how to call it."""
