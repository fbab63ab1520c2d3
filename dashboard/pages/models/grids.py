"""The tab of the page *Models* with measured grids: what each gains over the original, and what is selected of them."""

from html import escape
from typing import Any

import numpy as np
import panel as pn
import xarray as xr
from panel.io import hold

from dashboard.decisions.grown.intervals import intervals, penalties
from dashboard.domain.units import format_bytes, format_count
from dashboard.models import ModelError
from dashboard.models.fitted_runtime import fitted, unfitted_note
from dashboard.models.grids import PHASED, deviation, gains, predict, predicted_cube, summary
from dashboard.models.published import MACHINES, TITLES, machine
from dashboard.pages.models.choice import ModelChoice
from dashboard.pages.models.parts import Part, chart, side_by_side, tables
from dashboard.pages.parts.later import Newest
from dashboard.pages.parts.widgets import DiscreteSlider
from dashboard.plots.models import grids as drawn
from dashboard.schedules.layout import Grid, balanced

DEFAULT = "default"
#: What is predicted of published machines: communicators and message sizes of the publication's figures.
PROCESSES = (8, 16, 24, 32, 48, 64, 96)
SIZES = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
MEASURED = "these results"
#: More bars could not be told apart.
MOST_GRIDS = 32
#: A grid counts as better where it gains so many percent.
_LEAST_GAIN = 2.0


class Grids(Part):
    """Improvement of grids over an interval of message sizes (orthogonal structures, Figures 7 to 16)."""

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.times = self.menu(
            "Times of",
            250,
            "The results, or what the published runtime functions of a machine predict (Tables 1 to 5); they do not "
            "reproduce the small gains of gather on CLiC, nor those of its balanced broadcast.",
        )
        self.processes = self.menu("Processes", 165, "A grid is for communicators of exactly this size.")
        self.inner = self.menu(
            "Inside", 250, "What runs in each phase: the library's own calls, or an own algorithm (--inner)."
        )
        self.original = self.menu(
            "Compared with", 250, "The method without phases to compare with, best the one that runs inside."
        )
        self.dimensions = self.menu("Phases", 110, "Dimensions of the grids that are shown.")
        self.low, self.high = (self._slider(label) for label in ("From", "To"))
        heights = (drawn.BARS_HEIGHT, drawn.AROUND + drawn.ROW_HEIGHT)
        self.bars, self.map = (chart(height) for height in heights)
        self.note = pn.pane.HTML("", margin=(8, 12, 0, 12))
        self.figures, self.classes, self.predicted = tables(3)
        self.bar.objects = [self.times, self.processes, self.inner, self.original, self.dimensions, self.low, self.high]
        flex = {"sizing_mode": "stretch_width", "min_width": 330, "margin": 4, "styles": {"flex": "1 1 420px"}}
        self.results.objects = [
            side_by_side(pn.Column(self.bars, **flex), pn.Column(self.map, **flex), margin=0),
            self.note,
            side_by_side(self.figures, self.predicted, self.classes, align_items="start"),
        ]
        self.redraw = Newest(self._draw)

    def _slider(self, label: str) -> DiscreteSlider:
        slider = DiscreteSlider(
            label=label,
            options=[0],
            value=0,
            width=170,
            description="The interval of message sizes that the bars and the table are of.",
        )
        slider.param.watch(self.again, "value")
        return slider

    def update(self) -> None:
        """Follow the choice."""
        name = self._choice.collective
        published = [each for each in MACHINES if name in MACHINES[each]]
        measured = [MEASURED] if self._has_grids() else []
        self.offer(
            self.times, {MEASURED: MEASURED, **{TITLES[each]: each for each in published}}, *measured, *published
        )
        cube = self._cube()
        if cube is None:
            self.tell(self._how())
            return
        self._offer(cube, cube["grid"].values.astype(str))
        self.redraw.ask()

    def _how(self) -> str:
        name = self._choice.collective
        if name not in PHASED:
            return f"{name} is not made of phases; grids are of {', '.join(PHASED)}."
        return (
            f"No grids of {name} were measured. They are, beside the library's methods, by: "
            f"colltune bench run FOLDER -c {name} --grids all"
        )

    def _has_grids(self) -> bool:
        cube = self._choice.cube()
        return cube is not None and "grid" in cube.coords and bool((cube["grid"].values.astype(str) != "").any())

    def _cube(self) -> xr.Dataset | None:
        """What is shown: measured grids, None without any, or those predicted for a machine."""
        if self.times.value == MEASURED:
            return self._choice.cube() if self._has_grids() else None
        function = machine(self.times.value, self._choice.collective)
        return predicted_cube(function, self._choice.collective, PROCESSES, SIZES)

    def _offer(self, cube: xr.Dataset, named: Any) -> None:
        fit = {Grid.of(name).processes for name in named if name}
        here = [size for size in cube["comm_size"].values.tolist() if size in fit]
        self.offer(self.processes, {format_count(size, "process", "processes"): size for size in here}, *here[::-1])
        grids = named != ""
        inner = list(dict.fromkeys(cube["inner"].values[grids].astype(str))) if "inner" in cube.coords else [""]
        self.offer(self.inner, inner)
        labels = [str(label) for label in cube["method"].values[~grids]]
        self.offer(self.original, labels, DEFAULT)
        phases = sorted({name.count("x") + 1 for name in named if name})
        # Many small groups are where the published functions hold least.
        first = 0 if self.times.value == MEASURED else phases[0]
        self.offer(self.dimensions, {"any": 0, **{str(each): each for each in phases}}, first)
        sizes = {format_bytes(size): size for size in cube["message_size"].values.tolist()}
        with self.filling():
            for slider, end in ((self.low, 0), (self.high, -1)):
                if list(slider.options) != list(sizes):
                    slider.param.update(options=sizes, value=list(sizes.values())[end])

    def own(self) -> dict[str, Any]:
        """Whose times, of which grids, over which sizes."""
        grids = {"processes": self.processes, "inner": self.inner, "original": self.original}
        return {"times": self.times, **grids, "phases": self.dimensions, "from": self.low, "to": self.high}

    def commands(self) -> list[list[str]]:
        """The one that gives the same improvements; of a published machine those at the ends of the interval."""
        if not self.results.visible or not self.original.value:
            return []
        choice, ends = self._choice, sorted((self.low.value, self.high.value))
        if self.times.value == MEASURED:
            beside = ["--original", self.original.value, "--between", f"{ends[0]}-{ends[1]}"]
            return [["orthogonal", "improve", *choice.measured_words(), *beside]]
        what = ["-c", choice.collective, "--processes", str(self.processes.value), "--machine", self.times.value]
        phases = ["--dimensions", str(self.dimensions.value)] if self.dimensions.value else []
        return [["orthogonal", "predict", *what, *phases, "--message-size", str(size)] for size in dict.fromkeys(ends)]

    def _draw(self) -> None:
        cube = self._cube()
        if cube is None or not self.original.value:
            return
        low, high = sorted((self.low.value, self.high.value))
        try:
            rows = summary(cube, self.original.value, (low, high))
            gained = gains(cube, self.original.value)
        except ModelError as error:
            self.tell(str(error))
            return
        rows = [row for row in rows if self._shown(row["comm_size"], row["inner"], len(row["layout"]))]
        if not rows:
            self.tell("No grid of this many processes was measured in this interval with this method inside.")
            return
        self.tell("")
        left = len(rows) - MOST_GRIDS
        if left > 0:
            best = {id(row) for row in sorted(rows, key=lambda row: -float(str(row["average"])))[:MOST_GRIDS]}
            rows = [row for row in rows if id(row) in best]
        self._show(rows, gained, (low, high), left)

    def _shown(self, comm_size: int, inner: str, phases: int) -> bool:
        right = comm_size == self.processes.value and inner == self.inner.value
        return right and self.dimensions.value in (0, phases)

    def _show(self, rows: Any, gained: xr.DataArray, interval: tuple[int, int], left: int) -> None:
        names = ["x".join(map(str, row["layout"])) for row in rows]
        inside = gained["inner"].values.astype(str) == self.inner.value if "inner" in gained.coords else True
        places = [int(np.flatnonzero((gained["grid"].values.astype(str) == name) & inside)[0]) for name in names]
        table = gained.sel(comm_size=self.processes.value).values[places]
        known = np.isfinite(table).any(axis=0)
        table, sizes = table[:, known], gained["message_size"].values[known].tolist()
        within = [place for place, size in enumerate(sizes) if interval[0] <= size <= interval[1]]
        selected = _selected(table)
        title = f"{self._choice.collective}, {format_count(int(self.processes.value), 'process', 'processes')}"
        between = f"{format_bytes(interval[0])} to {format_bytes(interval[1])}"
        with hold(pn.state.curdoc):
            self.bars.object = drawn.gain_bars(rows, f"{title}: {between}")
            self.map.height = drawn.AROUND + drawn.ROW_HEIGHT * len(names)
            ends = (within[0], within[-1])
            self.map.object = drawn.gain_map(table, names, sizes, selected, ends, f"{title}: improvement at each size")
            self.note.object = _said(table, names, selected, int(self.processes.value), left)
            self.figures.object, self.classes.object = drawn.gain_table(rows), drawn.gain_legend(table)
            self.predicted.object = self._predictions(names, sizes[within[-1]])

    def _predictions(self, names: list[str], size: int) -> str:
        """Grids by the runtime function that is fitted to the original, at the largest size of the interval."""
        cube = self._choice.cube()
        if self.times.value != MEASURED or cube is None:
            how = "" if self._has_grids() else f"<p>{escape(self._how())}</p>"
            return f"<p>Predicted by the published runtime functions of {escape(TITLES[self.times.value])}.</p>{how}"
        title = f"By a runtime function of {self.original.value}, {format_bytes(size)}"
        try:
            function = fitted(cube, self.original.value)
            _, predictions = predict(function, self._choice.collective, int(self.processes.value), size)
        except ModelError as error:
            return f"<p>{escape(title)}: {escape(str(error))}</p>"
        rows = []
        beyond: dict[str, str] = {}
        for each in predictions:
            if str(each.grid) in names:
                beyond |= each.unfitted
                beside = deviation(cube, self.original.value, self.inner.value, size, each)
                rows.append((str(each.grid), each.time, beside.measured, beside.total, beside.phases))
        formulas = "; ".join(part.text() for part in function.functions)
        note = unfitted_note(beyond)
        texts = [formulas, note[:1].upper() + note[1:]] if note else [formulas]
        return drawn.prediction_table(title, rows) + "".join(f"<p>{escape(text)}</p>" for text in texts)


def _selected(table: Any) -> list[int]:
    """The grid of each size that is selected without a price of intervals; -1: the original."""
    times = np.concatenate([np.full((1, table.shape[1]), 100.0), 100 - table])
    chosen: list[int] = []
    for last, method in intervals(penalties(times, 0, _LEAST_GAIN), 0.0, first=0):
        chosen += [method - 1] * (last + 1 - len(chosen))
    return chosen


def _said(table: Any, names: list[str], selected: list[int], processes: int, left: int) -> str:
    """The selection against the rule of thumb, in words."""
    times = np.concatenate([np.full((1, table.shape[1]), 100.0), 100 - table])
    best = np.fmin.reduce(times)
    ways = {"selected": np.array(selected) + 1}
    if (layout := str(balanced(processes))) in names:
        ways[f"always {layout}"] = np.full(len(selected), names.index(layout) + 1)
    ways["original"] = np.zeros(len(selected), dtype=int)
    costs = {title: 100 * (times[method, np.arange(len(selected))] / best - 1) for title, method in ways.items()}
    words = ", ".join(f"{title} {np.nanmean(cost):.1f} %" for title, cost in costs.items())
    text = f"Mean penalty against the best of the original and these grids at each size: {words}. "
    text += (
        "Balanced grids are usually good (Kühnemann, Rauber, Rünger, section 3.7); a grid is selected where it gains "
    )
    text += "2 % or more. "
    if left > 0:
        text += f"{format_count(left, 'grid')} of less average improvement are not shown. "
    return f"<p>{text}</p>"
