"""Two campaigns of the page *Compare*: what differs between them, and what the decision of one costs on the other."""

from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd
import panel as pn
from panel.viewable import Viewer

from dashboard.decisions import DecisionError
from dashboard.decisions.grown.family import Progress
from dashboard.decisions.judged.portability import SIDES, Portability, campaign_facts, time_ratios
from dashboard.domain.units import format_count, format_gap
from dashboard.pages.compare.pair_maps import PairMaps
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.links import NO_RESULTS, page_link
from dashboard.pages.parts.widgets import Message, Select, Switch, Toggle
from dashboard.plots import campaigns as drawn
from dashboard.plots import legend
from dashboard.plots.backend import use_bokeh
from dashboard.plots.colors import MethodKey
from dashboard.plots.view_maps import Scene
from dashboard.session.campaigns import measured_in, of_both
from dashboard.session.prepared import prepare
from dashboard.session.registry import origin_of
from dashboard.session.samples import SAMPLES, sample_of
from dashboard.session.state import DATA, TREE, State

PAGE = "Compare"
MAPS = {"a": "Decision of A", "b": "Decision of B", "gap": "B's decision against A's"}
_CHOOSE = (
    f"Choose a campaign to compare this one with: a sample, or one that was loaded on the page {page_link('Data')} "
    "in this session, such as of another machine or another version of the library."
)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What the page shows of two campaigns."""

    facts: pd.DataFrame
    ratios: pd.DataFrame
    ported: Portability
    note: str


class CampaignsView(Viewer):
    """The campaign on show, A, beside another one, B: a sample, or one that was loaded in this session.

    Parameters
    ----------
    state
        Choices: `State.against` is B.
    """

    def __init__(self, state: State) -> None:
        super().__init__()
        use_bokeh()
        self.state = state
        self._comparison: _Comparison | None = None
        self._asked: Any = None
        self.other = Select(
            label="Campaign B",
            options={},
            width=420,
            description="Results to compare with those shown, which are A: results loaded in this session, such as "
            "of another machine, of another version of the library, or before a change; or a sample.",
        )
        self.common = Switch(
            label="Only methods that both have",
            value=state.common,
            description="Make and judge both decisions with the methods that both campaigns measured. Otherwise a "
            "decision may take what the other campaign lacks: the more such cells, the less the "
            "comparison says.",
        )
        self.judged = Toggle(options={"Judged on A": "A", "Judged on B": "B"}, value="B")
        self.message = Message()
        self.background = Background(again=self._compute)
        self.maps = PairMaps(MAPS, ("by A", "by B"))
        html = {"stylesheets": [legend.STYLE], "margin": (4, 8), "styles": {"flex": "1 1 440px"}, "min_width": 440}
        self.penalties, self.facts, self.ratios = (pn.pane.HTML("", **html) for _ in range(3))
        self.facts.stylesheets = [legend.STYLE, "td { white-space: normal; }"]
        legends = self.maps.legend, self.maps.methods, self.ratios
        above, below = (
            pn.FlexBox(*each, sizing_mode="stretch_width", align_items="start")
            for each in ((self.penalties, self.facts), legends)
        )
        self.body = pn.Column(above, self.judged, self.maps, below, margin=0, visible=False)
        self.body.sizing_mode = "stretch_width"
        self.other.param.watch(self._choose, "value")
        self.common.link(state, value="common", bidirectional=True)
        self.judged.param.watch(self._draw, "value")
        state.param.watch(self._draw, "scheme")
        state.param.watch(self.follow, [*DATA, *TREE, "against", "common", "loaded", "page"])
        self.follow()

    def __panel__(self) -> pn.viewable.Viewable:
        bar = pn.FlexBox(self.other, self.common, align_items="center")
        return pn.Column(bar, self.message, self.background, self.body, sizing_mode="stretch_width")

    def _choose(self, event: Any) -> None:
        self.state.against = event.new or ""

    def _key(self) -> tuple[Any, ...]:
        state = self.state
        return state.view.data_key, state.choice(), state.against, state.common

    def follow(self, *_: Any) -> None:
        """Bring up to date what is looked at; it is computed once for the same choices."""
        state = self.state
        # A sample that was loaded stands under its own name alone.
        samples = {digest: sample_of(origin_of(digest).paths) for digest in state.loaded}
        others = {title: digest for digest, title in state.loaded.items() if not samples[digest]}
        others |= {f"sample: {sample.title}": name for name, sample in SAMPLES.items()}
        shown, against = (samples.get(digest) or digest for digest in (state.results_id, state.against))
        others = {title: name for title, name in others.items() if name != shown}
        known = against if against in others.values() else ""
        self.other.param.update(options={"choose …": "", **others}, value=known)
        if not state.on_show(PAGE) or not self.visible or self._asked == self._key():
            return
        self._asked, self._comparison = self._key(), None
        self.background.stop()
        if state.view.cube() is None:
            self._tell(NO_RESULTS, linked=True)
        elif not known:
            self._tell(_CHOOSE, linked=True)
        else:
            self._compute()

    #: Whether it is looked at; the page sets it.
    visible = False

    def _tell(self, text: str, severity: str = "info", *, linked: bool = False) -> None:
        self.message.say(text, severity, linked=linked)
        self.body.visible = not text

    def _compute(self, *_: Any) -> None:
        key = self._key()
        try:
            work = self._work()
        except DecisionError as error:
            self._tell(str(error), "error")
            return

        def take(comparison: _Comparison) -> None:
            if key == self._key():
                self._comparison = comparison
                self._tell("")
                self._write()

        self._tell("The cost of the decisions appears here once it is computed.")
        self.background.start("Two campaigns", work, take, dropped=lambda _: self.message.param.update(visible=False))

    def _work(self) -> Any:
        state, common = self.state, self.state.common
        against, choice, view = state.against, state.choice(), state.view
        view.needed()

        def work(progress: Progress | None) -> _Comparison:
            """Compare, on another thread."""
            measured = measured_in(against, str(view.collective))
            both, note = of_both(view, measured)
            prepared, other = both.needed(), prepare(measured, both.treatment)
            ported = prepared.against(other, choice, common=common, progress=progress)
            cubes = [each.problem.single("a comparison of two campaigns").cube for each in (prepared, other)]
            return _Comparison(campaign_facts(*cubes), time_ratios(*cubes), ported, note)

        return work

    def _write(self) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        self.penalties.object = drawn.penalties_table(comparison.ported.table) + _words(comparison)
        self.facts.object = drawn.facts_table(comparison.facts)
        self.ratios.object = drawn.ratios_table(comparison.ratios)
        self._draw()

    def _draw(self, *_: Any) -> None:
        if self._comparison is None:
            return
        ported, judged = self._comparison.ported, self.judged.value
        part = ported.problems[SIDES.index(judged)].slices[0]
        data = (self._key(), self.state.collective, judged, self.state.scheme)
        key = MethodKey.of(part.dmap["method"].values, self.state.scheme)
        scene = Scene(part.cube, part.dmap, key, str(self.state.collective), data)
        first, second = (ported.penalties[made, judged][0] for made in SIDES)
        self.maps.show(scene, (first, second), ported.decisions)


def _words(comparison: _Comparison) -> str:
    ported, note = comparison.ported, comparison.note
    sentences = [f"{note[0].upper()}{note[1:]}."] if note else []
    sentences += [f"Decided and judged {ported.among}."] if ported.among else []
    sentences += [
        f"On {there} the decision of {here} costs {format_gap(gap)} one made from {there} itself, over the "
        f"{format_count(cells, 'cell')} in which both have a penalty."
        for here, there in (SIDES, SIDES[::-1])
        for gap, cells in [ported.gap(here, there)]
        if cells
    ]
    return f"<p>{escape(' '.join(sentences))}</p>"
