"""Algorithms whose radix is a parameter: trees, exchanges among groups, and Bruck's way with more than two digits.

With a radix of two they are the binomial tree, recursive doubling and Bruck's algorithms; a larger one takes fewer
rounds with more messages in each, which pays where a process sends several at once. Sources: J. Bruck, C.-T. Ho,
S. Kipnis, E. Upfal, D. Weathersby, IEEE TPDS 8 (1997), for all-to-all; M. Wilkins et al., "Generalized Collective
Algorithms for the Exascale Era", CLUSTER 2023, for the others.
"""

from dashboard.schedules import alltoall
from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm, Parameter
from dashboard.schedules.allgather import by_digits, gathered
from dashboard.schedules.bcast import down
from dashboard.schedules.call import View
from dashboard.schedules.parts import even_parts, powers
from dashboard.schedules.rank import Rank
from dashboard.schedules.reduce import combined, tree
from dashboard.schedules.topologies import k_nomial

RADIX = Parameter("radix", 4, (2, 3, 4, 8), least=2)
RESULT = 1
_GENERALIZED = "Wilkins et al., CLUSTER 2023"
_BRUCK = "Bruck et al., TPDS 8 (1997)"


def recursive_multiplying(rank: Rank) -> None:
    """Groups of as many as the radix exchange the vector, at distances that grow by it.

    Processes beyond a power of the radix are folded: contiguous ranks hand theirs to the last of them, so the order of
    ranks is kept.
    """
    number = max(powers(rank.size + 1, rank["radix"]))
    groups = even_parts(rank.size, number)
    own = next(group for group in range(number) if rank.rank < groups.offsets[group] + groups.lengths[group])
    leads = [start + length - 1 for start, length in zip(*groups, strict=True)]
    result = rank.result(here=True)
    if rank.rank != leads[own]:
        rank.put(result, leads[own])
        rank.take(result, leads[own], RESULT)
        return
    members = range(leads[own] - 1, groups.offsets[own] - 1, -1)
    combined(rank, [(member, result) for member in members], lambda piece, complete: None)
    for distance in powers(number, rank["radix"]):
        _among(rank, result, leads, own, distance)
    rank.wait(*[rank.send(result, member, RESULT) for member in members])


def _among(rank: Rank, result: View, leads: list[int], own: int, distance: int) -> None:
    """Exchange the vector with the others of a group, and combine all of them in the order of ranks."""
    radix = rank["radix"]
    digit = own // distance % radix
    first = own - digit * distance
    # Each begins with another one, so that no process takes all messages of a group before the others take any.
    others = [(digit - behind) % radix for behind in range(1, radix)]
    held = {each: rank.scratch(result.length) for each in others}
    receives = [rank.receive(held[each], leads[first + each * distance]) for each in others]
    rank.wait(*receives, *[rank.send(result, leads[first + each * distance]) for each in reversed(others)])
    held[digit] = result
    if rank.call.commutative:
        for each in others:
            rank.combine(held[each], result)
        return
    last = held[radix - 1]
    for each in range(radix - 2, -1, -1):
        rank.combine(held[each], last)
    rank.copy(last, result)


ALGORITHMS = (
    Algorithm(
        "bcast",
        "k_nomial",
        lambda rank: down(k_nomial(rank["radix"]))(rank),
        _GENERALIZED,
        (SEGMENT_SIZE, RADIX),
        formula="log(P, k) * (k - 1) * (alpha + beta * m)",
    ),
    Algorithm(
        "reduce",
        "k_nomial",
        lambda rank: tree(k_nomial(rank["radix"]), by_child=True)(rank),
        _GENERALIZED,
        (SEGMENT_SIZE, RADIX),
        order="commutative",
        fallback="in_order_binary",
        formula="log(P, k) * (k - 1) * (alpha + beta * m + gamma * m)",
    ),
    Algorithm(
        "allgather",
        "k_bruck",
        gathered(lambda rank, view, blocks: by_digits(rank, view, blocks, rank["radix"])),
        _GENERALIZED,
        (RADIX,),
        formula="log(P, k) * (k - 1) * alpha + (P - 1) * beta * m",
    ),
    Algorithm(
        "alltoall",
        "k_bruck",
        lambda rank: alltoall.by_digits(rank, rank["radix"]),
        _BRUCK,
        (RADIX,),
        formula="log(P, k) * (k - 1) * (alpha + P / k * (beta + delta) * m) + P * delta * m",
    ),
    Algorithm(
        "allreduce",
        "recursive_multiplying",
        recursive_multiplying,
        _GENERALIZED,
        (RADIX,),
        order="rank order",
        formula="log(P, k) * (k - 1) * (alpha + beta * m + gamma * m)",
    ),
)
