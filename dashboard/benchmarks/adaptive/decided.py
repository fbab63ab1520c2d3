"""What the decision of a campaign is expected to lose, by the times that decide: what is said of it at its end."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xarray as xr

from dashboard.benchmarks.adaptive.chooser import Chooser
from dashboard.benchmarks.adaptive.expected import Known
from dashboard.benchmarks.adaptive.refine import known_of
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.libraries.methods import Method
from dashboard.decisions.measured.doubles import competing
from dashboard.decisions.measured.map import select_ppn
from dashboard.decisions.measured.trust import without_doubtful
from dashboard.export.unsafe import without_unsafe
from loaders import LoadError, open_results


def decided_loss(results: Sequence[Path], plan: Plan) -> dict[str, float | None]:
    """Expected loss of the decision over the grid of a plan.

    Times that cannot be trusted decide nothing, and tell nothing here. While a campaign chooses its points they do:
    they may be measured again, and are better than none. What results alone do not tell counts: sizes of the plan that
    were never measured, and methods that were not measured there and may be better.

    Parameters
    ----------
    plan
        Its plan, with a goal, by which sizes count.

    Returns
    -------
    dict
        Percent, by collective of the plan; None where no time can be trusted.
    """
    chooser = Chooser(plan)
    for path in results:
        chooser.read(path)
    try:
        children = open_results(list(results)).children if results else {}
    except LoadError:
        children = {}
    return {
        name: _loss(children[name].to_dataset(), known, plan.methods[name]) if name in children else None
        for name, known in chooser.known().items()
    }


def _loss(cube: xr.Dataset, by_all: Known, methods: Sequence[Method]) -> float | None:
    """Expected loss in percent by the times of a cube that can be trusted, given what all times of methods tell."""
    cube = without_unsafe(cube)
    every, ppn = select_ppn(cube)
    trusted = select_ppn(without_doubtful(cube), ppn)[0]
    if not trusted["time"].notnull().any():
        return None
    known = known_of(trusted, by_all.comm_sizes.tolist(), by_all.message_sizes.tolist(), every=every)
    new = ~by_all.measured.any(axis=(1, 2))
    # What the plan has and nobody measured may be better there, however far from what was measured: it counts, too.
    missing = {method.label: able for method, able in zip(methods, by_all.able & ~by_all.measured, strict=True)}
    able = np.concatenate([known.able, by_all.able[new]])
    for place, name in enumerate(competing(trusted)["method"].values.tolist()):
        able[place] |= missing.get(name, False)
    return replace(
        known,
        logs=np.concatenate([known.logs, by_all.logs[new]]),
        errors=np.concatenate([known.errors, by_all.errors[new]]),
        able=able,
        weights=by_all.weights * able.any(axis=0),
        folding=None if known.folding is None else np.append(known.folding, np.zeros(new.sum(), dtype=np.bool_)),
    ).mean_loss
