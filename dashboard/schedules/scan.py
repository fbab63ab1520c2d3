"""Scan, inclusive (Table 4.11) and exclusive; all keep rank order."""

from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm
from dashboard.schedules.parts import segments
from dashboard.schedules.rank import Rank


def linear(rank: Rank) -> None:
    """Each combines what comes from the left with its own and sends it on, segment by segment; two are in flight."""
    inclusive = rank.call.collective == "scan"
    result = rank.result(here=inclusive)
    pieces = segments(result, rank.segment)
    # What comes is the result of an exclusive scan, and only an operand of an inclusive one.
    coming = segments(rank.scratch(result.length) if inclusive else rank.output, rank.segment)
    requests = [rank.receive(coming[0], rank.rank - 1)] if rank.rank else []
    for number, piece in enumerate(pieces):
        if rank.rank:
            if number + 1 < len(pieces):
                requests.append(rank.receive(coming[number + 1], rank.rank - 1))
            rank.wait(requests[number])
            if inclusive or rank.rank + 1 < rank.size:
                rank.combine(coming[number], piece)
        if rank.rank + 1 < rank.size:
            rank.put(piece, rank.rank + 1)


def binomial(rank: Rank) -> None:
    """Partial results go to the ranks 1, 2, 4, … further on, all at once."""
    inclusive = rank.call.collective == "scan"
    result = rank.result(here=inclusive)
    received = rank.scratch(result.length)
    distance, first = 1, True
    while distance < rank.size:
        requests = [rank.receive(received, rank.rank - distance)] if rank.rank >= distance else []
        if rank.rank + distance < rank.size:
            requests.append(rank.send(result, rank.rank + distance))
        rank.wait(*requests)
        if rank.rank >= distance:
            if not inclusive:
                rank.copy(received, rank.output) if first else rank.combine(received, rank.output)
            rank.combine(received, result)
            first = False
        distance *= 2


def _of(collective: str) -> tuple[Algorithm, ...]:
    names = {"linear": (), "linear_segmented": (SEGMENT_SIZE,), "binomial": ()}
    return tuple(
        Algorithm(
            collective,
            name,
            binomial if name == "binomial" else linear,
            "Table 4.11" if collective == "scan" else "section 4.1.2",
            parameters,
            order="rank order",
        )
        for name, parameters in names.items()
    )


ALGORITHMS = (*_of("scan"), *_of("exscan"))
