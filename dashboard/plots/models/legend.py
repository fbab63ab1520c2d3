"""Legend of model against measurement, with how far each model is off: the charts for those who read."""

from html import escape

from dashboard.domain.units import format_percent
from dashboard.models import MODEL_TITLES, ModelName, model_of
from dashboard.plots.legend import table
from dashboard.plots.models.chart import DASHES, looks_of
from dashboard.plots.models.curves import Lines, View


def dash(model: ModelName) -> str:
    """Picture of a model's line."""
    dashes = DASHES[model].replace("solid", "none")
    return (
        '<svg width="34" height="8" aria-hidden="true"><line x1="1" y1="4" x2="33" y2="4" stroke="currentColor" '
        f'stroke-width="2" stroke-dasharray="{dashes}"/></svg>'
    )


def processes_table(view: View, lines: Lines) -> str:
    """Write the lines of several numbers of processes, with how far a model is off on each."""
    rows = []
    for (slot, each), look in zip(enumerate(view.drawn), looks_of(view), strict=False):
        name = f"{look.mark} {escape(each.label)}"
        offs = [lines.deviation(model, slot) for model in view.models if (model, slot) in lines.curves]
        figures = [format_percent(value) for value in offs[0]] if offs and offs[0] is not None else ["–", "–"]
        rows.append([name, *figures])
    heads = [("processes", False), ("mean deviation", True), ("largest", True)]
    return table("Lines, and how far the model is off", heads, rows)


def legend_table(view: View, lines: Lines) -> str:
    """Write methods and models with mean and largest deviation, percent of the measurement.

    Parameters
    ----------
    lines
        As `dashboard.plots.models.curves.evaluate` gives them.
    """
    heads = [("method", False), ("model", False), ("mean deviation", True), ("largest", True), ("measured as", False)]
    rows, apart = [], []
    for (slot, method), look in zip(enumerate(view.drawn), looks_of(view), strict=False):
        apart.append(len(rows))
        validity = model_of(view.collective, method.algorithm).validity if method.modelled else "any"
        only = "" if validity == "any" else f" ({validity} only)"
        name = f"{look.mark} {escape(method.label + only)}"
        measured = method.measured if lines.points[slot].at.size else ""
        for model in view.models:
            if (model, slot) not in lines.curves:
                continue
            off = lines.deviation(model, slot)
            figures = ["–", "–"] if off is None else [format_percent(each) for each in off]
            title = MODEL_TITLES[model]
            if view.variant == "as_published":
                printed = model_of(view.collective, method.algorithm).formula(model).printed is not None
                title += " (as printed: an erratum)" if printed else ""
            measured_as = escape(measured) or ("as drawn" if lines.points[slot].at.size else "not measured here")
            rows.append([name, f"{dash(model)} {title}", *figures, measured_as])
            name = measured_as = ""
        if not method.modelled:
            rows.append([name, "no model", "–", "–", escape(measured) or "not measured here"])
    return table("Lines, and how far the models are off", heads, rows, apart=[each for each in apart if each])
