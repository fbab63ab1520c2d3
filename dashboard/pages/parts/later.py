"""Work that follows events: never more often than it can be done, and always for the newest state."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import panel as pn

#: Seconds by which what moves beside the first map or chart follows it: that one is on the screen sooner.
LAG = 0.03
#: Seconds after which work that gives way goes on all the same: a server that has ended answers nobody.
MOST_WAY_SECONDS = 2.0
_WORKERS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="decisions-page")


def live_session() -> Any:
    """Document of the session that an event is handled for; None in a notebook, a script or a test."""
    document = pn.state.curdoc
    return document if document is not None and document.session_context is not None else None


def hand_over(session: Any, work: Callable[[], None]) -> None:
    """Have work done on a session's own thread, from another one; work for a session that has ended is dropped.

    Whoever adds a callback to a document makes it, for that moment, the current one of the whole process, for all
    threads. Were that done here, what the server's thread does just then would go to the wrong session: its timers,
    and the style sheets that Panel keeps for each document ("… is already in a doc").

    Parameters
    ----------
    work
        Called with the document locked.
    """
    if session.session_context is None:
        return

    def enter() -> None:
        if session.session_context is not None:
            session.add_next_tick_callback(work)

    if (loop := _loop(session)) is not None:
        loop.add_callback(enter)
    else:
        enter()


def give_way(session: Any) -> None:
    """Let a session's server do first what was asked of it before now; from another thread, which computes.

    Python does one thing at a time: without this, work that takes seconds takes its half of each of them, and a page
    that is asked for meanwhile comes twice as late.
    """
    if (loop := _loop(session)) is not None:
        done = threading.Event()
        loop.add_callback(done.set)
        done.wait(MOST_WAY_SECONDS)


def _loop(session: Any) -> Any:
    """Where a session is served; None: nowhere."""
    context = session.session_context
    served = context is not None and context.server_context and context.server_context.application_context
    return served.io_loop if served else None


class Newest:
    """Does work at once, or after a lag, unless it was done just now: then a little later, for the newest state.

    A slider sends more positions than can be drawn. Between two drawings the loop is left free to
    take in what has come meanwhile, so positions that are out of date are never drawn.

    Parameters
    ----------
    work
        Reads the state by itself.
    gap
        Least seconds between the end of one piece of work and the start of the next.
    lag
        Least seconds between being asked and the work, for what is to follow after something else.
    """

    def __init__(self, work: Callable[[], None], gap: float = 0.015, lag: float = 0.0) -> None:
        self._work, self._gap, self._lag = work, gap, lag
        self._free_at = 0.0
        self._waiting = False

    def ask(self, *_: Any) -> None:
        """Have the work done for the state as it is now, or is by then."""
        if self._waiting:
            return
        session, early = live_session(), max(self._free_at - time.monotonic(), self._lag)
        if session is None or early <= 0:
            self._do()
        else:
            self._waiting = True
            session.add_timeout_callback(self._do, max(int(early * 1000), 1))

    def _do(self) -> None:
        self._waiting = False
        try:
            self._work()
        finally:
            self._free_at = time.monotonic() + self._gap


class Rested:
    """Does work once nothing has asked for it for a while; outside a session at once.

    Parameters
    ----------
    show
        Shows what `prepare` gave (None without it), on the session's own thread.
    rest
        Seconds without being asked.
    prepare
        What takes long and touches nothing that is on the page; runs beside the session. What it
        gives is dropped if the work was asked for again meanwhile.
    """

    def __init__(self, show: Callable[[Any], None], rest: float, prepare: Callable[[], Any] | None = None) -> None:
        self._show, self._rest, self._prepare = show, rest, prepare
        self._session: Any = None
        self._pending: Any = None
        self._asked = 0

    def ask(self, *_: Any) -> None:
        """Have the work done when things have come to rest."""
        session = live_session()
        self._asked += 1
        if session is None:
            self._show(None if self._prepare is None else self._prepare())
            return
        if self._pending is not None:
            self._session.remove_timeout_callback(self._pending)
        self._session = session
        self._pending = session.add_timeout_callback(self._start, int(self._rest * 1000))

    def _start(self) -> None:
        self._pending = None
        if self._prepare is None:
            self._show(None)
        else:
            _WORKERS.submit(self._prepare).add_done_callback(partial(self._prepared, self._session, self._asked))

    def _prepared(self, session: Any, asked: int, done: Future[Any]) -> None:
        # Called on the worker's thread.
        if asked == self._asked:
            hand_over(session, partial(self._finish, asked, done))

    def _finish(self, asked: int, done: Future[Any]) -> None:
        if asked == self._asked:
            self._show(done.result())
