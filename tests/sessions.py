"""Sessions of the dashboard without browsers: pages asked for, websockets spoken to as Bokeh's own side does."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from itertools import count
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.safety.client import TOKEN

SECONDS = 120.0
#: Kinds of events with which columns of figures come, and the property of a source that is replaced as a whole.
_FIGURES = ("ColumnDataChanged", "ColumnsPatched", "ColumnsStreamed")


class Session:
    """One session; make it with `open`."""

    def __init__(self, socket: WebSocketClientConnection) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._reading: asyncio.Future[str | bytes | None] | None = None
        self.widgets: dict[str, dict[str, Any]] = {}
        self.document: dict[str, Any] = {}

    @classmethod
    async def open(cls, url: str) -> Session:
        """Ask for the page and open its session, as a browser does."""
        answer = await AsyncHTTPClient().fetch(HTTPRequest(url, connect_timeout=SECONDS, request_timeout=SECONDS))
        token = TOKEN.search(answer.body.decode())[1]
        address = url.partition("?")[0].replace("http", "ws", 1)
        origin = url.partition("/dashboard")[0]
        request = HTTPRequest(
            f"{address}/ws", headers={"Origin": origin}, connect_timeout=SECONDS, request_timeout=SECONDS
        )
        session = cls(await websocket_connect(request, subprotocols=["bokeh", token], max_message_size=256 << 20))
        # As browsers do: otherwise each message of several parts waits 40 ms for the receipt of its first one.
        session._socket.protocol.set_nodelay(True)
        await session._until("ACK")
        await session._pull()
        await session.event("document_ready", {})
        return session

    async def _pull(self) -> None:
        await self._send("PULL-DOC-REQ", {})
        self.document = await self._until("PULL-DOC-REPLY")
        self.widgets = {widget["attributes"]["label"]: widget for widget in _labelled(self.document)}

    async def widget(self, label: str, seconds: float = SECONDS) -> dict[str, Any]:
        """The widget of this label, which a busy server may add to the page only after it was opened."""
        end = time.monotonic() + seconds
        while label not in self.widgets and time.monotonic() < end:
            await self._next(seconds)
            await self._pull()
        return self.widgets[label]

    async def set(self, label: str, value: Any) -> None:
        """Set the widget of this label."""
        model = {"id": (await self.widget(label))["id"]}
        await self._change({"kind": "ModelChanged", "model": model, "attr": "value", "new": value})

    def model(self, name: str) -> dict[str, Any]:
        """The first model of this class, as it stands in the document: at least its id."""
        return next(each for each in _objects(self.document) if str(each.get("name", "")).endswith(name))

    def component(self, name: str) -> dict[str, Any]:
        """The first model of this component of the page's own, as `model`."""
        return next(each for each in _objects(self.document) if each.get("attributes", {}).get("class_name") == name)

    async def event(self, name: str, values: dict[str, Any]) -> None:
        """Send an event, such as of a button."""
        message = {"type": "event", "name": name, "values": {"type": "map", "entries": list(values.items())}}
        await self._change({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": message})

    async def raw(self, part: str | bytes) -> None:
        """Send a part of a message as it is."""
        await self._socket.write_message(part)

    async def until_told(self, text: str, seconds: float = SECONDS) -> str:
        """Wait for a change of the page that has this text; the change as it came."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if text in (came := json.dumps((await self._next(seconds))[1])):
                return came
        raise TimeoutError(text)

    async def picture(self) -> float:
        """Wait for the next figures of a plot; when they were there, as of `time.perf_counter`."""
        while True:
            kind, content = await self._next()
            if kind == "PATCH-DOC" and any(
                event["kind"] in _FIGURES or event.get("attr") == "data" for event in content["events"]
            ):
                return time.perf_counter()

    async def rest(self, seconds: float = 1.0) -> None:
        """Take in what comes until nothing has for so long."""
        while True:
            try:
                await self._next(seconds)
            except TimeoutError:
                return

    def close(self) -> None:
        """Go away, as a closed tab does."""
        self._socket.close()

    async def _change(self, event: dict[str, Any]) -> None:
        await self._send("PATCH-DOC", {"events": [event]})

    async def _send(self, kind: str, content: dict[str, Any]) -> None:
        for part in ({"msgid": str(next(self._numbers)), "msgtype": kind}, {}, content):
            await self._socket.write_message(json.dumps(part))

    async def _until(self, wanted: str) -> dict[str, Any]:
        while True:
            kind, content = await self._next()
            if kind == wanted:
                return content

    async def _next(self, seconds: float | None = None) -> tuple[str, dict[str, Any]]:
        # Only for its first part may be waited in vain: a message that has begun is read to its end.
        header = json.loads(await self._part(seconds))
        _, content = [json.loads(await self._part()) for _ in range(2)]
        for _ in range(2 * header.get("num_buffers", 0)):
            await self._part()
        if header["msgtype"] == "ERROR":
            raise RuntimeError(content.get("text"))
        return header["msgtype"], content

    async def _part(self, seconds: float | None = None) -> str | bytes:
        # Who stops waiting leaves the reading to the next one: a part that came at that moment would be lost.
        if self._reading is None:
            self._reading = asyncio.ensure_future(self._socket.read_message())
        await asyncio.wait({self._reading}, timeout=seconds)
        if not self._reading.done():
            raise TimeoutError
        part, self._reading = self._reading.result(), None
        if part is None:
            raise ConnectionError("the server has closed the session")
        return part


def _labelled(value: Any) -> Iterator[dict[str, Any]]:
    """Models with a label and a value, wherever they are in a document."""
    for each in _objects(value):
        if each["attributes"].get("label") and "value" in each["attributes"]:
            yield each


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Models with what is known of them, wherever they are in a document."""
    if isinstance(value, dict):
        if "id" in value and isinstance(value.get("attributes"), dict):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _objects(each)
