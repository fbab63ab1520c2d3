"""The cases that a method is verified with: roots, counts, segments, types, operations, in place, eager or not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count as numbers
from itertools import product
from typing import Any

from dashboard.schedules.algorithm import Algorithm
from dashboard.schedules.call import BETWEEN, BLOCKS, ROOTED, Call, Counts, Matrix
from dashboard.schedules.datatypes import CONTIGUOUS, DATATYPES
from dashboard.schedules.expectation import ELEMENT_SIZE
from dashboard.schedules.verification import Case

PROCESSES = (*range(1, 18), 23)
#: A prime number of elements: of vectors, and of the blocks of each rank.
_PRIME, _PRIME_BLOCK = 997, 31
#: One call in so many has elements with gaps, of each type in turn.
_GAPS_EVERY = 5
_BORDERS = (20, 21, 22)
_LARGE = 1 << 20
_OTHERS: dict[str, tuple[int | str, ...]] = {
    "max_requests": (0, 1, 2, 5),
    "fan_out": (1, 2, 3, 4),
    "radix": (2, 3, 4, 5),
}


def cases(algorithm: Algorithm, processes: Sequence[int] = PROCESSES) -> Iterator[Case]:
    """Cases of one algorithm over numbers of processes."""
    seeds = numbers()
    for size in processes:
        for number, plain in enumerate(calls(algorithm, size)):
            datatype = _datatype(number + 1009 * size)
            known = DATATYPES.get(datatype)
            call = plain if known is None else replace(plain, element_size=known.size)
            for parameters in settings(algorithm, call):
                # Ranks go on in a drawn order, every fourth time in turn; every other time by rendezvous.
                seed = next(seeds)
                drawn = seed if seed % 4 else None
                yield Case(call, algorithm.name, parameters, seed % 2 == 0, drawn, seed % 3 == 0, datatype)


def _datatype(number: int) -> str:
    """Type of the elements of a call; mixed, so that cases taken at any distance have all of them."""
    mixed = number * 0x9E3779B1 % 2**32 >> 11
    return list(DATATYPES)[mixed // _GAPS_EVERY % len(DATATYPES)] if mixed % _GAPS_EVERY == 0 else CONTIGUOUS


def calls(algorithm: Algorithm, size: int) -> Iterator[Call]:
    """Calls of an algorithm with so many processes; one with an operation that it refuses."""
    collective = algorithm.collective
    roots = sorted({0, size // 2, size - 1}) if collective in ROOTED else [0]
    places = [False] if collective in ("barrier", "bcast") else [False, True]
    commutes = [True, False] if algorithm.order == "rank order" else [True]
    prime = _PRIME_BLOCK if collective in BLOCKS + BETWEEN else _PRIME
    counts = [0] if collective == "barrier" else sorted({0, 1, size - 1, size, size + 1, *_BORDERS, prime})
    for number, (root, count, in_place, commutative) in enumerate(product(roots, counts, places, commutes)):
        call = Call(collective, size, count, root, ELEMENT_SIZE, in_place, commutative)
        if collective in (*BLOCKS, *BETWEEN) and collective != "alltoall" and number % 2:
            call = _differing(call, gaps=number % 4 == 3 and collective.endswith(("v", "w")))
        yield call
    if algorithm.order == "commutative":
        yield Call(collective, size, size + 1, 0, ELEMENT_SIZE, commutative=False)


def _differing(call: Call, *, gaps: bool) -> Call:
    """The call with a count for each rank, some of them 0; `gaps`: and with the blocks in another order, apart."""
    size = call.processes
    if call.collective not in BETWEEN:
        counts: Counts = tuple(call.count * (rank % 3) for rank in range(size))
        return replace(call, counts=counts, displacements=_apart(counts) if gaps else None)
    # Symmetric, as calls in place need it.
    ranks = range(size)
    table: Matrix = tuple(tuple((sender + receiver) % 4 * call.count for receiver in ranks) for sender in ranks)
    places = tuple(_apart(row) for row in table)
    return replace(call, counts=table, displacements=(places, places) if gaps else None)


def _apart(lengths: Counts) -> Counts:
    """First elements of blocks that stand in reverse order with an element between them."""
    ends = [sum(lengths[rank + 1 :]) + len(lengths) - rank for rank in range(len(lengths))]
    return tuple(ends)


def settings(algorithm: Algorithm, call: Call) -> Iterator[dict[str, Any]]:
    """Values of the parameters that matter for a call: one after the other, the others by default."""
    yield {}
    # Segments of one element, and those that hold no whole number of them.
    size = max(call.element_size, 1)
    seven, hundred = 7 * size + size // 2, 100 * size + size // 2
    for parameter in algorithm.parameters:
        values: Sequence[Any] = _OTHERS.get(parameter.name, parameter.values)
        if parameter.name.endswith("segment_size"):
            small = call.count <= max(call.processes + 1, *_BORDERS)
            values = (size, seven) if small else (hundred, _LARGE)
            if call.elements == 1:
                # An element is never cut.
                values = (1, seven)
        elif parameter.name == "first_segment":
            values = (0, size, seven)
        for value in values:
            if value != parameter.default:
                yield {parameter.name: value}
