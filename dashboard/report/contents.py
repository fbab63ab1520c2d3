"""What a report says: a summary, a section for each collective, and the measurements."""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd
import xarray as xr

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.family import Progress, part_of
from dashboard.decisions.judged.frontier import Frontier
from dashboard.decisions.judged.recommend import falls_below, recommend
from dashboard.domain.held_out import sentences
from dashboard.domain.units import format_count, format_percent
from dashboard.domain.unmeasured import unmeasured
from dashboard.export import TARGETS, ExportError, Target, source_lines
from dashboard.export.bundle import files_of
from dashboard.export.unsafe import limits, only_commutative
from dashboard.export.writing import Order, write
from dashboard.plots import coverage, frontier, legend, penalty, source, ties
from dashboard.plots.rules import rules_page
from dashboard.plots.statistics import held_out_note, statistics_table
from dashboard.plots.table import decision_table
from dashboard.plots.view_maps import Scene
from dashboard.report.answer import left_out
from dashboard.report.models import model_parts
from dashboard.report.section import Part, Section
from dashboard.session.choice import Choice
from dashboard.session.registry import Results
from dashboard.session.view import View

#: More rules than this nobody reads; the saved decision function beside them has them all.
MOST_RULES = 200
#: A map of more cells is not given along as a table.
MOST_ROWS = 100_000
#: Beside what was judged by what it was made from.
_NOT_YET = "What is recommended is judged at sizes left out (<code>--held-out lines</code>), as on the page Frontier."
_LANGUAGES = {"c": "c", "python": "python", "json": "json"}


@dataclass(frozen=True)
class Contents:
    """What goes into a report.

    Attributes
    ----------
    collectives
        Those reported on; empty: all that are decided on.
    frontier
        Whether all ways of deciding are compared, which takes the longest.
    held_out
        What they and the tree are judged by, too, as `dashboard.decisions.judged.folds.SCHEMES`; None: by no more than
        what they are made from.
    folds
        Parts held out in turn.
    target
        What the rules are written as, one of `dashboard.export.TARGETS`.
    models
        Whether communication models are fitted to the measurements and set beside them.
    """

    collectives: tuple[str, ...] = ()
    frontier: bool = True
    held_out: str | None = None
    folds: int = 5
    target: str = "openmpi"
    models: bool = False

    def sections(self, view: View, progress: Progress | None = None) -> list[Section]:
        """Compute the sections: a summary, one for each collective, the measurements.

        Parameters
        ----------
        view
            The view: results, how they are treated, and which tree is asked for.
        progress
            Told how far it is; may raise `dashboard.decisions.grown.family.Cancelled`.

        Raises
        ------
        DecisionError
            A collective that is not among the results.
        """
        known = view.collectives
        names = self.collectives or tuple(view.called)
        for name in names:
            if name not in known:
                raise DecisionError(f"a report on {name}: these results hold {', '.join(known) or 'nothing'}")
        twins = [view.beside(name) for name in names]
        sections = [
            Section(str(twin.collective), tuple(self._parts(twin, part_of(progress, number, len(twins)))))
            for number, twin in enumerate(twins)
        ]
        uncalled = [] if self.collectives else [name for name in known if name not in names]
        note = f"<p>Not in it, since the workload does not call them: {', '.join(uncalled)}.</p>" if uncalled else ""
        summary = Section("Summary", (Part("", _summary(twins) + note),))
        return [summary, *sections, Section("Measurements", tuple(_measurements(view)))]

    def _parts(self, view: View, progress: Progress | None) -> Iterator[Part]:
        if progress is not None:
            progress(0.0, str(view.collective))
        choice = view.choice
        decision = view.job(choice)(progress)
        penalties, statistics, figures = view.penalty(choice), view.statistics(choice), Scene.of(view)
        if figures is None or penalties is None or statistics is None:
            yield Part("", "<p>Nothing was measured that could be decided on.</p>")
            return
        yield Part("Decision maps", _map_text(view, figures, penalties), figures.draw(view, penalties))
        figures_at, note = self._held_out(view, progress)
        table = statistics_table(statistics, _lines(decision), figures_at)
        at_left_out = sentences(decision.provenance.get("recommended", []))
        beside = "".join(f"<p>{escape(each)}</p>" for each in at_left_out)
        yield Part(f"What the decision costs{_counted(view)}", table + beside + note)
        if self.frontier:
            yield from self._frontier(view, choice, progress)
        if self.models:
            part = view.needed().problem.slices[0]
            yield from (replace(each, on_screen=True) for each in model_parts(part, progress))
        yield _rules(view, decision, figures)
        yield _written(view, decision, TARGETS[self.target])
        if self.target != "c":
            yield replace(_written(view, decision, TARGETS["c"]), folded=True)

    def _held_out(self, view: View, progress: Progress | None) -> tuple[dict[str, float] | None, str]:
        """Figures of the tree where it was not decided on, and what they are over; or why there are none."""
        if self.held_out is None:
            return None, ""
        try:
            held = view.heldout_job(view.choice, self.held_out, self.folds)(progress)
        except DecisionError as error:
            return None, f"<p>It was not judged held out: {escape(str(error))}.</p>"
        return held.figures._asdict(), held_out_note(held.scheme, len(held.folds), held.notes)

    def _frontier(self, view: View, choice: Choice, progress: Progress | None) -> Iterator[Part]:
        try:
            tried = view.frontier_job(self.held_out, "mean", folds=self.folds)(progress)
        except DecisionError as error:
            yield Part("All ways of deciding", f"<p>They were not compared: {escape(str(error))}.</p>")
            return
        yield _compared(view, choice, tried)


def _lines(decision: DecisionFunction) -> int | None:
    try:
        return source_lines(decision)
    except ExportError:
        return None


def _map_text(view: View, figures: Scene, penalties: xr.Dataset) -> str:
    dmap = figures.dmap
    shares = legend.method_shares(figures.key, dmap["best"].values, penalties["chosen"].values)
    blocks = [f"<p>{escape(remark)}</p>" for remark in view.remarks()]
    blocks += [figures.textures(view), ties.counted_legend(penalties["unmeasured"].values)]
    keys = legend.method_legend(shares, len(figures.key.labels)), legend.penalty_legend(penalty.class_shares(penalties))
    blocks.append(f'<div class="beside">{"".join(keys)}</div>')
    if dmap["best"].size <= MOST_ROWS:
        table = decision_table(dmap, penalties, view.needed().estimated)
        blocks.append(_download(table.to_csv(index=False), f"{view.collective}_decisions.csv", "text/csv", "All cells"))
    return "".join(blocks)


def _download(text: str, name: str, kind: str, title: str) -> str:
    """A link that holds what it leads to."""
    data = base64.b64encode(text.encode()).decode()
    return (
        f'<p><a download="{escape(name, quote=True)}" href="data:{kind};base64,{data}">'
        f"{escape(title)} as {escape(name)}</a></p>"
    )


def _compared(view: View, choice: Choice, tried: Frontier) -> Part:
    table, held_out = tried.table, tried.scheme
    choices = [
        Choice.of(str(name), json.loads(options))
        for name, options in zip(table["family"], table["options"], strict=True)
    ]
    table = table.assign(told=[each.described() for each in choices])
    titles = {name: FAMILIES[name].title for name in dict.fromkeys(table["family"])}
    statistics = view.statistics(choice)
    current = None
    if statistics is not None and statistics["penalty"]["mean"] is not None and held_out is None:
        current = float(statistics["leaves"]), float(statistics["penalty"]["mean"])
    charts = [("Mean penalty in sample", "penalty_mean", current)]
    if held_out is not None:
        at = choices.index(choice) if choice in choices else None
        mark = None if at is None else (float(table["leaves"].iloc[at]), float(table["held_out_mean"].iloc[at]))
        charts.insert(0, ("Mean penalty held out", "held_out_mean", mark))
    advised = None
    try:
        chosen = recommend(tried)
        advised, reason = chosen.row if held_out else None, escape(chosen.reason)
        # What is good where it was learnt is no recommendation: that of the page Frontier is judged held out, too.
        words = f"<strong>Recommended:</strong> {reason}." if held_out else f"In sample: {reason}. {_NOT_YET}"
        advice = f"<p>{words}</p>"
    except DecisionError as error:
        advice = f"<p>{escape(str(error))}</p>"
    notes = "".join(f"<p>{escape(note)}</p>" for note in tried.notes)
    keys = (
        frontier.family_table(falls_below(tried), titles, tried.skipped),
        frontier.front_table(table, tried.value, titles, tried.scheme, advised),
    )
    return Part(
        "All ways of deciding",
        f'{advice}{notes}<div class="beside"><div>{keys[0]}</div><div>{keys[1]}</div></div>',
        tuple(frontier.frontier_chart(title, table, value, titles, mark) for title, value, mark in charts),
        on_screen=True,
    )


def _rules(view: View, decision: DecisionFunction, figures: Scene) -> Part:
    merged = decision.simplified()
    title = f"Rules: {format_count(merged.leaves, 'rule')}"
    saved = _download(
        json.dumps(decision.to_dict(), indent=1),
        f"{view.collective}_decision.json",
        "application/json",
        "The decision function",
    )
    limited = limits({decision.collective: only_commutative(decision)})
    heed = f"<p><strong>{escape(limited)}</strong></p>" if limited else ""
    if merged.leaves > MOST_RULES:
        return Part(title, f"{heed}<p>Too many to be read here; the file has them all.</p>{saved}", folded=not heed)
    rules = merged.rules()
    body = heed + rules_page(merged, rules, figures.key, 0, len(rules)) + saved
    return Part(title, body, folded=len(rules) > 30 and not heed)


def _written(view: View, decision: DecisionFunction, target: Target) -> Part:
    title = f"Written as {target.title}"
    provenance = {"statistics": {decision.collective: view.statistics()}}
    try:
        written = write(Order.of(target.name, [decision], view.needed().problem.slices, provenance=provenance))
    except ExportError as error:
        return Part(title, f"<p>It cannot be written so: {escape(str(error))}</p>")
    text = written.text
    remarks = "".join(
        f"<p>{escape(note)}</p>"
        for part in written.parts
        for note in (*part.notes, *([f"{part.costs[0].upper()}{part.costs[1:]}."] if part.differs else []))
    )
    name = f"colltune_{view.collective}{target.extension}"
    shown = source.highlighted(text, _LANGUAGES.get(target.name, "text"))
    files = "".join(_download(content, each, "text/plain", "The file") for each, content in files_of(name, text))
    return Part(title, remarks + files + shown, on_screen=True)


def _measurements(view: View) -> Iterator[Part]:
    tree = view.results
    if tree is None:
        return
    yield Part("What was measured", _frame_html("Coverage", coverage.coverage_table(tree)))
    yield Part("Spread, standard deviation in percent of the time", _frame_html("Spread", coverage.spread_table(tree)))
    facts = {str(name): str(value) for name, value in tree.attrs.items() if isinstance(value, str | int | float)}
    for node in tree.children.values():
        attrs = node.to_dataset().attrs
        facts |= {str(name): str(attrs[name]) for name in _TOLD if attrs.get(name) and name not in facts}
    where = [(name.replace("_", " "), value) for name, value in facts.items() if name in _TOLD]
    if where:
        yield Part("Where", _table("System", [("", False), ("", False)], where))
    told_of = ("format", "rows", "skipped", "digest", "error")
    rows = [
        (str(each.get("path") or "").rpartition("/")[2], *map(each.get, told_of))
        for each in Results(tree, view.results_id).sources
        if not each.get("unused")
    ]
    heads = [("file", False), ("format", False), ("rows", True), ("skipped", True), ("SHA-256 begins", False)]
    yield Part(f"Files: {len(rows)}", _table("Files", [*heads, ("", False)], rows), folded=True)


_TOLD = ("system", "network", "library", "library_version", "device", "placement", "campaign", "selected", "joined")
_TOLD += ("benchmark", "statistic")


def _frame_html(title: str, frame: pd.DataFrame) -> str:
    heads = [(str(name), pd.api.types.is_numeric_dtype(frame[name])) for name in frame.columns]
    return _table(title, heads, frame.itertuples(index=False))


def _table(title: str, heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table of plain values."""
    return legend.table(title, heads, [[_text(value) for value in row] for row in rows])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else escape(str(value or ""))


def _summary(views: list[View]) -> str:
    per_node = [_per_node(view) for view in views]
    heads = [("collective", False), *([("processes per node", False)] if any(per_node) else [])]
    heads += [("methods", True), ("cells", True), ("decision", False), ("leaves", True)]
    heads += [(f"penalty, {name}", True) for name in ("mean", "median", "max")]
    judged = [None if (made := view.decision()) is None else left_out(view, made) for view in views]
    heads += [("mean, at sizes left out", True)] if any(judged) else []
    rows, gaps = [], 0
    for view, nodes, at in zip(views, per_node, judged, strict=True):
        statistics, dmap, cube = view.statistics(), view.decision_map(), view.cube()
        cells = [escape(str(view.collective)), *([nodes or "–"] if any(per_node) else [])]
        if statistics is None or dmap is None or cube is None:
            rows.append([*cells, *["–"] * (len(heads) - len(cells))])
            continue
        cells += [f"{cube.sizes['method']:,}", f"{int((dmap['best'] >= 0).sum()):,}"]
        cells += [escape(view.choice.described()), f"{statistics['leaves']:,}"]
        for name in ("mean", "median", "max"):
            value = statistics["penalty"][name]
            cells.append("–" if value is None else format_percent(value))
        cells += [at.figure if at else "–"] if any(judged) else []
        rows.append(cells)
        gaps += statistics["penalty"]["unmeasured"]
    rule = f"<p>{escape(unmeasured(gaps))}.</p>" if gaps else ""
    return legend.table(f"Decisions: penalties in sample{_counted(views[0])}", heads, rows) + rule


def _per_node(view: View) -> str:
    """The processes per node decided for, and of which where there are several; empty where they are not told."""
    problem, cube = view.problem(), view.cube()
    numbers = [] if problem is None else [part.given["ppn"] for part in problem.slices if "ppn" in part.given]
    there = [] if cube is None or "ppn" not in cube.dims else cube["ppn"].values.tolist()
    chosen = ", ".join(map(str, numbers))
    return f"{chosen} (of {', '.join(map(str, there))})" if len(there) > len(numbers) else chosen


def _counted(view: View) -> str:
    """By what penalties are averaged, where not all cells count the same."""
    return "" if view.treatment.workload is None else ", by the calls of the workload"
