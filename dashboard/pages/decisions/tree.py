"""Tree diagram of the page *Decisions*, and the rules as its text."""

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn
import param
from numpy.typing import NDArray
from panel.custom import JSComponent

from dashboard.decisions import DecisionFunction, Rule
from dashboard.domain.held_out import sentences
from dashboard.domain.units import format_count, format_share
from dashboard.export.provenance import unsure
from dashboard.pages.parts.views import Made
from dashboard.pages.parts.widgets import LiveIntSlider, Pagination
from dashboard.plots import legend, tree
from dashboard.plots.colors import MethodKey
from dashboard.plots.leaves import leaf_border
from dashboard.plots.rules import rules_page
from dashboard.plots.view_maps import Scene
from dashboard.session.state import State

ROWS = 50
#: Tables of a recommended tree of which it is said how they were chosen.
MOST_TABLES = 2
#: Rules of larger trees are not listed: nobody reads them, and the source has them all.
MOST_RULES = 20_000


class Diagram(JSComponent):
    """A tree as SVG; a click on a leaf says which."""

    html = param.String(default="", doc="As `dashboard.plots.tree.tree_svg` writes it.")
    clicked = param.List(default=[], doc="Place of the leaf among the nodes, and how many clicks there were.")

    _esm = """
    export function render({model}) {
        const box = document.createElement('div')
        const show = () => {
            box.innerHTML = model.html
            const leaf = box.querySelector('rect.leaf.on'), view = box.querySelector('.tree')
            if (leaf) view.scrollLeft = leaf.x.baseVal.value - view.clientWidth / 2
        }
        show()
        model.on('html', show)
        box.addEventListener('click', (event) => {
            const leaf = event.target.closest('[data-leaf]')
            if (leaf) model.clicked = [Number(leaf.dataset.leaf), (model.clicked[1] ?? 0) + 1]
        })
        return box
    }
    """


class TreeDiagram(Made):
    """The tree on show, open to a chosen depth, with the way to the pinned cell or to a leaf that was clicked.

    Parameters
    ----------
    state
        Choices; a click on a leaf unpins.
    light
        Called with the lines around the cells that the marked leaf decides, as `border_segments` gives them.
    """

    def __init__(self, state: State, light: Callable[[NDArray[np.float64]], None]) -> None:
        super().__init__(state)
        self._light = light
        self._clicked: tuple[DecisionFunction, int] | None = None
        self.depth = LiveIntSlider(
            label="Tree, levels drawn at most",
            start=0,
            end=6,
            value=4,
            width=220,
            margin=(4, 14),
            description="Levels below the root that are drawn. What lies deeper is counted at its branch.",
        )
        self.note = pn.pane.HTML("", margin=(0, 8), sizing_mode="stretch_width", styles={"font-size": "12px"})
        self.view = Diagram(stylesheets=[legend.STYLE + tree.STYLE], sizing_mode="stretch_width", margin=(4, 8))
        self.depth.param.watch(self._made.ask, "value")
        self.view.param.watch(self._click, "clicked")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.depth, self.note, self.view, sizing_mode="stretch_width", margin=0)

    def _click(self, event: Any) -> None:
        decision = self._state.view.decision()
        if decision is None or not 0 <= event.new[0] < decision.tree.codes.size:
            return
        again = self._clicked == (decision, event.new[0])
        self._clicked = None if again else (decision, event.new[0])
        self._state.pinned = None
        self._made.ask()

    def _make(self) -> tuple[DecisionFunction, str, str, NDArray[np.float64]] | None:
        scene, decision = Scene.of(self._state.view), self._state.view.decision()
        if scene is None or decision is None:
            return None
        most = tree.depth_to_show(decision)
        depth = min(self.depth.value, most)
        leaf = None
        if self._state.pinned is not None:
            leaf = int(decision.leaf_places(*self._state.pinned, **scene.given))
        elif self._clicked is not None and self._clicked[0] is decision:
            leaf = self._clicked[1]
        path = [] if leaf is None else tree.path_to(decision.tree, leaf)
        drawing = tree.tree_svg(decision, scene.key, depth=depth, path=path)
        notes = [f"{format_count(decision.leaves, 'leaf', 'leaves')}, {format_count(decision.depth, 'level')}."]
        if depth < self.depth.value < decision.depth or (depth < decision.depth and depth == most):
            notes.append(f"Below level {depth} there are too many to be read: branches are closed there.")
        notes.append("" if path else "Click a leaf, or pin a cell of a map, to see both.")
        lit = np.empty((0, 4)) if leaf is None else leaf_border(decision, leaf, scene.axes, scene.given)
        notes += [*_pruned(decision), *_left_out(decision), *_unsure(decision)]
        return decision, drawing, " ".join(filter(None, notes)), lit

    def _show(self, grown: tuple[DecisionFunction, str, str, NDArray[np.float64]] | None) -> None:
        if grown is None:
            self.view.html, self.note.object = "", "There is no tree to draw yet."
            return
        decision, self.view.html, self.note.object, lit = grown
        self.depth.param.update(end=max(decision.depth, 1), disabled=decision.depth < 2)
        self._light(lit)


class RulesTable(Made):
    """The rules of the tree on show, a page of rows at a time: its diagram for those who read."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._listing: tuple[DecisionFunction, MethodKey, list[Rule]] | None = None
        self.rules = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width")
        self.pages = Pagination(count=1, value=0, visible=False)
        self.pages.param.watch(self._show_page, "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.rules, self.pages, sizing_mode="stretch_width")

    def _make(self) -> tuple[DecisionFunction, MethodKey, list[Rule]] | None:
        scene, decision = Scene.of(self._state.view), self._state.view.decision()
        if scene is None or decision is None:
            return None
        return decision, scene.key, decision.rules() if decision.leaves <= MOST_RULES else []

    def _show(self, listing: tuple[DecisionFunction, MethodKey, list[Rule]] | None) -> None:
        self._listing = listing
        count = max(-(-len(listing[2]) // ROWS), 1) if listing is not None else 1
        self.pages.param.update(count=count, value=min(self.pages.value, count - 1), visible=count > 1)
        self._show_page()

    def _show_page(self, *_: Any) -> None:
        if self._listing is None:
            self.rules.object = ""
            return
        decision, key, rules = self._listing
        first = self.pages.value * ROWS
        if rules:
            self.rules.object = rules_page(decision, rules, key, first, first + ROWS)
        else:
            self.rules.object = f"<p>{decision.leaves:,} rules are too many to list here; the source has them all.</p>"


def _unsure(decision: DecisionFunction) -> list[str]:
    """What choices of models rest on that their fit did not determine."""
    return [escape(f"Unsure: {words}.")] if (words := unsure(decision)) else []


def _left_out(decision: DecisionFunction) -> list[str]:
    """How well the recommended tree does at left-out sizes, and what these are silent of, as ``decide`` says it."""
    tables = decision.provenance.get("recommended", [])
    said = [escape(each) for each in sentences(tables[:MOST_TABLES])]
    return said + ([f"{len(tables) - MOST_TABLES} more tables: <code>decide</code>."] if tables[MOST_TABLES:] else [])


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
