"""The written file on the page *Export*: preview, downloads, what is lost, and its map read back."""

from collections.abc import Callable
from typing import Any

import panel as pn

from dashboard.domain.units import format_room
from dashboard.export import TARGETS
from dashboard.export.bundle import bundle, files_of
from dashboard.export.writing import Part, Written
from dashboard.pages.compare.pair_maps import PairMaps
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import FileDownload, Select
from dashboard.plots import exported, legend, source
from dashboard.plots.view_maps import Scene
from dashboard.session.state import State

MAPS = {"a": "A: as decided", "b": "B: the file, read back", "gap": "B against A"}
#: Files of more rules are written, but nobody reads them and some libraries search them at every call.
MANY_RULES = 1000
_NO_READER = "There is no independent reader of this target; its own self-test checks it."
_CHANGED = "The measurements, or how they are treated, have changed since this file was written."
_HTML = {"stylesheets": [legend.STYLE + exported.STYLE + source.STYLE], "sizing_mode": "stretch_width"}


class Downloads(Section):
    """A written file and its bundle to download, with its text, what it costs and what it does not say."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.written: Written | None = None
        #: What a bundle is to hold beside: names and texts.
        self.further: Callable[[], list[tuple[str, str]]] = list
        self.file = FileDownload(lambda: self.written.text, label="Download the file", filename="colltune.conf")
        self.bundle = FileDownload(
            lambda: bundle(self.written, self.further()),
            variant="outlined",
            label="Download the bundle",
            filename="colltune.zip",
        )
        self.costs, self.notes, self.preview = (pn.pane.HTML("", margin=(4, 8), **_HTML) for _ in range(3))

    def show(self, written: Written) -> None:
        """Show a file."""
        self.written = written
        ending = TARGETS[written.order.target].extension
        self.file.filename = written.name
        # Two files are in the bundle alone.
        self.file.visible = len(files_of(written.name, written.text)) == 1
        self.bundle.filename = written.name.removesuffix(ending) + ".zip"
        self.preview.object = source.highlighted(written.text, source.LANGUAGES.get(ending, "bash"))
        self.costs.object = exported.parts_table(written.parts, weighted=bool(written.order.weights))
        self.notes.object = exported.notes_list(written.parts)


class WrittenFile(Downloads):
    """Shows one written file.

    Parameters
    ----------
    state
        Choices, for the maps.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.size = pn.pane.HTML("", margin=(14, 10))
        self.faults, self.steps = (pn.pane.HTML("", margin=(4, 8), **_HTML) for _ in range(2))
        self.part = Select(
            label="Maps of",
            options=[],
            width=170,
            description="The collective of the file that the maps below show. B is the file, read back by an "
            "independent reader.",
        )
        self.maps = PairMaps(MAPS, ("as decided", "in the file"))
        self.drawing = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.unread = pn.pane.HTML("", margin=(14, 10), sizing_mode="stretch_width")
        self._drawn: Any = None
        self._of: Any = None
        self.part.param.watch(self._draw, "value")
        state.param.watch(self._draw, "scheme")

    def __panel__(self) -> pn.viewable.Viewable:
        text = (pn.Row(self.file, self.bundle, self.size), self.preview), 480, "3 1 560px"
        about = (self.costs, self.notes, self.faults, self.steps), 420, "2 1 470px"
        halves = [
            pn.Column(*parts, min_width=width, styles={"flex": flex}, sizing_mode="stretch_width", margin=0)
            for parts, width, flex in (text, about)
        ]
        legends = pn.FlexBox(self.maps.legend, self.maps.methods, sizing_mode="stretch_width", align_items="start")
        self.drawing.objects = [self.maps, legends]
        return pn.Column(
            pn.FlexBox(*halves, sizing_mode="stretch_width", align_items="start", margin=0),
            pn.Row(self.part, self.unread),
            self.drawing,
            sizing_mode="stretch_width",
            margin=0,
        )

    def show(self, written: Written) -> None:
        """Show a file."""
        super().show(written)
        self._of = self._state.view.data_key
        order, text = written.order, written.text
        self.size.object = f"{text.count(chr(10)):,} lines, {format_room(len(text.encode()))}"
        read = any(part.read is not None for part in written.parts)
        self.faults.object = exported.faults_table(written.faults, text.split("\n")) if read else f"<p>{_NO_READER}</p>"
        self.steps.object = exported.steps_html(TARGETS[order.target].steps(written.name, written.ruled))
        names = written.collectives
        chosen = self._state.collective if self._state.collective in names else names[0]
        self._drawn = None
        if self.part.value == chosen and self.part.options == names:
            self._draw()
        else:
            self.part.param.update(options=names, value=chosen)
        self.part.visible = read and len(names) > 1

    @property
    def rules(self) -> int:
        """Most rules of a collective, as the file was read back."""
        parts = [] if self.written is None else self.written.parts
        return max((part.read.leaves for part in parts if part.read is not None), default=0)

    def _draw(self, *_: Any) -> None:
        written = self.written
        parts = written.parts if written else ()
        part = next((each for each in parts if each.source.collective == self.part.value), None)
        if written is None or part is None or self._drawn == (id(written), self.part.value, self._state.scheme):
            return
        self._drawn = id(written), self.part.value, self._state.scheme
        # Another file is being written where the measurements are no longer those that this one was made from.
        known = self._state.view.data_key == self._of
        there = part.read is not None and part.source.collective in written.order.cubes and known
        self.drawing.visible = there
        # Of a file that nobody reads it is said beside its text.
        elsewhere = any(each.read is not None for each in parts)
        why = _CHANGED if not known else _NO_READER if elsewhere and not there else ""
        self.unread.object = f"<p>{why}</p>" if why else ""
        if there:
            self._maps(written, part)

    def _maps(self, written: Written, part: Part) -> None:
        name = part.source.collective
        state = self._state
        scene = Scene.of(state.view if name == state.collective else state.view.beside(name))
        if scene is None or part.read is None:
            return
        self.maps.show(scene, part.tables, (part.source, part.read))
