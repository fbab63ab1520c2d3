"""Choices of the page *Decisions*: collective, processes per node, and how the tree is grown."""

import math
from typing import Any

import panel as pn

from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.measured.selection import selectable
from dashboard.pages.parts.family import FamilyControls, follow_state
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.menus import collective_menu, ppn_menu
from dashboard.pages.parts.options import widget_of
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import Button, LiveFloatSlider, LiveIntSlider, MultiChoice, Select, Switch
from dashboard.plots.colors import SCHEME_TITLES
from dashboard.session.choice import QUADTREE, Choice
from dashboard.session.state import DATA, TREE, State
from dashboard.session.treatment import UNCERTAINTY

#: Pixels, of each control.
WIDTH = 250
#: In a narrow window the rail lies above the maps, its controls beside each other.
_RAIL = """
:host { flex: 0 0 auto; }
@media (max-width: 1100px) { :host { width: 100% !important; flex-flow: row wrap; align-items: start; } }
"""


class Controls(Section):
    """Widgets for what the state holds; both follow each other."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._make_measured(state)
        self._make_tree(state)
        self._make_shown(state)
        self.options = pn.Column(width=WIDTH + 20, margin=0)
        self._link(state)
        self.refresh()
        self._refresh_tree()

    def _make_measured(self, state: State) -> None:
        """Widgets for the measurements that are decided on."""
        about = "The operation that is decided on; all pages follow. Each has methods, that is algorithms with their "
        about += "segment sizes, of its own (dissertation, chapter 4)."
        self.collective = collective_menu(state, about)
        self.ppn = ppn_menu(state)
        self.across = Switch(
            label="One tree for all of them",
            value=state.across,
            description="Decide for all numbers of processes per node at once; the maps show the chosen one. The "
            "octree splits all three sizes in halves (dissertation, 5.3.2).",
        )
        self.together = MultiChoice(
            label="Decided together with",
            options=[],
            value=list(state.together),
            width=300,
            description="One tree for several collectives, which takes the collective as an attribute. The "
            "dissertation combines collectives so with C4.5 (5.4, 6.3).",
        )
        self.without = MultiChoice(
            label="Methods left out",
            options=[],
            searchable=True,
            width=300,
            description="Methods that the library in use lacks, or that must not be chosen. All pages decide "
            "without them; an algorithm with * stands for all its segment sizes and parameters.",
        )

    def _make_tree(self, state: State) -> None:
        """Widgets for how the tree is grown: any family's, and the quadtree's own."""
        self.tree = FamilyControls(state.choice, self._choose, state.choice, own=(QUADTREE,))
        follow_state(self.tree, state)
        self.depth = LiveIntSlider(
            label="Maximum depth",
            start=0,
            end=6,
            value=state.max_depth,
            width=170,
            description=FAMILIES[QUADTREE].option("max_depth").help,
        )
        self.limit = Switch(
            label="Limit depth",
            value=state.limit_depth,
            description="Without the limit the accuracy threshold alone ends the tree. Both were studied in the "
            "quadtree report, 2006.",
        )
        self.threshold = LiveFloatSlider(
            label="Accuracy threshold",
            start=0,
            end=1,
            step=0.01,
            format="0 %",
            value=state.threshold,
            width=215,
            description=FAMILIES[QUADTREE].option("threshold").help,
        )
        self.exact = Button(label="Exact", variant="outlined")
        self.exact.on_click(lambda _: state.param.update(limit_depth=False, threshold=1.0))

    def _make_shown(self, state: State) -> None:
        """Widgets for what the maps show."""
        self.regions = Switch(
            label="Regions",
            value=True,
            description="Outlines of the tree's leaves on the maps: each region is one rule. Off: the colours alone.",
        )
        self.beside = Switch(
            label="Tree beside the maps",
            value=True,
            description="The tree as a diagram; a click on one of its leaves marks what it decides on the maps.",
        )
        self.uncertainty = widget_of(UNCERTAINTY, state.uncertainty)
        self.scheme = Select(
            label="Colours",
            options=SCHEME_TITLES,
            value=state.scheme,
            width=190,
            description="Colours of the methods in the maps of all pages: the palette of Okabe and Ito (2008) or of "
            "Tol (2021), both safe with colour blindness, or greys for print. Lines have a darker shade.",
        )

    def _link(self, state: State) -> None:
        """Have widgets and state follow each other."""
        self.limit.link(state, value="limit_depth", bidirectional=True)
        self.threshold.link(state, value="threshold", bidirectional=True)
        self.across.param.watch(lambda event: state.ask(across=event.new), "value")
        self.depth.param.watch(self._set_depth, "value")
        self.scheme.link(state, value="scheme", bidirectional=True)
        self.uncertainty.link(state, value="uncertainty", bidirectional=True)
        self.without.param.watch(self._set_without, "value")
        self.together.param.watch(lambda event: state.ask(together=tuple(event.new)), "value")
        state.param.watch(self.refresh, [*DATA, "max_depth", "limit_depth", "family"])
        state.param.watch(self._refresh_tree, ["rules", *(name for name in (*DATA, *TREE) if name != "threshold")])

    def __panel__(self) -> pn.viewable.Viewable:
        more = (self.without, self.together, self.regions, self.uncertainty, self.beside, self.scheme)
        for control in (self.collective, self.ppn, self.tree.family, *more):
            control.width = WIDTH
        self.tree.source.width = WIDTH
        # The options of the tree stand last: there are more or fewer of them with each family, and nothing jumps.
        fold = Fold("Methods left out, colours, regions", *more)
        shown = (self.collective, self.ppn, self.across, fold, self.tree.family, self.options)
        return pn.Column(*shown, width=WIDTH + 20, stylesheets=[_RAIL], margin=(6, 8, 0, 0))

    def refresh(self, *_: Any) -> None:
        """Follow the state."""
        state, cube = self._state, self._state.view.cube()
        others = [name for name in state.param.collective.objects if name not in (None, state.collective)]
        self.together.param.update(options=others, value=list(state.together))
        known = {} if state.view.measured() is None else selectable(state.view.measured())
        self.without.param.update(
            options=list(known), value=[name for name in state.without if name in known], visible=len(known) > 1
        )
        self.across.param.update(visible=len(self.ppn.options) > 2, value=state.across)
        deepest = 6 if cube is None else levels(cube.sizes["comm_size"], cube.sizes["message_size"])
        end = min(max(deepest, 1), state.param.max_depth.bounds[1])
        self.depth.param.update(end=end, value=min(state.max_depth, end), disabled=not state.limit_depth)

    def _refresh_tree(self, *_: Any) -> None:
        self.tree.refresh()
        own = [self.depth, self.limit, self.threshold, self.exact] if self._state.family == QUADTREE else []
        self.together.visible = bool(self.together.options) and (
            "attributes" in self.tree.widgets or bool(self._state.together)
        )
        shown = [*own, *self.tree.widgets.values()]
        for control in shown:
            control.param.update(width=WIDTH, min_width=None)
        shown.append(self.tree.source)
        if shown != list(self.options.objects):
            self.options.objects = shown

    def _set_depth(self, event: Any) -> None:
        # The slider ends at the depth of the exact tree; a deeper choice made elsewhere is the same tree.
        if event.new != min(self._state.max_depth, self.depth.end):
            self._state.max_depth = event.new

    def _set_without(self, event: Any) -> None:
        others = tuple(name for name in self._state.without if name not in self.without.options)
        if (wanted := (*others, *event.new)) != self._state.without:
            self._state.ask(without=wanted)

    def _choose(self, choice: Choice) -> None:
        # An octree has a third axis; without it, it would be the quadtree once more.
        if choice.family == "octree" and len(self._state.param.ppn.objects) > 2:
            self._state.across = True
        self._state.choose(choice)


def levels(rows: int, columns: int) -> int:
    """Depth that no quadtree over a map of this many rows and columns exceeds."""
    return math.ceil(math.log2(max(rows, columns, 1)))
