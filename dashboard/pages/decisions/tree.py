"""Tree diagram of the page *Decisions*, and the rules as its text."""

from __future__ import annotations

from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.decisions import DecisionFunction, Rule
from dashboard.domain.units import format_share
from dashboard.pages.decisions.maps import Scene
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.widgets import Pagination, int_slider
from dashboard.plots import legend, tree
from dashboard.plots.colors import MethodKey
from dashboard.plots.leaves import leaf_places
from dashboard.plots.rules import rules_page
from dashboard.session.state import State

ROWS = 50
#: Rules of larger trees are not listed: nobody reads them, and the source has them all.
MOST_RULES = 20_000
Found = tuple[DecisionFunction, MethodKey, str, str, list[Rule]]


class TreeDiagram(Viewer):
    """The tree on show, open to a chosen depth, with the way to the pinned cell.

    Parameters
    ----------
    state
        Choices.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        self._state = state
        self._found: Found | None = None
        self.depth = int_slider(
            label="Open to depth",
            start=0,
            end=6,
            value=4,
            width=220,
            description="Levels below the root that are drawn. What lies deeper is counted at its branch.",
        )
        self.note = pn.pane.HTML("", margin=(4, 10), sizing_mode="stretch_width")
        style = [legend.STYLE + tree.STYLE]
        self.view = pn.pane.HTML("", stylesheets=style, sizing_mode="stretch_width")
        self.rules = pn.pane.HTML("", stylesheets=style, sizing_mode="stretch_width")
        self.pages = Pagination(count=1, value=0, visible=False)
        self._made = Rested(self._show, 0.0, self._make)
        self.depth.param.watch(self._made.ask, "value")
        self.pages.param.watch(self._show_rules, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(pn.Row(self.depth, self.note), self.view, self.rules, self.pages, sizing_mode="stretch_width")

    def update(self) -> None:
        """Follow the state."""
        self._made.ask()

    def _make(self) -> Found | None:
        scene, decision = Scene.of(self._state.view), self._state.view.decision()
        if scene is None or decision is None:
            return None
        most = tree.depth_to_show(decision)
        depth = min(self.depth.value, most)
        path: list[int] = []
        if self._state.pinned is not None:
            place = leaf_places(decision, *self._state.pinned, scene.given)
            path = tree.path_to(decision.tree, int(place))
        drawing = tree.tree_svg(decision, scene.key, depth=depth, path=path)
        told = [f"{decision.leaves:,} leaves, {decision.depth} levels."]
        if depth < self.depth.value < decision.depth or (depth < decision.depth and depth == most):
            told.append(f"Below level {depth} there are too many to be read: branches are closed there.")
        told.append("The way to the pinned cell is marked." if path else "Pin a cell of a map to see the way to it.")
        told += _pruned(decision)
        rules = decision.rules() if decision.leaves <= MOST_RULES else []
        return decision, scene.key, drawing, " ".join(told), rules

    def _show(self, found: Found | None) -> None:
        self._found = found
        if found is None:
            self.view.object = self.rules.object = ""
            self.note.object = "There is no tree to draw yet."
            return
        decision, _, drawing, note, rules = found
        self.view.object, self.note.object = drawing, note
        self.depth.param.update(end=max(decision.depth, 1), disabled=decision.depth < 2)
        count = max(-(-len(rules) // ROWS), 1)
        self.pages.param.update(count=count, value=min(self.pages.value, count - 1), visible=count > 1)
        self._show_rules()

    def _show_rules(self, *_: Any) -> None:
        if self._found is None:
            return
        decision, key, _, _, rules = self._found
        first = self.pages.value * ROWS
        if rules:
            self.rules.object = rules_page(decision, rules, key, first, first + ROWS)
        else:
            self.rules.object = f"<p>{decision.leaves:,} rules are too many to list here; the source has them all.</p>"


def _pruned(decision: DecisionFunction) -> list[str]:
    """What C4.5 says of its tree before and after pruning, as in Tables 6.7 and 6.8 of the dissertation."""
    report = decision.provenance.get("c45")
    if not report:
        return []
    cases = report["cases"]
    parts = [
        f"{name} pruning {report[name]['size']:,} nodes, {format_share(report[name]['errors'] / cases)} errors"
        for name in ("before", "after")
    ]
    predicted = format_share(report["after"]["predicted_error"] / cases)
    return [f"C4.5: {parts[0]}; {parts[1]}, {predicted} predicted."]
