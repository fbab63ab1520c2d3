"""Decision maps made by models, beside measured ones, and what decisions by each model cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dashboard.decisions import DecisionFunction
from dashboard.domain.arrays import BoolArray, IntArray
from dashboard.domain.units import format_percent
from dashboard.models import MODEL_TITLES
from dashboard.models.family import FAMILY
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import table
from dashboard.plots.scene import MapScene

if TYPE_CHECKING:
    from dashboard.decisions.judged.penalty import PenaltySummary

_BY = FAMILY.option("model")
TITLES: Mapping[str, str] = dict(zip(_BY.choices, _BY.titles, strict=True))


def chosen_methods(decision: DecisionFunction, scene: MapScene) -> tuple[MethodKey, IntArray]:
    """Colours of all methods, measured or not, and which of them is chosen in each cell.

    Returns
    -------
    tuple of MethodKey and array ``(comm_size, message_size)``
        Measured methods keep their colours; methods that were not measured come after them.
    """
    labels = list(scene.key.labels)
    more = [method.label for method in decision.methods if method.label not in labels]
    key = MethodKey.of([*labels, *more], scene.key.scheme) if more else scene.key
    places = np.array([key.labels.index(method.label) for method in decision.methods])
    sizes = scene.dmap["comm_size"].values[:, None], scene.dmap["message_size"].values[None, :]
    given = {name: value for name, value in scene.given.items() if name in decision.needs}
    return key, places[decision.predict(*sizes, **given)]


def marks_legend(marks: BoolArray) -> str:
    """Say how many cells are dotted, and why."""
    return (
        f"<p>Dotted: {int(marks.sum()):,} of {marks.size:,} cells, where the time of the chosen method was predicted, "
        "not measured.</p>"
    )


def penalties_table(
    penalties: Mapping[str, tuple[PenaltySummary, PenaltySummary]],
    shown: tuple[PenaltySummary, PenaltySummary] | None = None,
) -> str:
    """Write what decisions by each model cost, as Tables 6.2 and 6.3.

    Parameters
    ----------
    penalties
        By model or vote: the penalty against the best of the covered methods, and of all, percent.
    shown
        Likewise of a decision that stands above them, which need not be what a model chooses exactly.
    """
    heads = [("decided by", False)]
    heads += [(each, True) for each in ("mean", "median", "max", "of all: mean", "median", "max", "unknown")]
    titled = [] if shown is None else [("decision on show", shown)]
    titled += [(TITLES[name], both) for name, both in penalties.items()]
    rows = []
    for title, (fair, every) in titled:
        figures = [getattr(each, what) for each in (fair, every) for what in ("mean", "median", "max")]
        texts = ["–" if np.isnan(each) else format_percent(each) for each in figures]
        rows.append([title, *texts, f"{every.unmeasured:,}"])
    first = 0 if shown is None else 1
    together = [place for place, name in enumerate(penalties, first) if name not in MODEL_TITLES]
    apart = [*range(1, first + 1), *together[:1]]
    return table("Penalty: against the best method that models cover; of all", heads, rows, apart=apart)
