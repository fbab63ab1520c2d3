"""Algorithms whose distances are sums of powers of -2, 1, -1, 3, -5, …: even ranks go one way and odd ones the other.

Partners are nearer to each other than with powers of two, about two thirds as far, which spares the links between
switches. Sources: D. De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth Allreduce", NSDI 2024, and
"Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality", SC 2025.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm
from dashboard.schedules.bcast import down
from dashboard.schedules.call import Blocks, View
from dashboard.schedules.parts import even_parts
from dashboard.schedules.rank import Rank
from dashboard.schedules.reduce import tree
from dashboard.schedules.topologies import Place

BACK = 1
_SWING, _BINE = "De Sensi et al., NSDI 2024", "De Sensi et al., SC 2025"


def partner(rank: int, step: int, processes: int) -> int:
    """With whom a rank exchanges at the distance 1, -1, 3, -5, … of a step."""
    distance = (1 - int((-2) ** (step + 1))) // 3
    return (rank - distance if rank % 2 else rank + distance) % processes


@lru_cache(maxsize=64)
def _tree(processes: int) -> tuple[Place, ...]:
    """Tree whose distances halve: who has the message sends it to its partner of the step, the farthest first."""
    parents, children = [-1] * processes, [list[int]() for _ in range(processes)]
    known = [0]
    for step in range(processes.bit_length() - 2, -1, -1):
        for parent in tuple(known):
            child = partner(parent, step, processes)
            parents[child] = parent
            children[parent].append(child)
            known.append(child)
    return tuple(Place(parent, tuple(below)) for parent, below in zip(parents, children, strict=True))


def bine(virtual: int, processes: int) -> Place:
    """Binomial tree by negabinary numbers, of a power of two of processes; the largest subtree comes first."""
    return _tree(processes)[virtual]


@lru_cache(maxsize=65536)
def reached(rank: int, step: int, processes: int) -> tuple[int, ...]:
    """Ranks that a rank reaches by its partners from a step on, in order: whose blocks it takes care of."""
    ranks = [rank]
    for later in range(step, processes.bit_length() - 1):
        ranks += reached(partner(rank, later, processes), later + 1, processes)
    return tuple(sorted(ranks))


def swing(rank: Rank) -> None:
    """Halves of the blocks left are exchanged and combined, then exchanged back."""
    result = rank.result(here=True)
    blocks = even_parts(result.length, rank.size)
    steps = range(rank.size.bit_length() - 1)
    for step in steps:
        mate = partner(rank.rank, step, rank.size)
        _swap(rank, result, blocks, mate, reached(mate, step + 1, rank.size), reached(rank.rank, step + 1, rank.size))
    for step in reversed(steps):
        mate = partner(rank.rank, step, rank.size)
        known, new = reached(rank.rank, step + 1, rank.size), reached(mate, step + 1, rank.size)
        _swap(rank, result, blocks, mate, known, new, combine=False)


def _swap(
    rank: Rank,
    result: View,
    blocks: Blocks,
    mate: int,
    going: Sequence[int],
    arriving: Sequence[int],
    *,
    combine: bool = True,
) -> None:
    """Send some blocks and receive others, each as one message; what comes is combined with the own, or replaces it."""
    leaving, pieces = (_pieces(result, blocks, each) for each in (going, arriving))
    sent = leaving[0] if len(leaving) == 1 else rank.scratch(sum(each.length for each in leaving))
    at = 0
    for piece in leaving if len(leaving) > 1 else ():
        rank.copy(piece, sent.part(at, piece.length))
        at += piece.length
    direct = len(pieces) == 1 and not combine
    received = pieces[0] if direct else rank.scratch(sum(each.length for each in pieces))
    rank.exchange(sent, mate, received, mate, 0 if combine else BACK)
    at = 0
    for piece in () if direct else pieces:
        came = received.part(at, piece.length)
        rank.combine(came, piece) if combine else rank.copy(came, piece)
        at += piece.length


def _pieces(result: View, blocks: Blocks, ranks: Sequence[int]) -> list[View]:
    """Blocks of ascending ranks, neighbours as one piece."""
    runs = groupby(enumerate(ranks), key=lambda each: each[1] - each[0])
    together = [[rank for _, rank in run] for _, run in runs]
    return [blocks.of(result, run[0], len(run)) for run in together]


ALGORITHMS = (
    Algorithm(
        "bcast",
        "bine",
        down(bine),
        _BINE,
        (SEGMENT_SIZE,),
        requires="power_of_two",
        fallback="binomial",
        formula="log(P, 2) * (alpha + beta * m)",
    ),
    Algorithm(
        "reduce",
        "bine",
        tree(bine, by_child=True),
        _BINE,
        (SEGMENT_SIZE,),
        requires="power_of_two",
        order="commutative",
        fallback="binomial",
        formula="log(P, 2) * (alpha + beta * m + gamma * m)",
    ),
    Algorithm(
        "allreduce",
        "swing",
        swing,
        _SWING,
        requires="power_of_two",
        least_count=lambda call, _: call.processes,
        order="commutative",
        fallback="rabenseifner",
        formula="2 * log(P, 2) * alpha + (P - 1) / P * (2 * beta + gamma) * m",
    ),
)
