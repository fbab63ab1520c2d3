"""Alltoall (Table 4.7), also with a count for each pair of ranks; of alltoallw all blocks have one type."""

from dashboard.schedules.algorithm import Algorithm, Parameter
from dashboard.schedules.call import View
from dashboard.schedules.parts import powers
from dashboard.schedules.rank import Rank

MAX_REQUESTS = Parameter("max_requests", 8, (0, 8, 64, 128, 512))


def blocks(rank: Rank) -> tuple[list[View], list[View]]:
    """What goes to each rank and what comes from each."""
    sent, received = rank.call.sent(rank.rank), rank.call.received(rank.rank)
    if rank.call.in_place:
        sent = received
    ranks = range(rank.size)
    return [sent.of(rank.input, other) for other in ranks], [received.of(rank.output, other) for other in ranks]


def linear(rank: Rank) -> None:
    """All messages at once."""
    sent, received = blocks(rank)
    others = [(rank.rank + ahead) % rank.size for ahead in range(1, rank.size)]
    requests = [rank.receive(received[other], other) for other in others]
    requests += [rank.send(sent[other], other) for other in others]
    rank.copy(sent[rank.rank], received[rank.rank])
    rank.wait(*requests)


def linear_sync(rank: Rank) -> None:
    """At most so many receives and so many sends at once; the oldest of each kind makes room for the next."""
    sent, received = blocks(rank)
    rank.copy(sent[rank.rank], received[rank.rank])
    most = rank["max_requests"] or rank.size
    receives: list[int] = []
    sends: list[int] = []
    for ahead in range(1, rank.size):
        source, to = (rank.rank + ahead) % rank.size, (rank.rank - ahead) % rank.size
        if ahead > most:
            rank.wait(receives[ahead - 1 - most])
        receives.append(rank.receive(received[source], source))
        if ahead > most:
            rank.wait(sends[ahead - 1 - most])
        sends.append(rank.send(sent[to], to))
    rank.wait(*receives[-most:], *sends[-most:])


def pairwise(rank: Rank) -> None:
    """In each step one message to a rank further on and one from as far before."""
    sent, received = blocks(rank)
    rank.copy(sent[rank.rank], received[rank.rank])
    for ahead in range(1, rank.size):
        to, source = (rank.rank + ahead) % rank.size, (rank.rank - ahead) % rank.size
        rank.exchange(sent[to], to, received[source], source)


def by_digits(rank: Rank, radix: int) -> None:
    """Blocks for the rank i further on go there by the digits of i; those of one digit are on their way at once.

    A block stays where it was received until it is packed for its next way, so nothing is unpacked in between.
    """
    sent, received = blocks(rank)
    length = rank.call.count
    where = [sent[(rank.rank + ahead) % rank.size] for ahead in range(rank.size)]
    for distance in powers(rank.size, radix):
        receives, sends = [], []
        for digit in range(1, radix):
            going = [ahead for ahead in range(rank.size) if ahead // distance % radix == digit]
            if not going:
                break
            packed, coming = (rank.scratch(len(going) * length) for _ in range(2))
            for place, ahead in enumerate(going):
                rank.copy(where[ahead], packed.part(place * length, length), modelled=True)
                where[ahead] = coming.part(place * length, length)
            receives.append(rank.receive(coming, (rank.rank - digit * distance) % rank.size))
            sends.append(rank.send(packed, (rank.rank + digit * distance) % rank.size))
        rank.wait(*receives, *sends)
    for behind in range(rank.size):
        rank.copy(where[behind], received[(rank.rank - behind) % rank.size], modelled=True)


def bruck(rank: Rank) -> None:
    """Blocks go by the bits of how far they go (Figure 4.7)."""
    by_digits(rank, 2)


ALGORITHMS = (
    Algorithm("alltoall", "linear", linear, "Table 4.7"),
    Algorithm("alltoall", "pairwise", pairwise, "Table 4.7"),
    Algorithm("alltoall", "bruck", bruck, "Table 4.7, Figure 4.7"),
    Algorithm("alltoall", "linear_sync", linear_sync, "section 4.1.2", (MAX_REQUESTS,)),
    *(
        Algorithm(name, each.__name__, each, "section 4.1.2")
        for name in ("alltoallv", "alltoallw")
        for each in (linear, pairwise)
    ),
)
