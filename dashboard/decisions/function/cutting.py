"""Decision functions without what loses: rules left to the library where they are slower, as a whole or in part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Leaf, Method, Node, Split, Test
from dashboard.decisions.judged.improvement import OUTCOMES, Improvement, Verdict, leaves_of


def without_slower(
    decision: DecisionFunction, verdicts: Sequence[Verdict], improvement: Improvement | None = None
) -> tuple[DecisionFunction, list[Verdict], list[Verdict]]:
    """Leave to the library what rules decide that is slower than its own decision beyond noise.

    Parameters
    ----------
    decision
        The decision function.
    verdicts
        On its rules, as `dashboard.decisions.judged.improvement.judge` gives them.
    improvement
        By which they were judged; without it no cells are cut.

    Returns
    -------
    decision
        Where a rule is slower as a whole the library decides. Of one that is not, but at some cells slower beyond noise
        (corrected for the number of cells), the library decides these: up to their sizes, from the next smaller ones
        measured on, as decision trees do between measured sizes.
    dropped, cut
        The rules that are gone, and those that lost cells.
    """
    chosen = [verdict for verdict in verdicts if not verdict.default]
    dropped = [verdict for verdict in chosen if verdict.outcome == "slower"]
    cut = (
        [verdict for verdict in chosen if verdict.outcome != "slower" and verdict.slower]
        if improvement is not None
        else []
    )
    methods, alone = _with_alone(decision)
    parts: dict[int, Node] = {verdict.node: alone for verdict in dropped}
    if improvement is not None and cut:
        leaf = leaves_of(improvement, decision)
        slower = improvement.cells["outcome"].values == OUTCOMES.index("slower")
        for verdict in cut:
            own = Leaf(int(decision.tree.codes[verdict.node]))
            parts[verdict.node] = _cut(improvement, leaf == verdict.node, slower, own, alone)
    facts = {**decision.provenance, "rules_dropped": len(dropped), "rules_cut": len(cut)}
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
    facts = {**decision.provenance, "beyond_measured": "left to the library"}
    return decision.changed(methods=methods, root=root, provenance=facts)


def _with_alone(decision: DecisionFunction) -> tuple[list[Method], Leaf]:
    """Methods of a decision function, the library's own decision among them, and a leaf that has it."""
    methods = [*decision.methods] if LEFT_ALONE in decision.methods else [*decision.methods, LEFT_ALONE]
    return methods, Leaf(methods.index(LEFT_ALONE))


def _cut(
    improvement: Improvement, part: npt.NDArray[np.bool_], slower: npt.NDArray[np.bool_], own: Leaf, alone: Leaf
) -> Node:
    """What stands in the place of a rule: its own method, but for the cells that are slower."""
    comm_sizes, message_sizes = (improvement.cells[name].values.tolist() for name in (COMM_SIZE, MESSAGE_SIZE))
    rows: list[tuple[int, Node]] = []
    for number, comm_size in enumerate(comm_sizes):
        there = np.flatnonzero(part[number])
        if there.size:
            row = [(message_sizes[place], alone if slower[number, place] else own) for place in there.tolist()]
            rows.append((comm_size, _ranges(MESSAGE_SIZE, row)))
    return _ranges(COMM_SIZE, rows)


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
