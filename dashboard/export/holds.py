"""Where a decision holds that a file says for everywhere: what of it the target can say, and what it cannot."""

from dashboard.decisions import DecisionFunction
from dashboard.export.target import Target
from loaders.facets import Choice

#: Facts of the measurements that a file should be bound to.
_BOUND = {
    "device": "measured with buffers on the device {}",
    "placement": "measured with the placement {}",
    "ppn_note": "decided for {}",
}
#: Facets that are told of any results, and bind where one of several was chosen.
_CHOSEN = {
    "system": "measured on the system {}",
    "network": "measured over the network {}",
    "library": "measured with the library {}",
    "version": "measured with the library's version {}",
    "operation": "measured with the operation {}",
    "datatype": "measured with elements of the type {}",
    "campaign": "measured in the campaign {}",
}
#: What a file says of where its decisions hold that keeps all facts of the measurements as they are.
ALL = (*_BOUND, *_CHOSEN)
#: As good as not said: what every file holds for.
_USUAL = ("host", "cpu", "")


def unsaid(decision: DecisionFunction, target: Target) -> str:
    """What the file leaves open of where the decision holds, in words; empty where it says all."""
    facts = {name: str(decision.provenance.get(name, "")) for name in _BOUND}
    facts |= {n: v for n, v in Choice.of(decision.provenance.get("selected"), None).select.items() if n in _CHOSEN}
    bounds = [
        words.format(facts[name])
        for name, words in (_BOUND | _CHOSEN).items()
        if name not in target.says and facts.get(name, "").lower() not in _USUAL
    ]
    return f"{'; '.join(bounds)}. The file cannot say so: it decides everywhere" if bounds else ""
