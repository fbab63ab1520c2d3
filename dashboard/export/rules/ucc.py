"""Reader of UCC's tune strings (``UCC_TL_UCP_TUNE=allreduce:0-4k:@0#…``), alone or in sections of a ucc.conf.

Source: openucx/ucc docs/user_guide.md and contrib/ucc.conf. A string is a list of parts that ``#`` separates; a part
is ``collective:message range:memory:[team sizes]:score:@algorithm`` in any order, of which only a score or an algorithm
must be there. Where parts overlap the highest score wins; of equal ones the later part is taken here. Numbers of
tl/ucp's algorithms are read as their names, and those of radix 2 (``UCC_TL_UCP_BCAST_KN_RADIX``) as what others call
them.
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import Method
from dashboard.export.bands import Band, Bands
from dashboard.export.rules.fault import Fault, RulesFile, in_order
from loaders.ucc import ALGORITHMS, NAME, OF_RADIX_2, radix_variable

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
MEMORY = ("host", "cuda", "cudamanaged", "rocm", "rocmmanaged")
_OF_UCP = "UCC_TL_UCP_TUNE"
_LAYERS = ("TL_UCP", "TL_CUDA", "TL_NCCL", "TL_RCCL", "TL_SHARP", "TL_MLX5", "TL_SELF", "CL_BASIC", "CL_HIER")
_VARIABLES = tuple(f"UCC_{layer}_TUNE" for layer in (*_LAYERS, "CL_DOCA_UROM"))
#: From so much alike on a variable is a misspelt one.
_ALIKE = 0.9
_SETTING = re.compile(r"\s*(?:export\s+)?(UCC_\w+)\s*=\s*(.*?)\s*")
_SECTION = re.compile(r"\s*\[(.*)\]\s*")
_SIZE = r"(?:[0-9]{1,15}[kmgKMG]?[bB]?|inf)"
_RANGE = re.compile(rf"({_SIZE})-({_SIZE})")
_SIZE_TEXT = re.compile(r"([0-9]+)([kmg]?)b?", re.IGNORECASE)
_TEAM = re.compile(r"\[((?:[0-9]{1,9}-(?:[0-9]{1,9}|inf),?)+)\]")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DEFAULT = Method("default", "default")
_REFUSED = "UCC refuses the whole string with a message and decides by itself"
#: As its parser has it (src/utils/ucc_parser.c): a name that is there already ends in an error of the file.
_TWICE = "UCC refuses a ucc.conf as a whole; of a script that sets it, the later setting acts"


@dataclass
class Part:
    """One part of a tune string."""

    collectives: tuple[str, ...] = COLLECTIVES
    messages: list[tuple[int, int]] = field(default_factory=lambda: [(0, INF)])
    teams: list[tuple[int, int]] = field(default_factory=lambda: [(0, INF)])
    score: float = 0.0
    algorithm: str = ""


def read(text: str) -> RulesFile:
    """Read all tune strings of a file."""
    faults: list[Fault] = []
    built: dict[str, DecisionFunction] = {}
    tuned: dict[tuple[str, str], tuple[int, list[Part]]] = {}
    set_in: dict[str, dict[str, str]] = {"": {}}
    section = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if (heading := _SECTION.fullmatch(line)) is not None:
            section = heading[1]
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None:
            faults.append(
                Fault(
                    number, "warning", f"{line.strip()[:40]!r} is no setting NAME=VALUE and no section", "not looked at"
                )
            )
        elif _tunes(setting[1]):
            if setting[1] not in _VARIABLES:
                known = ", ".join(_VARIABLES)
                what = f"UCC has no variable {setting[1][:40]}; it has {known}"
                faults.append(Fault(number, "error", what, "never read; UCC decides by itself"))
                continue
            parts = _parts(setting[2].strip("\"'"), number, faults, of_ucp=setting[1] == _OF_UCP)
            if (before := tuned.get((section, setting[1]))) is not None:
                faults.append(
                    Fault(number, "error", f"{setting[1]} is set a second time, after line {before[0]}", _TWICE)
                )
            tuned[section, setting[1]] = number, parts
        else:
            set_in.setdefault(section, {})[setting[1]] = setting[2].strip("\"'")
    for (section, variable), (_, parts) in tuned.items():
        settings = {**set_in[""], **set_in.get(section, {})}
        for collective in dict.fromkeys(name for part in parts for name in _named(part)):
            key = f"{collective} [{section}]" if section else collective
            key = f"{key} ({variable})" if key in built else key
            built[key] = _decision(collective, parts, section, settings if variable == _OF_UCP else None)
    return RulesFile("ucc", "UCC tune strings", built, built, in_order(faults))


def _tunes(variable: str) -> bool:
    """Whether a variable is one of tune strings, or is spelled much like one."""
    return variable.endswith("_TUNE") or bool(difflib.get_close_matches(variable, _VARIABLES, 1, _ALIKE))


def _named(part: Part) -> tuple[str, ...]:
    return part.collectives if part.algorithm and part.collectives != COLLECTIVES else ()


def _parts(text: str, line: int, faults: list[Fault], *, of_ucp: bool) -> list[Part]:
    parts: list[Part] = []
    for token in text.split("#"):
        part = Part()
        scored = False
        for word in token.split(":"):
            wrong = _word(word, part)
            scored |= bool(part.algorithm) or _is_score(word)
            if wrong:
                faults.append(Fault(line, "error", f"{word[:40]!r} in {token[:60]!r}: {wrong}", _REFUSED))
                return []
        if not scored:
            faults.append(Fault(line, "error", f"{token[:60]!r} has neither score nor @algorithm", _REFUSED))
            return []
        if of_ucp and part.algorithm and (wrong := _lacking(part)):
            faults.append(Fault(line, "error", f"{token[:60]!r}: {wrong}", _REFUSED))
            return []
        parts.append(part)
    return parts


def _lacking(part: Part) -> str:
    """What is wrong with an algorithm for tl/ucp, in words."""
    for collective in part.collectives:
        names = ALGORITHMS.get(collective)
        if names is None:
            return f"tl/ucp takes no algorithm for {collective}"
        if part.algorithm not in (*names, *map(str, range(len(names)))):
            has = ", ".join(f"{number} {name}" for number, name in enumerate(names))
            return f"tl/ucp has no {collective} {part.algorithm}; it has {has}"
    return ""


def _word(word: str, part: Part) -> str:
    """Take one word into the part; what is wrong with it, in words."""
    names = [name.strip().lower() for name in word.split(",")]
    if all(name in COLLECTIVES for name in names):
        part.collectives = tuple(names)
    elif all(name in MEMORY for name in names):
        return ""
    elif word.startswith("@") and re.fullmatch(r"@\w+", word, re.ASCII):
        part.algorithm = word[1:]
    elif _TEAM.fullmatch(word):
        part.teams = [_ends(interval) for interval in word[1:-1].split(",") if interval]
    elif all(_RANGE.fullmatch(interval) for interval in word.split(",")):
        part.messages = [_ends(interval) for interval in word.split(",")]
    elif _is_score(word):
        part.score = float(word)
    else:
        return "neither a collective, a range (0-4k), a memory type, team sizes ([2-8]), a score nor @algorithm"
    if any(low > high for low, high in (*part.messages, *part.teams)):
        return "the range ends before it begins"
    return ""


def _is_score(word: str) -> bool:
    return word == "inf" or (word.isascii() and word.isdigit() and len(word) < 10)


def _ends(text: str) -> tuple[int, int]:
    low, high = text.split("-")
    return size(low), size(high)


def size(text: str) -> int:
    """A size such as ``4k`` in bytes; ``inf`` is `INF`."""
    match = _SIZE_TEXT.fullmatch(text)
    return INF if match is None else min(int(match[1]) * _UNITS[match[2].lower()], INF)


def _decision(collective: str, parts: list[Part], section: str, settings: Mapping[str, str] | None) -> DecisionFunction:
    """The decision of one collective; ranges hold from their first size to before their last."""
    mine = [part for part in parts if collective in part.collectives]
    words = dict.fromkeys(part.algorithm for part in mine if part.algorithm)
    meant = {word: Method(word, word) if settings is None else _method(collective, word, settings) for word in words}
    methods = list({method.label: method for method in (_DEFAULT, *meant.values())}.values())
    places = {"": 0, **{word: methods.index(method) for word, method in meant.items()}}
    team_edges = _edges([ends for part in mine for ends in part.teams], 1, closed=True)
    message_edges = _edges([ends for part in mine for ends in part.messages], 0, closed=False)
    bands = []
    for team in team_edges:
        here = [part for part in mine if any(low <= team <= high for low, high in part.teams)]
        bands.append(Band(team, tuple((message, places[_winner(here, message)]) for message in message_edges)))
    # UCC compares whole buffers (ucc_coll_args_msgsize), which hold the blocks of all processes in these.
    rules = Bands("total" if collective in ("allgather", "allgatherv", "alltoall") else "message", tuple(bands))
    facts = {"library": NAME, **({"section": section} if section else {})}
    return rules.decision(collective, methods, kind="ucc", provenance=facts).simplified()


def _method(collective: str, word: str, settings: Mapping[str, str]) -> Method:
    """What tl/ucp takes for a number or name of its own, with the radix that is set."""
    name = ALGORITHMS[collective][int(word)] if word.isdigit() else word
    radix = settings.get(radix_variable(collective, name), "")
    if radix in ("", "auto"):
        return Method(name, name)
    if radix == "2":
        name = OF_RADIX_2[collective][name]
        return Method(name, name)
    return Method(f"{name} radix={radix}", name, 0, {"radix": radix})


def _edges(ranges: list[tuple[int, int]], least: int, *, closed: bool) -> list[int]:
    edges = {low for low, _ in ranges} | {high + closed for _, high in ranges if high < INF}
    return sorted({least, *(edge for edge in edges if edge > least)})


def _winner(parts: list[Part], message: int) -> str:
    """Algorithm of the part with the highest score, of equal ones of the last; empty where no part fits."""
    fitting = [part for part in parts if any(low <= message < high for low, high in part.messages)]
    return max(reversed(fitting), key=lambda part: part.score, default=Part()).algorithm
