"""What was learnt, as a decision function: every exporter takes it, and every rule of it can be proven."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Leaf, Node, Split, Test
from dashboard.online.bins import AXES, Bins
from dashboard.online.selection import DEFAULT, SelectionModel


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
    methods = (LEFT_ALONE, *model.table.methods[collective])
    used, places = np.unique([DEFAULT, *choice.best], return_inverse=True)
    shape = choice.bins.shape
    root = _node(places[1:].reshape(shape), choice.bins, tuple((0, size) for size in shape))
    kept = model.provenance
    known: Mapping[str, Any] = {name: kept[name] for name in ("iteration", "timings") if name in kept}
    facts = {"learnt": "online", "library": model.table.library, "library_version": model.table.version, **known}
    if ppn is not None:
        facts["ppn"] = ppn
    return DecisionFunction(collective, [methods[alg] for alg in used], root, provenance=facts).simplified()


def _node(best: npt.NDArray[Any], bins: Bins, spans: tuple[tuple[int, int], ...]) -> Node:
    """A block of bins: a leaf where all agree, else cut where the parts agree most."""
    block = best[tuple(slice(*span) for span in spans)]
    if (block == block.flat[0]).all():
        return Leaf(int(block.flat[0]))
    axis, cut = min(
        ((axis, cut) for axis, (low, high) in enumerate(spans) for cut in range(low + 1, high)),
        key=lambda at: _mixed(best, spans, *at),
    )
    low, high = spans[axis]
    below = _node(best, bins, (*spans[:axis], (low, cut), *spans[axis + 1 :]))
    above = _node(best, bins, (*spans[:axis], (cut, high), *spans[axis + 1 :]))
    # Sizes are whole: what is below the border is at most this.
    border = float(np.ceil(bins.borders[axis][cut]) - 1)
    return Split((Test(AXES[axis], border),), (below, above))


def _mixed(best: npt.NDArray[Any], spans: tuple[tuple[int, int], ...], axis: int, cut: int) -> float:
    """Entropy of both parts together, in bins."""
    total = 0.0
    for part in ((spans[axis][0], cut), (cut, spans[axis][1])):
        inside = best[tuple(slice(*(part if place == axis else span)) for place, span in enumerate(spans))]
        counts = np.unique(inside, return_counts=True)[1]
        total -= float((counts * np.log(counts / counts.sum())).sum())
    return total
