"""Reader of Intel MPI's ``I_MPI_ADJUST_<OP>`` settings.

Source of the form: Intel MPI developer reference: ``"<algorithm>[:<conditions>][;<algorithm>:<conditions>…]"``,
conditions a list of ``l``, ``l-m``, ``l@p`` and ``l-m@p-q``, l and m bytes, p and q processes of the communicator.
Source of the effect: 2021.1.1, 2021.9.0, 2021.18.1 and 2021.19.0 as they act on 2 to 8 processes (messages counted). A
line is a list of sizes, or where ``@`` or parentheses stand in it a list of ranges of processes, each with a list of
sizes in parentheses, ``(8:0-1000;3)@1-4;(1)``, or with a single method. Of both lists the upper ends alone act: the
first that is not below the size, the last entry where none is. What is said again for an upper end takes the place of
the first.
What a number stands for is said by the file's own comments, such as ``# bcast 3: ring``, where it has some.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.export.bands import Band, Bands
from dashboard.export.rules.fault import Fault, RulesFile, in_order
from dashboard.export.targets.c.text import INT_MAX
from dashboard.export.targets.settings import INTEL_COMPARED, INTEL_LONGEST
from loaders.collectives import COLLECTIVES, plain_name
from loaders.intelmpi import ALGORITHMS

INF = 2**62
_SETTING = re.compile(r"\s*(?:export\s+|set\s+|-genv\s+)?I_MPI_ADJUST_(\w+)(?:\s*=\s*|\s+)(.*?)\s*")
_NAME = re.compile(r"#\s*(\w+) ([0-9]{1,4}): (.*\S)\s*")
_SEPARATOR = re.compile(r";(?![^(]*\))")
_GROUP = re.compile(r"\s*\(([^()]*)\)\s*(?:@([0-9]{1,10})(?:-([0-9]{1,10}))?)?\s*")
_PART = re.compile(r"\s*([0-9]{1,4})\s*(?::(.*))?")
_CONDITION = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?(?:@([0-9]{1,10})(?:-([0-9]{1,10}))?)?")
#: Ends a value in a shell script, or the script, where it is not in quotes.
_SHELL = re.compile(r"[^\s;&|<>()\"']*\s*([;&|<>()])")
_NOT_TAKEN = "Intel MPI takes no notice of the setting and decides by itself"
_MISREAD = "Intel MPI acts by the numbers that it makes out, such as 3 of 3:0-8k, or takes no notice of the setting"
_REMEDY = "sizes are written as 8:0-1000;3, those of a range of processes as (8:0-1000;3)@2-8"


class _Range(NamedTuple):
    """Sizes or processes from one to another, ends included."""

    start: int
    end: int


_ALL = _Range(0, INF)


@dataclass(frozen=True, eq=False)
class _Condition:
    algorithm: int
    text: str
    sizes: _Range = _ALL
    processes: _Range = _ALL


@dataclass(frozen=True, eq=False)
class _Group:
    """What is said for a range of processes, and for which sizes each of its conditions acts."""

    text: str
    processes: _Range
    conditions: tuple[_Condition, ...]
    acting: Mapping[_Condition, _Range]


_Entry = TypeVar("_Entry")


def read(text: str) -> RulesFile:
    """Read all settings of a file."""
    faults: list[Fault] = []
    built: dict[str, DecisionFunction] = {}
    lines = text.split("\n")
    labels = {(said[1], int(said[2])): said[3] for line in lines if (said := _NAME.fullmatch(line.strip()))}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None:
            faults.append(
                Fault(number, "note", f"{line.strip()[:40]!r} is no I_MPI_ADJUST setting", "not looked at here")
            )
            continue
        name = setting[1].lower()
        if plain_name(name) not in COLLECTIVES:
            faults.append(Fault(number, "error", f"there is no collective {setting[1]}", _NOT_TAKEN))
            continue
        if line.lstrip().startswith("export") and (ends := _SHELL.match(setting[2])):
            what = f"the value is not in quotes: the shell ends it at {ends[1]!r}, or refuses the file"
            faults.append(Fault(number, "error", what, "Intel MPI is handed what stands before it, or nothing"))
            continue
        value = setting[2].strip("\"'")
        if len(value) > INTEL_LONGEST:
            what = f"{len(value)} characters, of which Intel MPI reads {INTEL_LONGEST}"
            faults.append(Fault(number, "error", what, f"{_NOT_TAKEN}, or ends the program"))
            continue
        groups = _groups(value, number, faults)
        if name in built:
            faults.append(Fault(number, "warning", f"{setting[1]} is set a second time", "the later setting acts"))
        faults += _unlisted(name, groups, {place for collective, place in labels if collective == name}, number)
        if groups:
            built[name] = _decision(name, groups, labels)
    return RulesFile("intel", "Intel MPI settings (I_MPI_ADJUST)", built, built, in_order(faults))


def _unlisted(collective: str, groups: Iterable[_Group], named: Container[int], line: int) -> Iterator[Fault]:
    """Numbers beyond those of the developer reference that the file does not name; later versions may have more."""
    names = ALGORITHMS.get(collective, ())
    numbers = {box.algorithm for group in groups for box in group.conditions}
    if 0 in numbers:
        effect = "Intel MPI goes by built-in rules there; without the variable it goes by its tuning"
        yield Fault(line, "note", f"{collective}: 0 is not the library's own decision", effect)
    for number in sorted(number for number in numbers if names and number > len(names) and number not in named):
        what = f"{collective} has no algorithm {number} in Intel MPI's reference; it has 1 to {len(names)}"
        effect = "Intel MPI goes by built-in rules where it has none of that number; compare with impi_info"
        yield Fault(line, "warning", what, effect)


def _groups(text: str, line: int, faults: list[Fault]) -> dict[_Group, _Range]:
    """What a setting says, and for which numbers of processes each acts, ascending; empty where it is faulty."""
    tokens = _SEPARATOR.split(text) if "@" in text or "(" in text else [f"({text})"]
    groups: list[_Group] = []
    for token in tokens:
        inside = _GROUP.fullmatch(token)
        conditions = _conditions(inside[1] if inside else token, line, faults)
        if not conditions:
            return {}
        processes = _range(inside[2], inside[3]) if inside else conditions[-1].processes
        for box in conditions:
            if box.processes != (_ALL if inside else processes):
                what = f"the processes of {box.text!r} do not act"
                faults.append(Fault(line, "warning", what, "those behind parentheses or the last of a part do"))
        ends: dict[int, _Condition] = {}
        for box in conditions:
            if box.sizes.end < INF or INF not in ends:
                ends[box.sizes.end] = box
        groups.append(_Group(token.strip(), processes, tuple(conditions), _acting(ends)))
    acting = _acting({group.processes.end: group for group in groups})
    for group in groups:
        faults += _astray(group.text, "processes", group.processes, acting.get(group), line)
        for box in group.conditions if group in acting else ():
            faults += _astray(box.text, "bytes", box.sizes, group.acting.get(box), line)
    return acting


def _conditions(text: str, line: int, faults: list[Fault]) -> list[_Condition]:
    """Conditions of a list of sizes, in order; empty where it is faulty."""
    conditions: list[_Condition] = []
    for token in text.split(";"):
        part = _PART.fullmatch(token)
        if part is None:
            what = f"{token[:40]!r} is no algorithm number with conditions such as 1:0-1024@2-8"
            faults.append(Fault(line, "error", what, _MISREAD))
            return []
        for word in part[2].split(",") if part[2] is not None else ():
            match = _CONDITION.fullmatch(word.strip())
            if match is None:
                what = f"condition {word[:40]!r}, expected l, l-m, l@p or l-m@p-q"
                faults.append(Fault(line, "error", what, _MISREAD))
                return []
            sizes, processes = _range(match[1], match[2]), _range(match[3], match[4])
            if sizes.start > sizes.end or processes.start > processes.end:
                faults.append(Fault(line, "warning", f"condition {word[:40]!r} ends before it begins", "its end acts"))
            if sizes.end > INT_MAX:
                what = f"condition {word[:40]!r} goes beyond {INT_MAX}"
                faults.append(Fault(line, "warning", what, "Intel MPI takes another size"))
            conditions.append(_Condition(int(part[1]), f"{part[1]}:{word.strip()}", sizes, processes))
        if part[2] is None:
            conditions.append(_Condition(int(part[1]), token.strip()))
    return conditions


def _range(start: str | None, end: str | None) -> _Range:
    return _Range(int(start), int(end or start)) if start else _ALL


def _acting(ends: Mapping[int, _Entry]) -> dict[_Entry, _Range]:
    """Where each entry of a list acts, by their upper ends in order: the first that reaches, else the last."""
    acting: dict[_Entry, _Range] = {}
    below = -1
    for end, entry in ends.items():
        if end > below:
            acting[entry] = _Range(below + 1, end)
            below = end
    if below < INT_MAX:
        last = [*ends.values()][-1]
        acting[last] = _Range(acting[last].start if last in acting else below + 1, INF)
    return acting


def _astray(text: str, unit: str, said: _Range, acts: _Range | None, line: int) -> Iterator[Fault]:
    """Warn of what acts nowhere, or beyond what it says; with fewer than 2 processes nothing is chosen."""
    if acts is None:
        what, effect = f"{text[:40]!r} never acts", "what stands before it reaches as far, or what follows replaces it"
        yield Fault(line, "warning", what, effect)
    elif said.start <= said.end and (
        max(acts.start, 2 * (unit == "processes")) < said.start or acts.end > said.end < INT_MAX
    ):
        end = f"to {acts.end}" if acts.end < INF else "up"
        effect = f"Intel MPI takes it from {acts.start} {end}, since upper ends alone act; {_REMEDY}"
        yield Fault(line, "warning", f"{text[:40]!r} acts for other {unit}, too", effect)


def _decision(
    collective: str, groups: Mapping[_Group, _Range], labels: Mapping[tuple[str, int], str]
) -> DecisionFunction:
    numbers = sorted({box.algorithm for group in groups for box in group.acting})
    names = [labels.get((collective, number), f"algorithm {number}") for number in numbers]
    methods = [Method(name, name, 0, {"library_id": number}) for name, number in zip(names, numbers, strict=True)]
    bands = [
        Band(processes.start, tuple((at.start, numbers.index(box.algorithm)) for box, at in group.acting.items()))
        for group, processes in groups.items()
    ]
    rules = Bands(INTEL_COMPARED.get(plain_name(collective), "message"), tuple(bands))
    return rules.decision(collective, methods, kind="intel", provenance={"library": "Intel MPI"}).simplified()
