"""Formulas and errata, set as mathematics in the page."""

from collections.abc import Iterable, Mapping
from html import escape

from dashboard.models import MODEL_NAMES, MODEL_TITLES, CollectiveModel, ModelName
from dashboard.models.compare import Comparison
from dashboard.models.errata import Erratum
from dashboard.models.formula import Written
from dashboard.models.segments.closed import BY_NAME

STYLE = """
.formula { border-top: 1px solid rgba(120, 120, 120, 0.45); padding: 8px 0 12px; overflow: auto hidden; }
.formula h3 { margin: 2px 0; font-size: 15px; }
.formula p { margin: 2px 0; font-size: 13px; max-width: 75em; }
.formula dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; margin: 6px 0; }
.formula dt { font-size: 13px; opacity: 0.8; padding-top: 4px; }
.formula dd { margin: 0; min-width: 0; font-size: 13px; }
.math { padding: 4px 0; }
math { font-size: 16px; }
.printed { border-left: 3px solid #c2479c; padding-left: 10px; margin: 4px 0; }
math .root { font-size: 1.5em; }
math .radicand { border-top: 1px solid currentColor; padding: 2px 2px 0; }
math mtd { text-align: left; }
"""
SYMBOLS = (
    "<p>P processes, m bytes, n<sub>s</sub> segments of m<sub>s</sub> bytes. Hockney: latency α, time per byte β. "
    "LogP / LogGP: latency L, overhead o, gap g, gap per byte G. PLogP: latency L, gap g(m), "
    "overheads o<sub>s</sub>(m) and o<sub>r</sub>(m). γ computes, δ copies a byte.</p>"
)


def formulas(models: Iterable[CollectiveModel], known: Iterable[Comparison] = ()) -> str:
    """Write the formulas of some algorithms under all models.

    Parameters
    ----------
    models
        The algorithms.
    known
        How the formulas compare with the simulation (`dashboard.models.compare.table`).
    """
    comparisons = {(each.collective, each.algorithm, each.model): each for each in known if each.variant == "corrected"}
    return SYMBOLS + "".join(_algorithm(each, comparisons) for each in models)


def _algorithm(model: CollectiveModel, comparisons: Mapping[tuple[str, str, ModelName], Comparison]) -> str:
    facts = [f"Table {model.table}", f"numbers of processes: {model.validity}", model.note]
    parts = [
        f"<dt>{MODEL_TITLES[name]}</dt><dd>{_formula(model, name)}"
        f"{_verdict(comparisons.get((model.collective, model.algorithm, name)))}</dd>"
        for name in MODEL_NAMES
    ]
    facts_text = escape(". ".join(filter(None, facts)))
    return (
        f'<section class="formula" tabindex="0"><h3>{escape(model.title)} '
        f"<small>({escape(f'{model.collective} {model.algorithm}')})</small></h3><p>{facts_text}</p>"
        f"<dl>{''.join(parts)}</dl></section>"
    )


def _formula(model: CollectiveModel, name: ModelName) -> str:
    formula = model.formula(name)
    parts = [_math(formula.written())]
    if formula.best is not None:
        parts.append(_math(formula.written(case="best")))
    if formula.printed is not None:
        parts.append(_printed(_math(formula.written("as_published")), formula.erratum))
    closed = BY_NAME.get((model.collective, model.algorithm, name))
    if closed is not None:
        forms = closed.written()
        parts.append(f"Optimal segment size, Table {closed.table}: " + ("" if forms else "segments never pay"))
        parts += [_math(each) for each in forms]
        if closed.printed is not None:
            parts.append(_printed("".join(_math(each) for each in closed.written(as_published=True)), closed.erratum))
    return "".join(parts)


def _printed(formula: str, why: str) -> str:
    return f'<div class="printed">As published:{formula}<p>{escape(why)}</p></div>'


def _verdict(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    if comparison.verdict == "exact":
        return "<p>Exact: equal to the simulated schedule for every number of processes and segments tried.</p>"
    what = "An upper bound" if comparison.verdict == "bound" else "An estimate"
    return f"<p>{what}: {comparison.low:+.3g} to {comparison.high:+.3g} % of the simulated schedule.</p>"


def _math(piece: Written) -> str:
    return f'<div class="math">{piece.element()}</div>'


def errata_list(errata: Iterable[Erratum]) -> str:
    """Write errata: where, what is printed, what is right and why."""
    return "".join(
        f'<section class="formula" tabindex="0"><h3>{escape(each.where)}</h3><dl>'
        f"<dt>printed</dt><dd>{_math(each.printed)}</dd><dt>corrected</dt><dd>{_math(each.corrected)}</dd>"
        f"<dt>why</dt><dd><p>{escape(each.why)}</p></dd></dl></section>"
        for each in errata
    )
