"""Reader of Open MPI rules of version 1 and 2, the classic text: what the library does with it, and what is wrong.

Source: open-mpi/ompi, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c. The file is read number by number: a count
that does not fit what follows shifts everything behind it. A file with a fault that the library sees is
dropped as a whole, in release builds without a word.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from dashboard.decisions import DecisionFunction
from dashboard.domain.units import format_count
from dashboard.export.library_names import Choice
from dashboard.export.rules.checks import check
from dashboard.export.rules.fault import Fault, Refused, RulesFile, in_order
from dashboard.export.rules.layout import laid_out
from dashboard.export.rules.rows import Row, Rules, Set, counted, decision_of, picked_classic, picked_shifted
from dashboard.export.rules.scan import End, Number, Scanner
from loaders.openmpi import COLLECTIVE_IDS, series

IGNORED = "the library silently ignores the whole file and decides as if there were none"
_MOST_SETS = 1_000_000


@dataclass
class _Read:
    """What the library has read when it has read all, or when it gives up."""

    rules: list[Rules] = field(default_factory=list)
    refused: Fault | None = None
    dropped: Sequence[tuple[int, str]] = ()
    rest: Number | None = None
    version: int = 1
    odd: list[Number] = field(default_factory=list)


def read(text: str, version: str = "5.0") -> RulesFile:
    """Read rules as Open MPI of this version does.

    Parameters
    ----------
    text
        The whole file.
    version
        Of Open MPI.
    """
    reading = _simulate(text, versioned=series(version) != "4.1")
    faults = [reading.refused] if reading.refused else []
    meant = reading.rules
    layout = laid_out(text)
    if layout is not None:
        # What the library stumbles over is said once, with what would be right.
        faults = [each for each in faults if each.line not in {fault.line for fault in layout.faults}]
        faults += layout.faults
        if reading.refused or layout.faults:
            meant = layout.rules
    faults += _surface(text, reading, version)
    faults += [fault for ruleset in meant for fault in check(ruleset, version, classic=True)]
    faults += _twice(meant)
    name = f"openmpi-{reading.version}"
    title = f"Open MPI rules, version {reading.version}, as read by Open MPI {series(version)}"
    acting = {} if reading.refused else _built(reading.rules, version, name)
    return RulesFile(name, title, acting, _built(meant, version, name), in_order(faults), counted(meant))


def _built(rules: Sequence[Rules], version: str, name: str) -> dict[str, DecisionFunction]:
    """Decision functions by collective; of a collective that comes twice the later rules act."""
    pick = picked_shifted if series(version) == "6.0" else picked_classic
    decisions = {ruleset.collective: decision_of(ruleset, series(version), pick, name) for ruleset in rules}
    return {collective: decision for collective, decision in decisions.items() if decision is not None}


def _simulate(text: str, *, versioned: bool) -> _Read:
    scanner = Scanner(text, versioned=versioned)
    reading = _Read(version=scanner.version)
    try:
        _collectives(scanner, reading)
        with suppress(End):
            reading.rest = scanner.next()
    except Refused as refused:
        reading.refused = Fault(refused.line, "error", str(refused), IGNORED)
    reading.dropped = scanner.dropped
    return reading


def _collectives(scanner: Scanner, reading: _Read) -> None:
    count = _next(scanner, reading, "the number of collectives")
    if count.value > len(COLLECTIVE_IDS):
        raise Refused(count.line, f"{count.text} collectives; there are at most {len(COLLECTIVE_IDS)}")
    for _ in range(count.value):
        number = _next(scanner, reading, "the number of a collective")
        if number.value >= len(COLLECTIVE_IDS):
            raise Refused(
                number.line, f"{number.text} is read as a collective's number, expected 0 to {len(COLLECTIVE_IDS) - 1}"
            )
        name = COLLECTIVE_IDS[number.value]
        rules = Rules(name, number.line)
        reading.rules.append(rules)
        sets = _next(scanner, reading, f"the number of communicator sizes of {name}")
        if sets.value > _MOST_SETS:
            raise Refused(sets.line, f"{sets.text} is read as the number of communicator sizes of {name}")
        for _ in range(sets.value):
            rules.sets.append(_set(scanner, reading, name))


def _set(scanner: Scanner, reading: _Read, name: str) -> Set:
    size = _next(scanner, reading, f"a communicator size of {name}")
    where = f"{name} from {format_count(size.value, 'process', 'processes')}"
    count = _next(scanner, reading, f"the number of rules of {where}")
    made = Set(size.value, size.line)
    for number in range(count.value):
        first = _next(scanner, reading, f"the message size of rule {number + 1} of {where}")
        algorithm, fan_out, segment = (
            _next(scanner, reading, f"{what} of rule {number + 1} of {where}")
            for what in ("the algorithm", "the fan-out", "the segment size")
        )
        requests = None
        if reading.version > 1 and scanner.digit_follows():
            requests = _next(scanner, reading, f"the requests of rule {number + 1} of {where}").value
        if not number and first.value:
            raise Refused(
                first.line,
                f"the first rule of {where} is for size {first.value} (as the library reads it), expected size 0",
            )
        made.rows.append(Row(first.value, Choice(algorithm.value, fan_out.value, segment.value, requests), first.line))
    return made


def _next(scanner: Scanner, reading: _Read, what: str) -> Number:
    try:
        number = scanner.next()
    except End:
        raise Refused(scanner.line, f"the file ends where {what} should be") from None
    if number.value < 0:
        raise Refused(number.line, f"{number.text} is read as {what}, expected 0 or more")
    if len(number.text.lstrip("+")) > 1 and number.text.lstrip("+")[0] == "0":
        reading.odd.append(number)
    return number


def _surface(text: str, reading: _Read, version: str) -> list[Fault]:
    """Faults of the text itself, whatever it says."""
    faults = [
        Fault(
            line,
            "warning",
            f"{chars[:30]!r} is neither number nor comment (#)",
            "dropped character by character; digits in such words are read as numbers",
        )
        for line, chars in reading.dropped
    ]
    faults += [
        Fault(number.line, "warning", f"{number.text} is octal or hexadecimal", f"read as {number.value}")
        for number in reading.odd
    ]
    if reading.rest is not None:
        faults.append(
            Fault(
                reading.rest.line,
                "warning",
                f"{reading.rest.text} and what follows are beyond the declared number of collectives",
                "never read",
            )
        )
    if "rule-file-version-" in text and reading.version == 1:
        line = text.count("\n", 0, text.index("rule-file-version-")) + 1
        why = (
            f"Open MPI {series(version)} knows rules of version 1 only"
            if series(version) == "4.1"
            else "the version must be the very first thing in the file, comments only after it"
        )
        faults.append(Fault(line, "error", f"rule-file-version is not understood: {why}", IGNORED))
    if series(version) == "6.0" and any(len(rules.sets) > 1 for rules in reading.rules):
        faults.append(
            Fault(
                None,
                "warning",
                "rules of version 1 or 2 read by Open MPI 6: a set reaches up to before its own communicator size",
                "every set acts for the communicators below it, shifted by one; write version 3 (JSON) instead",
            )
        )
    if series(version) == "5.0" and reading.version > 1:
        faults.append(
            Fault(1, "note", "rules of version 2 need Open MPI 5.0.7 or newer", "older ones silently ignore the file")
        )
    return faults


def _twice(rules: Sequence[Rules]) -> list[Fault]:
    """Collectives that come again: the later one replaces the earlier."""
    faults = []
    seen: dict[str, int] = {}
    for ruleset in rules:
        if ruleset.collective in seen:
            faults.append(
                Fault(
                    ruleset.line,
                    "warning",
                    f"{ruleset.collective} comes a second time, after line {seen[ruleset.collective]}",
                    "only the rules here act",
                )
            )
        seen[ruleset.collective] = ruleset.line
    return faults
