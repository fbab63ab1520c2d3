"""Page *Home*: what this is, three ways on, and what is open."""

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import PurePath
from typing import Any

import panel as pn

from dashboard.domain.units import format_count
from dashboard.measuring import tunings
from dashboard.measuring.kept import campaigns_root
from dashboard.pages.measure.list import CampaignList
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.links import page_link
from dashboard.pages.parts.loading import load_sample
from dashboard.pages.parts.reports import plain
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Alert, Button, Figure
from dashboard.pages.tune.list import tuning_item
from dashboard.plots import legend
from dashboard.plots.coverage import coverage_table
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import HEIGHT, stacked
from dashboard.plots.view_maps import Scene
from dashboard.session.registry import Results
from dashboard.session.state import DRAWN, ResultsOrState, State
from loaders.collectives import POINT_TO_POINT

PAGE = "Home"
_ABOUT = (
    "<h2 style='margin: 0 0 4px'>From measurements of MPI collectives to rules that your library obeys</h2>"
    "<p style='margin: 0; max-width: 75ch'>Which algorithm is the fastest for a broadcast of 64 KiB on 48 processes? "
    "colltune measures, decides with a small tree, writes it as rules or source, and proves that the library follows."
    "</p>"
)
_MORE = f"The page {page_link('Data')} tells what each file gives."
#: Files that are named of those refused.
_NAMED = 3
_CARD = {
    "border": "1px solid color-mix(in srgb, currentColor 20%, transparent)",
    "border-radius": "6px",
    "padding": "16px",
    "flex": "1 1 260px",
    "align-self": "stretch",
    "height": "auto",
}
#: What of a cube's attributes is told of what is open.
_FACETS = ("system", "library", "library_version", "network", "device", "benchmark")
#: Lines of the window above and below the map; tunings that are listed.
_AROUND, _LISTED = 500, 4


class HomePage(Page):
    """Three cards, and what is open below them.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too.
    upload
        Opens the place where files can be dropped.
    """

    def __init__(self, shown: ResultsOrState, upload: Callable[[], None] | None = None) -> None:
        super().__init__(shown)
        state = self.state
        bold: dict[str, Any] = {"variant": "contained", "margin": (8, 0, 0, 0)}
        self.tune = Button(label="Tune this machine", color="primary", on_click=lambda _: self._go("Tune"), **bold)
        bold["variant"] = "outlined"
        self.sample = Button(label="Look at the sample", on_click=partial(load_sample, state), **bold)
        self.bring = Button(
            label="Bring your files", on_click=lambda _: (upload or (lambda: self._go("Data")))(), **bold
        )
        self.news = pn.pane.HTML("", margin=(6, 0, 0, 0))
        wide: dict[str, Any] = {"sizing_mode": "stretch_width"}
        self.map = Figure(None, height=HEIGHT, margin=0, **wide)
        self.methods = pn.pane.HTML("", stylesheets=[legend.STYLE], margin=(4, 8, 4, 58), **wide)
        self.facts = pn.pane.HTML("", stylesheets=[legend.STYLE], margin=(4, 8), styles={"overflow-x": "auto"}, **wide)
        flex: dict[str, Any] = {"margin": 4, **wide}
        # Made once there are any.
        self.tunings: CampaignList | None = None
        self.kept = pn.Column(margin=0, **wide)
        self.drawn = pn.Column(self.map, self.methods, min_width=360, styles={"flex": "1 1 480px"}, **flex)
        self.open = pn.FlexBox(
            pn.Column(self.facts, self.kept, min_width=420, styles={"flex": "0 1 510px"}, **flex),
            self.drawn,
            margin=(8, 0),
            align_items="start",
            **wide,
        )
        self.refused = Alert(severity="error", sizing_mode="stretch_width", margin=(8, 8, 0, 8), visible=False)
        self.under_way = pn.pane.HTML("", margin=(8, 8), visible=False)
        self._drawn: Any = None
        self.rested = Rested(self._tell_news, 0.0, lambda: tunings.tunings(campaigns_root())[0])
        state.param.watch(self._follow, [*DRAWN, "page", "error"])
        state.param.watch(self._tell_busy, "busy")
        self._tell_busy()
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        cards = [
            _card(
                "Tune this machine",
                "Measures the installed MPI for some minutes, keeps what is faster than its own decision beyond noise, "
                "proves it, and packs a bundle to switch on.",
                self.news,
                self.tune,
            ),
            _card(
                "Look at the sample",
                "Five collectives on 2 to 16 nodes of an emulated Fast Ethernet cluster: maps, trees, what they cost.",
                self.sample,
            ),
            _card(
                "Bring your files",
                "SKaMPI, OSU, IMB, ReproMPI, PICO, ompi-collectives-tuning, OCC, mpi4py, netCDF or any table.",
                self.bring,
            ),
        ]
        about = pn.pane.HTML(_ABOUT, sizing_mode="stretch_width", margin=(12, 8))
        row = pn.FlexBox(*cards, sizing_mode="stretch_width", gap="16px", margin=(8, 8), align_items="stretch")
        return pn.Column(self.refused, about, row, self.under_way, self.open, sizing_mode="stretch_width", margin=0)

    def _go(self, page: str) -> None:
        self.state.page = page

    def _follow(self, *_: Any) -> None:
        state = self.state
        if not state.on_show(PAGE):
            return
        self.rested.ask()
        refused, severity = state.error or _refused(state), "error" if state.error else "info"
        self.refused.param.update(object=f"{plain(refused)}  \n{_MORE}", severity=severity, visible=bool(refused))
        key = (state.view.data_key, state.scheme)
        if key != self._drawn:
            self._drawn = key
            self.facts.visible = self.drawn.visible = state.results is not None
            if state.results is not None:
                self.facts.object = _facts(state)
                self._draw()

    def _tell_busy(self, *_: Any) -> None:
        self.under_way.param.update(object=escape(self.state.busy), visible=bool(self.state.busy))

    def _draw(self) -> None:
        scene = Scene.of(self.state.view)
        if scene is None:
            return
        best = scene.dmap["best"].values
        layers = scene.method_layers("map", best)
        self.map.object = stacked(
            f"Fastest method of {self.state.collective}", scene.axes, layers, LiveSources(), around=_AROUND
        )
        self.methods.object = legend.method_line(scene.key, best)

    def _tell_news(self, there: list[tunings.Tuning]) -> None:
        running = next((tuning for tuning in there if tuning.state == tunings.RUNNING), None)
        stage = "" if running is None or running.stage is None else f" in {running.stage.name}"
        self.news.object = "" if running is None else f"<small>{escape(running.name)}: running{escape(stage)}</small>"
        if self.tunings is None and there:
            self.tunings = CampaignList(self._look_at, tuning_item)
            head = pn.pane.HTML("<strong>Last tunings</strong>", margin=(8, 4, 0, 4))
            self.kept.objects = [head, self.tunings]
        if self.tunings is not None:
            self.tunings.show(there[:_LISTED], (), "")
        self.kept.visible = bool(there)

    def _look_at(self, name: str) -> None:
        self.state.param.update(tuning=name, page="Tune")


def _card(title: str, text: str, *more: Any) -> pn.Column:
    head = pn.pane.HTML(f"<h3 style='margin: 0 0 4px'>{title}</h3><p style='margin: 0'>{text}</p>", margin=0)
    head.sizing_mode = "stretch_width"
    *between, button = more
    # The buttons of all cards stand at one height.
    return pn.Column(head, *between, pn.layout.VSpacer(margin=0), button, margin=0, min_width=260, styles=_CARD)


def _facts(state: State) -> str:
    """What is open: its name, collectives and sizes, and what its files say of machine and library."""
    rows = []
    for row in coverage_table(state.results).to_dict("records"):
        measured = f"{row['measured']:,} ({row['share']:.0f} %)"
        cells = [escape(str(row["collective"])), f"{row['methods']:,}", escape(row["processes"])]
        rows.append([*cells, escape(row["message sizes"]), measured])
    heads = [("collective", False), ("methods", True), ("processes", False), ("message sizes", False), ("cells", True)]
    title = state.loaded.get(state.results_id, "")
    name = f"{title}: " if title else ""
    count = sum(collective != POINT_TO_POINT for collective in state.results.children)
    caption = f"Open now: {name}{format_count(count, 'collective')}"
    return legend.table(caption, heads, rows) + _facets_of(state)


def _refused(state: State) -> str:
    """Which files gave nothing, beside those that did; empty: none."""
    reports = [] if state.results is None else Results(state.results, state.results_id).sources
    names = [PurePath(str(report["path"])).name for report in reports if report.get("error")]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{format_count(len(names), 'file')} refused: {', '.join(names[:_NAMED])}{more}." if names else ""


def _facets_of(state: State) -> str:
    facets: dict[str, dict[str, None]] = {}
    for node in state.results.children.values():
        for name in _FACETS:
            if value := str(node.attrs.get(name, "") or node.to_dataset().attrs.get(name, "")):
                facets.setdefault(name, {})[value] = None
    parts = [f"{name.replace('_', ' ')} {', '.join(map(escape, values))}" for name, values in facets.items()]
    return f"<p style='font-size: 13px; max-width: 75ch'>{'; '.join(parts)}</p>" if parts else ""
