"""What communication models say of a collective: what deciding by them costs, and their curves beside measurements."""

from collections.abc import Iterator, Mapping
from html import escape

import numpy as np
import xarray as xr

from dashboard.decisions.grown.family import Progress
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.measured.slice import Slice
from dashboard.domain.units import format_count, format_percent
from dashboard.models import MODEL_TITLES, MODELS, ModelError, ModelName
from dashboard.models.deciding import model_penalties, restricted_to_covered
from dashboard.models.family import FITTED_NAME
from dashboard.models.fit import Fit, fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_set import ParameterSet
from dashboard.plots import legend
from dashboard.plots.live import LiveSources
from dashboard.plots.models import chart as model_chart
from dashboard.plots.models import decision as model_decision
from dashboard.plots.models import fits as model_fits
from dashboard.plots.models.curves import View, evaluate
from dashboard.plots.models.legend import legend_table
from dashboard.plots.models.methods import ModelMethod, model_methods
from dashboard.report.section import Part

#: Curves of more methods, each of three models, could not be told apart.
MOST_DRAWN = 4
COST = "Communication models: what deciding by them costs"
CURVES = "Communication models: the best methods they cover"
FITS = "Communication models: fitted parameters and residuals"


def model_parts(part: Slice, progress: Progress | None = None) -> Iterator[Part]:
    """Fit the models to the measurements of one collective, and set them beside these.

    Parameters
    ----------
    part
        Measurements at one number of processes per node, and their weights.
    progress
        Told how far the fits are; may raise `dashboard.decisions.grown.family.Cancelled`.
    """
    collective = str(part.cube.attrs["collective"])
    if collective not in MODELS:
        yield Part(COST, f"<p>There are no models of {escape(collective)}.</p>")
        return
    problem = Problem.of(part.cube, weights=part.weights)
    try:
        fair = restricted_to_covered(problem)
        network, fits = fit_all(observe(part.cube), name=FITTED_NAME, progress=progress)
        costs = model_penalties(problem, network)
    except ModelError as error:
        yield Part(COST, f"<p>They cannot be set beside these measurements: {escape(str(error))}.</p>")
        return
    covered = [method.label for method in fair.methods]
    tables = f"<div>{_nearness(fits)}</div><div>{model_decision.penalties_table(costs)}</div>"
    yield Part(COST, f'{_about(collective, part.cube, covered, fits)}<div class="beside">{tables}</div>')
    yield _curves(collective, part.cube, _best_first(fair.slices[0]), network)
    yield Part(FITS, "".join(map(_fit, fits.items())), folded=True)


def _about(collective: str, cube: xr.Dataset, covered: list[str], fits: Mapping[ModelName, Fit]) -> str:
    missing = [str(label) for label in cube["method"].values if str(label) not in covered]
    cells = max(len(fit.residuals) for fit in fits.values())
    text = (
        f"The parameters are {FITTED_NAME} of {collective} ({format_count(cells, 'cell')} of "
        f"{format_count(len(covered), 'method')}), and the models are judged by the same cells: elsewhere they are "
        "further off."
    )
    text += f" No model covers {', '.join(missing)}." if missing else ""
    return f"<p>{escape(text)}</p>"


def _nearness(fits: Mapping[ModelName, Fit]) -> str:
    heads = [("model", False), ("median size of the residuals", True), ("largest", True), ("cells", True)]
    rows = []
    for name, fit in fits.items():
        largest = 100 * float(fit.residuals["residual"].abs().max())
        figures = [format_percent(fit.median_error), format_percent(largest), f"{len(fit.residuals):,}"]
        rows.append([MODEL_TITLES[name], *figures])
    return legend.table("How near the fitted models are to the measurements", heads, rows)


def _best_first(part: Slice) -> list[str]:
    """Labels of the methods, those first that are best in most cells."""
    best = part.dmap["best"].values
    wins = np.bincount(best[best >= 0].ravel(), minlength=part.cube.sizes["method"])
    return [str(part.cube["method"].values[place]) for place in np.argsort(-wins, kind="stable")]


def _curves(collective: str, cube: xr.Dataset, labels: list[str], network: ParameterSet) -> Part:
    """Times and residuals of the best methods over message sizes (of barriers: over processes)."""
    known = {method.measured: method for method in model_methods(collective, cube) if method.measured}
    methods: tuple[ModelMethod, ...] = tuple(known[label] for label in labels if label in known)[:MOST_DRAWN]
    measured = cube["time"].sel({"method": [method.measured for method in methods]}).notnull()
    view = View(
        collective,
        "comm_size" if collective == "barrier" else "message_size",
        methods,
        network.models,
        comm_size=int(cube["comm_size"].values[measured.any(["method", "message_size"]).values][-1]),
        message_size=int(cube["message_size"].values[-1]),
    )
    lines = evaluate(view, network.parameters, cube)
    columns, live = model_chart.chart_columns(view, lines), LiveSources()
    figures = model_chart.time_chart(view, columns, live), model_chart.residual_chart(view, columns, live)
    return Part(CURVES, f"<p>{escape(model_chart.title(view))}.</p>{legend_table(view, lines)}", figures)


def _fit(named: tuple[ModelName, Fit]) -> str:
    name, fit = named
    tables = f"<div>{model_fits.interval_table(fit)}</div><div>{model_fits.method_table(fit)}</div>"
    return f'<p><strong>{MODEL_TITLES[name]}</strong></p><div class="beside">{tables}</div>'
