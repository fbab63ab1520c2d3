"""Reader of the CSV of NCCL's example tuner plugin (``NCCL_TUNER_CONFIG_FILE``): checked and listed.

Nothing is decided with it, since lines go by nodes, pipeline operations and registered buffers, too.

Source: NVIDIA/nccl, plugins/tuner/example/plugin.c. The first line that fits a call acts. No word is refused: the
plugin takes another one in its place, without a message.
"""

import re
from collections.abc import Iterator, Sequence

from dashboard.export.rules.fault import Fault, Listing, RulesFile, in_order

#: Our names of the collectives by NCCL's.
COLLECTIVES = {
    "broadcast": "bcast",
    "reduce": "reduce",
    "allgather": "allgather",
    "reducescatter": "reduce_scatter",
    "allreduce": "allreduce",
}
ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
_FIELDS = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]"
_SKIPPED = "the line is left out, NCCL decides by itself"
_FEWEST, _MOST = 8, 10
_CONDITIONS = "nodes, pipeline operations or registered buffers"
#: Bytes of a line that the plugin reads at once, and its largest size.
_LONGEST = 255
_SIZE_MAX = 2**64 - 1


def is_measurements(text: str) -> bool:
    """Whether this is the table of measurements that its optimiser reads."""
    return text.lstrip("\ufeff").lstrip().startswith("collective,size_bytes,")


def recognises(text: str) -> bool:
    """Whether most lines that are no comments have a collective, or an algorithm and a protocol, where they stand."""
    lines = [[field.strip() for field in line.split(",")] for _, line in _lines(text)]
    like = [
        (len(line) > 2 and line[0] in COLLECTIVES)
        or (len(line) >= _FEWEST and line[3] in ALGORITHMS and line[4] in PROTOCOLS)
        for line in lines
    ]
    return bool(like) and sum(like) * 2 > len(like)


def read(text: str) -> RulesFile:
    """Read and check the lines."""
    faults: list[Fault] = []
    seen: list[tuple[int, list[str]]] = []
    for number, line in _lines(text):
        fields = [part.strip() for part in line.split(",")]
        line_faults = list(_line(number, line, fields))
        faults += line_faults
        if any(fault.severity == "error" for fault in line_faults):
            continue
        for before, other in seen:
            if _covers(other, fields):
                faults.append(
                    Fault(number, "warning", f"all it is for is covered by line {before}", "the first that fits acts")
                )
                break
        seen.append((number, fields))
    listings = _listings([fields for _, fields in seen])
    return RulesFile(
        "nccl", "NCCL tuner configuration (CSV)", {}, {}, in_order(faults), listings=listings, conditions=_CONDITIONS
    )


def _listings(lines: Sequence[Sequence[str]]) -> dict[str, Listing]:
    """The rules of each collective, as far as they are right."""
    listings: dict[str, Listing] = {}
    for theirs in dict.fromkeys(fields[0] for fields in lines):
        mine = [fields for fields in lines if fields[0] == theirs]
        methods = dict.fromkeys(_method(*fields[3:6]) for fields in mine)
        others = sum(any(text != "-1" for text in (fields[6], *fields[_FEWEST:_MOST])) for fields in mine)
        listings[COLLECTIVES[theirs]] = Listing(len(mine), tuple(methods), others)
    return listings


def _method(algorithm: str, protocol: str, channels: str) -> str:
    return " ".join([algorithm, protocol, *([f"channels={channels}"] if channels != "-1" else [])])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _line(number: int, line: str, fields: list[str]) -> Iterator[Fault]:
    if len(line.encode(errors="surrogateescape")) > _LONGEST:
        yield Fault(number, "error", f"more than {_LONGEST} bytes", "what follows is read as a line of its own")
        return
    if "" in fields:
        place = fields.index("") + 1
        yield Fault(number, "error", f"field {place} is empty", "what follows it moves up one field; -1 stands for any")
        return
    if len(fields) < _FEWEST:
        yield Fault(number, "error", f"{len(fields)} fields, expected {_FIELDS}", _SKIPPED)
        return
    if len(fields) > _MOST:
        what = f"{len(fields)} fields, expected {_FIELDS}"
        yield Fault(number, "warning", what, f"what is behind field {_MOST} is not looked at")
    for place, known, instead, what in (
        (0, COLLECTIVES, "allreduce", "collective"),
        (3, ALGORITHMS, "ring", "algorithm"),
        (4, PROTOCOLS, "simple", "protocol"),
    ):
        if fields[place] not in known:
            expected = f"{what} {fields[place][:30]!r}, expected one of {', '.join(known)}"
            yield Fault(number, "error", expected, f"the plugin takes {instead}")
    for place, text in enumerate(fields[:_MOST]):
        if place not in (0, 3, 4) and not _is_whole_number(text):
            what = f"field {place + 1} is {text[:30]!r}, expected a whole number"
            yield Fault(number, "error", what, f"the plugin takes {_leading_number(text)}")
    lowest, highest = (_bytes(text) for text in fields[1:3])
    if lowest > highest:
        above = f"min_bytes {fields[1][:30]} is above max_bytes {fields[2][:30]}"
        why = "" if fields[1][0] != "-" else " (below 0 is the largest size there is)"
        yield Fault(number, "error" if why else "warning", above + why, "the line never acts")


def _is_whole_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _leading_number(text: str) -> int:
    """What C reads of a field: the number that it begins with, else 0."""
    match = re.match(r"\s*[+-]?[0-9]{1,20}", text)
    return int(match[0]) if match else 0


def _bytes(text: str) -> int:
    """A size as the plugin reads it, unsigned: below 0 is the largest."""
    size = _leading_number(text)
    return size if 0 <= size <= _SIZE_MAX else _SIZE_MAX


def _covers(wider: list[str], other: list[str]) -> bool:
    """Whether every call that `other` is for is one that `wider` is for."""
    if wider[0] != other[0] or _bytes(wider[1]) > _bytes(other[1]) or _bytes(wider[2]) < _bytes(other[2]):
        return False
    first, second = ([*fields[6:_MOST], *["-1"] * (_MOST - len(fields))] for fields in (wider, other))
    return all(a in ("-1", b) for a, b in zip(first, second, strict=True))
