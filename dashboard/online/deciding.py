"""What was learnt, as a decision function: every exporter takes it, and every rule of it can be proven."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method, Node, Split, Test
from dashboard.online.bins import AXES
from dashboard.online.selection import DEFAULT, Choice, SelectionModel

_OWN = Method("default", "default", 0, {"library_id": 0})


def seen_ppns(calls: pd.DataFrame, collective: str) -> list[int]:
    """Processes per node of the timings of a collective, those of most timings first.

    Parameters
    ----------
    calls
        As `dashboard.online.state.Folder.calls` gives them.
    """
    return [int(ppn) for ppn in calls.loc[calls["collective"] == collective, "ppn"].value_counts().index]


def decision_of(model: SelectionModel, collective: str, ppn: int | None = None) -> DecisionFunction:
    """The best known method of each bin as a tree over message size, nodes and processes per node.

    Where nothing was learnt the method is ``default``, the library's own decision.

    Parameters
    ----------
    ppn
        Processes per node where nothing tells them, as in rules.
    """
    choice = model.choices[collective]
    methods = (_OWN, *model.table.methods[collective])
    best = choice.best.reshape(choice.bins.shape)
    root = _node(best, choice, tuple((0, size) for size in best.shape))
    kept = model.provenance
    known: Mapping[str, Any] = {name: kept[name] for name in ("iteration", "timings") if name in kept}
    facts = {"learnt": "online", "library": model.table.library, "library_version": model.table.version, **known}
    if ppn is not None:
        facts["ppn"] = ppn
    used = sorted({int(each) for each in np.unique(best)} | {DEFAULT})
    places = {alg: place for place, alg in enumerate(used)}
    made = DecisionFunction(collective, [methods[alg] for alg in used], _renumbered(root, places), provenance=facts)
    return made.simplified()


def _node(best: npt.NDArray[Any], choice: Choice, spans: tuple[tuple[int, int], ...]) -> Node:
    """A block of bins: a leaf where all agree, else cut where the parts agree most."""
    block = best[tuple(slice(*span) for span in spans)]
    if (block == block.flat[0]).all():
        return Leaf(int(block.flat[0]))
    axis, cut = min(
        ((axis, cut) for axis, (low, high) in enumerate(spans) for cut in range(low + 1, high)),
        key=lambda at: _mixed(best, spans, *at),
    )
    low, high = spans[axis]
    below = _node(best, choice, (*spans[:axis], (low, cut), *spans[axis + 1 :]))
    above = _node(best, choice, (*spans[:axis], (cut, high), *spans[axis + 1 :]))
    # Sizes are whole: what is below the border is at most this.
    border = float(np.ceil(choice.bins.borders[axis][cut]) - 1)
    return Split((Test(AXES[axis], border),), (below, above))


def _mixed(best: npt.NDArray[Any], spans: tuple[tuple[int, int], ...], axis: int, cut: int) -> float:
    """Entropy of both parts together, in bins."""
    total = 0.0
    for part in ((spans[axis][0], cut), (cut, spans[axis][1])):
        inside = best[tuple(slice(*(part if place == axis else span)) for place, span in enumerate(spans))]
        counts = np.unique(inside, return_counts=True)[1]
        total -= float((counts * np.log(counts / counts.sum())).sum())
    return total


def _renumbered(node: Node, places: Mapping[int, int]) -> Node:
    if isinstance(node, Leaf):
        return Leaf(places[node.method])
    return Split(node.tests, tuple(_renumbered(child, places) for child in node.children))
