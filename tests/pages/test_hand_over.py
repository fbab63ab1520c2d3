"""What other threads hand to a session: done on its own thread, and never seen by another session."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import panel as pn
import pytest
from bokeh.application import Application
from bokeh.server.contexts import ApplicationContext
from panel.io.document import MockSessionContext
from tornado.ioloop import IOLoop

from dashboard.pages.measure.rhythm import Rhythm
from dashboard.pages.parts import growing as _growing
from dashboard.pages.parts import later
from dashboard.pages.parts.growing import Background
from dashboard.pages.parts.later import Rested, give_way, hand_over
from dashboard.server.patches import own_thread

PATIENCE_S = 30


@asynccontextmanager
async def two_sessions() -> AsyncIterator[tuple[Any, Any]]:
    """Documents of two sessions of one server, which runs on this thread."""
    own_thread.install()
    context = ApplicationContext(Application(), io_loop=IOLoop.current())
    request = SimpleNamespace(arguments={}, cookies={}, headers={})
    sessions = [await context.create_session_if_needed(name, request) for name in ("one", "other")]
    try:
        yield tuple(session.document for session in sessions)
    finally:
        for session in sessions:
            session.destroy()


async def in_session(document: Any, work: Callable[[], Any]) -> None:
    """Do something in a session, as its events do; raise what it raises."""
    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001 - handed on as it is
            done.set_exception(error)

    document.add_next_tick_callback(run)
    await asyncio.wait_for(done, PATIENCE_S)


def test_while_one_session_is_given_something_the_other_stays_the_current_one() -> None:
    asyncio.run(_give_one_while_the_other_is_busy())


async def _give_one_while_the_other_is_busy() -> None:
    async with two_sessions() as (first, second):
        own, came = threading.current_thread(), asyncio.Event()
        reached, looked = threading.Event(), threading.Event()
        during: list[Any] = []
        after: list[Any] = []

        def draw(document: Any) -> None:
            # With the wrong document Panel takes the other session's style sheets: "… is already in a doc".
            document.add_root(pn.pane.HTML("drawn").get_root(document))

        def changed(_: Any) -> None:
            # Bokeh calls this while the document is the current one; it stays so until somebody has looked.
            if threading.current_thread() is not own:
                reached.set()
                looked.wait(PATIENCE_S)

        def work() -> None:
            after.append((pn.state.curdoc, threading.current_thread()))
            came.set()

        def beside() -> None:
            hand_over(first, work)
            reached.set()

        def busy() -> None:
            thread = threading.Thread(target=beside)
            thread.start()
            assert reached.wait(PATIENCE_S)
            during.append(pn.state.curdoc)
            try:
                draw(second)
            finally:
                looked.set()
                thread.join(PATIENCE_S)

        await in_session(first, lambda: draw(first))
        first.on_change(changed)
        await in_session(second, busy)
        await asyncio.wait_for(came.wait(), PATIENCE_S)
        assert during == [second]
        assert after == [(first, own)]


def _longer() -> Callable[..., None]:
    # Ends only when the session's thread has gone on: what it gives comes from the other thread.
    loop = asyncio.get_running_loop()

    def work(*_: Any) -> None:
        gone_on = threading.Event()
        loop.call_soon_threadsafe(gone_on.set)
        assert gone_on.wait(PATIENCE_S)

    return work


def _rested(done: Callable[[Any], None]) -> None:
    Rested(done, 0.0, _longer()).ask()


def _background(done: Callable[[Any], None]) -> None:
    longer = _longer()

    def work(tell: Callable[[float, str], None]) -> None:
        tell(0.5, "half way")
        longer()

    Background(again=lambda: None).start("Work", work, done)


def _rhythm(done: Callable[[Any], None]) -> None:
    rhythm = Rhythm(lambda: None, _longer(), lambda _, seen: (rhythm.stop(), done(seen)), 60, done)
    rhythm.start()


@pytest.mark.parametrize("begin", [_rested, _background, _rhythm])
def test_work_beside_a_session_touches_its_document_on_its_own_thread_only(
    begin: Callable[[Callable[[Any], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(pn.state), "loaded", property(lambda _: True))
    monkeypatch.setattr(_growing, "TELL_SECONDS", 0.0)
    asyncio.run(_watch_threads(begin))


async def _watch_threads(begin: Callable[[Callable[[Any], None]], None]) -> None:
    async with two_sessions() as (first, _):
        came, touched, add = asyncio.Event(), set(), first.add_next_tick_callback

        def watched(work: Callable[[], None]) -> Any:
            touched.add(threading.current_thread())
            return add(work)

        first.add_next_tick_callback = watched
        await in_session(first, lambda: begin(lambda _: came.set()))
        await asyncio.wait_for(came.wait(), PATIENCE_S)
        assert touched == {threading.current_thread()}


def test_what_comes_for_a_session_that_has_ended_is_dropped() -> None:
    asyncio.run(_give_one_that_ends())


async def _give_one_that_ends() -> None:
    async with two_sessions() as (first, second):
        given: list[Any] = []
        thread = threading.Thread(target=hand_over, args=(first, lambda: given.append("done")))
        thread.start()
        thread.join(PATIENCE_S)
        first._session_context = None
        await in_session(second, lambda: None)
        hand_over(first, lambda: given.append("done"))
        await in_session(second, lambda: None)
        assert given == []


def test_without_a_server_it_goes_straight_to_the_document() -> None:
    given: list[str] = []
    document = SimpleNamespace(
        session_context=MockSessionContext(document=None), add_next_tick_callback=lambda work: work()
    )
    hand_over(document, lambda: given.append("done"))
    assert given == ["done"]


def test_work_that_computes_lets_what_was_asked_before_go_first() -> None:
    assert asyncio.run(_compute_beside_a_busy_session()) == ["asked", "asked", "computed"]


async def _compute_beside_a_busy_session() -> list[str]:
    async with two_sessions() as (document, _):
        done: list[str] = []
        gone_on = asyncio.Event()
        loop = asyncio.get_running_loop()

        def compute() -> None:
            give_way(document)
            done.append("computed")
            loop.call_soon_threadsafe(gone_on.set)

        for _ in range(2):
            IOLoop.current().add_callback(done.append, "asked")
        # It is under way before this thread comes to what was asked of it.
        thread = threading.Thread(target=compute)
        thread.start()
        await asyncio.wait_for(gone_on.wait(), PATIENCE_S)
        return done


def test_where_nothing_is_served_no_work_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later, "MOST_WAY_SECONDS", None)
    give_way(SimpleNamespace(session_context=None))
    give_way(SimpleNamespace(session_context=MockSessionContext(document=None)))
