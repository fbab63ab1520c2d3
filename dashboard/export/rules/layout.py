"""What the author of a classic Open MPI rules file meant, seen from how its lines are laid out.

Usual files have one number on a line for counts, sizes and collectives, and one rule of four or five numbers on a
line. Then the rules that follow a count can be told whatever the count says.
"""

import re
from dataclasses import dataclass, field

from dashboard.domain.units import format_count
from dashboard.export.library_names import Choice
from dashboard.export.rules.fault import Fault
from dashboard.export.rules.rows import Row, Rules, Set
from loaders.openmpi import COLLECTIVE_IDS

_PLAIN = re.compile(r"[0-9]{1,18}")
_HEADER = "rule-file-version-"
_RULE = (4, 5)


@dataclass
class Layout:
    """Rules as they are laid out, and the counts that do not fit."""

    rules: list[Rules] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True)
class _Line:
    number: int
    values: tuple[int, ...]


def laid_out(text: str) -> Layout | None:
    """Read the layout; None when lines are not laid out as usual."""
    lines = _lines(text)
    if lines is None or len(lines) < 2 or len(lines[0].values) != 1:
        return None
    layout = Layout()
    place = 1
    for _ in range(min(lines[0].values[0], len(COLLECTIVE_IDS))):
        after = _collective(lines, place, layout)
        if after is None:
            return None
        place = after
    return layout


def _lines(text: str) -> list[_Line] | None:
    """Lines that hold numbers; None when one of them holds something else or no usual number of them."""
    number_lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split("#", 1)[0].split()
        if number == 1 and words and words[0].startswith(_HEADER):
            continue
        if not words:
            continue
        if not all(_PLAIN.fullmatch(word) for word in words) or len(words) not in (1, *_RULE):
            return None
        number_lines.append(_Line(number, tuple(int(word) for word in words)))
    return number_lines


def _collective(lines: list[_Line], place: int, layout: Layout) -> int | None:
    """Take one collective; the place after it."""
    head = lines[place : place + 2]
    if len(head) < 2 or any(len(line.values) != 1 for line in head) or head[0].values[0] >= len(COLLECTIVE_IDS):
        return None
    rules = Rules(COLLECTIVE_IDS[head[0].values[0]], head[0].number)
    layout.rules.append(rules)
    place += 2
    for _ in range(head[1].values[0]):
        head = lines[place : place + 2]
        if len(head) < 2 or any(len(line.values) != 1 for line in head):
            return None
        place += 2
        made = Set(head[0].values[0], head[0].number)
        while place < len(lines) and len(lines[place].values) in _RULE:
            size, algorithm, fan_out, segment, *requests = lines[place].values
            choice = Choice(algorithm, fan_out, segment, requests[0] if requests else None)
            made.rows.append(Row(size, choice, lines[place].number))
            place += 1
        rules.sets.append(made)
        layout.faults += _counted(rules.collective, made, head[1])
    return place


def _counted(collective: str, made: Set, count: _Line) -> list[Fault]:
    faults = []
    (declared,) = count.values
    where = f"{collective} from {format_count(made.comm_size, 'process', 'processes')}"
    if declared != len(made.rows):
        more = declared - len(made.rows)
        amount = f"{abs(more)} {'too many' if more > 0 else 'too few'}"
        effect = (
            "the numbers that follow are read as rules"
            if more > 0
            else "the rules that are left are read as further counts and sizes"
        )
        faults.append(
            Fault(
                count.number,
                "error",
                f"{where}: {format_count(declared, 'rule')} declared and {len(made.rows)} following, {amount}",
                f"{effect}: all behind is shifted, and where that makes no sense the library drops the file without "
                "a word",
            )
        )
    if made.rows and made.rows[0].size:
        faults.append(
            Fault(
                made.rows[0].line,
                "error",
                f"{where}: the first rule is for size {made.rows[0].size}, expected size 0 (such as '0 0 0 0')",
                "the library silently ignores the whole file",
            )
        )
    return faults
