"""The tab of the page *Models* that draws own algorithms: who sends to whom, what each rank holds, and when."""

import re
from html import escape
from typing import Any

import panel as pn
from panel.io import hold

from dashboard.domain.units import format_bytes, format_count
from dashboard.models import MODEL_TITLES
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, html, side_by_side
from dashboard.pages.models.times import TimeLines
from dashboard.pages.parts.later import Newest
from dashboard.pages.parts.widgets import LiveIntSlider, Select
from dashboard.schedules import ALGORITHMS, Algorithm, Call, Schedule, ScheduleError, schedule
from dashboard.schedules.drawing import graph_svg, movement_svg
from dashboard.schedules.rank import SEND
from dashboard.schedules.steps import steps
from loaders.collectives import COLLECTIVES

PROCESSES = 16
#: Bytes of an element, and how messages may be cut: into so many segments.
ELEMENT, MOST_SEGMENTS = 8, 8
_SEGMENT = ("segment_size", "first_segment")
_GROUND, _INK = "var(--panel-background-color, #fff)", "var(--panel-on-background-color, #222)"


class Scheduled(Part):
    """Schedule of one algorithm, with a slider for the step (dissertation, Figures 4.1 to 4.12)."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.algorithm = self.menu(
            "Algorithm",
            210,
            "Each is written once, as the schedule of operations that is simulated, verified, run and measured "
            "(colltune methods).",
        )
        self.processes = self._slider("Processes", 2, PROCESSES, 8, "Ranks of the communicator, few enough to be read.")
        self.root = self._slider("Root", 0, PROCESSES - 1, 0, "Rank that the message comes from or goes to.")
        self.segments = self._slider(
            "Segments",
            1,
            MOST_SEGMENTS,
            1,
            "Into how many pieces the message, or each block, is cut; 1: it is sent whole (dissertation, chapter 4).",
        )
        self.parameters = pn.Row(margin=0)
        self._menus: dict[str, Select] = {}
        self.step = self._slider("Step", 0, 1, 0, "A rank sends one message and receives one in a step. 0: all steps.")
        self.graph, self.held, self.counts = html(), html(), html()
        self.bar.objects = [*(self.algorithm, self.processes, self.root, self.segments, self.parameters, self.step)]
        style = {"flex": "1 1 340px"}
        columns = [pn.Column(pane, min_width=330, styles=style) for pane in (self.graph, self.held)]
        model = self.menu("Model", 150, "How long a message keeps sender, wire and receiver, for the time line.")
        self.times = TimeLines(choice, model, self.again, self._traced)
        self.results.objects = [self.counts, side_by_side(*columns, align_items="start"), self.times]
        self.redraw = Newest(self._draw)

    def _slider(self, label: str, start: int, end: int, value: int, about: str) -> Any:
        slider = LiveIntSlider(label=label, start=start, end=end, value=value, width=135, description=about)
        slider.param.watch(self.again, "value")
        return slider

    def update(self) -> None:
        """Follow the choice."""
        collective = self._choice.collective
        known = ALGORITHMS.get(collective, {})
        if not known:
            self.tell(f"There are no own algorithms of {collective}.")
            return
        algorithm = known[self.offer(self.algorithm, list(known), *(each.algorithm for each in self._choice.methods))]
        names = {each.name for each in algorithm.parameters}
        models = {MODEL_TITLES[name]: name for name in self._choice.effective()}
        self.offer(self.times.model, models, "loggp")
        with self.filling():
            self.segments.visible = bool(names & set(_SEGMENT))
            self.root.param.update(visible=COLLECTIVES[collective].rooted, end=self.processes.value - 1)
            self.root.value = min(self.root.value, self.processes.value - 1)
            self._offer_parameters(algorithm)
        self.redraw.ask()

    def _offer_parameters(self, algorithm: Algorithm) -> None:
        if self._drawn == algorithm.title:
            return
        self._drawn = algorithm.title
        self.step.value = 0
        self._menus = {}
        for each in algorithm.parameters:
            if each.name not in _SEGMENT:
                values = list(dict.fromkeys([each.default, *each.values]))
                menu = Select(
                    label=each.name.replace("_", " ").capitalize(),
                    options=values,
                    value=each.default,
                    width=130,
                    description=f"Parameter {each.name} of {algorithm.title} ({algorithm.source}).",
                )
                menu.param.watch(self.again, "value")
                self._menus[each.name] = menu
        self.parameters.objects = list(self._menus.values())

    def _traced(self) -> None:
        """Show the algorithm of a trace that was loaded, where its collective is on show."""
        trace = self.times.trace
        if trace is not None and trace.algorithm in ALGORITHMS.get(self._choice.collective, {}):
            with self.filling():
                self.algorithm.value = trace.algorithm
                self.processes.value = min(max(trace.call.processes, 2), PROCESSES)
        self.update()

    def _made(self, algorithm: Algorithm, size: int = 0) -> Schedule:
        """As many elements as segments in each block, and for each rank where a vector is cut.

        Elements are so large that the message has `size` bytes, or small ones.
        """
        collective, processes, segments = algorithm.collective, int(self.processes.value), int(self.segments.value)
        vector = COLLECTIVES[collective].sends == "vector"
        count = 0 if collective == "barrier" else processes * segments if vector else segments
        element = max(1, round(size / count)) if size and count else ELEMENT
        given = {name: menu.value for name, menu in self._menus.items()}
        for each in algorithm.parameters:
            if each.name in _SEGMENT and segments > 1:
                given[each.name] = -(-count // segments) * element
        root = int(self.root.value) if COLLECTIVES[collective].rooted else 0
        return schedule(Call(collective, processes, count, root, element), algorithm.name, **given)

    def own(self) -> dict[str, Any]:
        """What is drawn; the parameters are those of the algorithm."""
        sizes = {"processes": self.processes, "root": self.root, "segments": self.segments}
        times = {"model": self.times.model, "message_size": self.times.message_size, "times": self.times.shown}
        return {"algorithm": self.algorithm, **sizes, **self._menus, "step": self.step, **times}

    def commands(self) -> list[list[str]]:
        """The one that draws the same."""
        algorithm = ALGORITHMS.get(self._choice.collective, {}).get(self.algorithm.value)
        if algorithm is None or not self.results.visible:
            return []
        return [_drawing(self._made(algorithm))]

    def _draw(self) -> None:
        algorithm = ALGORITHMS.get(self._choice.collective, {}).get(self.algorithm.value)
        if algorithm is None:
            return
        try:
            made = self._made(algorithm)
            rounds = steps(made)
            last = max((step for each in rounds for step in each), default=0)
            with self.filling():
                self.step.param.update(end=max(last, 1), value=min(self.step.value, last))
            step = int(self.step.value) or None
            graph = in_theme(graph_svg(made, step))
            rested = last if step is None else step
            held = "" if made.call.collective == "barrier" else in_theme(movement_svg(made, rested))
        except ScheduleError as error:
            text = f"{error}."
            self.tell(text[0].upper() + text[1:])
            return
        with hold(pn.state.curdoc):
            self.tell("")
            self.graph.object, self.held.object = graph, held
            self.counts.object = _counts(made, last)
            self.times.draw(algorithm, lambda size: self._made(algorithm, size))


def in_theme(svg: str) -> str:
    """A drawing in the colours of the page, light or dark: strokes are mixed with its ink, to be read on both."""
    svg = svg.replace("<svg ", f'<svg fill="{_INK}" ', 1)
    svg = svg.replace('fill="white"', f'fill="{_GROUND}"').replace('stroke="black"', f'stroke="{_INK}"')
    return re.sub(r"hsl\(\d+ 80% 38%\)", lambda dark: f"color-mix(in oklab, {dark[0]} 65%, {_INK})", svg)


def _drawing(made: Schedule) -> list[str]:
    """Words of the command that draws a schedule."""
    call = made.call
    words = [call.collective, "--algorithm", made.algorithm.name, "--processes", str(call.processes)]
    options = [word for name, value in made.parameters.items() if value for word in ("--set", f"{name}={value}")]
    root = ["--root", str(call.root)] if call.root else []
    size = [] if call.collective == "barrier" else ["--bytes", str(call.count * call.element_size)]
    size += [] if call.collective == "barrier" else ["--element-size", str(call.element_size)]
    return ["methods", "draw", "-c", *words, *root, *size, *options]


def _counts(made: Schedule, last: int) -> str:
    sent = [sum(row[0] == SEND for row in program.rows.tolist()) for program in made.programs]
    command = " ".join(["colltune", *_drawing(made)])
    total = int(made.messages[:, 2].sum())
    return (
        f"<p>{format_count(len(made.messages), 'message')} of {format_bytes(total)} in all, "
        f"{format_count(last, 'step')}; a rank sends "
        f"{min(sent)} to {max(sent)} of them. {escape(made.algorithm.source)}.<br><code>{escape(command)}</code></p>"
    )
