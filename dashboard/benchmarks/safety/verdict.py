"""What the lines of a check say of each method: safe, not for so many processes, or at fault with the case shown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.benchmarks.safety.cases import NOT_COMMUTATIVE
from dashboard.benchmarks.safety.order import Order, Records

#: Of a cube and of a run's header: methods that must not be chosen, as JSON.
UNSAFE = "unsafe_methods"


@dataclass(frozen=True)
class Finding:
    """What is wrong with one method."""

    collective: str
    method: Method
    #: Cases that went wrong, as `Case.kind`, in the order in which they were seen.
    kinds: tuple[str, ...]
    #: Where, ascending.
    comm_sizes: tuple[int, ...]
    #: The first of them, so that it can be called again, and what happened.
    case: str
    effect: str
    #: How many went wrong.
    cases: int
    #: Whether it hung or took the job down.
    dead: bool = False

    @property
    def excluded(self) -> bool:
        """Whether it must not be chosen. One that fails for operations that do not commute alone is right for others.

        The library's own decision is what is left when nothing is chosen: it cannot be left out.
        """
        return self.method.algorithm != DEFAULT and not self.only_commutative

    @property
    def only_commutative(self) -> bool:
        """Whether it is wrong for operations that do not commute, and for nothing else."""
        return not self.dead and all(NOT_COMMUTATIVE in kind for kind in self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        return {
            "collective": self.collective,
            **self.method.to_json(),
            "label": self.method.label,
            "excluded": self.excluded,
            "only_commutative": self.only_commutative,
            "kinds": list(self.kinds),
            "comm_sizes": list(self.comm_sizes),
            "case": self.case,
            "effect": self.effect,
            "cases": self.cases,
        }

    def __str__(self) -> str:
        number = f" ({self.method.library_id})" if self.method.library_id else ""
        return f"{self.collective} {self.method.label}{number}: {self.case}: {self.effect}"


def findings(order: Order, records: Records) -> tuple[Finding, ...]:
    """What went wrong, one for each method, in the order of the order."""
    faults: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for fault in records.faults:
        faults.setdefault((fault["fault"][0], fault["fault"][1]), []).append(fault)
    return tuple(
        _finding(name, forced.method, faults[name, number])
        for name, each in order.methods.items()
        for number, forced in enumerate(each)
        if (name, number) in faults
    )


def _finding(name: str, method: Method, faults: Sequence[Mapping[str, Any]]) -> Finding:
    # Shown is a case in which the method must not be, if there is one.
    worst = min(faults, key=lambda fault: (not fault["dead"], NOT_COMMUTATIVE in fault["kind"]))
    return Finding(
        name,
        method,
        tuple(dict.fromkeys(str(fault["kind"]) for fault in faults)),
        tuple(sorted({int(fault["fault"][2]) for fault in faults})),
        str(worst["words"]),
        str(worst["text"]),
        len(faults),
        any(fault["dead"] for fault in faults),
    )


def as_attr(faulty: Iterable[Finding]) -> str:
    """Findings as a run's header has them: JSON text; empty when there is none."""
    records = [finding.to_dict() for finding in faulty]
    return json.dumps(records) if records else ""
