"""``colltune serve``: what it hands to the server."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from dashboard.measuring.kept import campaigns_root
from dashboard.server.access import Access
from tests.cli.command import Run, assert_one_clear_line

EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it here


def test_serve_hands_everything_to_the_server(colltune: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(name).touch()
    seen: list[Any] = []
    fake = types.ModuleType("dashboard.serve")
    fake.serve = lambda *args, **kwargs: seen.append((args, kwargs))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    options = ["a", "--port", "0", "--no-browser", "--data", "b", "--pattern", "{algorithm}.sko", "--format", "skampi"]
    log_in = ["--basic-auth", "file.json", "--launchers", "alice, bob", "--num-procs", "2"]
    assert colltune("serve", *options, *log_in).status == 0
    access = Access(origins=[], basic_auth="file.json", launchers=["alice", "bob"])
    where = {"access": access, "port": 0, "show": False, "num_procs": 2}
    assert seen == [((["a", "b"],), {**where, "pattern": "{algorithm}.sko", "format": "skampi"})]


def test_campaigns_are_kept_in_the_folder_named(colltune: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", "/elsewhere")
    seen = []
    fake = types.ModuleType("dashboard.serve")
    fake.serve = lambda *args, **kwargs: seen.append(campaigns_root())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    assert colltune("serve", "--campaigns", str(tmp_path / "mine")).status == 0
    assert seen == [tmp_path / "mine"]
    (tmp_path / "file").touch()
    assert_one_clear_line(colltune("serve", "--campaigns", str(tmp_path / "file")), "--campaigns", "name a folder")


@pytest.mark.parametrize("path", ["nowhere", "a" * 5_000])
@pytest.mark.parametrize("option", ["--data", "--no-browser"])
def test_serve_says_that_there_is_nothing_to_open(colltune: Run, path: str, option: str) -> None:
    reason = "No such file" if path == "nowhere" else "File name too long"
    assert_one_clear_line(colltune("serve", option, path), path[:40], reason, "that are there")


def test_serve_says_when_it_cannot_listen(colltune: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(98, "Address already in use")

    fake = types.ModuleType("dashboard.serve")
    fake.serve = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dashboard.serve", fake)
    assert_one_clear_line(colltune("serve"), "127.0.0.1:5006: Address already in use; --port 0")


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--address", EVERYWHERE], "--basic-auth"),
        (["--address", EVERYWHERE, "--basic-auth", "no.json"], "--allow-websocket-origin"),
        (["--basic-auth", "no.json"], "no.json"),
    ],
)
def test_serve_refuses_to_be_open_to_all(colltune: Run, options: list[str], remedy: str) -> None:
    assert_one_clear_line(colltune("serve", "--no-browser", *options), remedy)
