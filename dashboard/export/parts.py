"""What decision functions are made of for targets that know only sizes, and at most processes per node."""

from collections import Counter
from collections.abc import Sequence

from dashboard.decisions import DecisionFunction
from dashboard.export.target import Decisions, ExportError


def per_collective(decisions: Decisions) -> list[DecisionFunction]:
    """Give one decision function for each collective: one for several is taken apart and simplified.

    Raises
    ------
    ExportError
        There is none, or one tests the collective but does not name those it knows, or two are of one collective.
    """
    parts: list[DecisionFunction] = []
    for decision in decisions if isinstance(decisions, Sequence) else [decisions]:
        names = decision.categories.get("collective", ())
        if "collective" in decision.needs and not names:
            raise ExportError(f"{decision.collective}: the decision tests the collective, but names none")
        parts += [decision.restricted(collective=name) for name in names] if names else [decision]
    if not parts:
        raise ExportError("there is no decision function to export")
    collective, count = Counter(part.collective for part in parts).most_common(1)[0]
    if count > 1:
        raise ExportError(f"{count} decision functions for {collective}; one file can hold one")
    return parts


def known_ppn(decision: DecisionFunction) -> int | None:
    """Processes per node that a decision function was made from, if it is one number."""
    known = decision.provenance.get("ppn")
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def usual_ppn(decision: DecisionFunction) -> int:
    """Processes per node for callers that do not tell them.

    The one that was measured; of several the largest, since jobs fill their nodes; 1 where it is not known.
    """
    known, several = known_ppn(decision), decision.provenance.get("ppns")
    if known is not None:
        return known
    return max((int(value) for value in several), default=1) if isinstance(several, list | tuple) else 1
