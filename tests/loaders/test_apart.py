"""Reading in a process of its own: the same answers, and an end where there would be none."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders import LoadError, MissingHintError, apart, open_results, save_results, scan, storage

OSU = "# OSU MPI Broadcast Latency Test v7.4\n# Size       Avg Latency(us)\n1    6.57\n2    6.60\n"


@pytest.fixture(scope="module", autouse=True)
def used() -> Iterator[None]:
    apart.use()
    yield
    apart.use(apart=False)


@pytest.fixture
def osu(tmp_path: Path) -> Path:
    path = tmp_path / "bcast.txt"
    path.write_text(OSU, encoding="utf-8")
    return path


def test_it_gives_what_reading_here_gives(osu: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    hints = {"algorithm": "binomial", "comm_size": 4}
    tree = apart.open_results([str(osu)], size=100, progress=lambda *done: seen.append(done), **hints)
    assert tree.identical(open_results(osu, **hints))
    assert seen == [(str(osu), osu.stat().st_size, osu.stat().st_size)]
    assert apart.scan([str(osu)], size=100) == scan(osu)


def test_an_error_is_told_as_here(osu: Path) -> None:
    with pytest.raises(MissingHintError) as caught:
        apart.open_results([str(osu)], size=100)
    with pytest.raises(MissingHintError) as here:
        open_results(osu)
    assert (str(caught.value), caught.value.hints, caught.value.path) == (str(here.value), here.value.hints, str(osu))


def test_a_reading_that_does_not_end_is_ended_and_the_next_one_comes(
    osu: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "LIMIT_S", 0.5)
    monkeypatch.setattr(apart, "LIMIT_S_PER_MB", 0.25)
    # A pattern of the user's over the path: every name in braces multiplies the ways to try.
    folder = osu.parent / ("a" * 200)
    folder.mkdir()
    hang = folder / ("a" * 200)
    hang.write_text(OSU, encoding="utf-8")
    fields = ("collective", "algorithm", "system", "network", "library", "library_version")
    pattern = "a".join(f"{{{name}}}" for name in fields) + "!"
    began = time.monotonic()
    with pytest.raises(apart.EndedError, match=r"a{200}: reading took longer than 1 s and was ended"):
        apart.open_results([str(hang)], size=2_000_000, pattern=pattern)
    assert time.monotonic() - began < 20
    large = 400_000_000
    assert list(apart.open_results([str(osu)], size=large, algorithm="x", comm_size=4).children) == ["bcast"]


def test_a_worker_that_is_killed_is_an_error_in_one_line(osu: Path) -> None:
    apart.prepare()
    os.kill(apart._idle[-1]._process.pid, signal.SIGKILL)
    with pytest.raises(LoadError, match="need more memory") as caught:
        apart.open_results([str(osu)], size=100, algorithm="x", comm_size=4)
    assert "\n" not in str(caught.value)


def test_results_that_stay_on_disk_are_opened_here(osu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = save_results(open_results(osu, algorithm="x", comm_size=4), tmp_path / "saved.nc")
    tree = apart.open_results([str(saved)], size=100)
    assert tree["bcast"]["time"].shape == (1, 1, 2)
    monkeypatch.setattr(storage, "LAZY_BYTES", 0)
    assert not apart._on_disk(tree)
    lazy = open_results(saved)
    assert apart._on_disk(lazy)
    lazy.close()
