"""Page *Compare*: any two decision functions, or two campaigns: where they differ and what that costs."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import panel as pn
import xarray as xr
from panel.io import hold

from dashboard.decisions import DecisionError
from dashboard.decisions.judged.compare import absent_methods
from dashboard.domain.unmeasured import absent
from dashboard.pages.compare.campaigns import CampaignsView
from dashboard.pages.compare.pair_maps import PairMaps
from dashboard.pages.parts.family import FamilyControls, follow_state
from dashboard.pages.parts.growing import Background, grow
from dashboard.pages.parts.later import Newest
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.pages.parts.menus import collective_menu, ppn_menu
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Button, Message, Toggle
from dashboard.plots import comparison, legend
from dashboard.plots.view_maps import Scene
from dashboard.session.choice import RULES, Choice, differences, titles
from dashboard.session.state import DATA, DRAWN, ResultsOrState

PAGE = "Compare"
MODES = {"Two trees": "trees", "Two campaigns": "campaigns"}
MAPS = {"a": "A", "b": "B", "gap": "B against A"}


class ComparePage(Page):
    """Tree A, which is the one of the page *Decisions*, beside tree B; or this campaign beside another one.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
        `State.choice` is A, `State.other` is B; `State.compare` says what is set beside each other.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self.maps = PairMaps(MAPS)
        self.mode = Toggle(options=MODES, value=state.compare)
        self.mode.link(state, value="compare", bidirectional=True)
        about = "The operation that is decided on; all pages follow. Both trees or campaigns are for this one."
        self.collective = collective_menu(state, about)
        self.ppn = ppn_menu(state)
        self.first = FamilyControls(state.choice, state.choose, state.choice, label="Tree A")
        self.second = FamilyControls(
            lambda: state.other, partial(setattr, state, "other"), self._begin_other, label="Tree B"
        )
        for controls in (self.first, self.second):
            follow_state(controls, state)
        self.growing = Background(again=self._ask)
        self.message = Message()
        self.absent = Message()
        html = {"stylesheets": [legend.STYLE], "margin": (4, 8), "styles": {"flex": "1 1 440px"}, "min_width": 440}
        self.settings, self.figures = (pn.pane.HTML("", **html) for _ in range(2))
        self.settings.stylesheets = [legend.STYLE, "td { white-space: normal; }"]
        self.all = Button(label="Compare all approaches", variant="outlined", on_click=self._compare_all)
        self.comparing = Background(again=self._compare_all)
        self.approaches = pn.pane.HTML("", stylesheets=[legend.STYLE], sizing_mode="stretch_width", margin=(4, 8))
        self.body, self.trees, self.place = (pn.Column(sizing_mode="stretch_width", margin=0) for _ in range(3))
        self.campaigns: CampaignsView | None = None
        self.redraw = Newest(self._update)
        state.param.watch(self._ask, [*DATA, "other"])
        state.param.watch(self._forget, list(DATA))
        state.param.watch(self._follow, [*DRAWN, "other", "rules", "shown", "page", "compare"])
        state.param.watch(self._show_mode, ["page", "compare"])
        self._ask()
        self._follow()
        self._show_mode()

    def __panel__(self) -> pn.viewable.Viewable:
        tables = [self.settings, self.figures, self.maps.legend, self.maps.methods]
        self.body.objects = [
            self.absent,
            self.maps,
            pn.FlexBox(*tables, sizing_mode="stretch_width", align_items="start"),
            self.all,
            self.comparing,
            self.approaches,
        ]
        sides = [
            pn.Column(each, sizing_mode="stretch_width", min_width=480, styles={"flex": "1 1 480px"}, margin=0)
            for each in (self.first, self.second)
        ]
        self.trees.objects = [
            pn.FlexBox(*sides, sizing_mode="stretch_width", margin=0, align_items="start"),
            self.growing,
            self.message,
            self.body,
        ]
        bar = pn.FlexBox(self.mode, self.collective, self.ppn, align_items="center")
        return pn.Column(bar, self.trees, self.place, sizing_mode="stretch_width")

    def _begin_other(self, name: str) -> Choice:
        # A rules file has no default; the one that was checked last is meant.
        return self.state.choice(name) if name == RULES else Choice.of(name)

    def _ask(self, *_: Any) -> None:
        grow(self.state, self.state.other, self.growing, self.redraw.ask)

    def _forget(self, *_: Any) -> None:
        self.comparing.stop()
        self.approaches.object = ""

    def _compare_all(self, *_: Any) -> None:
        state = self.state
        # Without several tables an octree is the quadtree once more.
        names = [name for name in titles().values() if name != "octree" or state.across]
        names += state.view.given().values()
        try:
            work = state.view.approaches_job([state.choice(name) for name in names])
        except DecisionError as error:
            self.comparing.say(str(error))
            return
        self.comparing.start("Comparing", work, self._show_all)

    def _show_all(self, approaches: Any) -> None:
        self.approaches.object = comparison.approaches_table(approaches)

    def _follow(self, *_: Any) -> None:
        if self.state.on_show(PAGE) and self.state.compare == "trees":
            self.redraw.ask()

    def _show_mode(self, *_: Any) -> None:
        wanted = self.state.compare == "campaigns"
        if wanted and self.campaigns is None and self.state.on_show(PAGE):
            self.campaigns = CampaignsView(self.state)
            self.place.append(self.campaigns)
        self.trees.visible, self.place.visible = not wanted, wanted
        if self.campaigns is not None:
            self.campaigns.visible = wanted
            self.campaigns.follow()

    def _update(self) -> None:
        state = self.state
        self.first.refresh()
        self.second.refresh()
        try:
            pair = self._pair()
        except DecisionError as error:
            self._tell(str(error), "error")
            return
        if pair is None:
            loaded = state.view.prepared is not None
            self._tell("One of the trees is still growing." if loaded else NO_RESULTS, linked=not loaded)
            return
        self._tell("")
        scene, tables = pair
        with hold(pn.state.curdoc):
            choices = self._choices()
            trees = [state.view.decision(choice) for choice in choices]
            self.maps.show(scene, tables, trees, [*(choice.described() for choice in choices), "points of penalty"])
            self._write()
            self._name_absent(trees)

    def _tell(self, text: str, severity: str = "info", *, linked: bool = False) -> None:
        self.message.say(text, severity, linked=linked)
        self.body.visible = not text

    def _name_absent(self, trees: Sequence[Any]) -> None:
        """Say which methods the maps cannot show, since the results do not have them."""
        problem = self.state.view.problem()
        lacking = {f"Tree {name}": absent_methods(problem, tree) for name, tree in zip("AB", trees, strict=True)}
        said = [f"{absent(name, labels)}." for name, labels in lacking.items() if labels]
        self.absent.say("\n".join(said))

    def _choices(self) -> tuple[Any, Any]:
        return self.state.shown, self.state.other

    def _pair(self) -> tuple[Scene, tuple[xr.Dataset, xr.Dataset]] | None:
        scene = Scene.of(self.state.view)
        tables = [None if choice is None else self.state.view.penalty(choice) for choice in self._choices()]
        if scene is None or tables[0] is None or tables[1] is None:
            return None
        return scene, (tables[0], tables[1])

    def _write(self) -> None:
        first, second = self._choices()
        self.settings.object = comparison.settings_table(differences(first, second))
        statistics = [self.state.view.statistics(choice) for choice in (first, second)]
        if statistics[0] is not None and statistics[1] is not None:
            self.figures.object = comparison.figures_table(*statistics)
