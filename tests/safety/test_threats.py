"""The note on threats: each line names tests, and there are these tests."""

import re

from tests.conftest import ROOT

NOTE = (ROOT / "dashboard/docs/threats.md").read_text(encoding="utf-8")
LINES = [line for line in NOTE.splitlines() if line.startswith("| ") and not line.startswith(("| Threat", "| ---"))]
_FOLDERS = (ROOT / "tests/safety", ROOT)


def _named(cell: str) -> list[tuple[str, str]]:
    """Files with tests, as a line names them: ``file::test``, and ``::test`` for the file before."""
    named, file = [], ""
    for text in re.findall(r"`([^`]+)`", cell):
        before, _, test = text.partition("::")
        file = before or file
        named.append((file, test))
    return named


def test_each_line_names_a_test_that_there_is() -> None:
    assert len(LINES) > 20
    lacking = []
    for line in LINES:
        named = _named(line.rstrip(" |").rpartition(" | ")[2])
        assert named, line
        for file, test in named:
            path = next((folder / file for folder in _FOLDERS if (folder / file).is_file()), None)
            if path is None or (test and f"def {test}(" not in path.read_text(encoding="utf-8")):
                lacking.append(f"{file}::{test}")
    assert lacking == []
