"""``colltune serve``: what it hands to the server."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tests.cli.command import Run, assert_one_clear_line


def test_serve_hands_everything_to_the_server(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    fake = types.ModuleType("dashboard.serve")
    fake.serve = lambda *args, **kwargs: seen.append((args, kwargs))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    options = ["a", "--port", "0", "--no-browser", "--data", "b", "--pattern", "{algorithm}.sko", "--format", "skampi"]
    assert colltune("serve", *options).status == 0
    where = {"address": "127.0.0.1", "port": 0, "show": False, "origins": []}
    assert seen == [((["a", "b"],), {**where, "pattern": "{algorithm}.sko", "format": "skampi"})]


def test_serve_says_when_it_cannot_listen(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(98, "Address already in use")

    fake = types.ModuleType("dashboard.serve")
    fake.serve = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    assert_one_clear_line(colltune("serve"), "127.0.0.1:5006", "already in use")
