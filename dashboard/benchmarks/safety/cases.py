"""The ways in which a method is called before it is trusted. Nothing here needs MPI."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from loaders.collectives import COLLECTIVES, Collective

#: Where the input lies: apart from the output, or in place as MPI_IN_PLACE lets it: with count 0 and no datatype, as
#: most programs write it, or with those of the output, which the standard lets a library ignore.
Place = Literal["apart", "in place", "in place, with types"]
#: How an element lies in memory; ``strided`` has holes in it and behind it, which nobody may touch.
Layout = Literal["plain", "strided", "pair", "matrix"]
Operation = Literal["none", "sum", "own sum", "product"]
Made = Literal["duplicated", "reversed", "halves", "between"]

#: Elements: fewer and more than processes, and around 1, 4, 32 and 64 KiB, where libraries change their protocol.
PLAIN_COUNTS = (0, 1, 3, 13, 255, 257, 1001, 1023, 1024, 1025, 8191, 8193, 16385)
#: Of collectives that hold a block for each process.
BLOCK_COUNTS = (0, 1, 3, 13, 255, 257, 1001, 1023, 1025, 8193)
_FEW = (0, 1, 13, 1025)
#: The same counts everywhere, or counts that differ from process to process, some of them 0.
Counts = Literal["equal", "different"]


@dataclass(frozen=True)
class Case:
    """One way of calling a collective."""

    #: Elements of a block, or of the vector where there are no blocks; with different counts their mean or so.
    count: int
    #: Of rooted collectives; of the barrier who comes late.
    root: int = 0
    place: Place = "apart"
    layout: Layout = "plain"
    operation: Operation = "none"
    counts: Counts = "equal"
    made: Made = "duplicated"
    #: Calls without anything in between, each with data of its own.
    repeats: int = 1
    #: That call at once, each on a communicator of its own.
    threads: int = 1

    @property
    def kind(self) -> str:
        """What is unusual of it, in words; ``plain`` when nothing is."""
        unusual: list[str] = [self.place] if self.place != "apart" else []
        unusual += ["strided datatype"] if self.layout == "strided" else []
        unusual += ["derived datatype"] if self.layout == "pair" else []
        unusual += [NOT_COMMUTATIVE] if self.operation == "product" else []
        unusual += ["counts that differ"] if self.counts == "different" else []
        unusual += [_MADE[self.made]] if self.made in _MADE else []
        unusual += [f"{self.threads} threads at once"] if self.threads > 1 else []
        unusual += ["calls without a pause"] if self.repeats > 1 else []
        unusual += ["no elements"] if not self.count else []
        return ", ".join(unusual) or PLAIN

    def words(self, collective: str, comm_size: int) -> str:
        """The case so that somebody can call it again."""
        where = f", {'late rank' if collective == 'barrier' else 'root'} {self.root}"
        rooted = where if collective == "barrier" or COLLECTIVES[collective].rooted else ""
        elements = "" if collective == "barrier" else f", {self.count} element{'' if self.count == 1 else 's'}"
        return f"{self.kind}: {comm_size} processes{elements}{rooted}"


PLAIN = "plain"
_MADE: Mapping[Made, str] = {
    "reversed": "ranks reversed by a split",
    "halves": "communicator split in two",
    "between": "between two groups",
}
NOT_COMMUTATIVE = "operation that does not commute"


def cases(collective: str, size: int) -> tuple[Case, ...]:
    """All cases of a collective on a communicator of so many processes, the plain ones first; each once.

    A method that is refused in the first of them is not for so many processes.
    """
    return tuple(dict.fromkeys(_cases(COLLECTIVES[collective], size)))


def _cases(entry: Collective, size: int) -> Iterator[Case]:
    if entry.sends == "nothing":
        # Of a barrier nobody asks for how many elements it is.
        yield from (Case(1, late) for late in (0, size - 1, size // 2))
        yield from (Case(1, 0, made=made) for made in ("reversed", "halves", "between"))
        yield Case(1, size - 1, threads=2)
        return
    operation: Operation = "sum" if entry.reduces else "none"
    counts = BLOCK_COUNTS if entry.by_block else PLAIN_COUNTS
    # The first case tells whether the method is for so many processes at all.
    for count in (13, *counts, size - 1, size + 1):
        yield Case(count, operation=operation)
    if entry.rooted:
        yield from (Case(count, root, operation=operation) for root in range(size) for count in (13, 1025))
    yield from _in_place(entry, size, operation)
    yield from _types(entry, size)
    if entry.counts != "equal":
        for count in _FEW[1:]:
            yield Case(count, operation=operation, counts="different")
            if not entry.rooted:
                yield Case(count, operation=operation, counts="different", place="in place")
    for made in ("reversed", "halves"):
        yield Case(13, operation=operation, made=made)
        yield Case(1025, operation=operation, made=made)
    yield Case(257, operation=operation, repeats=4)
    yield from (Case(count, operation=operation, repeats=4, threads=2) for count in (257, 8193))
    yield from _between(entry, size, operation)


def _between(entry: Collective, size: int, operation: Operation) -> Iterator[Case]:
    """Between groups; of prefixes MPI has none. The library takes methods of collectives within the groups for it."""
    if entry.reduces in ("lower", "below"):
        return
    for root in (0, size - 1) if entry.rooted else (0,):
        yield from (Case(count, root, operation=operation, made="between") for count in _FEW)
    if entry.reduces:
        yield Case(13, operation="product", layout="matrix", made="between")


def _in_place(entry: Collective, size: int, operation: Operation) -> Iterator[Case]:
    roots = (0, size - 1) if entry.rooted else (0,)
    if not entry.in_one_buffer:
        for count in _FEW:
            yield from (Case(count, root, "in place", operation=operation) for root in roots)
    if entry.receives == "blocks" and entry.name != "alltoallw":
        yield from (Case(count, root, "in place, with types") for count in (13, 1025) for root in roots)


def _types(entry: Collective, size: int) -> Iterator[Case]:
    """Datatypes other than those that the library has; of reductions with operations of the program's own."""
    root = size - 1 if entry.rooted else 0
    if not entry.reduces:
        yield from (Case(count, root, layout="strided") for count in (1, 13, 1025))
        if entry.sends != entry.receives:
            yield Case(13, root, "in place", "strided")
        return
    for count in (1, 13, 1025):
        yield Case(count, root, layout="pair", operation="own sum")
        yield Case(count, root, layout="matrix", operation="product")
    yield Case(13, root, "in place", "matrix", "product")
    yield Case(5001, root, layout="matrix", operation="product")
