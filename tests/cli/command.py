"""The command run by tests, and what it answered."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

COMMAND = [sys.executable, "-m", "dashboard.cli"]


class Answer:
    """What a run of the command gave."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def both(self) -> tuple[str, str]:
        return self.out, self.err

    @property
    def json(self) -> Any:
        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is not strict JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Answer]


def following(err: str) -> list[str]:
    """Words of the one command that is said to come next, as a shell takes them; none where none is said."""
    lines = [line.partition("next: ")[2] for line in err.splitlines() if "next: " in line]
    if not lines:
        return []
    (line,) = lines
    shell = ["sh", "-c", f"printf '%s\\n' {line}"]
    program, *words = subprocess.run(shell, capture_output=True, text=True, check=True).stdout.splitlines()
    assert program == "colltune"
    return words


def assert_one_clear_line(answer: Answer, *words: str) -> None:
    """Exit status 2, nothing on standard output, one line that begins with the program's name."""
    assert answer.status == 2
    assert answer.out == ""
    last = answer.err.splitlines()[-1]
    assert last.startswith("colltune: error: ")
    assert sum("error:" in line for line in answer.err.splitlines()) == 1
    assert "Traceback" not in answer.err
    for word in words:
        assert word in last
