"""Collectives on circulant graphs: in each round every process sends so many ranks further on, whatever their number.

Sources: J. L. Träff, "Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast,
Reduction and All-Reduction", doi 10.1145/3735139, for the broadcast in as few rounds as any can have; and, for
reductions, the same author's "Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms" (2024).
"""

from functools import lru_cache

from dashboard.schedules.algorithm import SEGMENT_SIZE, Algorithm
from dashboard.schedules.call import Blocks, View
from dashboard.schedules.parts import even_parts, segments
from dashboard.schedules.rank import Rank

BACK = 1
_BROADCAST = "Träff, doi 10.1145/3735139"
_REDUCTION = "Träff, non-pipelined allreduce (2024)"


@lru_cache(maxsize=64)
def skips(processes: int) -> tuple[int, ...]:
    """How many ranks further on a process sends in each round: halves of their number, rounded up; that comes last."""
    sizes = [processes]
    while sizes[0] > 1:
        sizes.insert(0, (sizes[0] + 1) // 2)
    return tuple(sizes)


def _first_block(virtual: int, skip: tuple[int, ...]) -> int:
    """The round in which the root sends what reaches a process first; as many as there are rounds for the root."""
    way = 0
    for place in range(len(skip) - 2, -1, -1):
        if way + skip[place] == virtual:
            return place
        if way + skip[place] < virtual:
            way += skip[place]
    return len(skip) - 1


class _Search:
    """Finds which block a process receives in each round: ways to it from the root, the longest skips first.

    A block that is taken leaves the list of those that are left (`after`, `before`).
    """

    def __init__(self, virtual: int, skip: tuple[int, ...], own: int) -> None:
        self.skip, self.rounds = skip, len(skip) - 1
        self.goal, self.limit = skip[-1] + virtual, 2 * skip[-1]
        self.after = {block: block - 1 for block in range(-1, self.rounds + 2)}
        self.before = {block: block + 1 for block in range(-1, self.rounds + 1)}
        self.taken: list[int] = []
        self._take(own)

    def _take(self, block: int) -> None:
        self.after[self.before[block]], self.before[self.after[block]] = self.after[block], self.before[block]

    def go(self, way: int, block: int) -> None:
        """Follow the ways that begin with `way`."""
        while block >= 0 and len(self.taken) < self.rounds:
            number = len(self.taken)
            reached = way + self.skip[block]
            if reached <= self.goal - self.skip[number] and reached < self.limit:
                if reached <= self.goal - self.skip[number + 1]:
                    self.go(reached, block)
                if len(self.taken) == self.rounds or way > self.goal - self.skip[len(self.taken) + 1]:
                    return
                self.limit = reached
                self.taken.append(block)
                self._take(block)
            block = self.after[block]


@lru_cache(maxsize=8192)
def receives(virtual: int, processes: int) -> tuple[int, ...]:
    """Which block a process receives in each round of a phase: one that is new, those below 0 of the phase before.

    The root is process 0, from which block k starts in round k.
    """
    skip = skips(processes)
    rounds, own = len(skip) - 1, _first_block(virtual, skip)
    search = _Search(virtual, skip, own)
    search.go(0, rounds)
    return tuple(own if block == rounds else block - rounds for block in search.taken)


@lru_cache(maxsize=8192)
def coming(virtual: int, processes: int, number: int) -> tuple[int, ...]:
    """Which of so many blocks a process receives in each round of a broadcast; -1 for none."""
    blocks = receives(virtual, processes)
    rounds = len(blocks)
    late = -(number - 1) % rounds
    known: set[int] = set()
    order = []
    for turn in range(late, number - 1 + rounds + late):
        block = min(blocks[turn % rounds] - late + turn // rounds * rounds, number - 1)
        new = virtual > 0 and block >= 0 and block not in known
        order.append(block if new else -1)
        known.add(block)
    return tuple(order)


def bcast(rank: Rank) -> None:
    """One block goes out in each round, and every process receives one."""
    pieces = segments(rank.output, rank.segment)
    skip = skips(rank.size)
    rounds = len(skip) - 1
    late = -(len(pieces) - 1) % rounds
    for turn, block in enumerate(coming(rank.virtual, rank.size, len(pieces))):
        ahead = skip[(turn + late) % rounds]
        to = (rank.virtual + ahead) % rank.size
        leaving = coming(to, rank.size, len(pieces))[turn]
        source = rank.real((rank.virtual - ahead) % rank.size)
        requests = [rank.receive(pieces[block], source)] if block >= 0 else []
        if leaving >= 0:
            requests.append(rank.send(pieces[leaving], rank.real(to)))
        rank.wait(*requests)


def _turned(rank: Rank, blocks: Blocks, source: View) -> tuple[View, Blocks]:
    """A copy of all blocks, the own one first."""
    turned = blocks.turned(rank.rank)
    places = rank.scratch(turned.end)
    before = rank.size - rank.rank
    rank.copy(blocks.of(source, rank.rank, before), turned.of(places, 0, before))
    if rank.rank:
        rank.copy(blocks.of(source, 0, rank.rank), turned.of(places, before, rank.rank))
    return places, turned


def _combine(rank: Rank, places: View, turned: Blocks) -> None:
    """Afterwards the own block, the first of all, is complete."""
    skip = skips(rank.size)
    received = rank.scratch(turned.of(places, 0, rank.size - skip[-2]).length)
    for place in range(len(skip) - 2, -1, -1):
        ahead, number = skip[place], skip[place + 1] - skip[place]
        mine = turned.of(places, 0, number)
        into = received.part(0, mine.length) if mine.length <= received.length else rank.scratch(mine.length)
        sent = turned.of(places, ahead, number)
        rank.exchange(sent, (rank.rank + ahead) % rank.size, into, (rank.rank - ahead) % rank.size)
        rank.combine(into, mine)


def reduce_scatter(rank: Rank) -> None:
    """In each round half of the blocks left go on, to be combined there."""
    blocks = Blocks.dense(rank.call.blocks.lengths)
    places, turned = _turned(rank, blocks, rank.input)
    _combine(rank, places, turned)
    rank.copy(turned.of(places, 0), rank.output.part(0, turned.lengths[0]))


def allreduce(rank: Rank) -> None:
    """Blocks are combined, then go the same ways back."""
    blocks = even_parts(rank.input.length, rank.size)
    places, turned = _turned(rank, blocks, rank.input)
    _combine(rank, places, turned)
    skip = skips(rank.size)
    for place in range(len(skip) - 1):
        ahead, number = skip[place], skip[place + 1] - skip[place]
        to, source = (rank.rank - ahead) % rank.size, (rank.rank + ahead) % rank.size
        rank.exchange(turned.of(places, 0, number), to, turned.of(places, ahead, number), source, BACK)
    before = rank.size - rank.rank
    rank.copy(turned.of(places, 0, before), blocks.of(rank.output, rank.rank, before))
    if rank.rank:
        rank.copy(turned.of(places, before, rank.rank), blocks.of(rank.output, 0, rank.rank))


ALGORITHMS = (
    Algorithm(
        "bcast",
        "circulant",
        bcast,
        _BROADCAST,
        (SEGMENT_SIZE,),
        formula="(n_s - 1 + ceil(log(P, 2))) * (alpha + beta * m / n_s)",
    ),
    Algorithm(
        "reduce_scatter",
        "circulant",
        reduce_scatter,
        _REDUCTION,
        order="commutative",
        fallback="reduce_scatter",
        formula="ceil(log(P, 2)) * alpha + (P - 1) * (beta + gamma) * m",
    ),
    Algorithm(
        "allreduce",
        "circulant",
        allreduce,
        _REDUCTION,
        order="commutative",
        fallback="recursive_doubling",
        formula="2 * ceil(log(P, 2)) * alpha + (P - 1) / P * (2 * beta + gamma) * m",
    ),
)
