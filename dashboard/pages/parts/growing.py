"""Trees that take their time: grown beside the session, with progress and cancel; the newest request wins."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import panel as pn
from panel.io import hold
from panel.viewable import Viewer

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.grown.family import Cancelled, Progress
from dashboard.domain.units import format_duration
from dashboard.pages.parts.later import give_way, hand_over, live_session
from dashboard.pages.parts.views import Section
from dashboard.pages.parts.widgets import Button, LinearProgress
from dashboard.session.choice import Choice
from dashboard.session.state import DATA, TREE, State

_WORKERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="growing")
#: Seconds between two words on how far it is, and before the first of them.
TELL_SECONDS = 0.2
#: Seconds that work takes at most before it lets the session's own thread go first, where it tells so often.
WAY_SECONDS = 0.05
#: Seconds of work from which on it is said how long it takes still.
GUESS_SECONDS = 3.0
#: Seconds without another request before work starts.
REST_SECONDS = 0.12

_WORKING_OUT = "Preparing the measurements"

Work = Callable[[Progress], Any]


@dataclass
class _Task:
    title: str
    done: Callable[[Any], None]
    dropped: Callable[[str], None] | None = None
    looked_at: Callable[[], bool] | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    reported: float = field(default_factory=time.monotonic)
    gave_way: float = field(default_factory=time.monotonic)
    begun: float = field(default_factory=time.monotonic)
    share: float = 0.0
    since: float = 0.0


class Background(Viewer):
    """One line that shows what is under way, and does one thing at a time.

    Parameters
    ----------
    again
        Called when the user wants to have cancelled work done after all.
    """

    def __init__(self, again: Callable[[], None]) -> None:
        super().__init__()
        self._task: _Task | None = None
        self._session: Any = None
        self.bar = LinearProgress(value=0, sizing_mode="stretch_width", margin=(14, 10), visible=False)
        self.text = pn.pane.HTML("", margin=(6, 10), sizing_mode="stretch_width")
        self.cancel = Button(label="Cancel", variant="outlined", size="small", on_click=self._cancel, visible=False)
        self.again = Button(
            label="Try again", variant="outlined", size="small", on_click=lambda _: again(), visible=False
        )
        said = pn.Column(self.text, self.bar, sizing_mode="stretch_width", margin=0)
        self.line = pn.Row(said, self.cancel, self.again, sizing_mode="stretch_width", visible=False)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.line

    @property
    def running(self) -> bool:
        """Whether something is under way."""
        return self._task is not None

    def start(
        self,
        title: str,
        work: Work,
        done: Callable[[Any], None],
        dropped: Callable[[str], None] | None = None,
        looked_at: Callable[[], bool] | None = None,
    ) -> None:
        """Do this now, rather than what is under way; outside a session before returning.

        Parameters
        ----------
        title
            What it is, for people.
        work
            Called with the function that takes its progress, on another thread.
        done
            Called with what it gave, on the session's own.
        dropped
            Called there where it gave nothing, with what refused it; empty: the user has cancelled it, or it failed.
        looked_at
            Whether anybody looks at what comes of it: the work stands still while nobody does. Called on its thread.
        """
        self.stop()
        self._session = live_session()
        self._task = task = _Task(title, done, dropped, looked_at)
        if self._session is None:
            future: Future[Any] = Future()
            _run(future, work, lambda *_: None)
            self._finish(task, future)
            return
        if pn.state.loaded:
            self._session.add_timeout_callback(partial(self._begin, task, work), int(REST_SECONDS * 1000))
        else:
            # What changes while the browser is still building the page may be lost on it.
            pn.state.onload(partial(self._begin, task, work))

    def meanwhile(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """What work may call with what there is so far: `take` is called with it on the session's own thread."""

        def give(value: Any) -> None:
            if self._session is None:
                take(value)
            else:
                hand_over(self._session, partial(take, value))

        return give

    def stop(self) -> None:
        """Drop what is under way, and say no more of it."""
        if self._task is None and not self.line.visible:
            return
        if self._task is not None:
            self._task.cancelled.set()
        self._task = None
        self._tell("", running=False)

    def say(self, text: str) -> None:
        """Say what went wrong instead of what was said before."""
        self.stop()
        self._tell(text, running=False, wrong=True)

    def _begin(self, task: _Task, work: Work) -> None:
        if task.cancelled.is_set():
            return
        tell = partial(self._progress, task)
        # The words come when it has taken long enough for somebody to wonder.
        self._session.add_timeout_callback(partial(self._show, task, 0.0, ""), int(TELL_SECONDS * 1000))
        future: Future[Any] = Future()
        if task.looked_at is None:
            _WORKERS.submit(_run, future, work, tell)
        else:
            # What may stand still holds up nobody else's work.
            threading.Thread(target=_run, args=(future, work, tell), daemon=True).start()
        future.add_done_callback(partial(self._done, task))

    def _progress(self, task: _Task, share: float, text: str) -> None:
        # Called on the worker's thread.
        came = time.monotonic()
        while not (gone := task.cancelled.is_set() or self._session.session_context is None):
            if task.looked_at is None or task.looked_at():
                break
            task.cancelled.wait(TELL_SECONDS)
        if gone:
            raise Cancelled
        now = time.monotonic()
        # What stands still makes no way: how long it takes still goes by the time at work.
        task.begun += now - came
        if share < task.share:
            # Another part of the work has begun, of a pace of its own.
            task.begun, task.since = now, share
        task.share = share
        if now - task.gave_way >= WAY_SECONDS:
            give_way(self._session)
            task.gave_way = now = time.monotonic()
        if now - task.reported >= TELL_SECONDS:
            task.reported = now
            hand_over(self._session, partial(self._show, task, share, text))

    def _done(self, task: _Task, future: Future[Any]) -> None:
        if not task.cancelled.is_set():
            hand_over(self._session, partial(self._finish, task, future))

    def _show(self, task: _Task, share: float, text: str) -> None:
        if task is not self._task:
            return
        self._tell(f"{task.title} … {text}{_remaining(time.monotonic() - task.begun, share, task.since)}", running=True)
        self.bar.value = int(100 * min(max(share, 0.0), 1.0))

    def _finish(self, task: _Task, future: Future[Any]) -> None:
        if task is not self._task:
            return
        self._task = None
        error = future.exception()
        if error is None:
            # The bar goes when what it told of comes.
            with hold(pn.state.curdoc):
                self._tell("", running=False)
                task.done(future.result())
            return
        if task.dropped is not None:
            task.dropped(str(error) if isinstance(error, DecisionError) else "")
        if isinstance(error, DecisionError):
            self._tell(f"{task.title}: {error}", running=False, wrong=True)
        elif not isinstance(error, Cancelled):
            self._tell(f"{task.title}: failed ({type(error).__name__}: {error})", running=False, wrong=True)
            raise error

    def _cancel(self, *_: Any) -> None:
        if self._task is not None:
            title, dropped = self._task.title, self._task.dropped
            self.stop()
            self._tell(f"{title}: cancelled.", running=False)
            self.again.visible = True
            if dropped is not None:
                dropped("")

    def _tell(self, text: str, *, running: bool, wrong: bool = False) -> None:
        escaped = escape(text)
        self.text.object = f'<span style="color: #e53935" role="alert">{escaped}</span>' if wrong else escaped
        self.bar.visible = self.cancel.visible = running
        self.again.visible = False
        self.line.visible = bool(text)


def _remaining(seconds: float, share: float, since: float = 0.0) -> str:
    """How long work is likely to take still; empty while that is a guess.

    Parameters
    ----------
    seconds, since
        It took so many seconds from the share `since` on.
    share
        What is done of it.
    """
    if seconds < GUESS_SECONDS or not since < share < 1:
        return ""
    left = seconds * (1 - share) / (share - since)
    return f", about {format_duration(left)} left" if left >= 1 else ""


def _run(future: Future[Any], work: Work, tell: Progress) -> None:
    try:
        future.set_result(work(tell))
    except BaseException as error:  # noqa: BLE001 - handed on as it is
        future.set_exception(error)


class Growing(Section):
    """Grows the tree that a state asks for, where that takes longer.

    Parameters
    ----------
    state
        Choices. In a session it no longer waits for trees, but shows the last one until the new one is there.
    """

    def __init__(self, state: State) -> None:
        super().__init__(state)
        #: Choices that wait for what follows from them.
        self._asked: dict[str, Any] = {}
        self.background = Background(again=self.ask)
        state.deferred = state.deferred or live_session() is not None
        if live_session() is not None:
            state.ahead = self.work_out
        state.param.watch(self.ask, [*DATA, *TREE])
        self.ask()

    def __panel__(self) -> pn.viewable.Viewable:
        return self.background

    def ask(self, *_: Any) -> None:
        """Grow the tree that is asked for now."""
        state = self._state
        if self._asked:
            # The measurements come first; the tree is asked for once they are as chosen.
            return
        if live_session() is not None and not pn.state.loaded and not state.view.ready(state.choice()):
            # Rather no tree at first than another than the address asks for.
            state.shown = None
        grow(self._state, self._state.choice(), self.background, lambda: None)

    def work_out(self, choices: dict[str, Any]) -> None:
        """Make choices once what every view needs for them is worked out, where that may take long."""
        state, waiting = self._state, self._asked
        asked = {name: value for name, value in {**waiting, **choices}.items() if getattr(state, name) != value}
        if not asked and not waiting:
            return
        prepared = state.imagined(**asked).prepared
        if asked and prepared is not None and prepared.slow:
            self._asked = asked
            take = partial(self._choose, asked, state.results_id)
            self.background.start(_WORKING_OUT, prepared.work_out, take, partial(self._keep, asked))
        else:
            self._choose(asked, state.results_id, None)

    def _choose(self, asked: dict[str, Any], results_id: str, _: Any) -> None:
        self._asked = {}
        if results_id == self._state.results_id:
            self._state.param.update(**asked)
        self.ask()

    def _keep(self, asked: dict[str, Any], why: str) -> None:
        # The widgets go back to what is still so.
        self._asked = {}
        self._state.param.trigger(*asked)
        self.ask()
        if self.background.running:
            # What is said of the tree that is grown now takes the place of why.
            self._state.notice = " ".join(filter(None, [self._state.notice, why]))


def grow(state: State, choice: Choice, background: Background, ready: Callable[[], None]) -> None:
    """Have a tree grown for a state, unless it is there; call `ready` when it has come later."""
    if state.view.cube() is None or state.view.ready(choice):
        background.stop()
        if why := state.view.refused(choice):
            background.say(f"{choice.title}: {why}")
        return
    key = state.view.data_key

    def take(decision: DecisionFunction) -> None:
        state.settle(choice, decision, key)
        ready()

    try:
        background.start(choice.title, state.view.job(choice), take)
    except DecisionError as error:
        background.say(f"{choice.title}: {error}")
