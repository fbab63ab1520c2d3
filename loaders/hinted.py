"""What hints say of the file that is being read, for readers that need it before the tables are made."""

from typing import Any

from loaders.hints import ATTRIBUTES, FIELDS, OPTIONS, Hints
from loaders.source import Source


def hinted(source: Source, name: str) -> Any:
    """Return what hints say of this file, as a value or by the pattern over its path; `None` if nothing.

    Raises
    ------
    LoadError
        The path does not match the pattern.
    """
    known = {k: v for k, v in source.options.items() if k in (*FIELDS, *ATTRIBUTES, *OPTIONS)}
    return Hints(known).of(source.path).get(name)
