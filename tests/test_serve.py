"""Serving: who can reach the dashboard, and from which pages."""

from __future__ import annotations

import asyncio
import gc
import gzip
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import bokeh.document
import bokeh.server.server
import pytest
from bokeh.protocol import Protocol
from bokeh.protocol.receiver import Receiver
from bokeh.server.connection import ServerConnection
from bokeh.util.token import generate_jwt_token, generate_session_id
from panel import config
from panel.io import document
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.websocket import WebSocketClosedError

from dashboard import serve as serving
from dashboard.serve import serve
from dashboard.server import access as accessing
from dashboard.server import reach
from dashboard.server.access import Access, AccessError
from dashboard.server.headers import HEADERS, SafeHeaders, SmallStatic
from dashboard.server.patches import delivery, install
from dashboard.server.patches.guarded import Guarded
from dashboard.server.permission import LAUNCHERS_VARIABLE
from dashboard.server.quiet import WithoutClosedTabs, WithoutMalformed, WithoutSecrets, keep_quiet
from dashboard.server.reach import is_loopback
from tests.conftest import ROOT
from tests.safety.client import Visitor
from tests.serving import READY
from tests.sessions import Session

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it here
ORIGIN = "dashboard.example.org:443"


class _Server:
    """Takes what a server is made with, and ends at once."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}
        self.io_loop = SimpleNamespace(stop=lambda: None)

    def __call__(self, panels: dict[str, Any], **options: Any) -> _Server:
        self.made = {"panels": panels, **options}
        return self

    def run_until_shutdown(self) -> None:
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> _Server:
    fake = _Server()
    monkeypatch.setattr(serving, "get_server", fake)
    monkeypatch.setattr(serving, "warm_up", lambda start: None)
    monkeypatch.setenv(LAUNCHERS_VARIABLE, "")
    return fake


@pytest.fixture
def passwords(tmp_path: Path) -> Path:
    file = tmp_path / "passwords.json"
    file.write_text('{"alice": "wonder"}')
    file.chmod(0o600)
    with config.set(basic_auth=None, cookie_secret=None):
        yield file


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.1.2.3", "::ffff:127.0.0.1"])
def test_these_addresses_stay_on_the_machine(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", [EVERYWHERE, "::", "192.168.1.5", "node17", "", "::ffff:10.0.0.1"])
def test_these_addresses_do_not(address: str) -> None:
    assert not is_loopback(address)


def test_by_default_only_this_machine_reaches_it_and_no_warning_is_due(
    server: _Server, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(port=5123)
    assert server.made["address"] == "127.0.0.1"
    assert server.made["websocket_origin"] == ["localhost:5123", "127.0.0.1:5123"]
    output = capsys.readouterr()
    assert "http://127.0.0.1:5123/dashboard" in output.err
    assert "warning" not in output.err
    assert output.out == ""


def test_sessions_are_signed_with_another_key_at_each_start_and_told_nothing_but_the_host(server: _Server) -> None:
    keys = []
    for _ in range(2):
        serve(port=5123)
        assert server.made["sign_sessions"] is True
        assert server.made["include_headers"] == ["Host"]
        assert server.made["include_cookies"] == []
        keys.append(server.made["secret_key"])
    assert len(keys[0]) >= 32
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("access", "message"),
    [
        (Access(address=EVERYWHERE), "--basic-auth"),
        (Access(address="10.0.0.7", origins=[ORIGIN]), "--basic-auth"),
        (Access(address=EVERYWHERE, basic_auth="passwords.json"), "--allow-websocket-origin"),
        (Access(origins=["*"]), "any page of the web"),
        (Access(origins=["*.example.org:443"]), "any page of the web"),
        (Access(origins=["https://dashboard.example.org:443"]), "--allow-websocket-origin dashboard.example.org:443"),
        (Access(launchers=["alice"]), "must log in"),
        (Access(basic_auth="passwords.json", oauth_provider="github"), "not both"),
        (Access(oauth_provider="github"), "PANEL_OAUTH_KEY"),
        (Access(oauth_provider="nobody"), "github"),
        (Access(oauth_provider="generic"), "PANEL_OAUTH_AUTHORIZE_URL, PANEL_OAUTH_TOKEN_URL in the environment"),
        (Access(oauth_provider="password"), "possible are auth0, auth_code"),
    ],
)
def test_a_server_that_would_be_open_to_all_is_not_started(server: _Server, access: Access, message: str) -> None:
    with pytest.raises(AccessError, match=message.replace("*", r"\*")):
        serve(access=access, port=5123)
    assert server.made == {}


def test_with_a_log_in_and_an_origin_others_may_reach_it(
    server: _Server, passwords: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(access=Access(EVERYWHERE, [ORIGIN], basic_auth=passwords, launchers=["alice"]), port=5123)
    assert server.made["websocket_origin"][-1] == ORIGIN
    assert server.made["xsrf_cookies"] is True
    assert server.made["include_cookies"] == ["user"]
    assert len(server.made["cookie_secret"]) >= 32
    assert "alice" in os.environ[LAUNCHERS_VARIABLE]
    assert "without --ssl-certfile" in capsys.readouterr().err


def test_oauth_takes_its_secrets_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accessing, "_OAUTH_VARIABLES", {"PANEL_OAUTH_SECRET": "oauth_secret"})
    with pytest.raises(AccessError, match="PANEL_OAUTH_SECRET"):
        Access(oauth_provider="github").server_options()


def test_port_0_becomes_a_free_one_and_further_origins_are_allowed(
    server: _Server, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(port=0, access=Access(origins=["proxy.example:443"]))
    port = server.made["port"]
    assert port > 0
    assert f":{port}/" in capsys.readouterr().err
    assert {f"127.0.0.1:{port}", "proxy.example:443"} <= {*server.made["websocket_origin"]}


def test_who_came_by_ssh_or_jupyterhub_is_told_the_way_and_no_browser_in_the_terminal_holds_up_the_server(
    server: _Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 50000 10.0.0.2 22")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/alice/")
    seen: queue.SimpleQueue[tuple[str, str, bool]] = queue.SimpleQueue()
    for name in ("lynx", "firefox"):
        show = partial(lambda name, url: seen.put((name, url, threading.current_thread().daemon)), name)
        monkeypatch.setattr(webbrowser, "get", partial(SimpleNamespace, name=name, open=show))
        serve(port=5123, show=True)
    assert seen.get(timeout=10) == ("firefox", "http://127.0.0.1:5123/dashboard", True)
    said = capsys.readouterr().err
    assert "ssh -J LOGIN-NODE -L 5123:localhost:5123 " in said
    assert "/user/alice/proxy/5123/dashboard of the hub" in said


def test_a_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        serve(port=taken.getsockname()[1])


def test_the_page_has_the_name_that_panel_serve_gives_it(server: _Server) -> None:
    serve([Path("somewhere")], port=5123, algorithm="ring", format=None)
    assert list(server.made["panels"]) == ["dashboard"]


def test_parts_of_a_message_do_not_wait_for_the_receipt_of_the_first_one() -> None:
    install()

    async def flag() -> int:
        server = bokeh.server.server.Server({"/dashboard": lambda _: None}, port=0, address="127.0.0.1")
        server.start()
        try:
            session = await Session.open(f"http://localhost:{server.port}/dashboard")
            (client,) = server._tornado._clients
            stream = client._socket.ws_connection.stream
            value = int(stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            session.close()
            with pytest.raises(ConnectionError, match="has closed"):
                await session.rest()
            return value
        finally:
            server.stop()
            await server._http.close_all_connections()

    assert asyncio.run(flag()) != 0


def _kept_aside(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches a browser of two changes, the second of which comes when the first has just been written."""
    sent: list[str] = []
    written: list[asyncio.Future[None]] = []

    class Socket:
        """Of no kind that Panel knows."""

    class Browser:
        _socket = Socket()
        protocol = SimpleNamespace(create=lambda _, events: events)

    def write(_: Any, events: Any = None, msg: Any = None) -> list[asyncio.Future[None]]:
        sent.extend(msg)
        written.append(asyncio.get_running_loop().create_future())
        return written[-1:]

    async def change() -> None:
        doc = bokeh.document.Document()
        browser: Any = Browser()
        document.schedule_write_events(doc, [browser], ["first"])  # type: ignore[list-item]
        await asyncio.sleep(0)
        written[0].set_result(None)
        document.schedule_write_events(doc, [browser], ["second"])  # type: ignore[list-item]
        for _ in range(10):
            await asyncio.sleep(0)

    monkeypatch.setitem(document.extra_socket_handlers, Socket, write)
    asyncio.run(change())
    return sent


def test_a_change_that_had_to_wait_is_sent_without_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_dispatch_msgs", delivery._send)
    # Once Panel sends both, this module has nothing left to do.
    assert _kept_aside(monkeypatch) == ["first"]
    delivery.install()
    assert _kept_aside(monkeypatch) == ["first", "second"]


@pytest.mark.parametrize(("key", "seconds", "status"), [(b"now", 60, 0), (b"former", 60, 403), (b"now", -1, 403)])
def test_a_websocket_of_a_page_that_a_former_server_made_is_refused_before_a_handler_sees_it(
    key: bytes, seconds: int, status: int
) -> None:
    token = generate_jwt_token(generate_session_id(key, signed=True), key, signed=True, expiration=seconds)
    headers = HTTPHeaders({"Host": "localhost", "Sec-WebSocket-Protocol": f"bokeh, {token}"})
    request = HTTPServerRequest(headers=headers, start_line=RequestStartLine("GET", "/dashboard/ws", "HTTP/1.1"))
    assert Guarded({}, secret_key=b"now", sign_sessions=True)._refused(request) == status


def test_every_answer_forbids_frames_guessing_of_types_and_other_sites(server: _Server) -> None:
    serve(port=5123)
    assert bokeh.server.server.BokehTornado is Guarded
    assert Guarded({}).transforms == [SafeHeaders, SmallStatic]
    policy = HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'self'" in policy
    assert "*" not in policy
    assert "http" not in policy
    assert HEADERS["X-Content-Type-Options"] == "nosniff"


def _told(uri: str, body: bytes) -> tuple[Any, bytes]:
    asked = RequestStartLine("GET", uri, "HTTP/1.1")
    request = HTTPServerRequest(
        start_line=asked, headers=HTTPHeaders({"Host": "localhost", "Accept-Encoding": "gzip"}), connection=Mock()
    )
    headers = HTTPHeaders({"Content-Type": "text/javascript"})
    _, headers, body = SmallStatic(request).transform_first_chunk(200, headers, body, finishing=True)
    return headers, body


def test_what_is_the_same_for_everybody_is_packed_and_kept() -> None:
    code = b"const width = 1\n" * 10_000
    headers, body = _told("/static/js/bokeh.min.js?v=1f", code)
    assert gzip.decompress(body) == code
    assert len(body) < len(code) / 20
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Vary"] == "Accept-Encoding"
    assert headers["Cache-Control"] == "max-age=315360000"
    assert _told("/static/js/luxon.js", code)[0]["Cache-Control"] == "max-age=86400"


def test_what_is_a_sessions_own_is_neither_packed_nor_kept() -> None:
    # The size of a packed answer tells what is in it, where a stranger has a say in a part of it.
    page = b"<p>of a session</p>" * 1000
    headers, body = _told("/dashboard?page=Home", page)
    assert body == page
    assert not {"Content-Encoding", "Cache-Control"} & set(headers)


async def _lost(error: Exception) -> None:
    async def send() -> None:
        raise error

    task = asyncio.ensure_future(send())
    await asyncio.sleep(0)
    del task
    gc.collect()
    await asyncio.sleep(0)


def test_a_tab_that_was_closed_is_no_fault_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    keep_quiet()
    keep_quiet()
    assert [type(each) for each in logging.getLogger("asyncio").filters] == [WithoutClosedTabs]
    with caplog.at_level(logging.ERROR, "asyncio"):
        asyncio.run(_lost(WebSocketClosedError()))
        assert caplog.text == ""
        asyncio.run(_lost(OSError("another fault")))
        assert "another fault" in caplog.text


def test_what_a_closed_tab_had_sent_is_no_fault_in_the_log() -> None:
    gone = _raised(lambda: ServerConnection.session.fget(SimpleNamespace(_session=None)))
    assert not WithoutClosedTabs().filter(gone)
    with pytest.raises(AssertionError) as own:
        assert not gone
    gone.exc_info = (own.type, own.value, own.tb)
    assert WithoutClosedTabs().filter(gone)


def test_the_log_names_no_secret() -> None:
    asked = "/dashboard?page=Data&bokeh-token=abc.def&code=xyz"
    record = logging.LogRecord("tornado.access", logging.WARNING, "", 1, "%d GET %s (%s)", (403, asked, "::1"), None)
    assert WithoutSecrets().filter(record)
    text = record.getMessage()
    assert "abc.def" not in text
    assert "xyz" not in text
    assert "page=Data" in text


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_nobody_listens_to_ends_when_it_is_told_to(end: signal.Signals) -> None:
    reading, writing = os.pipe()
    words = [sys.executable, "-m", "dashboard.cli", "serve", "--no-browser", "--port", "0"]
    with subprocess.Popen(words, cwd=ROOT, stdout=writing, stderr=writing) as process:
        os.close(writing)
        with os.fdopen(reading) as output:
            address = READY.search(output.readline())[1]
        # It answers once its loop runs, which is when it listens for signals.
        Visitor(address).ask("/nothing")
        process.send_signal(end)
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()


def _raised(function: Callable[[], Any]) -> logging.LogRecord:
    """What Bokeh logs where handling a message ends in an error."""
    try:
        function()
    except Exception:  # noqa: BLE001 - whatever it is
        info = sys.exc_info()
    arguments = ("Handler or its work threw an exception: %r", ("x" * 100_000,), info)
    return logging.LogRecord("bokeh.server.views.ws", logging.ERROR, "ws.py", 1, *arguments)


def test_of_a_message_that_no_browser_sends_the_log_has_one_line() -> None:
    async def received() -> None:
        receiver = Receiver(Protocol())
        for fragment in ('{"broken"', "{}", "{}"):
            await receiver.consume(fragment)

    record = _raised(lambda: asyncio.run(received()))
    assert WithoutMalformed().filter(record)
    line = logging.Formatter().format(record)
    assert line.startswith("a message that no browser sends: ")
    assert "\n" not in line
    assert len(line) < 300


def test_a_fault_of_our_own_keeps_its_traceback() -> None:
    record = _raised(lambda: reach.passed_on(5))  # type: ignore[arg-type]
    assert WithoutMalformed().filter(record)
    assert "Traceback" in logging.Formatter().format(record)
