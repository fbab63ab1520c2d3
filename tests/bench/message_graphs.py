"""Who sends what to whom in each algorithm of Open MPI's coll/tuned, by its definition: the library is not asked.

Where this project has the algorithm itself, its schedule is taken; the others are written down here from the papers
that define them. Processes are 0 … P-1, the root is 0, sizes are bytes by the project's convention.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from dashboard.schedules import Call, algorithm_of, schedule
from loaders.collectives import REDUCING

#: (from, to) of a message, and its bytes.
Message = tuple[int, int, int]
Graph = Callable[[int, int, int], Iterable[Message]]


def rows(messages: Iterable[Message], processes: int) -> list[list[tuple[int, int, int]]]:
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


def own(collective: str, algorithm: str, **parameters: Any) -> Graph:
    """Messages of the schedule of an own method."""

    def graph(processes: int, size: int, segment: int) -> Iterator[Message]:
        known = {each.name for each in algorithm_of(collective, algorithm).parameters}
        given = {name: segment for name in ("segment_size", "first_segment") if name in known}
        # Reductions are of float32, which blocks are cut along.
        element = 4 if collective in REDUCING else 1
        call = Call(collective, processes, size // element, element_size=element)
        yield from map(tuple, schedule(call, algorithm, **given, **parameters).messages.tolist())

    return graph


def to_each_and_itself(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Everyone sends a message to everyone, and to itself."""
    yield from ((rank, other, size) for rank, other in product(range(processes), repeat=2))


def scattered(processes: int, size: int) -> Iterator[Message]:
    """Binomial scatter of the parts of a message; processes are a power of two."""
    yield from own("scatter", "binomial")(processes, size // processes, 0)


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
    yield from own("allgather", "ring")(processes, size // processes, 0)


def sparbit(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Stripe parallel binomial trees: distances halve, the number of blocks doubles, each is a message of its own."""
    distance, blocks = processes // 2, 1
    while distance:
        for rank in range(processes):
            yield from ((rank, (rank + distance) % processes, size) for _ in range(blocks))
        distance, blocks = distance // 2, 2 * blocks


def butterfly(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Halving of vectors with doubling of distances, then each block goes to whom it belongs: bits reversed."""
    bits = processes.bit_length() - 1
    for step in range(bits):
        yield from ((rank, rank ^ (1 << step), processes * size >> (step + 1)) for rank in range(processes))
    for rank in range(processes):
        turned = int(f"{rank:0{bits}b}"[::-1], 2)
        if turned != rank:
            yield (rank, turned, size)


def doubling_scan(processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Partners of recursive doubling exchange what they have."""
    distance = 1
    while distance < processes:
        yield from ((rank, rank ^ distance, size) for rank in range(processes) if rank ^ distance < processes)
        distance *= 2


#: By collective: own methods that send what the library's algorithm of another name, or the same, sends.
SAME: Mapping[str, Mapping[str, str]] = {
    "barrier": {
        "linear": "flat_tree",
        "tree": "binomial",
        **{name: name for name in ("double_ring", "recursive_doubling", "bruck")},
    },
    "bcast": {
        "basic_linear": "linear",
        "chain": "k_chain",
        "knomial": "k_nomial",
        "binary_tree": "binary",
        "split_binary_tree": "split_binary",
        **{name: name for name in ("pipeline", "binomial")},
    },
    "reduce": {
        "linear": "flat_tree",
        "chain": "k_chain",
        "in-order_binary": "in_order_binary",
        **{name: name for name in ("pipeline", "binary", "binomial", "rabenseifner")},
    },
    "gather": {"basic_linear": "linear", "linear_sync": "linear_sync", "binomial": "binomial"},
    "scatter": {"basic_linear": "linear", "linear_nb": "linear", "binomial": "binomial"},
    "allgather": {"neighbor": "neighbor_exchange", **{n: n for n in ("bruck", "ring", "recursive_doubling")}},
    "allgatherv": {"neighbor": "neighbor_exchange", "bruck": "bruck", "ring": "ring"},
    "alltoall": {"modified_bruck": "bruck", **{name: name for name in ("linear", "pairwise", "linear_sync")}},
    "alltoallv": {"basic_linear": "linear"},
    "allreduce": {
        "basic_linear": "reduce_bcast",
        "segmented_ring": "ring_segmented",
        **{name: name for name in ("recursive_doubling", "ring", "rabenseifner")},
    },
    "reduce_scatter": {"recursive_halving": "recursive_halving", "ring": "ring"},
    "scan": {"linear": "linear"},
}
#: What their parameters are where the library has other ones by itself.
_PARAMETERS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("bcast", "k_chain"): {"fan_out": 4},
    ("reduce", "k_chain"): {"fan_out": 4},
    ("bcast", "k_nomial"): {"radix": 4},
    ("allreduce", "reduce_bcast"): {"reduce": "flat_tree", "bcast": "linear"},
}
#: Algorithms of the library alone.
_OTHERS: Mapping[str, Mapping[str, Graph]] = {
    "bcast": {"scatter_allgather": scatter_allgather, "scatter_allgather_ring": scatter_allgather_ring},
    "allgather": {"sparbit": sparbit},
    "allgatherv": {"sparbit": sparbit},
    "alltoallv": {"pairwise": to_each_and_itself},
    "reduce_scatter": {"butterfly": butterfly},
    "scan": {"recursive_doubling": doubling_scan},
}
#: By collective and the library's name of the algorithm.
GRAPHS: Mapping[str, Mapping[str, Graph]] = {
    name: {
        **{theirs: own(name, mine, **_PARAMETERS.get((name, mine), {})) for theirs, mine in same.items()},
        **_OTHERS.get(name, {}),
    }
    for name, same in SAME.items()
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
OLDER = {("alltoallv", "pairwise"): own("alltoallv", "pairwise")}


def exchange(_processes: int, size: int, _segment: int) -> Iterator[Message]:
    """Two processes swap what they have."""
    yield from ((0, 1, size), (1, 0, size))


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
    return [rows([*first, *second], processes) for first, second in product(*parts)]
