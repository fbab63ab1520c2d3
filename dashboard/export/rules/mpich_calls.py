"""Algorithms of MPICH that end a program, or go wrong, where a selection lets them be called, and keys that do so.

Seen with 4.3.2 and 5.0.2, each algorithm put where all calls on 3 and 4 processes of one node take it; MPICH's own
selection guards each by the key that is named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dashboard.export.rules.fault import Fault
from dashboard.export.rules.json_lines import At, Pair

#: By collective and algorithm: for communicators whose size is a power of two alone.
POWERS_ONLY = frozenset(
    {
        *((collective, "recursive_doubling") for collective in ("allgather", "allgatherv")),
        *((collective, "noncommutative") for collective in ("reduce_scatter", "reduce_scatter_block")),
    }
)
#: For at least as many elements as the largest power of two of processes.
MANY_ELEMENTS = frozenset({("allreduce", "reduce_scatter_allgather"), ("reduce", "reduce_scatter_gather")})
#: For communicators that span nodes, some of them with several processes. Elsewhere reduce and allreduce give wrong
#: results without a word (4.1.3 to 5.0.2; allreduce where each process is alone on its node).
SPANNING = frozenset((collective, "smp") for collective in ("bcast", "barrier", "reduce", "allreduce"))
#: By key: the collectives, and their nonblocking kind, of which MPICH knows it.
ASKED_OF: Mapping[str, tuple[str, ...]] = {
    "is_commutative": ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"),
    "is_op_built_in": ("reduce", "allreduce"),
    "is_block_regular": ("reduce_scatter",),
    "is_sendbuf_inplace": ("alltoall", "alltoallv", "alltoallw"),
}
#: For buffers in place.
IN_PLACE = frozenset({("alltoallv", "pairwise_sendrecv_replace"), ("alltoallw", "pairwise_sendrecv_replace")})

#: Of 33 doubles of two processes 66 count (4.1.3, 5.0.2).
_COUNTS_ELEMENTS = ("gather", "scatter")

_OTHERWISE = "MPICH 5.0.2 takes another algorithm there"
_ENDS = "MPICH ends the program at such a call"
_WRONG = "MPICH ends the program at such a call, or its result is wrong"
#: Nothing can go wrong with it.
_NO_ELEMENTS = "avg_msg_size<=0"
_GUARDS = (
    (POWERS_ONLY, "comm_size=pow2", "other numbers of processes than powers of two", _ENDS),
    (SPANNING, "comm_hierarchy=parent", "communicators that do not span nodes", _WRONG),
    (IN_PLACE, "is_sendbuf_inplace=yes", "buffers that are not in place", _ENDS),
)
_UNBOUNDED = 2**62
#: A size that has room in 64 bits.
NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class _Way:
    """Keys that hold on the way to a leaf, those that stood before them, and which communicator sizes come there."""

    keys: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    low: int = 2
    high: int = _UNBOUNDED

    def down(self, key: str) -> _Way:
        """Below a key."""
        return replace(self, keys=self.keys | {key}, high=min(self.high, _end(key)))

    def past(self, key: str) -> _Way:
        """Behind a key that does not hold."""
        end = _end(key)
        low = self.low if end == _UNBOUNDED else max(self.low, end + 1)
        return replace(self, passed=self.passed | {key}, low=low)

    @property
    def powers(self) -> bool:
        """Whether powers of two alone come there."""
        sizes = range(self.low, min(self.high, self.low + 2) + 1)
        return "comm_size=pow2" in self.keys or all(size & (size - 1) == 0 for size in sizes)


def _end(key: str) -> int:
    """Largest communicator size that a key holds for, where it is of that kind."""
    for sign, less in (("<=", 0), ("<", 1)):
        name, bounds, value = key.partition(sign)
        if bounds:
            return int(value) - less if name == "comm_size" and NUMBER.fullmatch(value) else _UNBOUNDED
    return _UNBOUNDED


def closed(key: str) -> str:
    """A key of communicators below a size as that of those up to the size before; others as they are."""
    bound = key.removeprefix("comm_size<")
    return f"comm_size<={int(bound) - 1}" if bound != key and NUMBER.fullmatch(bound) else key


def faults(collective: str, at: At) -> Iterator[Fault]:
    """What a collective's part of a selection lets be called that ends the program, and sizes that are no bytes."""
    yield from _faults(collective, at, _Way())
    if collective in _COUNTS_ELEMENTS and (pair := next(_sized(at), None)) is not None:
        what = f"total_msg_size of {collective} counts elements, not bytes"
        yield Fault(
            pair.line, "warning", what, "elements of several bytes follow its rules at so many times their sizes"
        )


def _sized(at: At) -> Iterator[Pair]:
    """Keys of sizes that calls within a group are chosen by."""
    for pair in at.pairs:
        if pair.key.startswith("total_msg_size<"):
            yield pair
        elif pair.key != "comm_type=inter":
            yield from _sized(pair.value)


def _faults(collective: str, at: At, way: _Way) -> Iterator[Fault]:
    for pair in at.pairs:
        if pair.key.startswith("algorithm="):
            yield from _leaf(collective, pair, way)
        else:
            if closed(pair.key) != pair.key and any("msg_size" in key for key in way.keys):
                what = f"{pair.key!r} below a message size holds for {pair.key.partition('<')[2]} processes, too"
                yield Fault(pair.line, "warning", f"{what}; write {closed(pair.key)!r}", _OTHERWISE)
            yield from _faults(collective, pair.value, way.down(pair.key))
        way = way.past(pair.key)


def _leaf(collective: str, pair: Pair, way: _Way) -> Iterator[Fault]:
    name = pair.key.removeprefix("algorithm=")
    start = f"MPIR_{collective.capitalize()}_"
    if name.startswith(f"{start}inter_") and "comm_type=inter" not in way.keys:
        yield Fault(pair.line, "error", f"{name} is for calls between groups ('comm_type=inter')", _ENDS)
        return
    key = collective, name.removeprefix(f"{start}intra_")
    for kinds, guard, calls, effect in _GUARDS:
        if key in kinds and not {guard, _NO_ELEMENTS} & way.keys and not (guard == "comm_size=pow2" and way.powers):
            yield Fault(pair.line, "error", f"{name} is taken for {calls}, too; put it below {guard!r}", effect)
    if key in MANY_ELEMENTS and "count<pow2" not in way.passed:
        what = f"{name} is taken for fewer elements than processes, too; put it behind 'count<pow2'"
        yield Fault(pair.line, "warning", what, _ENDS)
