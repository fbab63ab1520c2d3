"""Where a decision holds that a file says for everywhere: what of it the target can say, and what it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction
    from dashboard.export.target import Target

#: Facts of the measurements that a file should be bound to.
_BOUND = {
    "device": "measured with buffers on the device {}",
    "placement": "measured with the placement {}",
    "campaign": "measured in the campaign {}",
    "ppn_note": "decided for {}",
}
#: As good as not said: what every file holds for.
_USUAL = ("host", "cpu", "")


def unsaid(decision: DecisionFunction, target: Target) -> str:
    """What the file leaves open of where the decision holds, in words; empty where it says all.

    Only of rules that a library obeys; source code is called by who knows.
    """
    if not target.readable:
        return ""
    facts = {name: str(decision.provenance.get(name, "")) for name in _BOUND if name not in target.says}
    chosen = str(decision.provenance.get("selected", ""))
    # A campaign is told of results that were put together or chosen, else it is the only one.
    bounds = [
        words.format(facts[name])
        for name, words in _BOUND.items()
        if facts.get(name, "").lower() not in _USUAL and (name != "campaign" or "campaign=" in chosen)
    ]
    return f"{'; '.join(bounds)}. The file cannot say so: it decides everywhere" if bounds else ""
