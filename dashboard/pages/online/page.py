"""Page *Online*: what online tuning has learnt, iteration by iteration; of a folder, live, or of a simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import panel as pn

from dashboard.benchmarks.campaigns.confined import own_path
from dashboard.measuring.kept import campaigns_root, folder_of
from dashboard.online import scenario as scenarios
from dashboard.online.course import Course, Kept, simulated, stamp
from dashboard.online.errors import OnlineError
from dashboard.online.settings import OPTIONS, Learning
from dashboard.online.state import Folder
from dashboard.pages.measure.rhythm import Rhythm
from dashboard.pages.online.charts import Charts
from dashboard.pages.online.view import (
    FOLDER,
    MOST_ITERATIONS,
    SCENARIO,
    Pictured,
    Shown,
    read_view,
    recipes,
    write_view,
)
from dashboard.pages.parts.columns import columns
from dashboard.pages.parts.fold import Fold
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.later import Rested
from dashboard.pages.parts.options import OptionFields
from dashboard.pages.parts.views import Page, once_loaded
from dashboard.pages.parts.widgets import IntInput, Message, MultiChoice, Select, clamped
from dashboard.session.registry import Bounded, origin_of
from dashboard.session.state import ResultsOrState
from loaders import LoadError

PAGE = "Online"
#: Seconds between two looks at the folders, and without a change before anything is learnt anew.
EVERY, REST = 1.0, 0.3
WIDTH = 320
_FIRST = ("floor", "cap", "min_samples", "learner", "bins", "blacklist")
#: What is read of a folder, in which others may have put links.
_FILES = ("loop.json", "online.parquet", "progress.jsonl", "evaluations.jsonl", "evaluations")
_NEEDS_RESULTS = "replay"
_NOTHING = "Nothing has been learnt here yet, since no runs were read: use 'colltune online loop' or 'train'."


_COURSES: Bounded[Course] = Bounded(32, 256 << 20)


@dataclass(frozen=True)
class _Failed:
    """Why there is nothing to show."""

    why: str


class OnlinePage(Page):
    """Settings of the learning on the left, what they give on the right.

    Parameters
    ----------
    shown
        Results, or a state that other views follow too: ``online`` says what is on show. A scenario that replays
        measurements takes the results.
    """

    def __init__(self, shown: ResultsOrState) -> None:
        super().__init__(shown)
        state = self.state
        self.root = campaigns_root()
        self.shown = Shown()
        self._kept: tuple[Any, Kept] | None = None
        self._seen: tuple[Any, ...] = ()
        self._written = ""
        self._coming: Course | None = None
        self._under_way: Any = None
        self._folder: Folder | None = None
        half: dict[str, Any] = {"width": WIDTH // 2 - 10, "size": "small"}
        self.source = Select(
            label="Shown",
            options=[],
            width=WIDTH,
            description="A folder of 'colltune online' below the folder of the campaigns, live while a loop runs in "
            "it; or a simulation, whose true times are known.",
        )
        self.about = pn.pane.HTML("", width=WIDTH - 20, margin=(0, 10, 10, 10))
        self.seed = IntInput(label="Seed", value=1, start=0, end=(1 << 31) - 1, **half)
        self.iterations = IntInput(label="Iterations", value=8, start=1, end=MOST_ITERATIONS, **half)
        self.fields = OptionFields(OPTIONS, self._changed, WIDTH)
        self.blocked = MultiChoice(
            label="Never choose",
            options=[],
            width=WIDTH,
            description="Methods that are taken away, as 'colltune online init --block' does.",
        )
        self.numbers = pn.Row(self.seed, self.iterations, margin=0)
        self.message = Message()
        self.background = Background(again=self.compute)
        self.charts = Charts(state, self._picture)
        self.background.bar.param.watch(lambda event: self.charts.expect(coming=event.new), "visible")
        self.rested = Rested(lambda _: self.compute(), REST)
        self.rhythm = Rhythm(lambda: self.shown, self._look, self._follow_folder, EVERY, self._failed)
        for field in (self.seed, self.iterations, self.blocked):
            field.param.watch(lambda _: self._changed(), "value")
        self.choosing(self.source, self._set_source)
        state.param.watch(self._follow, "page")
        state.param.watch(self._follow_address, "online")
        once_loaded(self._open)

    def __panel__(self) -> pn.viewable.Viewable:
        fields = self.fields.widgets
        more = [widget for name, widget in fields.items() if name not in _FIRST]
        title = pn.pane.Markdown("### Learning from what programs call", margin=(5, 10))
        left = [title, self.source, self.about, self.numbers, *(fields[name] for name in _FIRST), self.blocked]
        return columns([*left, Fold("More settings", *more)], [self.message, self.background, self.charts], WIDTH + 24)

    # What is on show.

    def _open(self) -> None:
        self._offer(folders(self.root))
        self._read()
        self._follow()

    def _offer(self, names: list[str]) -> None:
        """Offer the folders there are, and the scenarios."""
        options = {f"Folder {name}": (FOLDER, name) for name in names}
        options |= {f"Simulation: {name}": (SCENARIO, name) for name in scenarios.names()}
        if options != self.source.options:
            with self.filling():
                self.source.param.update(options=options, value=self._fitting(options))

    def _fitting(self, options: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
        wanted = (self.shown.kind, self.shown.name)
        first = next(iter(options.values()))
        return wanted if wanted in options.values() else first if first[0] == FOLDER else (SCENARIO, "reference")

    def _read(self) -> None:
        """Take the view that the address tells, or the first one there is."""
        self._written = self.state.online
        self.shown, notice = read_view(self._written)
        kind, name = self._fitting(self.source.options)
        if self.shown.name and (self.shown.kind, self.shown.name) != (kind, name):
            notice = f"There is no {self.shown.kind} {self.shown.name} here; {name} is shown. {notice}".strip()
        self.shown = replace(self.shown, kind=kind, name=name)
        if notice:
            self.state.notice = " ".join(filter(None, [self.state.notice, notice]))
            # No link is to hold what cannot be used.
            self._write()
        self._fill()

    def _fill(self) -> None:
        """Have the widgets show what is on show."""
        self._folder = self._opened()
        shown, base = self.shown, self._base()
        with_folder = shown.kind == FOLDER
        labels: list[str] = []
        if with_folder and (kept := self._folder) is not None:
            table = kept.table.methods
            labels = [f"{collective}:{method.label}" for collective, listed in table.items() for method in listed]
            labels = list(dict.fromkeys([*labels, *self._blocked()]))
        with self.filling():
            self.source.value = (shown.kind, shown.name)
            self.seed.value, self.iterations.value = shown.seed, shown.iterations
            self.fields.show({**base.to_dict(), **shown.learning})
            blocked = self._blocked() if shown.blocked is None else list(shown.blocked)
            self.blocked.param.update(options=labels, value=blocked, visible=with_folder)
            self.numbers.visible = not with_folder
            about = "" if with_folder else scenarios.file_data(shown.name).get("about", "")
            self.about.object = f"<small>{about}</small>" if about else ""

    def _blocked(self) -> list[str]:
        """What the folder on show never chooses by itself."""
        return [] if self._folder is None else [f"{each.collective}:{each.method}" for each in self._folder.blocked]

    def _opened(self) -> Folder | None:
        """The folder on show; None: there is none, or it is damaged."""
        try:
            return Folder.open(folder_of(self.root, self.shown.name)) if self.shown.kind == FOLDER else None
        except ValueError:
            return None

    def _base(self) -> Learning:
        """Settings that the scenario or the folder has by itself."""
        if self.shown.kind == FOLDER:
            folder = self._folder
            return Learning() if folder is None else folder.learning
        try:
            return Learning.of(scenarios.file_data(self.shown.name).get("learning", {}))
        except ValueError:
            return Learning()

    def _set_source(self, source: tuple[str, str] | None) -> None:
        if source is not None:
            kind, name = source
            self.shown = replace(Shown(), kind=kind, name=name)
            self._fill()
            self._take()

    def _changed(self) -> None:
        if self._filling:
            return
        base = self._base().to_dict()
        chosen = {name: value for name, value in self.fields.values().items() if value != base[name]}
        blocked = list(self.blocked.value)
        self.shown = replace(
            self.shown,
            seed=clamped(self.seed),
            iterations=clamped(self.iterations),
            learning=chosen,
            blocked=None if self._folder is None or blocked == self._blocked() else tuple(blocked),
        )
        self._take()

    def _take(self) -> None:
        self._write()
        self.rested.ask()

    def _picture(self, pictured: Pictured) -> None:
        self.shown = replace(self.shown, pictured=pictured)
        self._write()

    def _write(self) -> None:
        self._written = write_view(self.shown)
        self.state.online = self._written

    def _follow_address(self, *_: Any) -> None:
        if self.state.online != self._written:
            self._read()
            self.rested.ask()

    # What it gives.

    def compute(self) -> None:
        """Learn, or simulate, what is asked for now, unless it is there."""
        if not self.state.on_show(PAGE):
            return
        shown = self.shown
        self._say_recipe(shown)
        key = self._key(shown)
        if (known := _COURSES.get(key)) is not None:
            self.background.stop()
            self._show(known)
            return
        if self.background.running and (key == self._under_way or self._same_folder(key)):
            return
        self._under_way = key
        title = "Simulating" if shown.kind == SCENARIO else "Learning"
        # It stands still while another page is on show, and goes on when this one is again.
        looked_at = partial(self.state.on_show, PAGE)
        work, done = partial(self._work, shown, key), partial(self._done, shown, key)
        self.background.start(title, work, done, looked_at=looked_at)

    def _key(self, shown: Shown) -> tuple[Any, ...]:
        if shown.kind == FOLDER:
            path = folder_of(self.root, shown.name)
            return (*shown.key, str(path), stamp(path))
        return (*shown.key, self.state.results_id if shown.name == _NEEDS_RESULTS else "")

    def _same_folder(self, key: tuple[Any, ...]) -> bool:
        """Whether this is under way by what a folder held before: that is shown first, or a loop at work never was."""
        return key[0] == FOLDER and self._under_way is not None and key[:-1] == self._under_way[:-1]

    def _work(self, shown: Shown, key: Any, tell: Any) -> Course | _Failed:
        # On another thread: touches no widget.
        try:
            if shown.kind == FOLDER:
                kept = self._keep(shown, key[-1])
                base = kept.folder.learning.to_dict()
                blocked = kept.folder.blocked if shown.blocked is None else shown.blocks()
                return kept.course(Learning.of({**base, **shown.learning}), blocked, tell)
            scenario = scenarios.read(shown.name, self._cubes())
            learning = Learning.of({**scenario.learning.to_dict(), **shown.learning})
            made = replace(scenario, learning=learning)
            return simulated(made, shown.seed, shown.iterations, tell, partial(setattr, self, "_coming"))
        except (OnlineError, LoadError, ValueError) as error:
            return _Failed(str(error).replace(f"{self.root}/", ""))

    def _keep(self, shown: Shown, now: Any) -> Kept:
        """What the folder has kept, read again where it has changed."""
        if self._kept is None or self._kept[0] != (shown.name, now):
            path = folder_of(self.root, shown.name)
            for name in _FILES:
                own_path(path, name)
            before = self._kept[1] if self._kept is not None and self._kept[0][0] == shown.name else None
            self._kept = (shown.name, now), Kept.of(Folder.open(path), before)
        return self._kept[1]

    def _cubes(self) -> dict[str, Any] | None:
        results = self.state.results
        if results is None:
            return None
        return {name: node.to_dataset() for name, node in results.children.items() if "message_size" in node.dims}

    def _done(self, shown: Shown, key: Any, made: Course | _Failed) -> None:
        self._coming = None
        if isinstance(made, _Failed):
            self.charts.hide()
            self.message.say(made.why, "warning")
            return
        _COURSES.put(key, made)
        if shown.key == self.shown.key:
            self._show(made)
            if self._key(self.shown) != key:
                # The folder has changed meanwhile.
                self.compute()

    def _show(self, course: Course) -> None:
        self.message.say("" if course.models else _NOTHING, "info")
        self.charts.show(course, self.shown.kind, self.shown.pictured)

    def _say_recipe(self, shown: Shown) -> None:
        lines = recipes(shown, self.root, origin_of(self.state.results_id) if shown.name == _NEEDS_RESULTS else None)
        if self.state.recipes.get(PAGE) != lines:
            self.state.recipes = {**self.state.recipes, PAGE: lines}

    # What changes by itself.

    def _follow(self, *_: Any) -> None:
        """Look for as long as this page is the one on show."""
        if self.state.on_show(PAGE):
            if self.shown.kind == FOLDER and not self.state.online:
                # Which folder comes first is another one as soon as a loop begins.
                self.state.online = self._written = write_view(self.shown)
            self.compute()
            self.rhythm.start()
        else:
            self.rhythm.stop()

    def _look(self, shown: Shown) -> tuple[list[str], tuple[Any, ...]]:
        names = folders(self.root)
        return names, stamp(self.root / shown.name) if shown.kind == FOLDER and shown.name in names else ()

    def _follow_folder(self, shown: Shown, seen: tuple[list[str], tuple[Any, ...]]) -> None:
        names, now = seen
        self._offer(names)
        coming, self._coming = self._coming, None
        if coming is not None and self.background.running and shown == self.shown:
            self.charts.show(coming, shown.kind, shown.pictured)
        if shown == self.shown and now != self._seen:
            # A loop has trained or judged: what it has now is learnt anew.
            anew, self._seen = bool(self._seen) or bool(now), now
            if anew:
                self.compute()

    def _failed(self, error: Exception) -> None:
        self.message.say(f"Reading the folders failed ({type(error).__name__}: {error}).", "warning")


def folders(root: Any) -> list[str]:
    """Names of the folders of online tuning below a root, the newest first."""
    there = root.iterdir() if root.is_dir() else ()
    loops = [each for each in there if (each / "loop.json").exists() and not each.is_symlink()]
    return [each.name for each in sorted(loops, key=lambda each: (-(each / "loop.json").stat().st_mtime, each.name))]
