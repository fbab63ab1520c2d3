"""Reader of HAN's rules, alone or together with those of tuned (`dashboard.export.targets.openmpi.nodes`).

Source: open-mpi/ompi, ompi/mca/coll/han/coll_han_dynamic_file.c. The file is read word by word; from the first word on
that is not as expected the rest is dropped, without a message unless HAN was told to be verbose. What stands before it
acts.
"""

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Leaf, Method, Node
from dashboard.export.bands import Band, Bands
from dashboard.export.components import HAN, HAN_VARIANTS, NUMBERS, SERVES, TUNED, VARIANT, split_word
from dashboard.export.rules import openmpi_json, openmpi_text
from dashboard.export.rules.fault import Fault, Refused, RulesFile, in_order
from dashboard.export.rules.json_lines import parse
from dashboard.export.targets.openmpi.nodes import GLOBAL, parted
from loaders.openmpi import COLLECTIVE_IDS

REST = "the library silently ignores this and the rest of the file; what stands before it acts"
_LEVELS = 3
_FACTS = {"library": "Open MPI", "library_version": "5.0"}
_WORD = re.compile(r"[^\s#]\S*|#[^\n]*|\n")
#: What its words look like: numbers, and names of components where those of tuned have numbers alone.
_LOOKS = re.compile(r"^\s*\d+\s+(?:han|tuned|basic|adapt|libnbc|sm|self|xhc)\b", re.MULTILINE)


class _Word(NamedTuple):
    text: str
    line: int


_Words = deque[_Word]


@dataclass
class _Read:
    """Bands of components by collective, as far as the library reads; their methods are places in `names`."""

    bands: dict[str, list[Band]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def place(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


def recognises(text: str) -> bool:
    """Whether a text is HAN's rules."""
    return _LOOKS.search(text) is not None


def read(text: str) -> RulesFile:
    """Read HAN's rules alone: which component answers."""
    reading = _simulated(text)
    methods = [_method(each) for each in reading.names]
    decisions = {
        name: Bands("message", tuple(bands)).decision(name, methods, kind="openmpi-han", provenance=_FACTS)
        for name, bands in reading.bands.items()
    }
    return RulesFile("openmpi-han", "HAN's rules of Open MPI 5.0", decisions, decisions, in_order(reading.faults))


def read_both(text: str, version: str) -> RulesFile:
    """Read both files of `dashboard.export.targets.openmpi.nodes` as the one decision that they are."""
    first, second = parted(text)
    json = first.lstrip("\ufeff \t\r\n").startswith("{")
    tuned = openmpi_json.read(parse(first.lstrip("\ufeff"))) if json else openmpi_text.read(first, version)
    han = _simulated(second)
    skipped = first.count("\n") + 1
    silent = sorted({*tuned.decisions} & SERVES[HAN] - {*han.bands})
    faults = [
        *tuned.faults,
        *(fault if fault.line is None else replace(fault, line=fault.line + skipped) for fault in han.faults),
        *(Fault(None, "warning", f"HAN's rules say nothing of {name}", "HAN answers it, by itself") for name in silent),
    ]
    title = f"{tuned.title}, with HAN's rules"
    acting, meant = (_both(decisions, han) for decisions in (tuned.decisions, tuned.meant))
    return RulesFile("openmpi-nodes", title, acting, meant, in_order(faults))


def _both(tuned: Mapping[str, DecisionFunction], han: _Read) -> dict[str, DecisionFunction]:
    """Each collective's decision: where HAN's rules say tuned, the rules of tuned; where these leave it, its own."""
    decisions = dict(tuned)
    for name in {*tuned} & SERVES[HAN] - {*han.bands}:
        decisions[name] = _only_han(name)
    for name, bands in han.bands.items():
        methods = [_method(each) for each in han.names]
        nodes: list[Node] = [Leaf(place) for place in range(len(methods))]
        facts: Mapping[str, object] = {}
        if name in tuned and TUNED in han.names:
            own = methods[han.names.index(TUNED)]
            further = [own if each.algorithm == "default" else each for each in tuned[name].methods]
            tree = tuned[name].tree
            codes = np.where(tree.codes < 0, tree.codes, tree.codes + len(methods))
            nodes[han.names.index(TUNED)] = replace(tree, codes=codes).to_node()
            methods, facts = [*methods, *further], tuned[name].provenance
        root = Bands("message", tuple(bands)).tree(nodes)
        provenance = {**facts, "library": "Open MPI"}
        decisions[name] = DecisionFunction(name, methods, root, kind="openmpi-nodes", provenance=provenance)
    return decisions


def _only_han(name: str) -> DecisionFunction:
    """Of a collective of which HAN's rules say nothing HAN asks nobody, and answers by itself."""
    return DecisionFunction(name, [Method(HAN, HAN)], Leaf(0), kind="openmpi-nodes", provenance=_FACTS)


def _method(word: str) -> Method:
    """What a word of the rules stands for: a component, or one of HAN's own algorithms."""
    component, variant = split_word(word)
    return (
        Method(f"{component} {VARIANT}={variant}", component, 0, {VARIANT: variant}) if variant else Method(word, word)
    )


def _simulated(text: str) -> _Read:
    reading = _Read()
    words = _words(text)
    try:
        for _ in range(_number(words, "the number of collectives", 1)):
            _collective(words, reading)
        if (rest := words.popleft()).text:
            what = f"{rest.text} and what follows are beyond the declared number of collectives"
            reading.faults.append(Fault(rest.line, "warning", what, "never read"))
    except Refused as dropped:
        reading.faults.append(Fault(dropped.line, "error", str(dropped), REST))
    return reading


def _words(text: str) -> _Words:
    """Words but comments, and an empty one at the end."""
    words, line = _Words(), 1
    for match in _WORD.finditer(text):
        if match[0] == "\n":
            line += 1
        elif not match[0].startswith("#"):
            words.append(_Word(match[0], line))
    words.append(_Word("", line))
    return words


def _number(words: _Words, what: str, least: int, most: int | None = None) -> int:
    word = words.popleft()
    value = int(word.text) if re.fullmatch(r"\d{1,18}", word.text) else -1
    if value < least or (most is not None and value > most):
        allowed = f"at least {least}" if most is None else f"{least} to {most}"
        read = f"{word.text!r} is read as {what}" if word.text else f"the file ends where {what} should be"
        raise Refused(word.line, f"{read}, expected {allowed}")
    return value


def _collective(words: _Words, reading: _Read) -> None:
    word = words.popleft()
    is_id = re.fullmatch(r"\d{1,18}", word.text) and int(word.text) < len(COLLECTIVE_IDS)
    name = COLLECTIVE_IDS[int(word.text)] if is_id else word.text
    if name not in COLLECTIVE_IDS:
        known = f"a name or 0 to {len(COLLECTIVE_IDS) - 1}"
        raise Refused(word.line, f"{word.text!r} is read as a collective, expected {known}")
    if name not in SERVES[HAN]:
        what = f"HAN does not choose for {name}"
        reading.faults.append(Fault(word.line, "warning", what, "these rules are read and never asked"))
    for _ in range(_number(words, f"the number of topological levels of {name}", 0)):
        level = _number(words, f"a topological level of {name}", 0, _LEVELS - 1)
        _level(words, reading, name, level)


def _level(words: _Words, reading: _Read, name: str, level: int) -> None:
    bands: list[Band] = []
    for number in range(_number(words, f"the number of communicator sizes of {name}", 0)):
        size = _number(words, f"a communicator size of {name}", 1, None if number else 1)
        rules = [
            (
                _number(words, f"a message size of {name}", 0, None if place else 0),
                reading.place(_component(words, name)),
            )
            for place in range(_number(words, f"the number of message sizes of {name} from {size} processes", 0))
        ]
        if rules:
            bands.append(Band(size, tuple(rules)))
            # What was read acts, also where a fault comes later.
            if level == GLOBAL and name in SERVES[HAN]:
                reading.bands[name] = bands


def _component(words: _Words, collective: str) -> str:
    word = words.popleft()
    named = {str(number): name for name, number in NUMBERS.items()}
    name = named.get(word.text, word.text)
    if name not in NUMBERS:
        raise Refused(word.line, f"{word.text!r} is read as a component, expected {', '.join(NUMBERS)}")
    return f"{name} @{_variant(words, collective)}" if words[0].text.startswith("@") else name


def _variant(words: _Words, collective: str) -> str:
    """One of HAN's own algorithms, behind an ``@``; of other components it means nothing, and is read all the same."""
    word = words.popleft()
    names = HAN_VARIANTS.get(collective, ())
    numbered = {str(number): name for number, name in enumerate(names, 1)}
    name = numbered.get(word.text[1:], word.text[1:])
    if name not in names:
        what = f"{word.text!r} is read as an algorithm of HAN for {collective}"
        raise Refused(word.line, f"{what}, expected @ and {', '.join(names)} without a blank between them")
    return name
