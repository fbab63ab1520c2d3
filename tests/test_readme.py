"""The README and the page on the command line: what they tell to type works, and prints what they show."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.cli import main
from dashboard.commands.options import parse
from dashboard.decisions.judged.frontier import Frontier, frontier
from dashboard.decisions.measured.problem import Problem
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "dashboard/docs/command_line.md").read_text(encoding="utf-8")


def blocks(language: str, text: str = README) -> list[str]:
    """Code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def typed(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a page, with the lines shown below it; ``…`` stands for lines left out."""
    for block in blocks("console", text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield command, [line for line in shown if line != "…"]


@pytest.fixture
def beside_the_samples(tmp_path: Path) -> Path:
    """Folder that holds the sample data, as the checkout does, and may be written to."""
    (tmp_path / "sample_data").symlink_to(ROOT / "sample_data")
    return tmp_path


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with the packages of this checkout."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def stands(place: str) -> bool:
    """Whether there is a file or folder of that path, or a name in the module before the last point."""
    module, _, name = place.rpartition(".")
    for base in (ROOT, ROOT / "dashboard"):
        file = base / f"{module}.py"
        if (base / place).exists() or (file.is_file() and re.search(rf"\b{name}\b", file.read_text(encoding="utf-8"))):
            return True
    return False


def test_the_guide_names_places_that_there_are() -> None:
    guide = (ROOT / "dashboard/docs/developer_guide.md").read_text(encoding="utf-8")
    places = re.findall(r"`(\w+/[\w./]+)`", guide)
    assert len(places) > 40
    assert [place for place in places if not stands(place)] == []


def test_one_line_sets_up_and_runs_each_of_dashboard_and_tests() -> None:
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("python3 -m venv")]
    assert [line.rpartition("&& ")[2] for line in lines] == [".venv/bin/colltune serve", ".venv/bin/python -m pytest"]


@pytest.mark.slow
def test_the_tour_of_the_command_line_can_be_typed(
    beside_the_samples: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(beside_the_samples)

    def by_halves(problem: Problem, **options: Any) -> Frontier:
        return frontier(problem, **options | {"folds": 2})

    # All ways of deciding, each on four parts instead of ten: that took half of the tour.
    monkeypatch.setattr("dashboard.commands.frontier.find", by_halves)
    lines = [*typed(README), *typed(COMMAND_LINE)]
    assert len(lines) == 20
    printed: dict[str, str] = {}
    for line, shown in lines:
        program, _, arguments = line.partition(" ")
        assert program == "colltune"
        if line not in printed:
            assert main(shlex.split(arguments)) == 0, line
            printed[line] = capsys.readouterr().out
        assert [each for each in shown if each not in printed[line].splitlines()] == [], line
    shallow = next(text for line, text in printed.items() if "--max-depth 3" in line)
    assert "46 leaves" in shallow
    assert "10.76 %" in shallow
    compared = next(text for line, text in printed.items() if " compare " in line)
    assert [figure for figure in ("10.76", "10.50", "8.59", "1.31") if figure not in compared] == []
    held_out = next(text for line, text in printed.items() if "--leaves 15" in line)
    assert "held out        mean 6.28 %" in held_out
    tolerant = next(text for line, text in printed.items() if "--tolerance 5 --held-out" in line)
    assert "13 leaves" in tolerant
    assert "mean 2.53 %" in tolerant
    recommended = next(text for line, text in printed.items() if " frontier " in line)
    assert "* recommended: " in recommended
    assert "int colltune_bcast(int comm_size, long long message_size)" in (beside_the_samples / "decide.c").read_text()


def test_the_python_example_runs_with_warnings_as_errors(beside_the_samples: Path) -> None:
    (example,) = blocks("python")
    done = run([sys.executable, "-W", "error", "-c", example], beside_the_samples)
    assert done.returncode == 0, done.stderr


def commands_in(text: str) -> Iterator[str]:
    """Commands in blocks of code, but for those that leave something out."""
    code = "\n".join(re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    for command in re.findall(r"^\s*(?:\$ )?(?:\.venv/bin/)?colltune (?!:)(.*)", code, re.MULTILINE):
        if "…" not in command:
            yield command


def test_what_the_docs_tell_to_type_are_commands_with_options_that_there_are() -> None:
    files = [ROOT / "README.md", *(ROOT / "dashboard/docs").rglob("*.md"), *(ROOT / "sample_data").rglob("README.md")]
    commands = [command for file in files for command in commands_in(file.read_text(encoding="utf-8"))]
    assert len(commands) > 40
    for command in commands:
        parse(shlex.split(command, comments=True))


def test_what_it_links_to_is_there() -> None:
    for folder, text in ((ROOT, README), (ROOT / "dashboard/docs", COMMAND_LINE)):
        linked = re.findall(r"\]\((?!http)([^)#]+)\)", text)
        assert [path for path in linked if not (folder / path).exists()] == []
