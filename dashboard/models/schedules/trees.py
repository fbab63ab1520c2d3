"""Virtual topologies: the trees of Figures 4.1 to 4.3, rooted in process 0."""

from __future__ import annotations

from typing import NamedTuple


class Tree(NamedTuple):
    """Parent (-1 for the root) and children of each process, in the order of a broadcast."""

    parent: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]


def _of_parents(parent: list[int], *, largest_first: bool = False) -> Tree:
    children: list[list[int]] = [[] for _ in parent]
    for process, above in enumerate(parent):
        if above >= 0:
            children[above].append(process)
    if largest_first:
        children = [each[::-1] for each in children]
    return Tree(tuple(parent), tuple(map(tuple, children)))


def flat(processes: int) -> Tree:
    """The root is everybody's parent."""
    return _of_parents([-1] + [0] * (processes - 1))


def chain(processes: int) -> Tree:
    """Pipeline: each process has the one before as parent."""
    return _of_parents(list(range(-1, processes - 1)))


def binary(processes: int) -> Tree:
    """Balanced binary tree, filled level by level from left and right in turn.

    Process r of level l has the children r + 2^l and r + 2^(l + 1), so that the left subtree has the odd processes, the
    right one the even, and r + 1 stands where r stands on the other side.
    """
    parent = [-1]
    for process in range(1, processes):
        level = (process + 1).bit_length() - 1
        above = process - (1 << (level - 1))
        parent.append(above if (above + 1).bit_length() == level else process - (1 << level))
    return _of_parents(parent)


def binomial(processes: int) -> Tree:
    """In-order binomial tree: subtrees are ranges of processes, the largest is sent to first (Figure 4.3)."""
    return _of_parents([process & (process - 1) if process else -1 for process in range(processes)], largest_first=True)


def subtree_sizes(processes: int) -> tuple[int, ...]:
    """Processes in the subtree of each process of the binomial tree."""
    return tuple(min(process & -process, processes - process) if process else processes for process in range(processes))


def segments_of(size: float, segment_size: float) -> list[float]:
    """Sizes of the segments of a message; the last one is what is left."""
    if segment_size <= 0 or segment_size >= size:
        return [size]
    whole, left = divmod(size, segment_size)
    return [segment_size] * int(whole) + ([left] if left else [])
