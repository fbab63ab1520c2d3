"""Reader of UCC's tune strings (``UCC_TL_UCP_TUNE=allreduce:0-4k:@0#…``), alone or in sections of a ucc.conf.

Source: openucx/ucc docs/user_guide.md and contrib/ucc.conf; what it takes and refuses was seen with 1.8.0 and 1.10.0.
A string is a list of parts that ``#`` separates; a part is ``collective:message range:memory:[team sizes]:score:
@algorithm`` in any order, of which only a score or an algorithm must be there. Parts must not overlap; where one ends
and another begins, the higher score has the size between them. Numbers of tl/ucp's algorithms are read as their names,
and those of radix 2 (``UCC_TL_UCP_BCAST_KN_RADIX``) as what others call them.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.export.bands import Band, Bands
from dashboard.export.rules.fault import Fault, RulesFile, in_order
from dashboard.export.targets.settings import UCC_COMPARED
from loaders.ucc import ALGORITHMS, LONGEST_LINE, NAME, called, own_name, takes_radix

INF = 2**62
COLLECTIVES = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "barrier",
    "bcast",
    "fanin",
    "fanout",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatterv",
    "scatter",
    "scatterv",
)
MEMORY = ("host", "cuda", "cuda_managed", "cudamanaged", "rocm", "rocm_managed", "rocmmanaged")
_OF_UCP = "UCC_TL_UCP_TUNE"
_LAYERS = ("TL_UCP", "TL_CUDA", "TL_NCCL", "TL_RCCL", "TL_SHARP", "TL_MLX5", "TL_SELF", "CL_BASIC", "CL_HIER")
_VARIABLES = tuple(f"UCC_{layer}_TUNE" for layer in (*_LAYERS, "CL_DOCA_UROM"))
#: From so much alike on a variable is a misspelt one.
_ALIKE = 0.9
_SCRIPT = re.compile(r"\A#!|^\s*export\s", re.MULTILINE)
#: In a ucc.conf a colon is as good as a sign of equality (src/utils/ini.c).
_SETTING = re.compile(r"\s*(export\s+)?(UCC_\w+)\s*(?(1)=|[=:])\s*(.*?)\s*")
#: What UCC takes for a setting, also of programs that have a prefix of their own.
_NAMED = re.compile(r"[^=:]*UCC_[^=:]*[=:]")
#: What ends a value: in a script a blank, in a ucc.conf a comment.
_SCRIPT_END, _CONF_END = re.compile(r"[\s;]"), re.compile(r"\s+;")
_QUOTES = ('"', "'")
_SECTION = re.compile(r"\s*\[([^]]*)\].*")
#: What a section says of its teams (src/utils/ucc_parser.c), between blanks.
_KEY = re.compile(r"(?:(?i:vendor)|model)=.+|(?:team_size|ppn|sock|nnodes)=\d+(?:-\d+)?")
_SIZE = r"(?:[0-9]{1,15}[kmgt]?b?|inf)"
_RANGE = re.compile(rf"{_SIZE}-{_SIZE}", re.IGNORECASE)
_SIZE_TEXT = re.compile(r"([0-9]+)([kmgt]?)b?", re.IGNORECASE)
_TEAM = re.compile(r"[0-9]{1,9}(?:-(?:[0-9]{1,9}|inf))?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
#: Score of tl/ucp's own ranges.
_USUAL = 10.0
_DEFAULT = Method("default", "default")
_WORDS = "neither a collective, a range (0-4k), a memory type, team sizes ([2-8]), a score nor @algorithm"
_REFUSED = "UCC refuses the whole string with a message and decides by itself"
_OVERLAPPING = "UCC refuses the whole string, or passes over the later part, with a message"
_NO_SECTION = "where a setting is in it UCC refuses the file or crashes, and no program starts"
_NO_FILE = "UCC refuses the file, and no program starts"
#: As its parser has it (src/utils/ucc_parser.c): a name that is there already ends in an error of the file.
_TWICE = "UCC refuses a ucc.conf as a whole, and no program starts; of a script that sets it, the later setting acts"
_QUOTED = "right in a script; of a ucc.conf UCC takes the quotes for a part of the value, and refuses it"


_NO_RADIX = (
    "of a radix below 2, or of several where it takes one, the collective never comes to an end; of what is no number "
    "tl/ucp refuses all its settings, and UCC does without it"
)
_OUT = "UCC does without tl/ucp for these calls: another of its layers serves them, or it refuses them"


@dataclass
class Part:
    """One part of a tune string; ranges end before their second number."""

    collectives: tuple[str, ...] = COLLECTIVES
    memory: tuple[str, ...] = MEMORY
    messages: list[tuple[int, int]] = field(default_factory=lambda: [(0, INF)])
    teams: list[tuple[int, int]] = field(default_factory=lambda: [(0, INF)])
    score: float = _USUAL
    algorithm: str = ""


def read(text: str) -> RulesFile:
    """Read all tune strings of a file."""
    faults: list[Fault] = []
    built: dict[str, DecisionFunction] = {}
    tuned: dict[tuple[str, str], tuple[int, list[Part]]] = {}
    set_in: dict[str, dict[str, str]] = {"": {}}
    section, conf, named = "", not _SCRIPT.search(text), False
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        faults += _of_form(line, number, conf=conf, named=named)
        if conf and (heading := _SECTION.fullmatch(line)) is not None:
            section, named = heading[1], False
            continue
        named = named or _NAMED.match(line) is not None
        if (setting := _SETTING.fullmatch(line)) is None:
            continue
        value = _value(setting[3], _SCRIPT_END if setting[1] else _CONF_END)
        faults += [] if setting[1] else _of_conf(line, number, quoted=setting[3][:1] in _QUOTES)
        if _tunes(setting[2]):
            if setting[2] not in _VARIABLES:
                known = ", ".join(_VARIABLES)
                what = f"UCC has no variable {setting[2][:40]}; it has {known}"
                faults.append(Fault(number, "error", what, "never read; UCC decides by itself"))
                continue
            parts = _parts(value, number, faults, of_ucp=setting[2] == _OF_UCP)
            if (before := tuned.get((section, setting[2]))) is not None:
                faults.append(
                    Fault(number, "error", f"{setting[2]} is set a second time, after line {before[0]}", _TWICE)
                )
            tuned[section, setting[2]] = number, parts
        else:
            faults += _of_radix(setting[2], value, number)
            set_in.setdefault(section, {})[setting[2]] = value
    for (section, variable), (_, parts) in tuned.items():
        settings = {**set_in[""], **set_in.get(section, {})}
        for collective in dict.fromkeys(name for part in parts for name in _named(part)):
            key = f"{collective} [{section}]" if section else collective
            key = f"{key} ({variable})" if key in built else key
            built[key] = _decision(collective, parts, section, settings if variable == _OF_UCP else None)
    return RulesFile("ucc", "UCC tune strings", built, built, in_order(faults))


def _value(text: str, ended: re.Pattern[str]) -> str:
    """The value of a setting without quotes, and without what stands behind it."""
    if text[:1] in _QUOTES:
        return text[1:].partition(text[0])[0]
    return ended.split(text, 1)[0]


def _of_form(line: str, number: int, *, conf: bool, named: bool) -> Iterator[Fault]:
    """What is wrong with the form of a line, in a ucc.conf also where a setting is `named` above."""
    text = repr(line.strip()[:40])
    if conf and named and line[0].isspace():
        yield Fault(
            number, "error", f"{text} is indented, which makes it a second value of the setting above", _NO_FILE
        )
    if conf and (heading := _SECTION.fullmatch(line)):
        if wrong := [word for word in heading[1].split(" ") if word and not _KEY.fullmatch(word)]:
            what = f"a section with {wrong[0][:40]!r}, where vendor=, model=, team_size=, ppn=, sock= or nnodes= stand"
            yield Fault(number, "error", what, _NO_SECTION)
    elif not _SETTING.fullmatch(line):
        refused = conf and not _NAMED.match(line)
        what = f"{text} is no setting UCC_NAME=VALUE and no section"
        yield Fault(number, "error" if refused else "warning", what, _NO_FILE if refused else "not looked at")


def _of_conf(line: str, number: int, *, quoted: bool) -> list[Fault]:
    """What is wrong with a line that is no script's, but a ucc.conf's."""
    faults = [Fault(number, "warning", "the value is quoted", _QUOTED)] if quoted else []
    if len(line) > LONGEST_LINE:
        what = f"{len(line):,} characters, of which UCC takes {LONGEST_LINE:,} for one line of a ucc.conf"
        faults.append(Fault(number, "error", what, _NO_FILE))
    return faults


def _of_radix(variable: str, value: str, number: int) -> list[Fault]:
    """What is wrong with a setting if it is one of a radix."""
    if not variable.endswith("KN_RADIX") or takes_radix(variable, value):
        return []
    return [Fault(number, "error", f"{variable} cannot be {value[:40]!r}", _NO_RADIX)]


def _tunes(variable: str) -> bool:
    """Whether a variable is one of tune strings, or is spelled much like one."""
    return variable.endswith("_TUNE") or bool(difflib.get_close_matches(variable, _VARIABLES, 1, _ALIKE))


def _named(part: Part) -> tuple[str, ...]:
    names = part.collectives if part.algorithm and part.collectives != COLLECTIVES else ()
    return (*names, "reduce_scatter_block") if "reduce_scatter" in names else names


def _parts(text: str, line: int, faults: list[Fault], *, of_ucp: bool) -> list[Part]:
    parts: list[Part] = []
    for token in filter(None, text.split("#")):
        given, wrong = _given(token)
        part = Part(**given)
        if not wrong and not given.keys() & {"score", "algorithm"}:
            what = f"{token[:60]!r} has neither score nor @algorithm"
            faults.append(Fault(line, "warning", what, "UCC silently ignores it"))
            continue
        if wrong := wrong or _impossible(part, of_ucp=of_ucp):
            faults.append(Fault(line, "error", f"{token[:60]!r}: {wrong}", _REFUSED))
            return []
        if of_ucp and not part.score:
            faults.append(Fault(line, "warning", f"{token[:60]!r} has the score 0", _OUT))
        parts.append(part)
    if wrong := _overlapping(parts):
        faults.append(Fault(line, "error", wrong, _OVERLAPPING))
        return []
    return parts


def _overlapping(parts: Sequence[Part]) -> str:
    """Of which collective two parts speak of the same calls, in words."""
    for collective in dict.fromkeys(name for part in parts for name in part.collectives):
        for team, here in _by_team(collective, parts):
            for memory in MEMORY:
                ranges = sorted(ends for part in here if memory in part.memory for ends in part.messages)
                if any(start < end for (_, end), (start, _) in pairwise(ranges)):
                    return f"parts of {collective} overlap in a team of {team}"
    return ""


def _by_team(collective: str, parts: Sequence[Part]) -> Iterator[tuple[int, list[Part]]]:
    """The parts of a collective that hold from a team size on, up to the next such size."""
    mine = [part for part in parts if own_name(collective) in part.collectives]
    for team in _edges(1, (edge for part in mine for ends in part.teams for edge in ends)):
        yield team, [part for part in mine if any(low <= team < high for low, high in part.teams)]


def _impossible(part: Part, *, of_ucp: bool) -> str:
    """What is wrong with a part whose words are right, in words."""
    if any(low >= high for low, high in (*part.messages, *part.teams)):
        return "the range ends before it begins"
    for collective in part.collectives if of_ucp and part.algorithm else ():
        names = ALGORITHMS.get(collective)
        if names is None:
            return f"tl/ucp takes no algorithm for {collective}"
        if part.algorithm not in (*names, *map(str, range(len(names)))):
            has = ", ".join(f"{number} {name}" for number, name in enumerate(names))
            return f"tl/ucp has no {collective} {part.algorithm}; it has {has}"
    return ""


def _given(token: str) -> tuple[dict[str, Any], str]:
    """What the words of a part say, and what is wrong with them."""
    given: dict[str, Any] = {}
    for word in filter(None, token.split(":")):
        said = _word(word)
        if not said:
            return given, f"{word[:40]!r} is {_WORDS}"
        if said.keys() & given.keys():
            return given, f"{word[:40]!r} is said twice"
        given |= said
    return given, ""


def _word(word: str) -> dict[str, Any]:
    """What one word says of a part; nothing where UCC does not know it."""
    names = tuple(word.lower().split(","))
    teams = word[1:-1].split(",")
    said: dict[str, Any] = {}
    if all(name in COLLECTIVES for name in names):
        said["collectives"] = names
    elif all(name in MEMORY for name in names):
        said["memory"] = tuple(name.replace("_", "") for name in names)
    elif word.lower() == "inf" or (word.isascii() and word.isdigit() and len(word) < 10):
        said["score"] = float(word)
    elif re.fullmatch(r"@\w+", word, re.ASCII):
        said["algorithm"] = word[1:].lower()
    elif all(map(_RANGE.fullmatch, names)):
        said["messages"] = [_ends(interval) for interval in names]
    elif word.startswith("[") and word.endswith("]") and all(map(_TEAM.fullmatch, teams)):
        said["teams"] = [(low, high + 1) for low, high in map(_ends, teams)]
    return said


def _ends(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return size(low), size(high or low)


def size(text: str) -> int:
    """A size such as ``4k`` in bytes; ``inf`` is `INF`."""
    match = _SIZE_TEXT.fullmatch(text)
    return INF if match is None else min(int(match[1]) * _UNITS[match[2].lower()], INF)


def _decision(collective: str, parts: list[Part], section: str, settings: Mapping[str, str] | None) -> DecisionFunction:
    """The decision of one collective, of parts for several kinds of memory that of the host."""
    words = dict.fromkeys(
        part.algorithm for part in parts if part.algorithm and own_name(collective) in part.collectives
    )
    meant = {word: Method(word, word) if settings is None else _method(collective, word, settings) for word in words}
    methods = list({method.label: method for method in (_DEFAULT, *meant.values())}.values())
    places = {"": 0, **{word: methods.index(method) for word, method in meant.items()}}
    compared = UCC_COMPARED.get(collective, "message")
    bands = []
    for team, here in _by_team(collective, parts):
        sizes = (edge + k for part in here for ends in part.messages for edge in ends for k in (0, 1))
        edges = [0] if compared == "nothing" else _edges(0, sizes)
        bands.append(Band(team, tuple((message, places[_winner(here, message)]) for message in edges)))
    facts = {"library": NAME, **({"section": section} if section else {})}
    rules = Bands(compared, tuple(bands))
    return rules.decision(collective, methods, kind="ucc", provenance=facts).simplified()


def _method(collective: str, word: str, settings: Mapping[str, str]) -> Method:
    """What tl/ucp takes for a number or name of its own, with the radix that is set."""
    name, radix = called(collective, word, settings)
    return Method(f"{name} radix={radix}", name, 0, {"radix": radix}) if radix else Method(name, name)


def _edges(least: int, edges: Iterable[int]) -> list[int]:
    return sorted({least, *(edge for edge in edges if least < edge < INF)})


def _winner(parts: list[Part], message: int) -> str:
    """Algorithm of the part that holds, empty where none does; of the one that ends here where its score is higher."""
    holding = [part for part in parts if any(low <= message < high for low, high in part.messages)]
    ending = [part for part in parts if any(message == high for _, high in part.messages)]
    best = max([*(holding or [Part()]), *ending], key=lambda part: ("host" in part.memory, part.score))
    return best.algorithm if best.score else ""
