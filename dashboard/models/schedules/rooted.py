"""What each process does in broadcast, scatter, gather and reduce; the root is process 0."""

from __future__ import annotations

from dashboard.models.schedules import trees
from dashboard.models.schedules.trees import Tree, segments_of
from dashboard.models.simulator import Both, Program, Programs, Receive, Send, Work

GO, FIRST, SECOND = 0, 1, 2
OTHER_HALF = -1


def tree_bcast(tree: Tree, size: float, segment_size: float) -> Programs:
    """Every segment is received from the parent and sent on to all children (section 4.1.2)."""
    segments = list(enumerate(segments_of(size, segment_size)))
    programs: list[Program] = [[] for _ in tree.parent]
    for process, program in enumerate(programs):
        for tag, length in segments:
            if tree.parent[process] >= 0:
                program.append(Receive(tree.parent[process], tag))
            program += [Send(child, length, tag) for child in tree.children[process]]
    return programs


def split_binary(processes: int, size: float, segment_size: float) -> Programs:
    """Halves go down the two subtrees; then pairs exchange them, who has no pair gets it of the root."""
    tree = trees.binary(processes)
    segments = list(enumerate(segments_of(size / 2, segment_size)))
    programs: list[Program] = [[] for _ in tree.parent]
    for process, program in enumerate(programs):
        for tag, length in segments:
            if process:
                program.append(Receive(tree.parent[process], tag))
            program += [Send(child, length, tag) for child in tree.children[process]]
    for left in range(1, processes, 2):
        pair = left + 1
        if pair < processes:
            _exchange(programs, left, pair, size / 2)
        else:
            programs[0].append(Send(left, size / 2, OTHER_HALF))
            programs[left].append(Receive(0, OTHER_HALF))
    return programs


def _exchange(programs: list[Program], one: int, two: int, size: float) -> None:
    programs[one].append(Both((Send(two, size, OTHER_HALF),), (Receive(two, OTHER_HALF),)))
    programs[two].append(Both((Send(one, size, OTHER_HALF),), (Receive(one, OTHER_HALF),)))


def linear_scatter(processes: int, size: float) -> Programs:
    """The root sends a block to each."""
    return tree_bcast(trees.flat(processes), size, 0)


def binomial_scatter(processes: int, size: float) -> Programs:
    """Blocks of whole subtrees go down the in-order binomial tree."""
    tree, held = trees.binomial(processes), trees.subtree_sizes(processes)
    return [
        [Receive(tree.parent[process])] * (process > 0)
        + [Send(child, held[child] * size) for child in tree.children[process]]
        for process in range(processes)
    ]


def linear_gather(processes: int, size: float) -> Programs:
    """Everybody sends to the root."""
    root: Program = [Receive(process) for process in range(1, processes)]
    return [root, *([Send(0, size)] for _ in range(1, processes))]


def linear_sync_gather(processes: int, size: float, first: float) -> Programs:
    """The root lets one after the other begin, and receives second parts meanwhile."""
    first = min(first, size) if first > 0 else size
    # Second parts are taken as they come, while the next process is let begin: their overhead is not left to the end.
    root: Program = [Send(1, 0, GO), Receive(1, FIRST)]
    for process in range(2, processes):
        root.append(Both((Send(process, 0, GO),), (Receive(process - 1, SECOND), Receive(process, FIRST))))
    root.append(Receive(processes - 1, SECOND))
    other: Program = [Receive(0, GO), Send(0, first, FIRST), Send(0, size - first, SECOND)]
    return [root, *(list(other) for _ in range(1, processes))]


def binomial_gather(processes: int, size: float) -> Programs:
    """Blocks of whole subtrees go up the in-order binomial tree, the smallest first."""
    tree, held = trees.binomial(processes), trees.subtree_sizes(processes)
    return [
        [Receive(child) for child in reversed(tree.children[process])]
        + [Send(tree.parent[process], held[process] * size)] * (process > 0)
        for process in range(processes)
    ]


def tree_reduce(tree: Tree, size: float, segment_size: float) -> Programs:
    """For every segment, for every child: receive, compute; then send the segment on."""
    segments = list(enumerate(segments_of(size, segment_size)))
    programs: list[Program] = [[] for _ in tree.parent]
    for process, program in enumerate(programs):
        for tag, length in segments:
            for child in tree.children[process]:
                program += [Receive(child, tag), Work(length)]
            if process:
                program.append(Send(tree.parent[process], length, tag))
    return programs


def binomial_reduce(processes: int, size: float, segment_size: float) -> Programs:
    """For every child, for every segment (section 4.1.2); each segment leaves when the last child's has come."""
    tree = trees.binomial(processes)
    segments = list(enumerate(segments_of(size, segment_size)))
    programs: list[Program] = [[] for _ in tree.parent]
    for process, program in enumerate(programs):
        children = tree.children[process][::-1]
        for child in children[:-1]:
            program += [step for tag, length in segments for step in (Receive(child, tag), Work(length))]
        for tag, length in segments:
            if children:
                program += [Receive(children[-1], tag), Work(length)]
            if process:
                program.append(Send(tree.parent[process], length, tag))
    return programs


def rabenseifner_reduce(processes: int, size: float) -> Programs:
    """Halves of what is left are exchanged and computed on; then the parts are gathered up a binomial tree."""
    programs = halving(processes, size)
    rounds = processes.bit_length() - 1
    for process, program in enumerate(programs):
        # The gather begins with the partner of the last exchange, who has the neighbouring part.
        for k in range(rounds):
            partner, tag = process ^ (1 << k), rounds + k
            if process & (1 << k):
                program.append(Send(partner, size / (processes >> k), tag))
                break
            program.append(Receive(partner, tag))
    return programs


def halving(processes: int, size: float) -> list[Program]:
    """Recursive halving of a vector over a power of two of processes: exchange a half, compute on the other."""
    programs: list[Program] = [[] for _ in range(processes)]
    rounds = processes.bit_length() - 1
    for process, program in enumerate(programs):
        for k in range(rounds):
            partner, half = process ^ (1 << (rounds - 1 - k)), size / (2 << k)
            program += [Both((Send(partner, half, k),), (Receive(partner, k),)), Work(half)]
    return programs
