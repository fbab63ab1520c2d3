"""How vectors are cut into segments and parts, and how ranks beyond a power of two are folded into the others."""

from collections.abc import Iterator
from typing import NamedTuple

from dashboard.schedules.call import Blocks, View


def segments(view: View, length: int) -> list[View]:
    """Cut a view into segments of so many elements, the last one shorter; 0 = not at all."""
    if not 0 < length < view.length:
        return [view]
    return [view.part(start, min(length, view.length - start)) for start in range(0, view.length, length)]


def even_parts(count: int, number: int) -> Blocks:
    """Cut elements into so many parts of nearly one size, the longer ones first."""
    length, longer = divmod(count, number)
    return Blocks.dense([length + (part < longer) for part in range(number)])


def powers(below: int, base: int = 2) -> Iterator[int]:
    """1, the base, its square, …, as far as they are below a number."""
    power = 1
    while power < below:
        yield power
        power *= base


def power_below(processes: int) -> int:
    """Largest power of two that is not above a number."""
    return 1 << processes.bit_length() - 1


class Fold(NamedTuple):
    """How a rank takes part when pairs of neighbours are folded, so that a power of two of processes is left."""

    #: Processes that are left.
    group: int
    #: New rank in that group; -1 when it was folded away.
    number: int
    #: The other of the pair; -1 without one.
    mate: int


def fold(rank: int, processes: int, stays: int) -> Fold:
    """Fold the first ranks in pairs; `stays`: 0 when the even one of a pair goes on, 1 when the odd one does."""
    group = power_below(processes)
    folded = processes - group
    if rank >= 2 * folded:
        return Fold(group, rank - folded, -1)
    return Fold(group, rank // 2 if rank % 2 == stays else -1, rank ^ 1)


def unfolded(number: int, processes: int, stays: int) -> int:
    """Rank of a new rank."""
    folded = processes - power_below(processes)
    return 2 * number + stays if number < folded else number + folded
