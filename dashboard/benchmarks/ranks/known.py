"""What is known of methods before they are called: who answers, and which of them are not called at all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.benchmarks.campaigns.plan import Plan, point_key
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.libraries.methods import LIBRARY, Method
from dashboard.benchmarks.ranks.selection import Selection
from dashboard.benchmarks.safety.verdict import Finding
from dashboard.export.components import TUNED


@dataclass(frozen=True)
class Known:
    """Of the methods of a plan."""

    plan: Plan
    #: Why points were refused in earlier launches, by their keys without the number of the launch.
    refused: Mapping[tuple[Any, ...], str] = field(default_factory=dict)
    #: What the check of every method found.
    faulty: tuple[Finding, ...] = ()
    selection: Selection = field(default_factory=Selection)

    def why_not(self, cell: Cell, method: Method) -> str:
        """Why a method is not called; empty when it is."""
        answered = self.answered(cell, method).get("component")
        if answered and (wanted := self.plan.component_of(method)) not in ("", answered):
            return f"not answered by {wanted}: on this communicator {answered} answers {cell.collective}"
        for fault in self.faulty:
            if fault.excluded and (fault.collective, fault.method) == (cell.collective, method):
                return f"unsafe: {fault.case}: {fault.effect}"
        return self.refused.get(point_key(cell, method)[:-1], "")

    def answered(self, cell: Cell, method: Method) -> dict[str, str]:
        """The component that answers a method's calls, where that is known."""
        if method.provider != LIBRARY:
            return {}
        # An algorithm that is forced is tuned's own, which is asked first then.
        wanted = self.plan.component_of(method)
        who = self.selection.who(cell.collective, cell.comm_size, cell.ppn, wanted)
        return {"component": TUNED if method.library_id and who else who} if who else {}
