"""The page *Measure* served from a thread of the test's process, so that the test can play what surrounds it."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import panel as pn
from panel.io.server import get_server
from playwright.sync_api import Locator, expect

from dashboard.pages.measure.page import MeasurePage
from dashboard.pages.parts.widgets import Page
from dashboard.server.patches import install
from dashboard.session.state import State

WITHIN_S = 2.0
_PATIENCE_S, _BUSY = 60.0, 5.0


@dataclass
class ServedPage:
    """A page and its sessions."""

    #: Its address.
    url: str
    #: Of each session that was opened, with its document.
    pages: list[tuple[MeasurePage, Any]] = field(default_factory=list)

    def change(self, work: Callable[[MeasurePage], Any]) -> None:
        """Do something to the page of the newest session, on its own thread."""
        page, document = self.pages[-1]
        done = threading.Event()
        document.add_next_tick_callback(lambda: (work(page), done.set()))
        assert done.wait(_PATIENCE_S)


@contextmanager
def serve_measure(fields: dict[str, Any]) -> Iterator[ServedPage]:
    """Serve it with these values in the fields of the form."""
    install()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    served, servers, ready = ServedPage(f"http://127.0.0.1:{port}/measure"), [], threading.Event()

    def session() -> Page:
        pn.extension("tabulator")
        page = MeasurePage(State(page="Measure"))
        for name, value in fields.items():
            page.form.widgets[name].value = value
        served.pages.append((page, pn.state.curdoc))
        return Page(title="colltune", main=[pn.Column(page, sizing_mode="stretch_width")])

    def run() -> None:
        server = get_server({"measure": session}, port=port, address="127.0.0.1", start=False, show=False)
        servers.append(server)
        server.io_loop.add_callback(ready.set)
        server.start()
        server.io_loop.start()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(_PATIENCE_S)
    yield served
    (server,) = servers
    server.io_loop.add_callback(server.stop)
    server.io_loop.add_callback(server.io_loop.stop)
    thread.join(_PATIENCE_S)


def seen_after(place: Locator, text: str) -> float:
    """Wait until a text is seen; how many seconds that took."""
    started = time.monotonic()
    expect(place).to_have_text(re.compile(text), timeout=1000 * _PATIENCE_S)
    return time.monotonic() - started


def check_in_time(seconds: Sequence[float]) -> None:
    """Hold times against the two seconds in which a page follows; one of them may meet a machine that is busy."""
    assert sorted(seconds)[len(seconds) // 2] <= WITHIN_S, seconds
    assert max(seconds) <= WITHIN_S * _BUSY, seconds
