"""A method that is ready to be called, whoever offers it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from dashboard.benchmarks.ranks.counting import Sent


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
    free
        Gives back what was made for it; it cannot be called any more.
    """

    call: Callable[[int, int], None]
    programs: tuple[str, ...]
    sent: Callable[[int], Sent] | None = None
    ready: Callable[[int, int, int], None] = lambda first, number, roots: None
    free: Callable[[], None] = lambda: None


def when_needed(
    make: Callable[[int, int], Callable[[], None]],
    copies: int,
    programs: tuple[str, ...],
    free: Callable[[], None],
    sent: Callable[[int], Sent] | None = None,
) -> Bound:
    """A method over the library that is made for each pair of an operation's buffers and each root when it is needed.

    Parameters
    ----------
    make
        ``make(copy, root)`` gives what runs it once.
    copies
        Pairs of buffers, which take turns.
    programs, free, sent
        As of a `Bound`.
    """
    made = cache(make)

    def call(turn: int, root: int) -> None:
        made(turn % copies, root)()

    def ready(first: int, number: int, roots: int) -> None:
        for turn in range(first, first + min(number, copies * roots)):
            made(turn % copies, turn % roots)

    return Bound(call, programs, sent, ready, free)
