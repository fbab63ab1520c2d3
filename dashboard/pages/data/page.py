"""The page *Data*: choose files, say what they do not say, see what they gave."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import panel as pn
import param

from dashboard.domain.units import format_count
from dashboard.pages.data.chooser import SAMPLE, UPLOAD, FileChooser
from dashboard.pages.data.files import is_inside
from dashboard.pages.data.hints import HintForm
from dashboard.pages.data.overview import FILES, Overview
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.loading import fail, load
from dashboard.pages.parts.reports import headline, needed, plain, usable, without_folders
from dashboard.pages.parts.views import Page
from dashboard.pages.parts.widgets import Button, Message
from dashboard.session.registry import Results
from dashboard.session.samples import Start, sample_start
from dashboard.session.state import ResultsOrState
from loaders import facets, suggesting
from loaders.collectives import POINT_TO_POINT

_MOST_NOTES = 5
_IN_SIGHT = {"position": "sticky", "bottom": "8px", "z-index": "2", "background": "var(--panel-background-color, #fff)"}
NOTHING = "Nothing is loaded yet: choose files on the left and load them."
#: Stands before what is loaded where the files below are others.
BEFORE = "None of the files below was loaded. The page still shows what was loaded before: "


class DataPage(Page):
    """Chooses and loads results, and shows what they are.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too. What is loaded goes there.
    start
        What the dashboard was started with; default: the sample data.
    """

    def __init__(self, shown: ResultsOrState, start: Start | None = None) -> None:
        super().__init__(shown)
        state = self.state
        self.chooser = FileChooser(sample_start() if start is None else start)
        self.hints = HintForm(self.chooser.start.hints if not self.chooser.start.sample else None)
        self.overview = Overview(state)
        self.failed: list[dict[str, Any]] = []
        #: Files of the last attempt to load all that are chosen.
        self._tried: list[Path] = []
        self.load_button = Button(label="Load", color="primary", variant="contained", on_click=self.load)
        self.load_usable = Button(label="", visible=False, variant="outlined", on_click=self.load_the_usable)
        self.progress = pn.indicators.Progress(visible=False, sizing_mode="stretch_width", margin=(0, 10))
        self.under_way = pn.pane.Markdown("", visible=False, margin=(0, 10))
        self.error = Message()
        # Far down, and in sight wherever the page is scrolled to; with the buttons, which it would cover.
        buttons = pn.Row(self.load_button, self.load_usable, margin=0)
        self._foot = pn.Column(buttons, self.error, sizing_mode="stretch_width", margin=0)
        self.headline = pn.pane.Markdown(NOTHING, sizing_mode="stretch_width")
        self._hint_card = pn.Column(
            pn.pane.Markdown("### What the files do not say", margin=(5, 10)),
            self.hints,
            sizing_mode="stretch_width",
            margin=0,
        )
        self.chooser.param.watch(self._chosen, ["changed", "kind"])
        self.chooser.param.watch(self._offer_usable, "changed")
        self.hints.param.watch(self._offer_usable, "changed")
        self.chooser.param.watch(self._show_error, "refusal")
        state.param.watch(self._show_error, "error")
        state.param.watch(self._show_busy, ["busy", "progress"])
        state.param.watch(self._chosen, "busy")
        state.param.watch(self._show_results, "results_id")
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(lambda context: self.chooser.close())
        given = self.chooser.start
        # A folder that is there but empty has nothing to say; one that is not there says so.
        if (
            state.results is None
            and not given.sample
            and not self.chooser.listed
            and all(p.exists() for p in given.paths)
        ):
            self.chooser.kind = UPLOAD
        self._chosen()
        self._show_error()
        self._show_results()

    def __panel__(self) -> pn.viewable.Viewable:
        choose = [
            pn.pane.Markdown("### Files", margin=(5, 10)),
            self.chooser,
            self._hint_card,
            self._foot,
            self.under_way,
            self.progress,
        ]
        return columns(choose, [self.headline, self.overview], width=430)

    async def load(self, event: param.parameterized.Event | None = None) -> None:
        """Load the chosen files with the hints given."""
        self._tried = []
        self.chooser.look_again()
        await self._load(self.chooser.paths)

    async def load_the_usable(self, event: param.parameterized.Event | None = None) -> None:
        """Load those of the chosen files that can be loaded as they are."""
        await self._load(self._chosen_of(usable(self.failed)))

    async def _load(self, paths: list[Path]) -> None:
        sample = self.chooser.kind == SAMPLE
        why = "" if sample else self.hints.check()
        if not paths:
            why = "No file is chosen."
        if why:
            fail(self.state, why)
            return
        self.state.error = ""
        self.chooser.settle()
        self.load_usable.disabled = True
        try:
            hints = self.chooser.sample.hints if sample else self.hints.values()
            reports = await load(self.state, paths, hints, self.chooser.folders)
        finally:
            self.load_usable.disabled = False
        self.show_failed(reports)

    def show_failed(self, reports: list[dict[str, Any]] | None) -> None:
        """Show why files could not be loaded, and ask for what they need.

        Parameters
        ----------
        reports
            As `loaders.scan` makes them; None or empty if nothing failed.
        """
        self.failed = reports or []
        self._tried = self._tried or [Path(report["path"]) for report in self.failed]
        self._offer_usable()
        if len(usable(self.failed)) == len(self.failed):
            # They cannot be loaded as they are: nothing comes of trying before something changes.
            self.load_usable.visible = False
        self.hints.ask(needed(self.failed))
        self.hints.suggest(suggesting.pattern_of(self.failed))
        if self.failed:
            self._offer(self.failed)
            self.overview.show_reports(self.failed, self.chooser.folders, loaded=False)
            self.overview.section = FILES
            if self.state.results is not None:
                self.headline.object = BEFORE + self._loaded()
        else:
            self._show_results()

    def _chosen(self, *events: param.parameterized.Event) -> None:
        self.hints.names = self.chooser.names
        self._hint_card.visible = self.chooser.kind != SAMPLE
        count = len(self.hints.names)
        what = " the sample data" if self.chooser.kind == SAMPLE else f" {format_count(count, 'file')}" if count else ""
        self.load_button.param.update(label=f"Load{what}", disabled=not count or bool(self.state.busy))

    def _offer_usable(self, *events: param.parameterized.Event) -> None:
        """Offer to load what can be loaded, where that is not all that was tried."""
        can, tried = self._chosen_of(usable(self.failed)), self._chosen_of(self._tried)
        self.load_usable.param.update(
            visible=0 < len(can) < len(tried), label=f"Load the {len(can):,} of {len(tried):,} that can be loaded"
        )

    def _chosen_of(self, paths: Sequence[Path]) -> list[Path]:
        """Those of the files that are still chosen."""
        chosen = [path.resolve() for path in self.chooser.paths] if paths else []
        return [path for path in paths if is_inside(path, chosen)]

    def _show_error(self, *events: param.parameterized.Event) -> None:
        text = "\n".join(filter(None, (self.chooser.refusal, self.state.error)))
        text = without_folders(text, self.chooser.folders)
        self.error.say(text, "error")
        self._foot.styles = _IN_SIGHT if text else {}

    def _show_busy(self, *events: param.parameterized.Event) -> None:
        share = self.state.progress
        self.under_way.param.update(object=plain(self.state.busy), visible=bool(self.state.busy))
        self.progress.param.update(
            visible=bool(self.state.busy), value=-1 if share is None else round(100 * share), active=True
        )

    def _show_results(self, *events: param.parameterized.Event) -> None:
        if self.state.results is None:
            self.headline.object = NOTHING
            return
        self.overview.refresh()
        if self.overview.summary is None:
            return
        self.headline.object = self._loaded()
        reports = Results(self.state.results, self.state.results_id).sources
        self.overview.show_reports(reports, self.chooser.folders)
        self._offer(reports)

    def _loaded(self) -> str:
        """What the results on show are."""
        if self.overview.summary is None:
            return ""
        table = self.overview.summary.coverage
        # A ping-pong is none of the collectives, and no method of theirs.
        table = table[table["collective"] != POINT_TO_POINT]
        shown = Results(self.state.results, self.state.results_id)
        figures = headline(shown.sources, int(table["methods"].sum()), int(table["measured"].sum()), len(table))
        notes = [plain(without_folders(note, self.chooser.folders)) for note in shown.notes]
        more = [f"… and {format_count(len(notes) - _MOST_NOTES, 'note')} more"] if len(notes) > _MOST_NOTES else []
        return "  \n".join([figures, *notes[:_MOST_NOTES], *more])

    def _offer(self, reports: Sequence[Mapping[str, Any]]) -> None:
        """Offer the facets in which the files differ; files of one folder that are far apart are campaigns."""
        values = facets.values(reports)
        if reports and reports is self.failed and "campaign of " in self.state.error and "campaign" not in values:
            files = facets.facets_of([(str(report["path"]), {}) for report in reports])
            values["campaign"] = [each[facets.FILE] for each in files]
        self.hints.facets.offer(values)
