"""A method that is ready to be called, whoever offers it."""

from collections.abc import Callable
from dataclasses import dataclass

#: Messages and bytes that a process sends in a call, as (to, messages, bytes).
Sent = list[tuple[int, int, int]]


@dataclass(frozen=True)
class Bound:
    """A method with the buffers of an operation.

    Attributes
    ----------
    call
        ``call(turn, root)`` runs it once with the buffers of a turn.
    programs
        Code that may run, its own first, see `loaders.doubles`; none for a library's own decision.
    sent
        What this process sends with a root, where that is known; None: the library counts it.
    ready
        ``ready(first, number, roots)`` makes what calls of these turns need, before they are timed; the root goes round
        so many ranks.
    """

    call: Callable[[int, int], None]
    programs: tuple[str, ...]
    sent: Callable[[int], Sent] | None = None
    ready: Callable[[int, int, int], None] = lambda first, number, roots: None
