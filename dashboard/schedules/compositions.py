"""Collectives made of two others, each with any of its algorithms and segment sizes (FT-MPI's way, section A.1.2)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dashboard.schedules import bcast, reduce, rooted
from dashboard.schedules.algorithm import Algorithm, Parameter, by_collective
from dashboard.schedules.call import Call, View
from dashboard.schedules.rank import Rank

#: Tags of the second part are not those of the first.
SECOND = 8

_PARTS = by_collective((*bcast.ALGORITHMS, *reduce.ALGORITHMS, *rooted.ALGORITHMS))
#: What serves every call of a part.
DEFAULT = {"bcast": "binomial", "scatter": "binomial", "gather": "binomial", "reduce": "in_order_binary"}


def _parameters(*parts: str) -> tuple[Parameter, ...]:
    """Each part's algorithm, and every parameter that any of its algorithms has, with the part's name before it."""
    names: list[Parameter] = []
    for part in parts:
        names.append(Parameter(part, DEFAULT[part], tuple(_PARTS[part])))
        of_parts = {each.name: each for algorithm in _PARTS[part].values() for each in algorithm.parameters}
        names += [replace(each, name=f"{part}_{each.name}") for each in of_parts.values()]
    return tuple(names)


def _chosen(part: str, values: Mapping[str, Any]) -> tuple[Algorithm, dict[str, Any]]:
    algorithm = _PARTS[part][values[part]]
    return algorithm, {each.name: values[f"{part}_{each.name}"] for each in algorithm.parameters}


def _calls(call: Call) -> tuple[Call, Call]:
    """Calls of the two parts, by the collective that they make together."""
    plain = replace(call, in_place=False)
    if call.collective == "allgather":
        return replace(plain, collective="gather"), replace(
            plain, collective="bcast", counts=None, count=call.blocks.end
        )
    if call.collective == "allreduce":
        return replace(plain, collective="reduce"), replace(plain, collective="bcast")
    total = sum(call.blocks.lengths)
    return replace(plain, collective="reduce", counts=None, count=total), replace(plain, collective="scatter")


def _check(first: str, second: str) -> Callable[[Call, Mapping[str, Any]], None]:
    def check(call: Call, values: Mapping[str, Any]) -> None:
        """Refuse what a part refuses."""
        for part, made in zip((first, second), _calls(call), strict=True):
            algorithm, chosen = _chosen(part, values)
            algorithm.check(made, chosen)

    return check


def _compose(first: str, second: str) -> Callable[[Rank], None]:
    def write(rank: Rank) -> None:
        """Write the parts one after the other; what they share is the output of the root, or scratch memory."""
        calls = _calls(rank.call)
        middle = rank.output
        if second == "scatter":
            middle = rank.scratch(calls[0].count) if rank.rank == rank.root else View(middle.buffer, 0, 0)
        own = rank.call.blocks.lengths[rank.rank] if second == "scatter" else rank.output.length
        buffers = ((rank.input, middle), (middle, rank.output.part(0, own)))
        for number, (part, call) in enumerate(zip((first, second), calls, strict=True)):
            algorithm, values = _chosen(part, rank.parameters)
            source, target = buffers[number]
            algorithm.write(Rank(call, rank.rank, values, rank.log, source, target, tag=rank.tag + number * SECOND))

    return write


def _composition(collective: str, first: str, second: str) -> Algorithm:
    return Algorithm(
        collective,
        f"{first}_{second}",
        _compose(first, second),
        "section A.1.2",
        _parameters(first, second),
        order="rank order" if first == "reduce" else "",
        also=_check(first, second),
    )


ALGORITHMS = (
    _composition("allgather", "gather", "bcast"),
    _composition("allreduce", "reduce", "bcast"),
    _composition("reduce_scatter", "reduce", "scatter"),
)
