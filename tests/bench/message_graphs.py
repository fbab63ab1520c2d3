"""Who sends what to whom in each algorithm of Open MPI's coll/tuned, by its definition: the library is not asked.

Where this project's simulator has the algorithm's schedule, that is taken; the others are written down here from the
papers that define them. Processes are 0 … P-1, the root is 0, sizes are bytes by the project's convention.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from dashboard.models.programs import programs_of
from dashboard.models.simulator import Both, Programs, Send

#: (from, to) of a message, and its bytes.
Message = tuple[int, int, int]
Graph = Callable[[int, int, int], Iterator[Message]]


def rows(messages: Iterator[Message], processes: int) -> list[list[tuple[int, int, int]]]:
    """For each process what it sends: to whom, how many messages, bytes in all."""
    count: Counter[tuple[int, int]] = Counter()
    size: Counter[tuple[int, int]] = Counter()
    for source, to, length in messages:
        count[source, to] += 1
        size[source, to] += length
    return [
        [(to, number, size[source, to]) for (source, to), number in sorted(count.items()) if source == rank]
        for rank in range(processes)
    ]


def lengths(size: int, segment: int) -> list[int]:
    """Bytes of the segments of a message."""
    return [min(segment, size - start) for start in range(0, size, segment)] if segment else [size]


def simulated(collective: str, algorithm: str) -> Graph:
    """Messages of the simulator's schedule."""

    def graph(processes: int, size: int, segment: int) -> Iterator[Message]:
        programs: Programs = programs_of(collective, algorithm, processes, size, segment)
        for source, program in enumerate(programs):
            for operation in program:
                sends = operation.sends if isinstance(operation, Both) else (operation,)
                yield from ((source, send.to, int(send.size)) for send in sends if isinstance(send, Send))

    return graph


def up(graph: Graph) -> Graph:
    """The same messages the other way, as a reduction sends what a broadcast receives."""
    return lambda p, m, s: ((to, source, size) for source, to, size in graph(p, m, s))


def tree(parent: Callable[[int, int], int]) -> Graph:
    """A broadcast along a tree, segment by segment; `parent` of (process, processes)."""

    def graph(processes: int, size: int, segment: int) -> Iterator[Message]:
        for process in range(1, processes):
            yield from ((parent(process, processes), process, length) for length in lengths(size, segment))

    return graph


def chains(process: int, processes: int) -> int:
    """Four chains of neighbours that begin at the root, the longer ones first."""
    longest, longer = math.ceil((processes - 1) / 4), (processes - 1) % 4 or 4
    begins = [1 + min(n, longer) * longest + max(0, n - longer) * (longest - 1) for n in range(4)]
    return 0 if process in begins else process - 1


def knomial4(process: int, _processes: int) -> int:
    """The lowest digit that is not 0, in base 4, becomes 0."""
    place = 1
    while process % (place * 4) == 0:
        place *= 4
    return process - process % (place * 4)


def highest_bit(process: int, _processes: int) -> int:
    """The binomial tree of a broadcast: the highest bit becomes 0."""
    return process ^ (1 << process.bit_length() - 1)


def lowest_bit(process: int, _processes: int) -> int:
    """The in-order binomial tree: the lowest bit becomes 0."""
    return process & (process - 1)


def in_order_binary(processes: int, size: int, segment: int) -> Iterator[Message]:
    """Reduction over a binary tree that keeps the order of the operands; its root, the last one, hands over to 0."""

    def walk(low: int, high: int) -> Iterator[tuple[int, int]]:
        """Edges among the processes from low to high: the last is the root, below it the upper and the lower part."""
        if low >= high:
            return
        between = low + (high - low + 1) // 2
        yield (high - 1, high)
        if high - 1 > low:
            yield (between - 1, high)
            yield from walk(between, high - 1)
            yield from walk(low, between - 1)

    for source, to in walk(0, processes - 1):
        yield from ((source, to, length) for length in lengths(size, segment))
    yield (processes - 1, 0, size)


def to_each(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Everyone sends a message to everyone else."""
    yield from ((rank, other, size) for rank in range(processes) for other in range(processes) if rank != other)


def to_each_and_itself(processes: int, size: int, segment: int) -> Iterator[Message]:
    """And to itself."""
    yield from to_each(processes, size, segment)
    yield from ((rank, rank, size) for rank in range(processes))


def scattered(processes: int, size: int) -> Iterator[Message]:
    """Binomial scatter of the parts of a message; processes are a power of two."""
    for process in range(1, processes):
        held = process & -process
        yield (lowest_bit(process, processes), process, held * size // processes)


def scatter_allgather(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Van de Geijn's broadcast: scatter, then recursive doubling."""
    yield from scattered(processes, size)
    distance = 1
    while distance < processes:
        yield from ((rank, rank ^ distance, distance * size // processes) for rank in range(processes))
        distance *= 2


def scatter_allgather_ring(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Scatter, then a ring."""
    yield from scattered(processes, size)
    for rank in range(processes):
        yield from ((rank, (rank + 1) % processes, size // processes) for _ in range(processes - 1))


def reduce_then_bcast(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """All to the root, then back."""
    for rank in range(1, processes):
        yield from ((rank, 0, size), (0, rank, size))


def sparbit(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Stripe parallel binomial trees: distances halve, the number of blocks doubles, each is a message of its own."""
    distance, blocks = processes // 2, 1
    while distance:
        for rank in range(processes):
            yield from ((rank, (rank + distance) % processes, size) for _ in range(blocks))
        distance, blocks = distance // 2, 2 * blocks


def halving(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Recursive halving: half of what is left to the partner, the farthest first."""
    distance = processes // 2
    while distance:
        yield from ((rank, rank ^ distance, distance * size) for rank in range(processes))
        distance //= 2


def butterfly(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Halving of vectors with doubling of distances, then each block goes to whom it belongs: bits reversed."""
    bits = processes.bit_length() - 1
    for step in range(bits):
        yield from ((rank, rank ^ (1 << step), processes * size >> (step + 1)) for rank in range(processes))
    for rank in range(processes):
        turned = int(f"{rank:0{bits}b}"[::-1], 2)
        if turned != rank:
            yield (rank, turned, size)


def near_halves(processes: int, size: int) -> Iterator[Message]:
    """Reduce-scatter of a vector: halves to the nearest partner, quarters to the next."""
    for step in range(processes.bit_length() - 1):
        yield from ((rank, rank ^ (1 << step), size >> (step + 1)) for rank in range(processes))


def rabenseifner(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Reduce-scatter of halves, then a gather that takes the same way back to the root."""
    yield from near_halves(processes, size)
    for step in range(processes.bit_length() - 1):
        distance = 1 << step
        yield from ((rank, rank ^ distance, size >> (step + 1)) for rank in range(distance, 2 * distance))


def rabenseifner_all(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Reduce-scatter of halves, then the same exchanges back."""
    yield from near_halves(processes, size)
    yield from near_halves(processes, size)


def exchange(_processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Two processes swap what they have."""
    yield from ((0, 1, size), (1, 0, size))


def doubling_scan(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Partners of recursive doubling exchange what they have."""
    distance = 1
    while distance < processes:
        yield from ((rank, rank ^ distance, size) for rank in range(processes) if rank ^ distance < processes)
        distance *= 2


def up_and_down(processes: int, _size: int, _segment: int) -> Iterator[Message]:
    """The barrier of a binomial tree: reports go up, releases come down."""
    for rank in range(1, processes):
        yield from ((rank, lowest_bit(rank, processes), 0), (lowest_bit(rank, processes), rank, 0))


def synchronised_gather(processes: int, size: int, segment: int) -> Iterator[Message]:
    """The root calls each process, which answers with a first segment and the rest."""
    for rank in range(1, processes):
        yield from ((0, rank, 0), (rank, 0, segment or size), (rank, 0, size - (segment or size)))


#: By collective and the library's name of the algorithm.
GRAPHS: Mapping[str, Mapping[str, Graph]] = {
    "barrier": {
        "linear": simulated("barrier", "flat_tree"),
        "double_ring": simulated("barrier", "double_ring"),
        "recursive_doubling": simulated("barrier", "recursive_doubling"),
        "bruck": simulated("barrier", "bruck"),
        "tree": up_and_down,
    },
    "bcast": {
        "basic_linear": simulated("bcast", "linear"),
        "chain": tree(chains),
        "pipeline": simulated("bcast", "pipeline"),
        "split_binary_tree": simulated("bcast", "split_binary"),
        "binary_tree": simulated("bcast", "binary"),
        "binomial": tree(highest_bit),
        "knomial": tree(knomial4),
        "scatter_allgather": scatter_allgather,
        "scatter_allgather_ring": scatter_allgather_ring,
    },
    "reduce": {
        "linear": simulated("reduce", "flat_tree"),
        "chain": up(tree(chains)),
        "pipeline": simulated("reduce", "pipeline"),
        "binary": simulated("reduce", "binary"),
        "binomial": up(tree(lowest_bit)),
        "in-order_binary": in_order_binary,
        "rabenseifner": rabenseifner,
    },
    "allreduce": {
        "basic_linear": reduce_then_bcast,
        "recursive_doubling": simulated("allreduce", "recursive_doubling"),
        "ring": simulated("allreduce", "ring"),
        "segmented_ring": simulated("allreduce", "ring_segmented"),
        "rabenseifner": rabenseifner_all,
    },
    "allgather": {
        "bruck": simulated("allgather", "bruck"),
        "recursive_doubling": simulated("allgather", "recursive_doubling"),
        "ring": simulated("allgather", "ring"),
        "neighbor": simulated("allgather", "neighbor_exchange"),
        "sparbit": sparbit,
    },
    "allgatherv": {
        "bruck": simulated("allgather", "bruck"),
        "ring": simulated("allgather", "ring"),
        "neighbor": simulated("allgather", "neighbor_exchange"),
        "sparbit": sparbit,
    },
    "alltoall": {
        "linear": to_each,
        "pairwise": to_each,
        "modified_bruck": simulated("alltoall", "bruck"),
        "linear_sync": to_each,
    },
    "alltoallv": {"basic_linear": to_each, "pairwise": to_each_and_itself},
    "gather": {
        "basic_linear": simulated("gather", "linear"),
        "binomial": simulated("gather", "binomial"),
        "linear_sync": synchronised_gather,
    },
    "scatter": {
        "basic_linear": simulated("scatter", "linear"),
        "binomial": simulated("scatter", "binomial"),
        "linear_nb": simulated("scatter", "linear"),
    },
    "reduce_scatter": {
        "recursive_halving": halving,
        "ring": simulated("reduce_scatter", "ring"),
        "butterfly": butterfly,
    },
    "scan": {"linear": simulated("scan", "linear"), "recursive_doubling": doubling_scan},
}
#: Algorithms made of two other collectives, whose algorithms the library decides on: each with the number of blocks
#: that its message holds, P standing for 0.
COMPOSED: Mapping[tuple[str, str], tuple[tuple[str, int], tuple[str, int]]] = {
    ("allreduce", "nonoverlapping"): (("reduce", 1), ("bcast", 1)),
    ("allgather", "linear"): (("gather", 1), ("bcast", 0)),
    ("allgatherv", "linear"): (("gather", 1), ("bcast", 0)),
    ("reduce_scatter", "non-overlapping"): (("reduce", 0), ("scatter", 1)),
}
#: For two processes only.
FOR_TWO = "two_proc"


#: Of 4.1, where nobody sends anything to itself.
OLDER = {("alltoallv", "pairwise"): to_each}


def graphs_of(
    collective: str, algorithm: str, processes: int, size: int, segment: int, *, older: bool = False
) -> list[Any]:
    """Rows of all graphs that the algorithm may have; several only where it leaves a decision to the library."""
    if older and (graph := OLDER.get((collective, algorithm))):
        return [rows(graph(processes, size, segment), processes)]
    if algorithm == FOR_TWO:
        return [rows(exchange(processes, 0 if collective == "barrier" else size, 0), processes)]
    if (collective, algorithm) not in COMPOSED:
        return [rows(GRAPHS[collective][algorithm](processes, size, segment), processes)]
    parts = [
        [list(graph(processes, size * (blocks or processes), 0)) for graph in GRAPHS[name].values()]
        for name, blocks in COMPOSED[collective, algorithm]
    ]
    return [rows(iter([*first, *second]), processes) for first, second in product(*parts)]
