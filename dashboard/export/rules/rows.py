"""Rules of Open MPI as they stand in a file, and how the library picks one of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Method
from dashboard.export.bands import Band, Bands, merged
from dashboard.export.library_names import COMPARED, NOTHING, Choice, least_fan_out, plain
from dashboard.export.targets.c.text import INT_MAX
from loaders.openmpi import algorithms, distinct

Item = TypeVar("Item")

#: Begins the name of an algorithm that a file has by a number which the library has not.
UNKNOWN = "unknown "

INF = 2**63 - 1


@dataclass(frozen=True)
class Row:
    """One message rule: from `size` to `last` bytes of what the library compares, where it stands."""

    size: int
    choice: Choice
    line: int
    last: int = INF

    @property
    def bounds(self) -> tuple[int, int]:
        """The sizes that it is for, both ends included, in bytes of what the library compares."""
        return self.size, self.last


@dataclass
class Set:
    """The rules of one range of communicator sizes, and where it stands."""

    comm_size: int
    line: int
    rows: list[Row] = field(default_factory=list)
    last: int = INT_MAX

    @property
    def bounds(self) -> tuple[int, int]:
        """The communicator sizes that it is for, both ends included."""
        return self.comm_size, self.last


@dataclass
class Rules:
    """All sets of one collective, and where they stand."""

    collective: str
    line: int
    sets: list[Set] = field(default_factory=list)


def counted(rules: Sequence[Rules]) -> dict[str, int]:
    """How many rules of each collective stand in a file; of one that comes twice those that act."""
    return {each.collective: sum(len(band.rows) for band in each.sets) for each in rules}


def ascending(starts: Sequence[int], items: Sequence[Item]) -> list[tuple[int, Item]]:
    """What acts from where, where the library goes on as long as the start is not above its size (4.x, 5.x).

    A start below one before it acts from that one on, and what stood there never acts.
    """
    steps: list[tuple[int, Item]] = []
    for start, item in zip(starts, items, strict=True):
        effective = max(start, steps[-1][0]) if steps else start
        if steps and effective == steps[-1][0]:
            steps.pop()
        steps.append((effective, item))
    return steps


def first_match(
    ranges: Sequence[tuple[int, int]], items: Sequence[Item], rest: Item, largest: int = INF
) -> list[tuple[int, Item]]:
    """What acts from where, up to the largest size: the first range that holds the size counts, else `rest` (6.x)."""
    edges = sorted({0, *(low for low, _ in ranges), *(high + 1 for _, high in ranges)})
    steps: list[tuple[int, Item]] = []
    for edge in edges:
        if not 0 <= edge <= largest:
            continue
        chosen = next((item for (low, high), item in zip(ranges, items, strict=True) if low <= edge <= high), rest)
        if not steps or chosen is not steps[-1][1]:
            steps.append((edge, chosen))
    return steps


Picked = list[tuple[int, list[tuple[int, Choice]]]]


def picked_classic(rules: Rules) -> Picked:
    """Rules of version 1 and 2 as Open MPI 4.x and 5.x pick them."""
    sets = ascending([band.comm_size for band in rules.sets], rules.sets)
    return [(start, _rows(band)) for start, band in sets]


def _rows(band: Set) -> list[tuple[int, Choice]]:
    if not band.rows:
        return [(0, NOTHING)]
    return ascending([row.size for row in band.rows], [row.choice for row in band.rows])


def picked_shifted(rules: Rules) -> Picked:
    """Rules of version 1 and 2 as the main branch (6.x) picks them: a set ends before its own communicator size."""
    shifted, low = [], 0
    for band in rules.sets:
        high = INT_MAX if band is rules.sets[-1] else band.comm_size - 1
        shifted.append(Set(low, band.line, _ended(band.rows), last=high))
        low = high + 1
    return picked_ranges(replace(rules, sets=shifted))


def _ended(rows: Sequence[Row]) -> list[Row]:
    ends = [*(row.size - 1 if row.size else INF for row in rows[1:]), INF][: len(rows)]
    return [replace(row, last=end) for row, end in zip(rows, ends, strict=True)]


def picked_ranges(rules: Rules) -> Picked:
    """Rules with both ends told (version 3): the first set that fits, in it the first rule that fits."""
    sets = first_match([band.bounds for band in rules.sets], rules.sets, Set(0, 0), INT_MAX)
    return [
        (start, first_match([row.bounds for row in band.rows], [row.choice for row in band.rows], NOTHING))
        for start, band in sets
    ]


def decision_of(rules: Rules, version: str, pick: Callable[[Rules], Picked], kind: str) -> DecisionFunction | None:
    """Give the decision function of one collective's rules; None where the library never asks them."""
    compared = COMPARED.get(rules.collective)
    if compared is None or not rules.sets:
        return None
    known = algorithms(rules.collective, version)
    methods: dict[Choice, int] = {}
    bands = []
    for start, rows in pick(rules):
        kept = [(0, rows[0][1]), *rows[1:]] if compared != "nothing" else [(0, _at_zero(rows))]
        places = [
            (size, methods.setdefault(plain(choice, rules.collective, known.get(choice.algorithm, "")), len(methods)))
            for size, choice in kept
        ]
        bands.append(Band(start, tuple(places)))
    named = [method_of(choice, known, rules.collective) for choice in methods]
    facts = {"library": "Open MPI", "library_version": version}
    return merged(Bands(compared, tuple(bands))).decision(rules.collective, named, kind=kind, provenance=facts)


def _at_zero(rows: Sequence[tuple[int, Choice]]) -> Choice:
    return [choice for size, choice in rows if size <= 0][-1] if rows[0][0] <= 0 else rows[0][1]


def method_of(choice: Choice, known: dict[int, str], collective: str) -> Method:
    """The method that a choice stands for; a chain without a fan-out is not that which is forced without one."""
    if not choice.algorithm:
        return LEFT_ALONE
    name = distinct(known.get(choice.algorithm, f"{UNKNOWN}{choice.algorithm}"))
    label = name
    if choice.segment_size:
        size = choice.segment_size
        label += f" {size // 1024}KiB" if size % 1024 == 0 else f" {size}B"
    parameters = {"library_id": choice.algorithm}
    if least_fan_out(collective, name):
        parameters["fan_out"] = choice.fan_out
    if choice.fan_out:
        label += f" fan_out={choice.fan_out}"
    if choice.requests is not None:
        parameters["max_requests"] = choice.requests
        label += f" max_requests={choice.requests}"
    return Method(label, name, choice.segment_size, parameters)
