"""Decision functions without what loses: rules left to the library where they are slower, as a whole or in part."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Leaf, Method, Node, Split, Test
from dashboard.decisions.judged.improvement import OUTCOMES, Improvement, Verdict, leaves_of

_LEFT = "left to the library"
#: Of a decision's provenance: how many rules `without_slower` took from it.
DROPPED, CUT = "rules_left_to_the_library", "rules_left_to_it_in_part"


def without_slower(
    decision: DecisionFunction, verdicts: Sequence[Verdict], improvement: Improvement | None = None, element: int = 0
) -> tuple[DecisionFunction, list[Verdict], list[Verdict]]:
    """Leave to the library what rules decide that is slower than its own decision beyond noise.

    Parameters
    ----------
    verdicts
        On its rules, as `dashboard.decisions.judged.improvement.judge` gives them.
    improvement
        By which they were judged; without it no cells are cut.
    element
        Bytes of an element of the messages that were compared: what is left of a rule then decides between sizes
        compared that are not slower, and nothing beyond them. 0: it reaches as far as it did.

    Returns
    -------
    decision
        Where a rule is slower as a whole the library decides. Of one that is not, but at some cells slower beyond noise
        by their outcomes, the library decides these, and what lies between them and the next sizes that are not.
    dropped, cut
        The rules that are gone, and those that lost cells.
    """
    chosen = [verdict for verdict in verdicts if not verdict.default]
    dropped = [verdict for verdict in chosen if verdict.outcome == "slower"]
    left = [verdict for verdict in chosen if verdict.outcome != "slower" and verdict.cells]
    cut = [verdict for verdict in left if verdict.slower] if improvement is not None else []
    methods, alone = _with_alone(decision)
    parts: dict[int, Node] = {verdict.node: alone for verdict in dropped}
    if improvement is not None:
        leaf = leaves_of(improvement, decision)
        slower = improvement.cells["outcome"].values == OUTCOMES.index("slower")
        comm_sizes, message_sizes = (improvement.cells[name].values for name in (COMM_SIZE, MESSAGE_SIZE))

        def reaches(place: int, size: int) -> bool:
            return size > 0 and bool((decision.leaf_places(comm_sizes, size) == place).any())

        for verdict in left if element else cut:
            part, own = leaf == verdict.node, Leaf(int(decision.tree.codes[verdict.node]))
            node = _cut(improvement, part, slower, own, alone)
            if element:
                sizes = message_sizes[(part & ~slower).any(axis=0)].tolist()
                node = _within(node, alone, sizes, element, partial(reaches, verdict.node))
            parts[verdict.node] = node
    facts = {**decision.provenance, DROPPED: len(dropped), CUT: len(cut)}
    return decision.changed(methods=methods, root=decision.tree.to_node(parts), provenance=facts), dropped, cut


def without(decision: DecisionFunction, leaves: Iterable[int]) -> DecisionFunction:
    """Leave what leaves decide, given by their nodes, to the library."""
    methods, alone = _with_alone(decision)
    return decision.changed(methods=methods, root=decision.tree.to_node(dict.fromkeys(leaves, alone)))


def within_measured(decision: DecisionFunction) -> DecisionFunction:
    """Leave to the library all sizes below the smallest and above the largest that were measured.

    The decision's provenance tells these; where it tells none of a size, nothing is left alone by it.
    """
    methods, alone = _with_alone(decision)
    root = decision.tree.to_node()
    for name in SIZES:
        measured = decision.provenance.get(name)
        if not isinstance(measured, Sequence) or isinstance(measured, str) or len(measured) != 2:
            continue
        root = Split((Test(name, float(measured[1])),), (root, alone))
        if measured[0] > 1:
            root = Split((Test(name, float(measured[0] - 1)),), (alone, root))
    facts = {**decision.provenance, "beyond_measured": _LEFT}
    return decision.changed(methods=methods, root=root, provenance=facts)


def is_within_measured(decision: DecisionFunction) -> bool:
    """Whether a decision function comes of `within_measured`."""
    return decision.provenance.get("beyond_measured") == _LEFT


def _with_alone(decision: DecisionFunction) -> tuple[list[Method], Leaf]:
    """Methods of a decision function, the library's own decision among them, and a leaf that has it."""
    methods = [*decision.methods] if LEFT_ALONE in decision.methods else [*decision.methods, LEFT_ALONE]
    return methods, Leaf(methods.index(LEFT_ALONE))


def _cut(
    improvement: Improvement, part: npt.NDArray[np.bool_], slower: npt.NDArray[np.bool_], own: Leaf, alone: Leaf
) -> Node:
    """What stands in the place of a rule: its own method, but for the cells that are slower."""
    comm_sizes, message_sizes = (improvement.cells[name].values for name in (COMM_SIZE, MESSAGE_SIZE))
    rows: list[tuple[int, Node]] = []
    for number, comm_size in enumerate(comm_sizes.tolist()):
        if part[number].any():
            sizes, lost = message_sizes[part[number]].tolist(), slower[number, part[number]].tolist()
            # What is slower reaches up to the next size that is not.
            ends = [after - 1 if gone else size for size, after, gone in zip(sizes, [*sizes[1:], 0], lost, strict=True)]
            row = [(end, alone if gone else own) for end, gone in zip(ends, lost, strict=True)]
            rows.append((comm_size, _ranges(MESSAGE_SIZE, row)))
    return _ranges(COMM_SIZE, rows)


def _within(node: Node, alone: Leaf, sizes: Sequence[int], element: int, reaches: Callable[[int], bool]) -> Node:
    """A node that leaves to the library what a rule decides beyond the first and the last of some message sizes.

    What lies nearer to them than the next whole element is no message.
    """
    if not sizes:
        return alone
    if reaches(sizes[-1] + element):
        node = Split((Test(MESSAGE_SIZE, float(sizes[-1])),), (node, alone))
    if reaches(sizes[0] - element):
        node = Split((Test(MESSAGE_SIZE, float(sizes[0] - 1)),), (alone, node))
    return node


def _ranges(name: str, parts: Sequence[tuple[int, Node]]) -> Node:
    """A node that decides by a size alone: each part holds up to its size, the last one for all that are larger."""
    node = parts[-1][1]
    for before, other in reversed(parts[:-1]):
        if other != node:
            node = Split((Test(name, float(before)),), (other, node))
    return node


def as_nearest_beyond(decision: DecisionFunction) -> DecisionFunction:
    """The same, whose provenance tells what holds beyond what was measured, where it knows that."""
    if "comm_size" not in decision.provenance:
        return decision
    return decision.changed(provenance={**decision.provenance, "beyond_measured": "as at the nearest measured sizes"})
