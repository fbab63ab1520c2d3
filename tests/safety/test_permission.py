"""Starting jobs is a permission of its own, and who may enter depends on from where the server can be reached."""

import json
import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from dashboard.server import peer, permission, reach
from dashboard.server.permission import LAUNCHERS_VARIABLE, at_start, may_enter, may_launch
from tests.conftest import ROOT, need
from tests.safety.client import TOKEN, Visitor
from tests.serving import Served

pytestmark = pytest.mark.slow

HERE = ["127.0.0.1"]
EVERYWHERE = "0.0.0.0"  # noqa: S104 - of servers that end at once, or ask who comes
TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:138E 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:D2F0 0100007F:138E 01 00000000:00000000 00:00000000 00000000  1234        0 2 1 0 20 4 30 10 -1
"""


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretend that a session asks: at which addresses its server listens, which headers it has, who logged in how."""

    def pretend(
        addresses: list[str],
        headers: dict[str, str] | None = None,
        *,
        user: str | None = None,
        log_in: bool = False,
        names: bool = True,
        came_from: str = "127.0.0.1",
    ) -> None:
        context = SimpleNamespace(address=(came_from, 50000))
        request = SimpleNamespace(headers=headers or {}, connection=SimpleNamespace(context=context))
        monkeypatch.setattr(permission, "_request", lambda: request)
        monkeypatch.setattr(reach, "listening", lambda: addresses)
        monkeypatch.setattr(reach, "authenticates", lambda: log_in)
        monkeypatch.setattr(reach, "names_users", lambda: log_in and names)
        monkeypatch.setattr(reach, "user", lambda: user)

    return pretend


def test_on_the_loopback_alone_the_user_of_the_machine_may_launch(session: Callable[..., None]) -> None:
    session(HERE, {"Host": "localhost:5006"})
    assert may_enter()
    assert may_launch()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "dashboard.example.org"},
        {"host": "10.0.0.7:5006"},
        {"Host": "localhost.evil.example:5006"},
        {"Host": "[fe80::1]:5006"},
        {"Host": "localhost", "X-Forwarded-For": "10.0.0.9"},
        {"Host": "localhost", "forwarded": "for=10.0.0.9"},
    ],
)
def test_behind_a_proxy_nobody_launches_without_a_log_in(session: Callable[..., None], headers: dict[str, str]) -> None:
    session(HERE, headers)
    assert not may_launch()
    assert "--launchers" in may_launch().reason
    # It listens on the loopback already.
    assert "127.0.0.1" not in may_launch().reason


@pytest.mark.parametrize("addresses", [[EVERYWHERE], ["127.0.0.1", "::"], ["10.0.0.7"], ["/run/colltune.sock"], None])
def test_off_the_loopback_nobody_launches_without_a_log_in(session: Callable[..., None], addresses: Any) -> None:
    session(addresses, {"Host": "localhost:5006"})
    assert not may_launch()


def test_who_has_logged_in_launches_only_when_named(
    session: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LAUNCHERS_VARIABLE, "carol, alice")
    session([EVERYWHERE], user="alice", log_in=True)
    assert may_launch()
    for addresses in ([EVERYWHERE], HERE):
        session(addresses, user="bob", log_in=True)
        assert not may_launch()
        assert "--launchers bob" in may_launch().reason
    monkeypatch.delenv(LAUNCHERS_VARIABLE)
    session([EVERYWHERE], user="alice", log_in=True)
    assert not may_launch()


def test_a_name_given_beside_a_password_for_all_is_not_believed(
    session: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LAUNCHERS_VARIABLE, "alice")
    session([EVERYWHERE], user="alice", log_in=True, names=False)
    assert not may_launch()


@pytest.mark.parametrize("served", [False, True], ids=["notebook-or-script", "server-without-a-session"])
def test_outside_of_a_session_only_a_notebook_or_script_may(monkeypatch: pytest.MonkeyPatch, *, served: bool) -> None:
    monkeypatch.setattr(permission, "_SERVED", served)
    assert bool(may_launch()) is not served


@pytest.mark.parametrize(
    ("headers", "came_from", "enters"),
    [
        ({"Host": "localhost:5006"}, "127.0.0.1", True),
        ({"Host": "localhost:5006"}, "::1", True),
        ({"Host": "localhost:5006"}, "10.0.0.9", False),
        ({"Host": "node17:5006"}, "127.0.0.1", False),
    ],
)
def test_a_server_open_by_accident_serves_this_machine_alone(
    session: Callable[..., None], headers: dict[str, str], came_from: str, *, enters: bool
) -> None:
    session([EVERYWHERE], headers, came_from=came_from)
    assert bool(may_enter()) is enters
    assert not may_launch()


def test_another_user_of_this_machine_does_not_enter(
    session: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    session(HERE, {"Host": "localhost"})
    monkeypatch.setattr(peer, "owners", lambda *_: {os.getuid() + 1})
    assert not may_enter()
    monkeypatch.setattr(peer, "owners", lambda *_: {os.getuid()})
    assert may_enter()


def test_linux_tells_whose_socket_it_is(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(TABLE)
    assert peer.owners(("127.0.0.1", 0xD2F0), (table,)) == {1234}
    assert peer.owners(("127.0.0.1", 0xD2F1), (table,)) == set()
    assert peer.owners(("10.0.0.7", 0xD2F0), (table,)) == set()


@pytest.mark.parametrize(("connected", "owners"), [(1234, {1234}), (os.getuid(), {os.getuid()})])
def test_nobody_hides_behind_another_connection_of_the_same_port(
    tmp_path: Path, connected: int, owners: set[int]
) -> None:
    here, server, other = "0100007F:D2F0", "0100007F:138E", "0100007F:0016"
    # The same port was used for another server: that connection is over, and the system lists it as root's.
    sockets = [(here, other, "06", 0), (here, other, "01", 4321), (here, server, "01", connected)]
    sockets.append((server, here, "01", os.getuid()))
    lines = [f"  {n}: {a} {b} {state} 0:0 00:0 0 {uid} 0 0" for n, (a, b, state, uid) in enumerate(sockets)]
    table = tmp_path / "tcp"
    table.write_text("\n".join(["head", *lines]))
    assert peer.owners(("127.0.0.1", 0xD2F0), (table,)) == owners


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose socket it is")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_this_systems_table_is_understood(family: socket.AddressFamily) -> None:
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    try:
        server = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"this machine has no {host}")
    with server, socket.create_connection(server.getsockname()[:2]) as client:
        assert peer.owners(client.getsockname()[:2]) == {os.getuid()}


def test_the_sockets_tell_where_a_process_listens() -> None:
    before = set(reach.listening() or ())
    with socket.create_server(("127.0.0.3", 0)):
        assert set(reach.listening() or ()) - before == {"127.0.0.3"}
    assert set(reach.listening() or ()) == before


def test_a_server_told_to_listen_everywhere_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "listening", lambda: [EVERYWHERE])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "panel", "serve", "dashboard", "--address", EVERYWHERE])
    assert not at_start()
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "panel", "serve", "dashboard"])
    assert at_start()
    assert "without a log-in" in at_start().reason
    monkeypatch.setattr(reach, "listening", lambda: HERE)
    assert at_start().reason == ""
    for origin in (["--allow-websocket-origin", "*"], ["--allow-websocket-origin=*:5006"], ["--allow-w", "*"]):
        monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "panel", "serve", "dashboard", *origin])
        assert not at_start()


@pytest.fixture(scope="module")
def launching() -> Iterator[Callable[..., str]]:
    """Serve the page that tells whether it may launch, and give its address; asked for the same again, the same."""
    running: dict[str, str] = {}
    with ExitStack() as stack:

        def start(**access: Any) -> str:
            if (wanted := json.dumps(access)) not in running:
                served = stack.enter_context(
                    Served([sys.executable, str(ROOT / "tests/safety/launching.py"), wanted], ROOT)
                )
                running[wanted] = served.url.replace(EVERYWHERE, "localhost").removesuffix("/dashboard")
            return running[wanted]

        yield start


def test_a_real_session_on_the_loopback_may_launch_unless_it_came_through_a_proxy(
    launching: Callable[..., str],
) -> None:
    base = launching()
    assert "enter: True, launch: True." in Visitor(base).page()[0].text
    answer = Visitor(base).ask("/dashboard", headers={"X-Forwarded-For": "10.0.0.9"})
    assert "launch: False." in answer.text
    assert Visitor(base).ask("/dashboard", headers={"Host": "evil.example"}).code == 403


@pytest.mark.skipif(os.getuid() != 0, reason="only root can ask as another user")
def test_a_real_session_of_another_user_of_this_machine_is_refused(launching: Callable[..., str]) -> None:
    ask = f"import urllib.request; print(urllib.request.urlopen({launching() + '/dashboard'!r}).read().decode())"
    nobody = pwd.getpwnam("nobody").pw_uid
    done = subprocess.run(
        ["/usr/bin/python3", "-c", ask], user=nobody, capture_output=True, text=True, check=True, cwd="/", env={}
    )
    assert "enter: False" in done.stdout


def test_real_users_launch_only_when_named(launching: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "passwords.json"
    file.write_text('{"alice": "wonder", "bob": "builder"}')
    file.chmod(0o600)
    base = launching(
        address=EVERYWHERE, origins=["dashboard.example.org:443"], basic_auth=str(file), launchers=["alice"]
    )
    for name, password, may in (("alice", "wonder", True), ("bob", "builder", False)):
        visitor = Visitor(base)
        assert visitor.log_in(name, password).code == 302
        assert f"launch: {may}." in visitor.page()[0].text


def test_panel_serve_that_is_told_to_listen_everywhere_ends_with_the_remedy() -> None:
    command = [sys.executable, "-m", "panel", "serve", "dashboard", "--port", "0", "--address", EVERYWHERE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "--basic-auth FILE" in done.stderr


def _elsewhere() -> str:
    """An address of this machine that is not the loopback's; empty where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            # Nothing is sent: the system only looks up by which of its addresses it would be.
            asked.connect(("10.255.255.255", 9))
        except OSError:
            return ""
        return str(asked.getsockname()[0])


def test_who_comes_from_elsewhere_without_a_log_in_sees_and_starts_nothing(tmp_path: Path) -> None:
    need(_elsewhere() not in ("", "127.0.0.1"), "this machine has no address but the loopback's")
    # Bare `panel serve` listens everywhere.
    command = [sys.executable, "-m", "panel", "serve", "dashboard", "--port", "0", "--args", str(tmp_path)]
    with Served(command, ROOT) as served:
        port = urlsplit(served.url).port
        here, there = Visitor(f"http://localhost:{port}"), Visitor(f"http://{_elsewhere()}:{port}")
        assert here.page()[0].code == 200
        for path in ("/dashboard", "/", "/dashboard/ws"):
            assert there.ask(path).code == 403
        # Forged headers: the host's, the origin's, and a session's token that was given to this machine.
        own = {"Host": f"localhost:{port}"}
        answer = there.ask("/dashboard", own)
        assert "Dropper" not in answer.text
        match = TOKEN.search(answer.text)
        for token in (here.page()[1], match[1] if match else ""):
            assert not there.connects(token)
            assert not there.connects(token, f"http://localhost:{port}")
            assert not there.connects(token, "http://evil.example", f"localhost:{port}")
    assert "a session was refused: this page can be reached from other machines" in "".join(served.output)
