"""Uploads that are too large or never end, to a server that others use: one line, and the others go on."""

import asyncio
import base64
import contextlib
import gc
import gzip
import socket
import sys
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from tornado.websocket import WebSocketClosedError

from tests.conftest import ROOT
from tests.safety.client import Visitor
from tests.serving import Served
from tests.sessions import Session

MEGABYTE = 1_000_000
REFUSED = "a message that no browser sends"
#: The server as it is, but that all its uploads together have little room.
_PROGRAM = """
import sys
from dashboard.pages.data import files
files._ROOM = files._Room(3_000_000)
from dashboard.cli import main
sys.exit(main(sys.argv[1:]))
"""
#: Requests that are begun and never end, each cut off at another place.
_CUT = (
    "GET /dashboard HT",
    "GET /dashboard HTTP/1.1\r\nHost: {host}\r\nX-Long: a",
    "POST /dashboard HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\nabc",
    "POST /dashboard HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\nabc",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("nothing")
    with Served([sys.executable, "-c", _PROGRAM, "serve", str(folder), "--no-browser", "--port", "0"], ROOT) as server:
        yield server


async def opened(served: Served) -> Session:
    """A session that looks at the page of the data."""
    return await Session.open(f"{served.url}?page=Data")


async def piece(session: Session, name: str, number: int, pieces: int, size: int) -> None:
    """Send a piece of a file as the drop area does."""
    content = {"type": "bytes", "data": base64.b64encode(gzip.compress(b"x" * size)).decode()}
    fields = {"name": name, "chunk": number, "total_chunks": pieces, "data": content}
    model = {"id": session.component("Dropper")["id"]}
    data = {"type": "map", "entries": list(fields.items())}
    await session.event("data_event", {"model": model, "data": data})


def alive(served: Served) -> None:
    """The server answers, opens a session that can be used, and its log has no fault."""

    async def used() -> None:
        session = await opened(served)
        await piece(session, "small.csv", 1, 1, 10)
        await session.until_told("Load 1 file", 30.0)
        session.close()

    assert Visitor(served.url.removesuffix("/dashboard")).page()[0].code == 200
    asyncio.run(used())
    assert served.process.poll() is None
    others = [line for line in served.output if REFUSED not in line]
    assert not [line for line in others if "Traceback" in line or "ERROR" in line]


@pytest.mark.slow
def test_a_file_that_is_too_large_is_refused_in_one_line(served: Served) -> None:
    async def dropped() -> str:
        session = await opened(served)
        for number in range(1, 6):
            await piece(session, "large.csv", number, 5, MEGABYTE)
        message = await session.until_told("large.csv: this machine has no room for more uploads", 30.0)
        session.close()
        return message

    assert "Traceback" not in asyncio.run(dropped())
    alive(served)


# The client is cut off while it still writes.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_message_that_is_too_large_ends_its_own_session_alone(served: Served) -> None:
    async def sent() -> None:
        other, session = await opened(served), await opened(served)
        with contextlib.suppress(ConnectionError, WebSocketClosedError):
            await session.raw("x" * (17 << 20))
        with pytest.raises(ConnectionError, match="has closed"):
            await session.until_told("what never comes")
        await piece(other, "other.csv", 1, 1, 10)
        await other.until_told("Load 1 file", 30.0)
        other.close()
        session.close()

    asyncio.run(sent())
    # What is said of a client that was cut off is said now, not while another test runs.
    gc.collect()
    alive(served)


@pytest.mark.slow
def test_a_message_that_unpacks_to_gigabytes_is_refused(served: Served) -> None:
    before = psutil.Process(served.process.pid).memory_info().rss

    async def sent() -> None:
        session = await opened(served)
        packed = zlib.compressobj(9, wbits=31)
        # What follows a full flush refers to nothing before it, so that it may stand there again and again.
        begin, again = (packed.compress(bytes(1 << 20)) + packed.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
        bomb = begin + 2000 * again
        content = {"type": "bytes", "data": base64.b64encode(bomb).decode()}
        data = {"type": "map", "entries": [["name", "bomb.csv"], ["chunk", 1], ["total_chunks", 1], ["data", content]]}
        await session.event("data_event", {"model": {"id": session.component("Dropper")["id"]}, "data": data})
        with pytest.raises(RuntimeError, match="unpack to more than"):
            await session.until_told("bomb.csv")
        session.close()

    asyncio.run(sent())
    assert psutil.Process(served.process.pid).memory_info().rss < before + (200 << 20)
    alive(served)
    (line,) = [line for line in served.output if "unpack to more than" in line]
    assert f"{REFUSED}: ValueError: " in line


@pytest.mark.slow
def test_changes_that_no_browser_sends_are_a_line_of_the_log_each(served: Served) -> None:
    events: list[Any] = [{"kind": "Nope"}, 5, {"kind": "ModelChanged", "model": {"id": "none"}, "new": 1}]

    async def sent() -> None:
        session = await opened(served)
        for event in events:
            await session._change(event)
            with pytest.raises(RuntimeError):
                await session.until_told("what never comes", 30.0)
        session.close()

    before = len(served.output)
    asyncio.run(sent())
    alive(served)
    assert len([line for line in served.output[before:] if REFUSED in line]) == len(events)


@pytest.mark.slow
def test_files_and_requests_that_are_begun_and_never_end_hold_up_nobody(served: Served) -> None:
    at = urlsplit(served.url)

    async def begun() -> None:
        session = await opened(served)
        await piece(session, "endless.csv", 1, 99, MEGABYTE)
        # The first part of a message, of which the others never come.
        await session.raw('{"msgid": "1", "msgtype": "PATCH-DOC"}')
        with contextlib.ExitStack() as stack:
            for number in range(100):
                stream = stack.enter_context(socket.create_connection((at.hostname, at.port)))
                stream.sendall(_CUT[number % len(_CUT)].format(host=at.netloc).encode())
            await asyncio.to_thread(alive, served)
        session.close()

    asyncio.run(begun())
