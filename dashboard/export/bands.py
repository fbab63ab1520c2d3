"""A decision function as communicator bands with message thresholds: all that most rules files can say.

A band is a range of communicator sizes, and within it a rule is a range of sizes. What a rule's size is compared
with differs: the message size as it is, the total ``communicator size × message size`` (a band of several
communicator sizes has one threshold for them all then), or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method, Node, search_tree
from dashboard.domain.arrays import IntArray
from dashboard.export.library_names import Compared
from dashboard.export.parts import usual_ppn
from dashboard.export.target import ExportError
from dashboard.export.targets.c.text import INT_MAX

MOST_COMM_SIZES = 4096
"""Beyond so many communicator sizes a tree that tells them apart one by one is not written out."""
UNMEASURED_COMM_SIZES = 1023
"""So many communicator sizes are told apart where none is known to be measured, as of rules that are translated: one
below a power of two, since most sizes beyond are none either."""
_TOP = 2**62
LARGEST = 2**63 - 1
"""Bytes that a size can be at most where libraries compare it (``long``)."""


@dataclass(frozen=True)
class Band:
    """Rules of a range of communicator sizes."""

    #: The smallest communicator size; it reaches to the next band's start.
    start: int
    #: ``(smallest size, method index)``, ascending, the first of size 0.
    rules: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Bands:
    """Communicator bands of one collective."""

    #: What the sizes of rules are compared with.
    compared: Compared
    #: Ascending; the first holds for smaller communicators, too.
    bands: tuple[Band, ...]
    #: What could not be said, in words; empty when the bands decide as the decision function does.
    notes: tuple[str, ...] = field(default=())

    @property
    def rules(self) -> int:
        """Number of rules of all bands."""
        return sum(len(band.rules) for band in self.bands)

    def ranges(self) -> Iterator[tuple[int, int | None, list[tuple[int, int | None, int]]]]:
        """First and last communicator size of each band with its rules: first and last size, and method.

        What reaches beyond all has no last one (None).
        """
        for band, end in zip(self.bands, _ends([band.start for band in self.bands]), strict=True):
            ends = _ends([size for size, _ in band.rules])
            yield band.start, end, [(size, last, method) for (size, method), last in zip(band.rules, ends, strict=True)]

    def with_methods(self, places: Sequence[int]) -> Bands:
        """The same with other methods, by their old index; rules that became equal are merged."""
        return merged(
            Bands(
                self.compared,
                tuple(Band(band.start, tuple((size, places[m]) for size, m in band.rules)) for band in self.bands),
                self.notes,
            )
        )

    def decision(self, collective: str, methods: Sequence[Method], **facts: Any) -> DecisionFunction:
        """Give the decision function that decides as these bands do."""
        root = self.tree([Leaf(method) for method in range(len(methods))])
        return DecisionFunction(collective, methods, root, **{"kind": "rules", **facts})

    def tree(self, nodes: Sequence[Node]) -> Node:
        """Give the tree of these bands, with a node in the place of each method."""
        attribute = "total_size" if self.compared == "total" else MESSAGE_SIZE
        rows = [
            search_tree([size for size, _ in band.rules], [nodes[method] for _, method in band.rules], attribute)
            for band in self.bands
        ]
        return search_tree([band.start for band in self.bands], rows, COMM_SIZE)


def _ends(starts: Sequence[int]) -> list[int | None]:
    return [*(start - 1 for start in starts[1:]), None]


def merged(bands: Bands) -> Bands:
    """Merge neighbouring rules of one method and neighbouring bands of the same rules."""
    distinct_bands: list[Band] = []
    for band in bands.bands:
        rules = [rule for k, rule in enumerate(band.rules) if not k or rule[1] != band.rules[k - 1][1]]
        if not distinct_bands or tuple(rules) != distinct_bands[-1].rules:
            distinct_bands.append(Band(band.start, tuple(rules)))
    return Bands(bands.compared, tuple(distinct_bands), bands.notes)


def bands_of(decision: DecisionFunction, compared: Compared) -> Bands:
    """Lay a decision function out as bands.

    Trees of the two sizes become bands that decide the same for all sizes where message sizes are compared.
    Where totals are compared, or totals, even or power-of-two communicator sizes are tested, each communicator
    size up to the largest measured one (or tested one) is looked at by itself, where none is known to be measured
    up to `UNMEASURED_COMM_SIZES`; neighbours share a band where one set of thresholds serves them all.
    The processes per node are taken as measured.

    Parameters
    ----------
    compared
        What sizes of rules are compared with.

    Raises
    ------
    ExportError
        When more than `MOST_COMM_SIZES` communicator sizes would have to be looked at one by one, or nothing is
        compared and the decision changes with the message size.
    """
    notes: list[str] = []
    if "ppn" in decision.needs:
        ppn = usual_ppn(decision)
        notes.append(f"rules do not know processes per node; written for {ppn}, of which alone penalties are told")
        decision = decision.restricted(ppn=ppn)
    else:
        decision = decision.simplified()
    sizes, all_of_them = _comm_sizes(decision, compared)
    if sizes[-1] > INT_MAX:
        sizes = [size for size in sizes if size <= INT_MAX]
        notes.append(f"no communicator has more than {INT_MAX:,} processes; what is decided beyond is left out")
    bands = tuple(_banded(decision, compared, sizes))
    if not (all_of_them or (len(bands[-1].rules) == 1 and set(decision.attributes) <= {COMM_SIZE, MESSAGE_SIZE})):
        # What is compared is a total: of more processes the same one has smaller blocks.
        totals = compared == "total" and MESSAGE_SIZE in decision.attributes
        alike = " with as many bytes in all, whose blocks are larger" if totals else ""
        notes.append(f"communicators of more than {sizes[-1]:,} processes are decided as those of {sizes[-1]:,}{alike}")
    return merged(Bands(compared, bands, tuple(notes)))


def _comm_sizes(decision: DecisionFunction, compared: Compared) -> tuple[list[int], bool]:
    """Communicator sizes at which bands may start, and whether they tell all that the decision says."""
    cuts = [cut + 1 for cut in _cuts(decision, COMM_SIZE) if cut >= 1]
    tested = set(decision.attributes)
    if tested <= {COMM_SIZE, MESSAGE_SIZE} and (compared != "total" or MESSAGE_SIZE not in tested):
        return [1, *cuts], True
    if compared == "total" and _of_totals(decision):
        return [1, *cuts], True
    measured = decision.provenance.get("comm_size")
    known = measured[1] if isinstance(measured, list | tuple) and len(measured) == 2 else UNMEASURED_COMM_SIZES
    highest = max([int(known), *cuts])
    if highest > MOST_COMM_SIZES:
        raise ExportError(
            f"{decision.collective}: the decision tells communicators of up to {highest} processes apart one by one, "
            f"and rules would need a set for each; at most {MOST_COMM_SIZES} are written. Decide over the two sizes "
            "only, or limit the number of rules"
        )
    return list(range(1, highest + 1)), False


def _cuts(decision: DecisionFunction, attribute: str) -> list[int]:
    """All whole cuts on one attribute, ascending."""
    return [cut for cut in decision.tree.cuts_on(attribute).tolist() if -_TOP < cut < _TOP]


def _banded(decision: DecisionFunction, compared: Compared, sizes: Sequence[int]) -> list[Band]:
    """Bands of the decision at `sizes`, neighbours joined where the same thresholds serve them."""
    profiles: list[tuple[int, IntArray, IntArray, IntArray]] = []
    for comm_size in sizes:
        methods, low, high = _profile(decision, compared, comm_size)
        if profiles:
            start, before, floor, ceiling = profiles[-1]
            if np.array_equal(before, methods):
                floor, ceiling = np.maximum(floor, low), np.minimum(ceiling, high)
                if (floor <= ceiling).all():
                    profiles[-1] = (start, before, floor, ceiling)
                    continue
        profiles.append((comm_size, methods, low, high))
    return [
        Band(start, tuple(zip(_round(_whole_bytes(start, low, high), high), methods.tolist(), strict=True)))
        for start, methods, low, high in profiles
    ]


def _whole_bytes(start: int, low: IntArray, high: IntArray) -> IntArray:
    """A total below one byte for each process would serve as well, but looks like a block per process."""
    return np.where(low < high, np.maximum(low, np.minimum(start, high)), low)


def _round(low: IntArray, high: IntArray) -> list[int]:
    """Of the sizes from `low` to `high`, all of which serve, the roundest: people read rules."""
    round_sizes = []
    for first, last in zip(low.tolist(), high.tolist(), strict=True):
        bit = (first ^ last).bit_length()
        round_sizes.append(last >> bit << bit if last >> bit << bit >= first else last >> (bit - 1) << (bit - 1))
    return round_sizes


def _of_totals(decision: DecisionFunction) -> bool:
    """Whether it changes with totals and not with blocks, as rules that compare totals do."""
    return "total_size" in decision.attributes and set(decision.attributes) <= {COMM_SIZE, "total_size"}


def _profile_of_totals(decision: DecisionFunction, comm_size: int) -> tuple[IntArray, IntArray, IntArray]:
    """As `_profile`: its own totals, since what serves one communicator size as well need not serve the next."""
    cuts = _cuts(decision, "total_size")
    totals = np.array(sorted({0, *(cut + 1 for cut in cuts if 0 <= cut < LARGEST)}), dtype=np.int64)
    columns = {COMM_SIZE: np.full(totals.size, comm_size, dtype=np.int64), "total_size": totals}
    nodes = decision.tree.walk([columns[name] for name in decision.tree.attributes])
    methods = decision.tree.codes[nodes].astype(np.int64)
    kept = np.concatenate([[True], methods[1:] != methods[:-1]])
    return methods[kept], totals[kept], totals[kept]


def _profile(decision: DecisionFunction, compared: Compared, comm_size: int) -> tuple[IntArray, IntArray, IntArray]:
    """Methods at one communicator size in the order of message sizes, and between which sizes each may begin."""
    if compared == "total" and _of_totals(decision):
        return _profile_of_totals(decision, comm_size)
    starts = {0, *(cut + 1 for cut in _cuts(decision, MESSAGE_SIZE))}
    starts |= {cut // comm_size + 1 for cut in _cuts(decision, "total_size")}
    messages = np.array(sorted(start for start in starts if start >= 0), dtype=np.int64)
    if compared == "nothing":
        messages = messages[:1]
        if (
            np.unique(decision.predict(comm_size, np.array(sorted(starts)))).size > 1
            and decision.collective != "barrier"
        ):
            raise ExportError(
                f"{decision.collective}: the library compares no message size here, so that rules cannot say where the "
                "method changes with it; limit the number of rules to have the best of those that it can say"
            )
    methods = decision.predict(comm_size, messages)
    kept = np.concatenate([[True], methods[1:] != methods[:-1]])
    methods, messages = methods[kept], messages[kept]
    if compared != "total":
        return methods, messages, messages
    # Whole numbers of Python: a product of sizes has no room in 64 bits. No total is larger than what has.
    totals = [(max(int(size) - 1, -1) * comm_size + 1, int(size) * comm_size) for size in messages]
    reached = [(max(low, 0), min(high, LARGEST)) for low, high in totals if low <= LARGEST]
    low, high = (np.array(each, dtype=np.int64) for each in zip(*reached, strict=True))
    return methods[: len(reached)], low, high
