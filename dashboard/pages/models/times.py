"""Time lines below the pictures of the tab *Schedule*: by a model and, where a trace was loaded, as the method ran."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
from panel.viewable import Viewer

from dashboard.domain.units import format_bytes, format_time
from dashboard.models import MODEL_TITLES, ModelError
from dashboard.models.programs import programs_from
from dashboard.models.simulator import Run, simulate
from dashboard.models.traced import run_of
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import html
from dashboard.pages.parts.widgets import DiscreteSlider, Figure, FileInput, Select, Switch
from dashboard.plots.models import timeline
from dashboard.schedules import Algorithm, Schedule, ScheduleError
from dashboard.schedules.trace import Trace

MOST_BYTES = 4 << 20


class TimeLines(Viewer):
    """Time lines of a schedule, on one axis.

    Parameters
    ----------
    loaded
        Called when a trace has been loaded.
    model
        Menu of the models.
    again
        Called when something else is chosen.

    Attributes
    ----------
    trace
        The one that was loaded last.
    """

    def __init__(
        self, choice: ModelChoice, model: Select, again: Callable[..., None], loaded: Callable[[], None]
    ) -> None:
        super().__init__()
        self._choice, self._loaded, self.model = choice, loaded, model
        self.trace: Trace | None = None
        self.message_size = DiscreteSlider(
            label="Message size",
            options={format_bytes(2**power): 2**power for power in range(4, 25)},
            value=65536,
            width=175,
            description="Bytes of the vector, or of the block of each process, for the time line; the pictures do not "
            "depend on it.",
        )
        self.message_size.param.watch(again, "value")
        self.file = FileInput(
            label="Load a trace",
            accept=".json",
            variant="outlined",
            size="small",
            description="What colltune methods trace -o has written: when each process ran each operation. It is drawn "
            "below the model's time line of the same call.",
        )
        self.file.param.watch(self._load, "value")
        self.shown = Switch(
            label="Time line",
            value=False,
            description="When each process sends, receives and computes by the model, below the pictures.",
            margin=(18, 10),
        )
        self.shown.param.watch(again, "value")
        self.note, self.measured_table, self.table = html(), html(), html()
        self.simulated, self.measured = (Figure(None, sizing_mode="stretch_width") for _ in range(2))
        pairs = ((self.simulated, self.table), (self.measured, self.measured_table))
        self.rooms = [pn.Column(*pair, sizing_mode="stretch_width", margin=0, visible=False) for pair in pairs]
        self._drawn: Any = None

    def __panel__(self) -> pn.viewable.Viewable:
        widgets = (self.shown, self.model, self.message_size, self.file)
        bar = pn.FlexBox(*widgets, align_items="center", sizing_mode="stretch_width")
        return pn.Column(bar, self.note, *self.rooms, sizing_mode="stretch_width", margin=0)

    def _load(self, event: pn.param.Event) -> None:
        if event.new is None:
            return
        name = str(self.file.filename or "trace.json")
        try:
            self.trace = _read(event.new)
        except (ScheduleError, ValueError, RecursionError) as error:
            self.note.object = f"<p>{escape(f'{name}: {error}.')}</p>"
            return
        self.shown.value = True
        self._loaded()

    def draw(self, algorithm: Algorithm, made: Callable[[int], Schedule]) -> None:
        """Draw an algorithm.

        Parameters
        ----------
        made
            Its schedule for a message of so many bytes, for where no trace of it was loaded.
        """
        self.model.visible = self.message_size.visible = self.shown.value
        if not self.shown.value:
            self._drawn = None
            self._show("", None, None, "")
            return
        trace, note = self._of(algorithm)
        scheduled = made(int(self.message_size.value)) if trace is None else trace.schedule
        self.message_size.visible = trace is None and algorithm.collective != "barrier"
        known = self._choice.effective().get(self.model.value)
        # The step of the pictures changes nothing here.
        key = scheduled.call, algorithm.name, scheduled.parameters, trace, note, known
        if known is None or key == self._drawn:
            return
        self._drawn = key
        try:
            simulated = simulate(programs_from(scheduled), known)
        except ModelError as error:
            self._show(f"{error}.", None, None, "")
            return
        if len(simulated.messages) > timeline.MOST_MESSAGES:
            self._show(f"{len(simulated.messages):,} messages are too many to be drawn.", None, None, "")
        elif trace is None:
            self._show(note, simulated, None, "")
        else:
            where, measured = ", ".join(trace.facts.values()), run_of(trace)
            size = format_bytes(trace.call.count * trace.call.element_size)
            share = f"{measured.time / simulated.time:.2g} times what" if simulated.time else "beside what"
            note = (
                f"{trace.call.processes} processes, {size}, {where}: {format_time(measured.time)}, {share} the model "
                f"says with the parameters of {self._choice.current().name}."
            )
            self._show(note, simulated, measured, where)

    def _of(self, algorithm: Algorithm) -> tuple[Trace | None, str]:
        """The trace that was loaded if it is of an algorithm; a sentence if it is of another one."""
        trace = self.trace
        if trace is None or (trace.call.collective, trace.algorithm) == (algorithm.collective, algorithm.name):
            return trace, ""
        return None, f"Loaded is a trace of {trace.call.collective} {trace.algorithm}: choose it to see how it ran."

    def _show(self, note: str, simulated: Run | None, measured: Run | None, where: str) -> None:
        runs = [run for run in (simulated, measured) if run is not None]
        until = max((run.time for run in runs), default=0.0)
        self.note.object = f"<p>{escape(note)}</p>" if note else ""
        for room, title, run in zip(
            self.rooms,
            (f"By {MODEL_TITLES.get(self.model.value, '')}", f"Measured ({where})"),
            (simulated, measured),
            strict=True,
        ):
            pane, table = room
            pane.object = None if run is None else timeline.timeline(title, run, until)
            table.object = "" if run is None else timeline.timeline_table(run)
            room.visible = run is not None


def _read(content: bytes) -> Trace:
    if not content:
        raise ScheduleError("the file is empty")
    if len(content) > MOST_BYTES:
        raise ScheduleError(f"it has {len(content):,} bytes; a trace has at most {MOST_BYTES:,}")
    return Trace.from_json(json.loads(content))
