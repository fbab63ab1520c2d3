"""What is known of a rules file as HTML: what it does not say and what that costs, its faults, how it is used."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from dashboard.domain.units import format_count, format_names, format_percent
from dashboard.plots.legend import table

if TYPE_CHECKING:
    from dashboard.decisions.judged.penalty import PenaltySummary
    from dashboard.export.rules import Fault, RulesFile
    from dashboard.export.rules.over import Cost
    from dashboard.export.usage import Step
    from dashboard.export.writing import Part

#: Faults that are listed; a file with more is not mended line by line.
MOST_FAULTS = 300
_MOST_METHODS = 6
_LONGEST_LINE = 60
_SIGNS = {"error": ("✖", "#d03a3a"), "warning": ("▲", "#b8720b"), "note": ("●", "#2f8fd8")}
STYLE = """
.told td { white-space: normal; vertical-align: top; }
.told ul { margin: 0; padding-left: 18px; }
code, pre.use { font: 12.5px/1.5 ui-monospace, monospace; }
pre.use { margin: 4px 0 12px; padding: 8px 10px; white-space: pre-wrap; overflow-wrap: anywhere; border-radius: 6px;
  border: 1px solid rgba(120, 120, 120, 0.35); color: var(--panel-on-background-color, #222); }
pre.told { white-space: pre-wrap; }
.steps p { margin: 6px 0 2px; }
p { font-size: 13.5px; margin: 8px 0; }
"""
_NONE = "–"


def parts_table(parts: Sequence[Part], *, weighted: bool = False) -> str:
    """Write penalties before and after, and what was lost, one line for each collective.

    Parameters
    ----------
    parts
        Of the written file.
    weighted
        Whether a workload weighs the means.
    """
    heads = [("collective", False), ("mean before", True), ("mean after", True), ("max before", True)]
    heads += [("max after", True), ("rules", True), ("cells decided otherwise", True)]
    rows = []
    for part in parts:
        after = part.after
        apart = _NONE if part.read is None or not part.cells else f"{part.otherwise:,} of {part.cells:,}"
        if after is not None and after.unmeasured:
            apart += f", {after.unmeasured:,} not measured"
        figures = [_percent(part.before, "mean"), _percent(after, "mean")]
        figures += [_percent(part.before, "max"), _percent(after, "max")]
        rules = _NONE if part.read is None else f"{part.read.leaves:,}"
        rows.append([escape(part.source.collective), *figures, rules, apart])
    title = "Penalty before and after, as the written file is read back" + (
        ", weighted by the workload" if weighted else ""
    )
    return table(title, heads, rows)


def notes_list(parts: Sequence[Part]) -> str:
    """Write what could not be said, by collective; a sentence where all of it was."""
    rows = []
    for part in parts:
        if part.notes:
            list_items = "".join(f"<li>{escape(note)}</li>" for note in part.notes)
            rows.append([escape(part.source.collective), f"<ul>{list_items}</ul>"])
    if not rows:
        return "<p>The file expresses all that was decided.</p>"
    return f'<div class="told">{table("What could not be expressed", [("collective", False), ("", False)], rows)}</div>'


def faults_table(faults: Sequence[Fault], lines: Sequence[str] = ()) -> str:
    """Write faults with their lines, what stands there and what the library does with it.

    Parameters
    ----------
    faults
        In the order of lines.
    lines
        Of the file.
    """
    if not faults:
        return "<p>The check finds nothing wrong.</p>"
    rows = []
    for fault in faults[:MOST_FAULTS]:
        sign, color = _SIGNS[fault.severity]
        there = "" if fault.line is None or fault.line > len(lines) else lines[fault.line - 1].strip()
        there = there if len(there) <= _LONGEST_LINE else f"{there[:_LONGEST_LINE]}…"
        mark = f'<span style="color: {color}">{sign}</span> {fault.severity}'
        line = _NONE if fault.line is None else f"{fault.line:,}"
        shown = f"<code>{escape(there)}</code>" if there else ""
        rows.append([line, mark, shown, escape(fault.text), escape(fault.effect)])
    counts = ", ".join(
        format_count(count, kind) for kind in _SIGNS if (count := sum(fault.severity == kind for fault in faults))
    )
    more = "" if len(faults) <= MOST_FAULTS else f"<p>{len(faults) - MOST_FAULTS:,} more are not listed.</p>"
    heads = [("line", True), ("", False), ("what stands there", False), ("what is wrong", False)]
    heads.append(("what the library does", False))
    return f'<div class="told">{table(f"Check: {counts}", heads, rows)}</div>{more}'


def rules_table(rules: RulesFile, costs: Sequence[Cost]) -> str:
    """Write what a rules file decides and what that costs, one line for each collective."""
    known = {cost.name: cost for cost in costs}
    heads = [("collective", False), ("rules", True), ("methods", False), ("taken by the library", False)]
    heads += [
        ("penalty as it acts, mean", True),
        ("as meant", True),
        ("sizes as blocks", True),
        ("not measured", False),
    ]
    rows = []
    for name, decision in rules.meant.items():
        cost = known.get(name)
        if name in rules.unchanged and cost is None:
            continue
        used = [decision.methods[place].label for place in sorted({c for c in decision.tree.codes.tolist() if c >= 0})]
        taken = "yes" if name in rules.decisions else "no"
        figures = [_NONE] * 3 if cost is None else [_percent(cost.acted, "mean"), _percent(cost.meant, "mean")]
        figures += [] if cost is None else [_percent(cost.as_blocks, "mean")]
        lacking = "no measurements" if cost is None else _listed(cost.lacking)
        said = [_NONE, "as MPICH by itself"] if name in rules.unchanged else [f"{rules.count(name):,}", _listed(used)]
        rows.append([escape(name), *said, taken, *figures, lacking])
    for name, listing in rules.listings.items():
        further = (
            f"{listing.not_by_sizes:,} of them go by {rules.conditions} as well" if listing.not_by_sizes else _NONE
        )
        rows.append([escape(name), f"{listing.rules:,}", _listed(listing.methods), "yes", *[_NONE] * 3, further])
    unchanged = f"<p>{rules.as_without}.</p>" if rules.as_without else ""
    return f'<div class="told">{table(rules.title, heads, rows)}</div>{unchanged}'


def steps_html(steps: Iterable[Step]) -> str:
    """Write how a file is used."""
    parts = []
    for step in steps:
        command = f'<pre class="use">{escape(step.command)}</pre>' if step.command else ""
        parts.append(f"<p>{escape(step.words)}</p>{command}")
    return f'<div class="steps"><p><b>How to use it</b></p>{"".join(parts)}</div>'


def _listed(names: Sequence[str]) -> str:
    return escape(format_names(names, _MOST_METHODS)) or _NONE


def _percent(summary: PenaltySummary | None, name: str) -> str:
    value = math.nan if summary is None else float(getattr(summary, name))
    return format_percent(value) if math.isfinite(value) else _NONE
