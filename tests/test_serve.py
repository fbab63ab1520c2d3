"""Serving: who can reach the dashboard, and from which pages."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from dashboard import serve as serving
from dashboard.serve import allowed_origins, is_loopback, serve

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it here


class _Server:
    """Takes what a server is made with, and ends at once."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def __call__(self, panels: dict[str, Any], **options: Any) -> _Server:
        self.made = {"panels": panels, **options}
        return self

    def run_until_shutdown(self) -> None:
        return


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> _Server:
    fake = _Server()
    monkeypatch.setattr(serving, "get_server", fake)
    return fake


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.1.2.3"])
def test_these_addresses_stay_on_the_machine(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", [EVERYWHERE, "::", "192.168.1.5", "node17", ""])
def test_these_addresses_do_not(address: str) -> None:
    assert not is_loopback(address)


def test_by_default_only_this_machine_reaches_it_and_no_warning_is_due(
    server: _Server, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(port=5123)
    assert server.made["address"] == "127.0.0.1"
    assert server.made["websocket_origin"] == ["localhost:5123", "127.0.0.1:5123"]
    told = capsys.readouterr()
    assert "http://127.0.0.1:5123/dashboard" in told.err
    assert "warning" not in told.err
    assert told.out == ""


def test_other_addresses_are_warned_of(server: _Server, capsys: pytest.CaptureFixture[str]) -> None:
    serve(address=EVERYWHERE, port=5123)
    assert "warning: listening on 0.0.0.0" in capsys.readouterr().err


def test_no_origin_is_a_wildcard() -> None:
    for address in ("127.0.0.1", EVERYWHERE, "10.0.0.7", "::"):
        assert not any("*" in origin for origin in allowed_origins(address, 80))
    assert "10.0.0.7:80" in allowed_origins("10.0.0.7", 80)
    assert f"{socket.gethostname()}:80" in allowed_origins(EVERYWHERE, 80)


def test_further_origins_can_be_allowed(server: _Server) -> None:
    serve(port=5123, origins=["proxy.example:443"])
    assert server.made["websocket_origin"][-1] == "proxy.example:443"


def test_port_0_becomes_a_free_one(server: _Server, capsys: pytest.CaptureFixture[str]) -> None:
    serve(port=0)
    port = server.made["port"]
    assert port > 0
    assert f":{port}/" in capsys.readouterr().err
    assert f"127.0.0.1:{port}" in server.made["websocket_origin"]


def test_a_taken_port_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        serve(port=taken.getsockname()[1])


def test_the_page_has_the_name_that_panel_serve_gives_it(server: _Server) -> None:
    serve([Path("somewhere")], port=5123, algorithm="ring", format=None)
    assert list(server.made["panels"]) == ["dashboard"]
