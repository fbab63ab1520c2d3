"""Reader of Intel MPI's ``I_MPI_ADJUST_<OP>`` settings.

Source: Intel MPI developer reference: ``"<algorithm>[:<conditions>][;<algorithm>:<conditions>…]"``, conditions a list
of ``l``, ``l-m``, ``l@p`` and ``l-m@p-q``, ends included, l and m bytes, p and q processes. Where conditions overlap
the first that fits is taken here, a part without conditions last; which one Intel takes is not documented.
What a number stands for is said by the file's own comments, such as ``# bcast 3: ring``, where it has some.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method
from dashboard.export.bands import search_tree
from dashboard.export.rules.fault import Fault, RulesFile, in_order
from loaders.collectives import COLLECTIVES, plain_name
from loaders.intelmpi import ALGORITHMS

INF = 2**62
_SETTING = re.compile(r"\s*(?:export\s+|set\s+|-genv\s+)?I_MPI_ADJUST_(\w+)(?:\s*=\s*|\s+)(.*?)\s*")
_NAME = re.compile(r"#\s*(\w+) ([0-9]{1,4}): (.*\S)\s*")
_PART = re.compile(r"\s*([0-9]{1,4})\s*(?::(.*))?")
_CONDITION = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?(?:@([0-9]{1,10})(?:-([0-9]{1,10}))?)?")
_DEFAULT = Method("default", "default", 0)
_NOT_TAKEN = "Intel MPI takes no notice of the setting and decides by itself"


@dataclass(frozen=True)
class _Condition:
    algorithm: int
    low: int = 0
    high: int = INF
    fewest: int = 0
    most: int = INF


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
        conditions = _conditions(setting[2].strip("\"'"), number, faults)
        if name in built:
            faults.append(Fault(number, "warning", f"{setting[1]} is set a second time", "the later setting acts"))
        faults += _unlisted(name, conditions, number)
        if conditions:
            built[name] = _decision(name, conditions, labels)
    return RulesFile("intel", "Intel MPI settings (I_MPI_ADJUST)", built, built, in_order(faults))


def _unlisted(collective: str, conditions: Sequence[_Condition], line: int) -> Iterator[Fault]:
    """Numbers beyond those of the developer reference; later versions may have more."""
    names = ALGORITHMS.get(collective, ())
    for number in sorted({box.algorithm for box in conditions if names and box.algorithm > len(names)}):
        what = f"{collective} has no algorithm {number} in Intel MPI's reference; it has 1 to {len(names)}"
        effect = "Intel MPI may take no notice of it; compare with impi_info"
        yield Fault(line, "warning", what, effect)


def _conditions(text: str, line: int, faults: list[Fault]) -> list[_Condition]:
    conditions: list[_Condition] = []
    rest: list[_Condition] = []
    for token in text.split(";"):
        part = _PART.fullmatch(token)
        if part is None:
            what = f"{token[:40]!r} is no algorithm number with conditions such as 1:0-1024@2-8"
            faults.append(Fault(line, "error", what, _NOT_TAKEN))
            return []
        if part[2] is None:
            rest.append(_Condition(int(part[1])))
            continue
        for word in part[2].split(","):
            match = _CONDITION.fullmatch(word.strip())
            if match is None:
                what = f"condition {word[:40]!r}, expected l, l-m, l@p or l-m@p-q"
                faults.append(Fault(line, "error", what, _NOT_TAKEN))
                return []
            made = _condition(int(part[1]), match)
            if made.low > made.high or made.fewest > made.most:
                faults.append(Fault(line, "warning", f"condition {word[:40]!r} ends before it begins", "it never acts"))
            conditions.append(made)
    return conditions + rest


def _condition(algorithm: int, match: re.Match[str]) -> _Condition:
    low = int(match[1])
    high = int(match[2]) if match[2] else low
    fewest = int(match[3]) if match[3] else 0
    most = int(match[4]) if match[4] else fewest if match[3] else INF
    return _Condition(algorithm, low, high, fewest, most)


def _decision(collective: str, conditions: list[_Condition], labels: Mapping[tuple[str, int], str]) -> DecisionFunction:
    numbers = sorted({box.algorithm for box in conditions})
    names = [labels.get((collective, number), f"algorithm {number}") for number in numbers]
    methods = [
        _DEFAULT,
        *(Method(name, name, 0, {"library_id": number}) for name, number in zip(names, numbers, strict=True)),
    ]
    places = {number: place for place, number in enumerate(numbers, start=1)}
    comm = sorted(
        {1, *(max(1, box.fewest) for box in conditions), *(box.most + 1 for box in conditions if box.most < INF)}
    )
    message = sorted({0, *(box.low for box in conditions), *(box.high + 1 for box in conditions if box.high < INF)})
    rows = []
    for count in comm:
        here = [box for box in conditions if box.fewest <= count <= box.most]
        fits = [next((box for box in here if box.low <= size <= box.high), None) for size in message]
        rows.append(search_tree(message, [Leaf(places[box.algorithm] if box else 0) for box in fits], MESSAGE_SIZE))
    root = search_tree(comm, rows, COMM_SIZE)
    return DecisionFunction(collective, methods, root, kind="intel", provenance={"library": "Intel MPI"}).simplified()
