"""Decision functions as MPICH's collective selection (JSON): its complete file with some collectives replaced.

MPICH stops a program where the file lacks a collective or has an unknown key, so that the file to start from must be
that of the very version: the one that the installed library holds, or ``maint/tuning/coll/mpir/generic.json`` of its
source. For the same reason nothing can be said in comments. Replaced is what intracommunicators do; operations that do
not commute or, where MPICH can be asked for it, are user-defined keep the library's own decision, as do algorithms that
a communicator size rules out.
"""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dashboard.decisions import DecisionFunction, Method
from dashboard.export import usage
from dashboard.export.bands import bands_of
from dashboard.export.library_names import NAMED, Compared, is_of_library, is_own_decision, unwritten
from dashboard.export.parts import per_collective
from dashboard.export.rules import RulesError
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.mpich import Tree, leaves_of
from dashboard.export.rules.mpich_calls import ASKED_OF, MANY_ELEMENTS, POWERS_ONLY, SPANNING, closed
from dashboard.export.rules.mpich_names import ALGORITHMS, NONBLOCKING, called
from dashboard.export.rules.mpich_parameters import CHUNK, PARAMETERS, PIPELINED, READ, SEGMENT
from dashboard.export.target import Decisions, ExportError, Facts, Target
from dashboard.export.targets.mpich.base import KEPT, KNOWN, borrowed, standing

#: What sizes of keys are compared with: ``avg_msg_size`` or ``total_msg_size``.
_COMPARED: Mapping[str, Compared] = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "alltoall"), "message"),
    **dict.fromkeys(("allgather", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"), "total"),
    "barrier": "nothing",
}
_KEY = {"message": "avg_msg_size", "total": "total_msg_size"}
_RADIX = 2
_COMPOSITION = "_composition_"
_WORD, _NUMBER = re.compile(r"\w+", re.ASCII), re.compile("[0-9]{1,9}", re.ASCII)
_PREFIX = r"^MPIR_\w+?_(intra|allcomm)_"


def to_mpich(decisions: Decisions, *, provenance: Facts = None, base: str | None = None) -> str:
    """Write decision functions as MPICH's collective selection.

    Use it with the variables of `dashboard.export.usage.mpich_parameters`. The file has no place for a `provenance`;
    `base` is the text of the library's own complete file, by default what is known of the version that was measured,
    else what the installed library holds (`dashboard.export.targets.mpich.base`).

    Raises
    ------
    ExportError
        When there is no `base` or it is not complete, or MPICH lacks a method or a collective.
    """
    del provenance
    single = per_collective(decisions)
    text, own_rules = _base(standing(single) if base is None else base)
    document: Tree = json.loads(text)
    for decision in single:
        if _alike(decision, own_rules.get(decision.collective)):
            continue
        key = f"collective={decision.collective}"
        if decision.collective not in _COMPARED or key not in document:
            raise ExportError(
                f"MPICH's selection takes no sizes for {decision.collective}; it does for "
                f"{', '.join(sorted(_COMPARED))}"
            )
        tree = _intra(decision, _nested(document[key].get("comm_type=intra", {})))
        if foreign := _kinds(tree) - _kinds(document):
            raise ExportError(
                f"{decision.collective}: the file to start from has no {foreign.pop()}s; MPICH stops at the first one"
            )
        document[key] = {**document[key], "comm_type=intra": tree}
    return json.dumps(document, indent=4) + "\n"


def _notes(decision: DecisionFunction, asked: Mapping[str, Any]) -> list[str]:
    """What it does not say; nothing where the file to start from, as of `to_mpich`, decides so already."""
    base = asked["base"]
    own_rules = _base(standing([decision]) if base is None else base)[1]
    if _alike(decision, own_rules.get(decision.collective)):
        return []
    other = borrowed([decision]) if base is None else ""
    return [*bands_of(decision, _COMPARED[decision.collective]).notes, *([other] if other else [])]


def _alike(decision: DecisionFunction, own: DecisionFunction | None) -> bool:
    """Whether these are rules of MPICH that decide plain calls as the file to start from, which says more of others."""
    if own is None or decision.kind != own.kind or decision.root != own.root:
        return False
    return _chosen(decision) == _chosen(own)


def _chosen(decision: DecisionFunction) -> dict[int, Tree | str | None]:
    """What is written for each method, as far as MPICH has it."""
    names = {place: algorithm_name(decision, decision.methods[place]) for place in decision.used}
    return {place: name and _leaf(decision, name, place, {}) for place, name in names.items()}


def _kinds(tree: Tree) -> set[str]:
    """What stands at the leaves: the file of the device has compositions of algorithms."""
    return {key.partition("=")[0] for key in leaves_of(tree)}


@lru_cache(maxsize=4)
def _base(text: str | None) -> tuple[str, Mapping[str, DecisionFunction]]:
    """The file to start from, and what it decides."""
    if text is None:
        raise ExportError(
            "MPICH reads complete files only, and no results name a version whose own is known "
            f"({KNOWN[0]} to {KNOWN[-1]}), none stands beside them ({KEPT}, as campaigns keep it), and there is no "
            f"MPICH beside this Python or on the PATH: tell the version or the file to start from (--base {KNOWN[-1]}; "
            "--base FILE, maint/tuning/coll/mpir/generic.json in its source; on the page the fields above)"
        )
    try:
        rules = read_text(text)
    except RulesError as error:
        raise ExportError(f"the file to start from is not MPICH's: {error}") from None
    wrong = [fault for fault in rules.faults if fault.severity == "error"]
    if rules.format != "mpich" or wrong:
        raise ExportError(f"the file to start from is not MPICH's: {wrong[0] if wrong else rules.title}")
    return text.lstrip("\ufeff"), rules.decisions


def _nested(own: Tree) -> Tree:
    """The library's own decision as it acts below message sizes, where 'comm_size<8' holds for 8, too (MPICH 5.0.2)."""
    return {closed(key): _nested(below) for key, below in own.items()}


def _intra(decision: DecisionFunction, own: Tree) -> Tree:
    tree = _bands(decision, own)
    if decision.collective not in ASKED_OF["is_commutative"]:
        return tree
    if decision.collective in ASKED_OF["is_op_built_in"]:
        tree = {"is_op_built_in=yes": tree, "is_op_built_in=no": own}
    return {"is_commutative=yes": tree, "is_commutative=no": own}


def _bands(decision: DecisionFunction, own: Tree) -> Tree:
    compared = _COMPARED[decision.collective]
    names = [algorithm_name(decision, method) for method in decision.methods]
    tree: Tree = {}
    for _, end, rules in bands_of(decision, compared).ranges():
        leaves = [(last, _leaf(decision, names[method], method, own)) for _, last, method in rules]
        tree[f"comm_size{_upto(end)}"] = (
            leaves[0][1] if compared == "nothing" else {f"{_KEY[compared]}{_upto(last)}": leaf for last, leaf in leaves}
        )
    return tree


def _upto(last: int | None) -> str:
    return "=any" if last is None else f"<={last}"


def algorithm_name(decision: DecisionFunction, method: Method) -> str | None:
    """MPICH's name of the algorithm; None for one that it lacks, empty for its own decision."""
    if not is_of_library(method):
        return None
    if full_name := _full_name(method):
        # A file may say anything, and command lines hand it to a shell.
        right = _WORD.fullmatch(full_name) and _NUMBER.fullmatch(str(method.parameters.get("k", _RADIX)))
        return re.sub(_PREFIX, "", full_name) if right else None
    if is_own_decision(method):
        return ""
    name = called(decision.collective, method.algorithm)
    return None if (decision.collective, name) in PIPELINED and not method.segment_size else name


def _full_name(method: Method) -> str:
    """As such a file names the algorithm; empty of methods from elsewhere, and of those that were renamed."""
    return "" if NAMED in method.parameters else str(method.parameters.get(READ, ""))


def _leaf(decision: DecisionFunction, name: str | None, method: int, own: Tree) -> Tree:
    if name is None:
        has = ", ".join(sorted(set(ALGORITHMS[decision.collective].values())))
        label = decision.methods[method].label
        if words := unwritten(decision.provenance, repr(label)):
            raise ExportError(f"{decision.collective}: {words}; written are {has}")
        raise ExportError(f"{decision.collective}: MPICH has no {label!r}; it has {has}")
    if not name:
        return own
    given, full_name = decision.methods[method].parameters, _full_name(decision.methods[method])
    parameters: Tree = {}
    if full_name:
        parameters = {f"{key}={value}": {} for key, value in given.items() if key != READ}
    elif (further := PARAMETERS.get((decision.collective, name))) is not None:
        radix, segments = int(given.get("radix", _RADIX)), decision.methods[method].segment_size
        chunk = (f"{CHUNK}={segments}",) if (decision.collective, name) in SEGMENT else ()
        parameters = {parameter: {} for parameter in (f"k={radix}", *further, *chunk)}
    kind = "allcomm" if name == NONBLOCKING else "intra"
    full_name = full_name or f"MPIR_{decision.collective.capitalize()}_{kind}_{name}"
    word = "composition" if _COMPOSITION in full_name else "algorithm"
    leaf: Tree = {f"{word}={full_name}": parameters}
    if (decision.collective, name) in POWERS_ONLY:
        return {"comm_size=pow2": leaf, "comm_size=any": own}
    if (decision.collective, name) in SPANNING:
        return {"comm_hierarchy=parent": leaf, "comm_hierarchy=any": own}
    if (decision.collective, name) in MANY_ELEMENTS:
        return {"count<pow2": own, "count=any": leaf}
    return leaf


def _segments(collective: str, method: Method) -> bool:
    """Whether an algorithm cuts messages, or is written with what a file says of it."""
    return bool(_full_name(method)) or (collective, called(collective, method.algorithm)) in SEGMENT


TARGET = Target(
    "mpich",
    "MPICH collective selection (JSON)",
    ".json",
    to_mpich,
    ("base",),
    use=usage.MPICH,
    readable=True,
    own_methods=True,
    segments=_segments,
    names=lambda collective, _: tuple(ALGORITHMS.get(collective, ())),
    notes=_notes,
    unwritten=unwritten,
)
