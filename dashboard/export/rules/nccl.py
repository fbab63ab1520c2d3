"""Reader of the CSV of NCCL's example tuner plugin (``NCCL_TUNER_CONFIG_FILE``): checked, not decided with.

Source: NVIDIA/nccl, plugins/tuner/example. The first line that fits a call acts.
"""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.export.rules.fault import Fault, RulesFile, in_order

_COLLECTIVES = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")
ALGORITHMS = ("tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat")
PROTOCOLS = ("ll", "ll128", "simple")
_FIELDS = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks[,numPipeOps[,regBuff]]"
_SKIPPED = "the line is left out, NCCL decides by itself"
_FEWEST, _MOST = 8, 10


def is_measurements(text: str) -> bool:
    """Whether this is the table of measurements that its optimiser reads."""
    return text.lstrip("\ufeff").lstrip().startswith("collective,size_bytes,")


def recognises(text: str) -> bool:
    """Whether most lines that are no comments begin with a collective and have commas."""
    lines = [line.split(",") for _, line in _lines(text)]
    return bool(lines) and sum(len(line) > 2 and line[0].strip() in _COLLECTIVES for line in lines) * 2 > len(lines)


def read(text: str) -> RulesFile:
    """Read and check the lines."""
    faults: list[Fault] = []
    seen: list[tuple[int, list[str]]] = []
    for number, line in _lines(text):
        fields = [part.strip() for part in line.split(",")]
        line_faults = list(_line(number, fields))
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
    return RulesFile("nccl", "NCCL tuner configuration (CSV)", {}, {}, in_order(faults))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.lstrip("\ufeff").split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _line(number: int, fields: list[str]) -> Iterator[Fault]:
    if not _FEWEST <= len(fields) <= _MOST:
        yield Fault(number, "error", f"{len(fields)} fields, expected {_FIELDS}", _SKIPPED)
        return
    for place, known, what in (
        (0, _COLLECTIVES, "collective"),
        (3, ALGORITHMS, "algorithm"),
        (4, PROTOCOLS, "protocol"),
    ):
        if fields[place] not in known:
            yield Fault(number, "error", f"{what} {fields[place][:30]!r}, expected one of {', '.join(known)}", _SKIPPED)
    for place in (1, 2, *range(5, len(fields))):
        if not _is_whole_number(fields[place]):
            yield Fault(
                number, "error", f"field {place + 1} is {fields[place][:30]!r}, expected a whole number", _SKIPPED
            )
    if _is_whole_number(fields[1]) and _is_whole_number(fields[2]) and int(fields[1]) > int(fields[2]):
        yield Fault(number, "warning", f"min_bytes {fields[1]} is above max_bytes {fields[2]}", "the line never acts")


def _is_whole_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _covers(wider: list[str], other: list[str]) -> bool:
    """Whether every call that `other` is for is one that `wider` is for."""
    if wider[0] != other[0] or int(wider[1]) > int(other[1]) or int(wider[2]) < int(other[2]):
        return False
    first, second = ([*fields[6:], *["-1"] * (_MOST - len(fields))] for fields in (wider, other))
    return all(a in ("-1", b) for a, b in zip(first, second, strict=True))
