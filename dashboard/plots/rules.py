"""The rules of a decision function as a table: the twin of its tree for those who read rather than look."""

from html import escape

from dashboard.decisions import DecisionFunction, Rule
from dashboard.decisions.function.text import region
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import swatch, table
from dashboard.plots.tree import look


def rules_page(decision: DecisionFunction, rules: list[Rule], key: MethodKey, first: int, end: int) -> str:
    """Write some rules as HTML.

    Parameters
    ----------
    first, end
        Which rules, from 0; `end` is not among them.
    """
    rows = []
    for number, rule in enumerate(rules[first:end], first + 1):
        label = decision.methods[rule.method].label
        color, letter = look(key, label)
        rows.append(
            [
                f"{number:,}",
                escape(region(rule.bounds, decision.categories)),
                f"{swatch(color, letter)} {escape(label)}",
            ]
        )
    caption = f"Rules {first + 1:,} to {min(end, len(rules)):,} of {len(rules):,}"
    return table(caption, [("rule", True), ("when", False), ("method", False)], rows)
