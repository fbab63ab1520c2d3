"""Scatter (Table 4.4) and gather (Table 4.5), also with a count for each rank."""

from dashboard.schedules.algorithm import Algorithm, Parameter
from dashboard.schedules.call import View
from dashboard.schedules.rank import Rank
from dashboard.schedules.topologies import in_order_binomial, subtree

GO, REST = 1, 2
FIRST_SEGMENT = Parameter("first_segment", 1024, (0, 1024, 8192))


def placed(rank: Rank, view: View) -> list[View]:
    """The block of each rank in the root's buffer, gaps left out."""
    return [rank.call.blocks.of(view, other) for other in range(rank.size)]


def others(rank: Rank) -> list[int]:
    """All ranks but the root."""
    return [other for other in range(rank.size) if other != rank.root]


def scatter_linear(rank: Rank) -> None:
    """The root sends each its block."""
    if rank.rank != rank.root:
        rank.take(rank.output, rank.root)
        return
    blocks = placed(rank, rank.input)
    sends = [rank.send(blocks[other], other) for other in others(rank)]
    rank.copy(blocks[rank.root], rank.output)
    rank.wait(*sends)


def scatter_binomial(rank: Rank) -> None:
    """The blocks of whole subtrees go down the in-order binomial tree."""
    place, turned = in_order_binomial(rank.virtual, rank.size), rank.call.blocks.turned(rank.root)
    held = sum(turned.lengths[rank.virtual : rank.virtual + subtree(rank.virtual, rank.size)])
    if rank.virtual == 0:
        mine = rank.input if rank.root == 0 else rank.scratch(held)
        if rank.root:
            blocks = placed(rank, rank.input)
            for virtual in range(rank.size):
                rank.copy(blocks[rank.real(virtual)], turned.of(mine, virtual))
    else:
        mine = rank.scratch(held) if place.children else rank.output
        rank.take(mine, rank.real(place.parent))
    every = mine.part(-turned.offsets[rank.virtual], 0)
    sends = [
        rank.send(turned.of(every, child, subtree(child, rank.size)), rank.real(child)) for child in place.children
    ]
    rank.copy(turned.of(every, rank.virtual), rank.output)
    rank.wait(*sends)


def gather_linear(rank: Rank) -> None:
    """All send to the root, which receives in the order of ranks."""
    if rank.rank != rank.root:
        rank.put(rank.input, rank.root)
        return
    blocks = placed(rank, rank.output)
    receives = [rank.receive(blocks[other], other) for other in others(rank)]
    rank.copy(rank.input, blocks[rank.root])
    rank.wait(*receives)


def linear_sync(rank: Rank) -> None:
    """The root lets one after the other begin; second parts come while the next one begins."""
    first = rank.call.held_by(rank["first_segment"])

    def parts(block: View) -> tuple[View, View]:
        """First part and rest of a block."""
        length = min(first, block.length) if rank["first_segment"] else block.length
        return block.part(0, length), block.part(length, block.length - length)

    if rank.rank != rank.root:
        begin, rest = parts(rank.input)
        rank.take(begin.part(0, 0), rank.root, GO)
        rank.put(begin, rank.root)
        rank.put(rest, rank.root, REST)
        return
    blocks, rests = placed(rank, rank.output), []
    for other in others(rank):
        begin, rest = parts(blocks[other])
        coming = rank.receive(begin, other)
        go = rank.send(begin.part(0, 0), other, GO)
        rests.append(rank.receive(rest, other, REST))
        rank.wait(go, coming)
    rank.copy(rank.input, blocks[rank.root])
    rank.wait(*rests)


def gather_binomial(rank: Rank) -> None:
    """The blocks of whole subtrees go up the in-order binomial tree, the smallest first."""
    place, turned = in_order_binomial(rank.virtual, rank.size), rank.call.blocks.turned(rank.root)
    at_root = rank.virtual == 0
    if not place.children:
        rank.put(rank.input, rank.real(place.parent))
        return
    held = sum(turned.lengths[rank.virtual : rank.virtual + subtree(rank.virtual, rank.size)])
    mine = rank.output if at_root and rank.root == 0 else rank.scratch(held)
    every = mine.part(-turned.offsets[rank.virtual], 0)
    rank.copy(rank.input, turned.of(every, rank.virtual))
    for child in place.children[::-1]:
        rank.take(turned.of(every, child, subtree(child, rank.size)), rank.real(child))
    if not at_root:
        rank.put(mine, rank.real(place.parent))
    elif rank.root:
        blocks = placed(rank, rank.output)
        for virtual in range(rank.size):
            rank.copy(turned.of(mine, virtual), blocks[rank.real(virtual)])


ALGORITHMS = (
    Algorithm("scatter", "linear", scatter_linear, "Table 4.4"),
    Algorithm("scatter", "binomial", scatter_binomial, "Table 4.4, Figure 4.3"),
    Algorithm("gather", "linear", gather_linear, "Table 4.5"),
    Algorithm("gather", "linear_sync", linear_sync, "Table 4.5", (FIRST_SEGMENT,)),
    Algorithm("gather", "binomial", gather_binomial, "Table 4.5, Figure 4.3"),
    Algorithm("scatterv", "linear", scatter_linear, "section 4.1.2"),
    Algorithm("gatherv", "linear", gather_linear, "section 4.1.2"),
)
