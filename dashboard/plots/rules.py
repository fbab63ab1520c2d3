"""The rules of a decision function as a table: the twin of its tree for those who read rather than look."""

from __future__ import annotations

import math
from html import escape

from dashboard.decisions import DecisionFunction, Rule
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import swatch, table
from dashboard.plots.tree import YES_NO, condition, look


def rule_words(decision: DecisionFunction, rule: Rule) -> str:
    """Write when a rule holds: ``processes > 8, message ≤ 4 KiB``; ``always`` without any test."""
    parts = []
    for name, bounds in rule.bounds.items():
        for cut, above in zip(bounds, (True, False), strict=True):
            # A yes/no attribute is bound on both sides by itself; what was tested is between no and yes.
            if math.isfinite(cut) and (name not in YES_NO or 0 <= cut < 1):
                parts.append(condition(decision, name, cut, above=above))
    return ", ".join(dict.fromkeys(parts)) or "always"


def rules_page(decision: DecisionFunction, rules: list[Rule], key: MethodKey, first: int, end: int) -> str:
    """Write some rules as HTML.

    Parameters
    ----------
    decision
        The decision function.
    rules
        All its rules.
    key
        Colours and letters.
    first, end
        Which rules, from 0; `end` is not among them.
    """
    rows = []
    for number, rule in enumerate(rules[first:end], first + 1):
        label = decision.methods[rule.method].label
        color, letter = look(key, label)
        rows.append([f"{number:,}", escape(rule_words(decision, rule)), f"{swatch(color, letter)} {escape(label)}"])
    caption = f"Rules {first + 1:,} to {min(end, len(rules)):,} of {len(rules):,}"
    return table(caption, [("rule", True), ("when", False), ("method", False)], rows)
