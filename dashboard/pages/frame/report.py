"""The part of the page *Export* that writes a report: one HTML file to send, which opens without a network."""

from collections.abc import Callable
from typing import Any

import panel as pn

from dashboard.decisions.grown.family import Progress
from dashboard.domain.held_out import HELD_OUT, NOTHING
from dashboard.domain.written import FRONTIER, MODELS
from dashboard.export import TARGETS
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.links import NO_RESULTS
from dashboard.pages.parts.options import widget_of
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import Button, FileDownload, Message, MultiChoice
from dashboard.report import Contents, to_html, to_story
from dashboard.session.recipes import of_report
from dashboard.session.state import DATA, TREE, State

REPORT, PICTURES = "colltune_report.html", "colltune_pictures.zip"
_WHAT = (
    "Maps, penalties, the frontier, rules, source and where the measurements come from, in **one HTML file**: it opens "
    "in any browser, without a network and without a server. **Pictures for a paper** are the fastest methods, the "
    "decision, what it loses, and its times beside the best and the default: as SVG, PDF and PNG, each with a caption."
)


class Report(Section):
    """Writes a report on the view, off the event loop, and offers it.

    Parameters
    ----------
    state
        The view; it is reported on as it is when the button is pressed.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._content = b""
        self.collectives = MultiChoice(
            label="Collectives in the report",
            options=[],
            placeholder="all",
            width=380,
            description="Each has a chapter of its own, decided by the tree of the page Decisions. Empty: all of them.",
        )
        self.frontier, self.models = (widget_of(option, option.default) for option in (FRONTIER, MODELS))
        self.held_out = widget_of(HELD_OUT, NOTHING, 290)
        self.write = Button(label="Write the report", color="primary", variant="contained", on_click=self._write)
        self.draw = Button(label="Pictures for a paper", variant="outlined", on_click=self._draw)
        self._last: Callable[[], None] = self._write
        self.background = Background(again=self._again)
        self.message = Message()
        self.download = FileDownload(lambda: self._content, label="Download", filename=REPORT, visible=False)
        self.frontier.param.watch(self._follow, "value")
        for choice in (self.collectives, self.frontier, self.models, self.held_out):
            choice.param.watch(self._stale, "value")
        state.param.watch(self._stale, [*DATA, *TREE, "rules", "target"])
        self._follow()

    def __panel__(self) -> pn.viewable.Viewable:
        chosen = self.collectives, self.frontier, self.held_out, self.models
        choices = pn.FlexBox(*chosen, align_items="center", sizing_mode="stretch_width")
        about = pn.pane.Markdown(_WHAT, margin=(14, 10, 0, 10), styles={"max-width": "75ch"})
        parts = about, choices, pn.Row(self.write, self.draw, margin=0), self.background, self.message, self.download
        return pn.Column(*parts, sizing_mode="stretch_width")

    def commands(self) -> list[list[str]]:
        """Words of the command that writes it; none without measurements."""
        if self.write.disabled:
            return []
        contents = self._contents()
        if self._last == self._draw:
            # Pictures are of the tree alone.
            return [of_report(self._state, contents.collectives, PICTURES, [])]
        words = ["--to", contents.target]
        for option in (FRONTIER, HELD_OUT, MODELS):
            value = getattr(contents, option.name)
            words += option.typed(value) if value not in (None, option.default) else []
        return [of_report(self._state, contents.collectives, REPORT, words)]

    def _follow(self, *_: Any) -> None:
        names = [name for name in self._state.param.collective.objects if name is not None]
        kept = [name for name in self.collectives.value or self._state.exported if name in names]
        if names != self.collectives.options or kept != self.collectives.value:
            self.collectives.param.update(options=names, value=kept)
        self.held_out.disabled = not self.frontier.value
        self.write.disabled = self.draw.disabled = not names
        if not names:
            self.message.say(NO_RESULTS, linked=True)
        elif self.message.object == NO_RESULTS:
            self.message.say("")

    def _stale(self, *_: Any) -> None:
        # What was written is of the view as it was then.
        if self.background.running or self.download.visible:
            self.message.say("The settings have changed since; write the report again.")
        self.background.stop()
        self._content, self.download.visible = b"", False
        self._follow()

    def _write(self, *_: Any) -> None:
        state = self._state
        if state.results is None:
            return
        asked, contents = state.view, self._contents()
        self._last = self._write
        self._start(REPORT, lambda progress: to_html(asked, contents, progress=progress).encode())

    def _contents(self) -> Contents:
        target = self._state.target
        return Contents(
            collectives=tuple(self.collectives.value),
            frontier=self.frontier.value,
            held_out=self.held_out.value if self.frontier.value and self.held_out.value != NOTHING else None,
            target=target if target in TARGETS else Contents.target,
            models=self.models.value,
        )

    def _draw(self, *_: Any) -> None:
        asked, collectives = self._state.view, tuple(self.collectives.value)
        self._last = self._draw
        self._start(PICTURES, lambda progress: to_story(asked, collectives, progress=progress))

    def _start(self, name: str, work: Callable[[Progress], bytes]) -> None:
        self.message.say("")
        self._content, self.download.visible = b"", False
        self.background.start(f"Writing {name}", work, lambda content: self._take(name, content))

    def _again(self) -> None:
        self._last()

    def _take(self, name: str, content: bytes) -> None:
        self._content = content
        self.download.param.update(filename=name, label=f"Download {name}", visible=True)
        self.message.say(f"Written: {len(content) / 1e6:.1f} MB.", "success")
