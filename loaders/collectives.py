"""The collectives: one entry for each, from which everything else about them is derived.

An entry says what MPI calls it, what each process brings and gets, who is the root and whether the counts may differ;
what the message size means, how it is called, measured, verified and scheduled follows from that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

#: What is measured between two processes stands beside the collectives under this name.
POINT_TO_POINT = "pt2pt"

#: What a process brings or gets: a vector of the message size, its own block, a block of every process, or nothing.
Part = Literal["vector", "block", "blocks", "nothing"]
#: Whether all blocks are equal, each process has a count of its own, or each pair of processes has.
Counts = Literal["equal", "of ranks", "of pairs"]


@dataclass(frozen=True)
class Collective:
    """One collective operation."""

    #: The project's.
    name: str
    #: MPI's, behind ``MPI_``.
    call: str
    #: What a process brings and what it gets. Of those with a root only the root has the blocks of all, the vector that
    #: is broadcast, and the result of a reduction.
    sends: Part
    receives: Part
    #: Whether there is a root.
    rooted: bool = False
    #: ``all`` when the operation is over all processes, ``lower`` over those up to this one, ``below`` without it.
    reduces: Literal["", "all", "lower", "below"] = ""
    #: Which blocks may differ in size.
    counts: Counts = "equal"

    @property
    def in_one_buffer(self) -> bool:
        """Whether what is sent lies where it is received, as of a broadcast."""
        return self.rooted and self.sends == self.receives and not self.reduces

    @property
    def starts_at_root(self) -> bool:
        """Whether only the root has a buffer to send from."""
        return self.rooted and self.sends == "blocks"

    @property
    def ends_at_root(self) -> bool:
        """Whether only the root gets anything."""
        return self.rooted and (self.receives == "blocks" or bool(self.reduces))

    @property
    def by_block(self) -> bool:
        """Whether the message size is the block of one process rather than a vector."""
        return "blocks" in (self.sends, self.receives)

    @property
    def size_meaning(self) -> str:
        """What the message size is, in words."""
        if self.sends == "nothing":
            return "bytes"
        return "bytes of the block per process" if self.by_block else "bytes of the vector"

    def arguments(
        self, sent: Any, received: Any, *, op: Any = None, root: int = 0, counts: Sequence[int] = ()
    ) -> list[Any]:
        """Arguments of the call in mpi4py, in order; `counts` are the elements that each gets of a reduce_scatter."""
        buffers = [] if self.sends == "nothing" else [sent] if self.in_one_buffer else [sent, received]
        shares = [counts] if self.reduces and self.counts == "of ranks" else []
        return [*buffers, *shares, *([op] if self.reduces else []), *([root] if self.rooted else [])]


#: By name.
COLLECTIVES: Mapping[str, Collective] = {
    each.name: each
    for each in (
        Collective("bcast", "Bcast", "vector", "vector", rooted=True),
        Collective("reduce", "Reduce", "vector", "vector", rooted=True, reduces="all"),
        Collective("allreduce", "Allreduce", "vector", "vector", reduces="all"),
        Collective("scan", "Scan", "vector", "vector", reduces="lower"),
        Collective("exscan", "Exscan", "vector", "vector", reduces="below"),
        Collective("gather", "Gather", "block", "blocks", rooted=True),
        Collective("gatherv", "Gatherv", "block", "blocks", rooted=True, counts="of ranks"),
        Collective("scatter", "Scatter", "blocks", "block", rooted=True),
        Collective("scatterv", "Scatterv", "blocks", "block", rooted=True, counts="of ranks"),
        Collective("allgather", "Allgather", "block", "blocks"),
        Collective("allgatherv", "Allgatherv", "block", "blocks", counts="of ranks"),
        Collective("alltoall", "Alltoall", "blocks", "blocks"),
        Collective("alltoallv", "Alltoallv", "blocks", "blocks", counts="of pairs"),
        Collective("alltoallw", "Alltoallw", "blocks", "blocks", counts="of pairs"),
        Collective("reduce_scatter", "Reduce_scatter", "blocks", "block", reduces="all", counts="of ranks"),
        Collective("reduce_scatter_block", "Reduce_scatter_block", "blocks", "block", reduces="all"),
        Collective("barrier", "Barrier", "nothing", "nothing"),
    )
}
#: Collectives with a root, and those with an operation.
ROOTED = tuple(name for name, each in COLLECTIVES.items() if each.rooted)
REDUCING = tuple(name for name, each in COLLECTIVES.items() if each.reduces)


def plain_name(name: str) -> str:
    """The blocking collective that a nonblocking or persistent one is a form of; any other name as it is."""
    base = name.removesuffix("_persistent")
    return base.removeprefix("i") if base not in COLLECTIVES and base.removeprefix("i") in COLLECTIVES else base


def size_meaning(name: str) -> str:
    """Say in words what the message size of a collective is."""
    known = COLLECTIVES.get(plain_name(name))
    return known.size_meaning if known else "bytes"
