"""The command in a shell: exit status, streams, terminals."""

import io
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dashboard.cli import main
from tests.cli.command import COMMAND, Run, assert_one_clear_line
from tests.conftest import ROOT


class Terminal(io.StringIO):
    """Standard error that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_long_load_shows_progress_on_a_terminal_only(
    colltune: Run, bcast_files: Sequence[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.commands.output._PROGRESS_AFTER_S", 1e-9)
    monkeypatch.setattr("dashboard.commands.output._PROGRESS_EVERY_S", 0)
    assert "loading" not in colltune("map", *bcast_files).err
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert colltune("map", *bcast_files).status == 0
    shown = terminal.getvalue().split("\r")
    assert shown[1].rstrip() == f"100 % |{20 * '#'}| loading {bcast_files[0].name}"
    assert shown[-1].startswith("colltune: next: ")
    assert not shown[-2].strip()


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=False, **options)


@pytest.mark.slow
def test_command_draws_no_page(results: Path) -> None:
    code = "import sys; from dashboard.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    words = [sys.executable, "-c", code, "decide", str(results), "-c", "bcast"]
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=True)
    assert not {"panel", "bokeh", "holoviews", "mpi4py"} & set(done.stderr.split())


@pytest.mark.slow
def test_status_reaches_the_shell(results: Path) -> None:
    done = run("map", results)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert run("--version").stdout.startswith("colltune ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collective", "closed", "heard", "status"),
    [("bcast", "stdout", "stderr", 141), ("nonsense", "stderr", "stdout", 2)],
)
def test_output_nobody_reads_is_no_error_message(
    results: Path, collective: str, closed: str, heard: str, status: int
) -> None:
    with subprocess.Popen(
        [*COMMAND, "map", str(results), "-c", collective],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        getattr(process, closed).close()
        assert getattr(process, heard).read() == ""
    assert process.returncode == status


def test_a_terminal_without_the_characters_still_gets_its_answer(results: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "collective,algorithm,segment_size,comm_size,message_size,time\nbcast,é漢,0,2,8,1e-6\n", encoding="utf-8"
    )
    done = run("map", table, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    assert r"\xe9" in done.stdout
    assert "1.000 us" in done.stdout


@pytest.mark.slow
def test_where_home_cannot_be_written_nobody_else_speaks(results: Path, tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    words = ("report", results, "-c", "bcast", "--no-frontier", "-o", tmp_path / "report.html")
    done = run(*words, env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if not line.startswith("colltune: ")] == []


@pytest.mark.slow
def test_output_that_takes_nothing_is_one_clear_line(results: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    for arguments in (["map", "-c", "bcast"], ["export", "-c", "bcast", "--to", "c"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*COMMAND, *arguments, results], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2
        assert "No space left" in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
    # Where messages find no room, the answer is given all the same.
    for collective, status in (("bcast", 0), ("nonsense", 2)):
        with Path("/dev/full").open("w") as full:
            words = [*COMMAND, "map", "-c", collective, results]
            done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=full, check=False)
        assert (done.returncode, bool(done.stdout)) == (status, not status)


@pytest.mark.parametrize(
    ("arguments", "closed", "status"),
    [
        ("map -c bcast", "stdout", 2),
        ("convert -o out.nc", "stdout", 0),
        ("map -c bcast --json", "stderr", 0),
        ("map -c nonsense", "stderr", 2),
        ("map -c bcast", "stdin", 0),
    ],
)
def test_streams_may_be_closed(
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    arguments: str,
    closed: str,
    status: int,
) -> None:
    """Python has None for a standard stream that the caller closed; nothing then goes to the wrong one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, closed, None)
    assert main([*arguments.split(), str(results)]) == status
    if closed == "stderr":
        sys.stderr.close()
        out = capfd.readouterr().out
        assert (out != "") == (status == 0)
        assert "colltune:" not in out


@pytest.mark.slow
def test_a_search_shows_how_far_it_is_on_a_terminal(
    colltune: Run, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.commands.output._PROGRESS_AFTER_S", 1e-9)
    monkeypatch.setattr("dashboard.commands.output._PROGRESS_EVERY_S", 0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert colltune("frontier", results, "-c", "reduce", "--family", "quadtree", "cart").status == 0
    shown = terminal.getvalue().split("\r")
    assert any(re.match(r" *\d+ % \|[# \d]{20}\| CART, fold 2 of 10", text) for text in shown)
    assert shown[-1].startswith("colltune: next: ")
    assert not shown[-2].strip()


@pytest.mark.parametrize(
    "end", [partial(signal.raise_signal, signal.SIGTERM), partial(signal.default_int_handler, signal.SIGINT, None)]
)
def test_a_command_that_is_told_to_end_or_interrupted_ends_in_one_line(
    colltune: Run, results: Path, monkeypatch: pytest.MonkeyPatch, end: Callable[[], None]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("dashboard.commands.frontier.find", lambda *_, **__: end())
    answer = colltune("frontier", results, "-c", "reduce")
    assert (answer.status, answer.out, answer.err) == (130, "", "colltune: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("words", [["bench", "plan", ""], ["tune", "", "--dry-run"], ["tune", ""]])
def test_a_folder_has_a_name(colltune: Run, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert_one_clear_line(colltune(*words), "'': that is no name of a folder")
    assert not list(tmp_path.iterdir())
