"""Virtual topologies (dissertation 4.1.1, Figures 4.1 to 4.3): parent and children of a virtual rank; the root is 0."""

from collections.abc import Callable
from typing import NamedTuple


class Place(NamedTuple):
    """Parent of a process (-1 for the root) and its children in the order in which they are sent to."""

    parent: int
    children: tuple[int, ...]


Topology = Callable[[int, int], Place]


def flat(virtual: int, processes: int) -> Place:
    """The root is everybody's parent."""
    return Place(0, ()) if virtual else Place(-1, tuple(range(1, processes)))


def pipeline(virtual: int, processes: int) -> Place:
    """Each process has the one before as parent."""
    return Place(virtual - 1, (virtual + 1,) if virtual + 1 < processes else ())


def chains(number: int) -> Topology:
    """So many chains of neighbours that begin at the root, the longer ones first (FT-MPI, A.1.2)."""

    def place(virtual: int, processes: int) -> Place:
        """Place of a process."""
        if processes == 1:
            return Place(-1, ())
        count = min(number, processes - 1)
        length, longer = divmod(processes - 1, count)
        heads = tuple(1 + chain * length + min(chain, longer) for chain in range(count))
        if virtual == 0:
            return Place(-1, heads)
        last = virtual + 1 == processes or virtual + 1 in heads
        return Place(0 if virtual in heads else virtual - 1, () if last else (virtual + 1,))

    return place


def k_ary(number: int) -> Topology:
    """Balanced tree, filled level by level, the subtrees in turn; of two children: `binary`."""

    def place(virtual: int, processes: int) -> Place:
        """Place of a process."""
        width, above, first = 1, 1, 0
        while virtual >= first + width:
            first, above, width = first + width, width, width * number
        children = range(virtual + width, virtual + width * number + 1, width)
        # The parent stands on the level above at the same place among its `above` processes.
        parent = -1 if virtual == 0 else first - above + (virtual - first) % above
        return Place(parent, tuple(child for child in children if child < processes))

    return place


binary = k_ary(2)


def binomial(virtual: int, processes: int) -> Place:
    """Balanced binomial tree: the highest bit is what a child has more; the largest subtree comes first."""
    children = []
    distance = 1 << virtual.bit_length()
    while virtual + distance < processes:
        children.append(virtual + distance)
        distance *= 2
    return Place(virtual ^ (1 << virtual.bit_length() - 1) if virtual else -1, tuple(children))


def k_nomial(radix: int) -> Topology:
    """Tree by the digits of a process to a base: the lowest one that is not 0 is what a child has more.

    The largest subtree comes first.
    """

    def place(virtual: int, processes: int) -> Place:
        """Place of a process."""
        children: list[int] = []
        distance = 1
        while distance < processes and virtual // distance % radix == 0:
            level = range(virtual + distance, min(virtual + distance * radix, processes), distance)
            children[:0] = level
            distance *= radix
        return Place(virtual - virtual // distance % radix * distance if virtual else -1, tuple(children))

    return place


#: Binomial tree whose subtrees are ranges of processes, the largest first (Figure 4.3).
in_order_binomial = k_nomial(2)


def subtree(virtual: int, processes: int) -> int:
    """Processes in the subtree of one in the in-order binomial tree."""
    return min(virtual & -virtual, processes - virtual) if virtual else processes


def in_order_binary(virtual: int, processes: int) -> Place:
    """Binary tree that keeps the order of ranks: its root is the last one, its left child holds the upper half."""
    low, high, parent = 0, processes - 1, -1
    while True:
        count = high - low + 1
        middle = low + count // 2 if count > 2 else low
        if virtual == high:
            return Place(parent, () if count == 1 else (high - 1,) if count == 2 else (high - 1, middle - 1))
        parent = high
        low, high = (middle, high - 1) if virtual >= middle else (low, middle - 1)
