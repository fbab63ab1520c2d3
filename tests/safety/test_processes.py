"""Several processes serve one dashboard: sessions open in each, and what one has loaded the others can show."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import xarray as xr

from dashboard.session import registry, spool
from dashboard.session.registry import Bounded, Results, register, results_by_digest
from tests.conftest import ROOT, until
from tests.safety.client import Visitor
from tests.serving import Served


@pytest.fixture
def shared_folder(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(spool, "_folder", None)
    return spool.share()


def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process, which has loaded nothing."""
    monkeypatch.setattr(registry, "_RESULTS", Bounded[Results](8, 1 << 30))


def test_results_of_one_process_open_in_another(
    fast_ethernet: xr.DataTree, shared_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _forget(monkeypatch)
    monkeypatch.setattr(spool, "Thread", _AtOnce)
    mine = register(fast_ethernet)
    assert shared_folder.stat().st_mode & 0o077 == 0
    _forget(monkeypatch)
    theirs = results_by_digest(mine.digest)
    assert theirs.tree is not mine.tree
    assert theirs.digest == mine.digest
    assert theirs.sources == mine.sources
    assert list(theirs.tree.children) == list(mine.tree.children)
    np.testing.assert_array_equal(theirs.tree["bcast"]["time"].values, mine.tree["bcast"]["time"].values)
    assert results_by_digest(mine.digest) is theirs


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 15, "0" * 16, "g" * 16, "/etc/passwd"])
def test_nothing_else_can_be_asked_for(shared_folder: Path, digest: str) -> None:
    (shared_folder.parent / "passwd.nc").unlink(missing_ok=True)
    assert results_by_digest(digest) is None


class _AtOnce:
    """A thread that is done when it is started."""

    def __init__(self, target: object, args: tuple[object, ...], **_: object) -> None:
        self.run = lambda: target(*args)

    def start(self) -> None:
        self.run()


@pytest.mark.soak
def test_sessions_open_in_every_process_and_none_outlives_the_server(tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    command = [sys.executable, "-m", "dashboard.cli", "serve", str(tmp_path / "nothing"), "--no-browser"]
    with Served([*command, "--port", "0", "--num-procs", "2"], ROOT) as served:
        # The first process says that it listens while the second one is still to come.
        children = until(lambda: len(workers := psutil.Process(served.process.pid).children()) == 2 and workers)
        visitor = Visitor(served.url.removesuffix("/dashboard"))
        # Whichever process gave the page, whichever takes the websocket: both know the signature.
        for _ in range(4):
            answer, token = visitor.page()
            assert answer.code == 200
            assert visitor.connects(token)
        assert not visitor.connects(f"{token[:-4]}AAAA")
        os.kill(served.process.pid, signal.SIGKILL)
        assert psutil.wait_procs(children, timeout=30)[1] == []
