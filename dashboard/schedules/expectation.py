"""What the ranks of a call bring, and what each must hold afterwards: known beside the algorithms, to judge them by.

An element is a 2 × 2 matrix of numbers below 97. Matrices multiplied modulo 97 are associative and do not commute;
added modulo 97 they do.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dashboard.schedules.call import BETWEEN, Call
from dashboard.schedules.in_process import Combine

Array = npt.NDArray[np.int64]
MODULUS = 97
SHAPE = (2, 2)
ELEMENT_SIZE = 32
#: What buffers hold where nothing has been written; no matrix has such a number.
POISON = -5
_TABLE = 1 << 16


@cache
def _table() -> Array:
    return np.random.default_rng(97).integers(0, MODULUS, (_TABLE, *SHAPE))


def values(rank: int, count: int, turn: int = 0) -> Array:
    """Elements that a rank brings; others at each turn."""
    start = (rank * 7919 + turn * 104729) % (_TABLE // 2)
    repeats = -(-count // (_TABLE // 2))
    return np.tile(_table()[start : start + min(count, _TABLE // 2)], (max(repeats, 1), 1, 1))[:count].copy()


def multiply(lower: Any, into: Any) -> None:
    """``lower · into`` modulo 97, in the place of the second."""
    into[...] = np.matmul(lower, into) % MODULUS


def add(lower: Any, into: Any) -> None:
    """``lower + into`` modulo 97, in the place of the second."""
    into += lower
    into %= MODULUS


def operation(call: Call) -> Combine:
    """The operation that a call is verified with."""
    return add if call.commutative else multiply


class Held(NamedTuple):
    """Input and output buffer of a rank."""

    input: Array
    output: Array


def before(call: Call, turn: int = 0) -> list[Held]:
    """What each rank's buffers hold before the call; in place the output holds what it brings."""
    held = []
    for rank in range(call.processes):
        brought = values(rank, call.input_length(rank), turn)
        output = np.full((call.output_length(rank), *SHAPE), POISON)
        if call.collective == "bcast" and rank == call.root:
            output = values(rank, len(output), turn)
        if call.in_place and not call.collective.startswith("scatter"):
            brought = _placed(call, rank, brought, output, turn)
        held.append(Held(brought, output))
    return held


def _placed(call: Call, rank: int, brought: Array, output: Array, turn: int) -> Array:
    """Move what a rank brings to where in-place calls take it from; what is left of the input."""
    if call.collective in ("gather", "gatherv", "reduce") and rank != call.root:
        return brought
    if call.collective.startswith(("gather", "allgather")):
        start, length = (each[rank] for each in call.blocks)
        output[start : start + length] = brought
    elif call.collective in BETWEEN:
        output[...] = values(rank, len(output), turn)
    else:
        output[...] = brought
    return brought[:0]


def after(call: Call, turn: int = 0) -> list[Array]:
    """What the output of each rank must hold after a call that began with `before`."""
    held = before(call, turn)
    ranks = range(call.processes)
    brings = [values(rank, call.input_length(rank), turn) for rank in ranks]
    outputs = [each.output.copy() for each in held]
    if call.entry.reduces:
        _reduced(call, brings, outputs)
    elif call.collective == "bcast":
        outputs = [outputs[call.root].copy() for _ in ranks]
    elif call.collective.startswith("scatter"):
        for rank in ranks:
            start, length = (each[rank] for each in call.blocks)
            if not (call.in_place and rank == call.root):
                outputs[rank][...] = brings[call.root][start : start + length]
    elif call.collective in BETWEEN:
        _exchanged(call, [each.output for each in held] if call.in_place else brings, outputs)
    elif call.collective != "barrier":
        for rank in ranks if call.collective.startswith("allgather") else (call.root,):
            for source, (start, length) in enumerate(zip(*call.blocks, strict=True)):
                outputs[rank][start : start + length] = brings[source]
    return outputs


def _exchanged(call: Call, sources: list[Array], outputs: list[Array]) -> None:
    """Fill in the results of an alltoall."""
    placed = call.received if call.in_place else call.sent
    for rank, output in enumerate(outputs):
        for source, (start, length) in enumerate(zip(*call.received(rank), strict=True)):
            begin = placed(source).offsets[rank]
            output[start : start + length] = sources[source][begin : begin + length]


def _reduced(call: Call, brings: list[Array], outputs: list[Array]) -> None:
    """Fill in the results of a reduction: x0 op x1 op …, from the left."""
    prefixes = [brings[0].copy()]
    for own in brings[1:]:
        result = own.copy()
        operation(call)(prefixes[-1], result)
        prefixes.append(result)
    for rank in range(call.processes):
        if call.collective == "scan":
            outputs[rank][...] = prefixes[rank]
        elif call.collective == "exscan" and rank:
            outputs[rank][...] = prefixes[rank - 1]
        elif call.collective == "reduce_scatter":
            start, length = (each[rank] for each in call.blocks)
            outputs[rank][:length] = prefixes[-1][start : start + length]
        elif call.collective == "allreduce" or (call.collective == "reduce" and rank == call.root):
            outputs[rank][...] = prefixes[-1]
