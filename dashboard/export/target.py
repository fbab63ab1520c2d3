"""What every export target looks like, and the error that it raises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


class ExportError(ValueError):
    """The decision functions cannot be written as this target; the message says why."""


@dataclass(frozen=True)
class Target:
    """Something that decision functions can be written as.

    Attributes
    ----------
    name
        As in ``colltune export --to``.
    title
        For people.
    extension
        Of a file, with the dot.
    write
        ``write(decisions, provenance)``: the whole text of the file. `provenance` is what
        `dashboard.export.provenance.describe` takes.
    options
        Names of further keyword arguments of `write`, all of which may be left out: ``cubes`` (measurements by
        collective, for the best substitute of what the target cannot say), ``version`` (of the library),
        ``most_rules`` (for each collective), ``weights`` (workload by collective), ``base`` (text of a file that is
        to be changed).
    """

    name: str
    title: str
    extension: str
    write: Callable[..., str]
    options: tuple[str, ...] = ()
