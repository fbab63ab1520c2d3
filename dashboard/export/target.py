"""What every export target looks like, and the error that it raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction


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
    """

    name: str
    title: str
    extension: str
    write: Callable[[Sequence[DecisionFunction], Mapping[str, Any] | None], str]
