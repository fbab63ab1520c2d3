"""Reader of MPICH's collective selection (JSON): checked as MPICH reads it, and as decision functions.

Source: pmodels/mpich, src/mpi/coll/src/csel.c and maint/tuning/coll. Keys are tested in their order; the first that
holds leads on, and where none is left there must be an algorithm. Unlike Open MPI, MPICH stops the program: at
start where it does not know a key or an algorithm, at the call where a collective is lacking (seen with 5.0.2).

As decision functions are shown plain calls: an intracommunicator, no hierarchy of nodes, a commutative built-in
operation, buffers not in place, counts of at least the largest power of two of processes. What the library's own file
says of a collective is read as its own decision wherever it stands unchanged; but what stands beside it for
communicators that span nodes decides.
"""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import LEFT_ALONE, Leaf, Method, Node, Split, Test
from dashboard.export.rules import mpich_calls
from dashboard.export.rules.fault import Fault, RulesFile, in_order
from dashboard.export.rules.json_lines import At, Pair
from dashboard.export.rules.mpich_names import NAMES, TAKES, TOPOLOGY, TREES, VERSIONS
from dashboard.export.rules.mpich_parameters import CHUNK, PARAMETERS, READ, SEGMENT
from loaders.collectives import COLLECTIVES
from loaders.methods import format_segment

Tree = dict[str, Any]

#: What a complete file of each kind holds.
DEVICE = [*COLLECTIVES]
NEIGHBOR = [f"neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")]
GENERIC = [*DEVICE, *NEIGHBOR, *(f"i{name}" for name in (*DEVICE, *NEIGHBOR))]
POSIX = ["bcast", "barrier", "allreduce", "reduce"]
_ABORTS = "MPICH stops every program at start"
_OTHER_NUMBER = "MPICH takes the number that it begins with, or 0"
_INTRA = "comm_type=intra"
#: What is for communicators that span nodes, and what others do.
_SPANNING = ("comm_hierarchy=parent", "comm_hierarchy=any")
_LACKING = "MPICH stops the program at the first call of one of them"
_AT_CALL = "MPICH stops the program at the call"
_NO_ANSWER = "MPICH stops the program at a call that no key holds for"
_NUMERIC = ("comm_size", "comm_avg_ppn", "avg_msg_size", "total_msg_size", "count")
_CONDITION = re.compile(r"(\w+)(<=|<|=)(\w+)")
#: Key, and the value that plain calls have.
_ASSUMED = {
    "comm_type": "intra",
    "comm_hierarchy": "flat",
    "is_commutative": "yes",
    "is_op_built_in": "yes",
    "is_sendbuf_inplace": "no",
    "is_block_regular": "yes",
    "is_node_consecutive": "yes",
    "is_multi_threaded": "no",
}
_VALUES = {
    "comm_type": ("intra", "inter"),
    "comm_hierarchy": ("parent", "node_roots", "node", "flat", "any"),
    **{key: ("yes", "no", "any") for key in _ASSUMED if key.startswith("is_")},
}
#: A test; or what plain calls answer; or a test that must be false, as tuple.
_Answer = Test | bool | tuple[Test]
_WITH_AVERAGE = ("bcast", "reduce", "allreduce", "alltoall")


@dataclass
class _Reading:
    collective: str
    faults: list[Fault] = field(default_factory=list)
    shared_memory: bool = False
    own: Sequence[Tree] = ()
    known: frozenset[str] = NAMES
    methods: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, dict[str, str]] = field(default_factory=dict)

    def method(self, name: str) -> Leaf:
        return Leaf(self.methods.setdefault(name, len(self.methods)))


def read(document: At, native: Tree, *, left: bool = False) -> RulesFile:
    """Read a selection file.

    Parameters
    ----------
    native
        Likewise of the file that the library itself holds, as `tree_of` gives it.
    left
        Whether what stands there unchanged is read as the library's own decision.
    """
    known = NAMES | {leaf.split("=", 1)[1] for leaf in leaves_of(native)}
    unchanged = {key.removeprefix("collective=") for key, tree in tree_of(document).items() if tree == native.get(key)}
    faults: list[Fault] = []
    built: dict[str, DecisionFunction] = {}
    names: list[str] = []
    kind, complete = _kind(document)
    for pair in document.pairs:
        name = pair.key.removeprefix("collective=")
        if name == pair.key or name not in GENERIC:
            faults.append(Fault(pair.line, "error", f"{pair.key!r} is no collective that MPICH knows", _ABORTS))
            continue
        if name in names:
            faults.append(Fault(pair.line, "warning", f"{name} comes a second time", "one of both acts"))
        names.append(name)
        own = _own(native.get(pair.key, {})) if left else ()
        reading = _Reading(name, faults, complete is POSIX, own, known)
        root = _node(pair.value, reading)
        faults += mpich_calls.faults(name, pair.value)
        if root is not None and reading.methods:
            built[name] = _decision(reading, root)
    missing = [name for name in complete if name not in names]
    if missing:
        what = f"{', '.join(missing)} lacking: the file must be complete"
        faults.append(Fault(None, "error", what, _LACKING))
    refused = any(fault.effect in (_ABORTS, _OTHER_NUMBER) for fault in faults)
    title, acting = f"MPICH collective selection, {kind}", {} if refused else built
    return RulesFile("mpich", title, acting, built, in_order(faults), unchanged=frozenset(unchanged))


def _is_own(at: At, reading: _Reading) -> bool:
    """Whether it stands so in the library's own file."""
    return bool(reading.own) and tree_of(at) in reading.own


def _own(tree: Tree) -> list[Tree]:
    """What the library's own file says of a collective, as a whole and of intracommunicators."""
    return [branch for branch in (tree, tree.get(_INTRA)) if branch]


def tree_of(at: At) -> Tree:
    """The same without its lines, each communicator size as `mpich_calls.closed`."""
    return {mpich_calls.closed(pair.key): tree_of(pair.value) for pair in at.pairs}


def _kind(document: At) -> tuple[str, list[str]]:
    """Which of the three files it is to be, and what that one must hold."""
    leaves = list(leaves_of(tree_of(document)))
    if any(leaf.startswith("composition=") for leaf in leaves):
        return "compositions (ch4)", DEVICE
    if leaves and all("POSIX" in leaf or "MPIDI" in leaf for leaf in leaves) and len(document.pairs) <= len(POSIX):
        return "shared memory (ch4 posix)", POSIX
    return "algorithms (mpir)", GENERIC


def leaves_of(tree: Tree) -> Iterator[str]:
    """Keys that name algorithms or compositions of them."""
    for key, below in tree.items():
        if _is_leaf(key):
            yield key
        else:
            yield from leaves_of(below)


def _is_leaf(key: str) -> bool:
    return key.startswith(("algorithm=", "composition="))


def _decision(reading: _Reading, root: Node) -> DecisionFunction:
    methods = [
        LEFT_ALONE
        if name == LEFT_ALONE.label
        else Method(name, name.split(" ")[0], _segment_size(reading.parameters[name]), reading.parameters[name])
        for name in reading.methods
    ]
    facts = {"library": "MPICH"}
    return DecisionFunction(reading.collective, methods, root, kind="mpich", provenance=facts).simplified()


def _node(at: At, reading: _Reading) -> Node | None:
    """The tree below one object; None where there is no answer."""
    if not at.pairs:
        reading.faults.append(Fault(at.line, "error", f"{reading.collective}: no algorithm here", _NO_ANSWER))
        return None
    if _is_own(at, reading):
        return reading.method(LEFT_ALONE.label)
    _check_chain(at.pairs, reading)
    if tuple(pair.key for pair in at.pairs) == _SPANNING and _is_own(at.pairs[1].value, reading):
        # The library decides where it cannot be called.
        return _node(at.pairs[0].value, reading)
    node: Node | None = None
    for pair in reversed(at.pairs):
        if _is_leaf(pair.key):
            node = reading.method(_leaf_name(pair, reading))
            continue
        answer = _condition(pair, reading)
        if answer is None:
            continue
        below = _node(pair.value, reading)
        if below is None:
            continue
        node = _joined(answer, below, node)
    return node


def _joined(answer: _Answer, below: Node, after: Node | None) -> Node | None:
    """`below` where the condition holds, else what comes after; a tuple stands for a test that must be false."""
    if isinstance(answer, bool):
        return below if answer else after
    if after is None:
        return below
    if isinstance(answer, tuple):
        return Split(answer, (after, below))
    return Split((answer,), (below, after))


def _leaf_name(pair: Pair, reading: _Reading) -> str:
    kind, name = pair.key.split("=", 1)
    plain = re.sub(r"^(MPIR|MPIDI_POSIX_mpi|MPIDI)_", "", name).lower()
    if not plain.startswith(f"{reading.collective}_"):
        what = f"{name} is no {kind} of {reading.collective}"
        reading.faults.append(Fault(pair.line, "error", what, _ABORTS))
    elif name not in reading.known:
        like = difflib.get_close_matches(name, reading.known, 1)
        meant = f"; {like[0]} is one" if like else ""
        what = f"MPICH {VERSIONS} has no {kind} {name}{meant}"
        reading.faults.append(Fault(pair.line, "error", what, _ABORTS))
    settings = {}
    for setting in pair.value.pairs:
        key, sign, value = setting.key.partition("=")
        if not sign or not key or setting.value.pairs:
            reading.faults.append(
                Fault(setting.line, "error", f"{setting.key!r} is no parameter such as 'k=4'", _ABORTS)
            )
        settings[key] = value
    reading.faults += _parameters(name, settings, pair.line)
    short = re.sub("^((intra|allcomm)_)?(sched_)?", "", plain.removeprefix(f"{reading.collective}_"))
    size = _segment_size(settings)
    terms = [f"{key}={value}" for key, value in settings.items() if key != CHUNK or not (size or value == "0")]
    usual = PARAMETERS.get((reading.collective, short), ())
    # What an algorithm is always given says nothing; that some of it is lacking does.
    complete = set(usual) <= set(terms) and (CHUNK in settings or (reading.collective, short) not in SEGMENT)
    said = [term for term in terms if term not in usual] if complete else [*terms, "and no more"]
    label = " ".join([short, *([format_segment(size)] if size else []), *said])
    reading.parameters[label] = {**settings, READ: name}
    return label


def _segment_size(settings: Mapping[str, str]) -> int:
    chunk = settings.get(CHUNK, "")
    return int(chunk) if mpich_calls.NUMBER.fullmatch(chunk) else 0


def _parameters(name: str, settings: Mapping[str, str], line: int) -> Iterator[Fault]:
    """Parameters that the algorithm does not read, values that it reads otherwise, and those that it lacks."""
    if name not in NAMES:
        return
    takes = TAKES.get(name, ())
    for key, value in settings.items():
        if key not in takes:
            what = f"{key} is no parameter of {name}, which takes {', '.join(takes) or 'none'}"
            yield Fault(line, "warning", what, "not looked at")
        elif key == "tree_type" and value not in TREES:
            expected = f"tree_type {value!r}, expected one of {', '.join(TREES)}"
            yield Fault(line, "warning", expected, f"MPICH takes {TREES[0]}")
        elif key not in ("tree_type", "ccl") and not re.fullmatch("[0-9]{1,9}", value, re.ASCII):
            yield Fault(line, "error", f"{key}={value[:30]}, expected a whole number", "MPICH takes another one, or 0")
        elif key == "k" and int(value) < (least := 1 if "tree_type" in takes else 2):
            yield Fault(line, "error", f"k={value}, expected at least {least}", "the program hangs, or ends")
    needed = takes if settings.get("tree_type", "").startswith("topology") else tuple(set(takes) - set(TOPOLOGY))
    if lacking := [key for key in takes if key in needed and key not in settings]:
        effect = "MPICH takes what is in memory there"
        if fatal := {"k", "tree_type"} & {*lacking}:
            effect += ", hangs or ends the program"
        yield Fault(line, "error" if fatal else "warning", f"{name} is not told {', '.join(lacking)}", effect)


def _condition(pair: Pair, reading: _Reading) -> _Answer | None:
    """A key as a test, as known answer for plain calls, or None where it is wrong."""
    match = _CONDITION.fullmatch(pair.key)
    if match is None or match[1] not in (*_NUMERIC, *_VALUES):
        known = ", ".join((*_NUMERIC, *_VALUES, "algorithm", "composition"))
        what = f"{pair.key[:60]!r} is no condition; known are {known}"
        reading.faults.append(Fault(pair.line, "error", what, _ABORTS))
        return None
    key, sign, value = match.groups()
    if key in _VALUES:
        if sign != "=" or value not in _VALUES[key]:
            what = f"{pair.key!r}: {key} is one of {', '.join(_VALUES[key])}"
            reading.faults.append(Fault(pair.line, "error", what, _ABORTS))
            return None
        plain = _plain_name(reading.collective)
        if value != "any" and plain not in (known_of := mpich_calls.ASKED_OF.get(key, (plain,))):
            what = f"{key} is not there for {plain}; it is for {', '.join(known_of)}"
            reading.faults.append(Fault(pair.line, "error", what, _AT_CALL))
        return value in ("any", _ASSUMED[key])
    return _number(key, sign, value, pair, reading)


def _plain_name(collective: str) -> str:
    """A collective's name without what says that it is nonblocking."""
    return collective.removeprefix("i") if collective[1:] in DEVICE else collective


def _number(key: str, sign: str, value: str, pair: Pair, reading: _Reading) -> _Answer | None:
    known: dict[tuple[str, str], _Answer] = {
        ("comm_size", "=pow2"): (Test("power_of_two", 0),),
        ("comm_size", "=node_comm_size"): False,
        ("count", "<pow2"): False,
        (key, "=any"): True,
    }
    if (key, sign + value) in known:
        return known[key, sign + value]
    if sign == "=" or not value.isascii() or not value.isdigit() or len(value) > 18:
        what = f"{pair.key[:60]!r}: expected {key}<=NUMBER, {key}<NUMBER or {key}=any"
        reading.faults.append(Fault(pair.line, "error", what, _ABORTS if sign == "=" else _OTHER_NUMBER))
        return None
    plain = _plain_name(reading.collective)
    if key == "avg_msg_size" and plain not in _WITH_AVERAGE:
        what = f"avg_msg_size is not there for {plain}; it has total_msg_size"
        reading.faults.append(Fault(pair.line, "error", what, _AT_CALL))
    attribute = {"comm_size": COMM_SIZE, "avg_msg_size": MESSAGE_SIZE, "total_msg_size": "total_size"}.get(key)
    # Counts and processes per node are not known here: taken for large.
    return Test(attribute, int(value) - (sign == "<")) if attribute else False


def _check_chain(pairs: tuple[Pair, ...], reading: _Reading) -> None:
    """Whether one of the keys always holds, and whether any is behind such a one or comes twice."""
    seen: set[str] = set()
    ended: Pair | None = None
    values: dict[str, set[str]] = {}
    for pair in pairs:
        if pair.key in seen:
            reading.faults.append(Fault(pair.line, "warning", f"{pair.key!r} comes twice", "one of both acts"))
        elif ended is not None:
            what = f"{pair.key!r} comes after {ended.key!r}, which always holds"
            # Choices by a kind of call may be complete before; others, and algorithms, must be the last.
            last = _is_leaf(ended.key) or ended.key.startswith(_NUMERIC)
            reading.faults.append(
                Fault(pair.line, "error", what, _ABORTS) if last else Fault(pair.line, "warning", what, "never acts")
            )
        seen.add(pair.key)
        key, _, value = pair.key.partition("=")
        values.setdefault(key, set()).add(value)
        both = {"yes", "no"} <= values[key] or (key == "comm_type" and {"intra", "inter"} <= values[key])
        if ended is None and (_is_leaf(pair.key) or pair.key.endswith("=any") or both):
            ended = pair
    # Keys of threads choose among files' variants only; where nothing holds in shared memory, the layer above decides.
    open_ended = any(pair.key in (_INTRA, "is_multi_threaded=no") for pair in pairs)
    if ended is None and not open_ended and not reading.shared_memory:
        what = f"{reading.collective}: the keys up to {pairs[-1].key!r} do not end with '=any'"
        reading.faults.append(Fault(pairs[-1].line, "error", what, _NO_ANSWER))
