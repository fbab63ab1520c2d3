"""Reader of Open MPI rules of version 3 (JSON), which Open MPI 6 reads.

Source: open-mpi/ompi, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, ``ompi_coll_tuned_read_rules_json``; tried with
6.0.0a1 (branch v6.0.x, bb1c85d). Keys that the library does not know it does not look at; a collective that it does not
know costs the whole file.
"""

from collections.abc import Sequence
from typing import Any

from dashboard.export.library_names import COMPARED, Choice
from dashboard.export.rules.checks import check
from dashboard.export.rules.fault import Fault, Refused, RulesFile, in_order
from dashboard.export.rules.json_lines import At, Pair
from dashboard.export.rules.rows import INF, Row, Rules, Set, counted, decision_of, picked_ranges
from dashboard.export.targets.c.text import INT_MAX
from loaders.openmpi import COLLECTIVE_IDS, algorithms

VERSION = "6.0"
_TOP_KEYS = ("rule_file_version", "module", "collectives", "$schema", "comment")
_MODULE = "tuned"
_SET_KEYS = ("comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
_ROW_KEYS = ("msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs")
_ANY = "any"
#: Processes from which on a communicator has something to decide.
_FEWEST = 2
_DISTRIBUTIONS = (_ANY, "one-per-node", "single-node")
_NEVER = "never acts"
#: Of a file that is refused: the second where something else was read before.
_LOST = "the library silently ignores the whole file, or every program crashes at its start"
_FIRST = "there the earlier one acts: the first that fits does"
_SPELT = {"segsize": "seg_size", "reducescatter": "reduce_scatter", "reducescatterblock": "reduce_scatter_block"}


def read(document: At) -> RulesFile:
    """Read rules as Open MPI 6 does; `document` is the parsed JSON."""
    faults: list[Fault] = []
    rules: list[Rules] = []
    refused = False
    try:
        _unknown(document, _TOP_KEYS, "the document", faults)
        if (module := document.get("module")) is not None and module.value != _MODULE:
            faults.append(
                Fault(module.line, "note", f"module is {_short(module.value)}, expected {_MODULE!r}", "not looked at")
            )
        for name, line, value in _collectives(document):
            rules += [_collective(name, line, value, faults)]
    except Refused as error:
        refused = True
        faults.append(Fault(error.line, "error", str(error), _LOST))
    for ruleset in rules:
        faults += check(ruleset, VERSION, classic=False)
    built = {
        ruleset.collective: decision
        for ruleset in rules
        if (decision := decision_of(ruleset, VERSION, picked_ranges, "openmpi-3"))
    }
    title = "Open MPI rules, version 3 (JSON), as read by Open MPI 6"
    return RulesFile("openmpi-3", title, {} if refused else built, built, in_order(faults), counted(rules))


def _collectives(document: At) -> list[tuple[str, int, At]]:
    collectives = document.get("collectives")
    if collectives is None or not isinstance(collectives.value, tuple):
        raise Refused(document.line, "there is no object 'collectives'")
    return [(pair.key, pair.line, pair.value) for pair in collectives.pairs]


def _unknown(at: At, known: tuple[str, ...], where: str, faults: list[Fault]) -> None:
    for pair in at.pairs:
        if pair.key not in known:
            right = _SPELT.get(pair.key)
            meant = f"; the library reads {right!r}" if right in known else f"; known are {', '.join(known)}"
            faults.append(
                Fault(pair.line, "warning", f"{pair.key!r} in {where} is no known key{meant}", "not looked at")
            )


def _collective(name: str, line: int, value: At, faults: list[Fault]) -> Rules:
    if name not in COLLECTIVE_IDS:
        right = _SPELT.get(name)
        meant = f"; the library calls it {right!r}" if right else ""
        raise Refused(line, f"there is no collective {name!r}{meant}")
    if not isinstance(value.value, list):
        raise Refused(value.line, f"{name} is no array of sets")
    rules = Rules(name, line)
    sets = [_set(name, item, faults) for item in value.value]
    if name not in COMPARED and any(band.rows for band, _ in sets):
        raise Refused(line, f"rules for {name}, which Open MPI's tuned component has no algorithms for")
    for number, (band, kind) in enumerate(sets):
        before = [other for other, its in sets[:number] if its in (_ANY, kind)]
        faults += _never_acting(f"{name}, comm_size", band, before)
        for place, row in enumerate(band.rows):
            faults += _never_acting(f"{name}, msg_size", row, band.rows[:place])
        if COMPARED.get(name, "nothing") != "nothing":
            faults += _left(f"{name}, msg_size", band.rows, 0, band.line)
    faults += _left(f"{name}, comm_size", [band for band, _ in sets], _FEWEST, line)
    # A decision over sizes shows what holds for any communicator, where there is such.
    rules.sets += [band for band, kind in sets if kind == _ANY] or [band for band, _ in sets]
    return rules


def _never_acting(what: str, item: Set | Row, before: Sequence[Set | Row]) -> list[Fault]:
    """A fault where a set or a rule is for no sizes, or those before it leave it none, or but a part of its own."""
    start, last = item.bounds
    if start > last:
        return [Fault(item.line, "warning", f"{what}_min {start} is above {what.split()[1]}_max {last}", _NEVER)]
    lines, crossed, left = [], [], start
    for low, high, line in sorted((*other.bounds, other.line) for other in before):
        if low <= left <= high:
            left = high + 1
            lines.append(line)
        # What holds all of an earlier one is what acts otherwise, as usual.
        if low < start <= high < last or start < low <= last < high:
            crossed.append(line)
    text = f"{what} {_range(start, last)}:"
    if left > last:
        return [Fault(item.line, "warning", f"{text} all of it is decided before it ({_lines(lines)})", _NEVER)]
    if not crossed:
        return []
    return [Fault(item.line, "note", f"{text} some of it is decided before it ({_lines(crossed)})", _FIRST)]


def _lines(numbers: list[int]) -> str:
    return f"line{'' if len(numbers) == 1 else 's'} {', '.join(map(str, sorted(numbers)))}"


def _range(low: int, high: int) -> str:
    return f"{low} to {high}" if high < INT_MAX else f"{low} and above"


def _left(what: str, items: Sequence[Set | Row], low: int, line: int) -> list[Fault]:
    """What no set, or no rule of a set, is for, from a size up."""
    gaps = []
    for start, last in sorted(item.bounds for item in items):
        if low < start <= last:
            gaps.append(_range(low, start - 1))
        low = max(low, last + 1)
    if low < INT_MAX:
        gaps.append(_range(low, INT_MAX))
    return [Fault(line, "note", f"{what} {', '.join(gaps)}: no rule", "the library decides by itself")] if gaps else []


def _set(name: str, at: At, faults: list[Fault]) -> tuple[Set, str]:
    """A set, and which placement of the ranks it is for."""
    _unknown(at, _SET_KEYS, f"a set of {name}", faults)
    low, high = _comm_size(at, "comm_size_min", 0, faults), _comm_size(at, "comm_size_max", INT_MAX, faults)
    for pair in at.pairs:
        _check_sign(pair, faults)
    kind = _distribution(name, at, faults)
    rows = at.get("rules")
    if rows is None or not isinstance(rows.value, list):
        raise Refused(at.line, f"a set of {name} has no array 'rules'")
    made = Set(low, at.line, last=high)
    for item in rows.value:
        row = _row(name, item, faults)
        if row is not None:
            made.rows.append(row)
    return made, kind


def _distribution(name: str, at: At, faults: list[Fault]) -> str:
    """Which placement of the ranks a set is for: more than a decision over sizes can tell."""
    distribution = at.get("comm_rank_distribution")
    if distribution is None or distribution.value == _ANY:
        return _ANY
    if distribution.value in _DISTRIBUTIONS:
        faults.append(
            Fault(
                distribution.line,
                "note",
                f"a set of {name} is for communicators that are {distribution.value}",
                "shown here only where there is no set for any",
            )
        )
        return str(distribution.value)
    text = f"comm_rank_distribution is {_short(distribution.value)}, expected {', '.join(_DISTRIBUTIONS)}"
    if not isinstance(distribution.value, str):
        raise Refused(distribution.line, text)
    faults.append(Fault(distribution.line, "warning", text, "taken as any"))
    return _ANY


def _row(name: str, at: At, faults: list[Fault]) -> Row | None:
    _unknown(at, _ROW_KEYS, f"a rule of {name}", faults)
    for pair in at.pairs:
        _check_sign(pair, faults)
    # Below 0 they are more than all sizes to the library.
    low, high = (_integer(at, key, default) % 2**64 for key, default in (("msg_size_min", 0), ("msg_size_max", INF)))
    fan_out, segment = _integer(at, "faninout", 0), _integer(at, "seg_size", 0)
    requests = _integer(at, "reqs", 0)
    number = _algorithm(name, at, faults)
    if number is None:
        return None
    return Row(low, Choice(number, fan_out, segment, requests or None), at.line, min(high, INF))


def _algorithm(name: str, at: At, faults: list[Fault]) -> int | None:
    """The number of the algorithm; 0 where there is none, None where the rule is disabled."""
    algorithm = at.get("alg")
    known = algorithms(name, VERSION)
    if algorithm is None:
        faults.append(Fault(at.line, "error", f"a rule of {name} has no 'alg'", "the library decides by itself"))
        return 0
    if isinstance(algorithm.value, str):
        numbers = {
            text: library_id for library_id, name in {0: "ignore", **known}.items() for text in (name, str(library_id))
        }
        if (number := numbers.get(algorithm.value.lower())) is not None:
            return number
    elif isinstance(algorithm.value, int) and not isinstance(algorithm.value, bool):
        if algorithm.value in (0, *known):
            return algorithm.value
    else:
        what = f"alg is {_short(algorithm.value)}, expected a number or a name"
        faults.append(Fault(algorithm.line, "error", what, "the library decides by itself"))
        return 0
    has = ", ".join(f"{library_id} {text}" for library_id, text in known.items()) or "none"
    what = f"{name} has no algorithm {_short(algorithm.value)} in Open MPI {VERSION}; it has {has}"
    faults.append(Fault(algorithm.line, "error", what, "this rule never acts, the next that fits does"))
    return None


def _check_sign(pair: Pair, faults: list[Fault]) -> None:
    """Sizes and numbers below 0."""
    number = pair.value.value
    if isinstance(number, int) and number < 0 and pair.key in (*_SET_KEYS, *_ROW_KEYS) and pair.key != "alg":
        what = f"{pair.key} is {number}, expected a number from 0"
        faults.append(Fault(pair.line, "error", what, "the library takes another number"))


def _comm_size(at: At, key: str, default: int, faults: list[Fault]) -> int:
    """A communicator size, which the library keeps as a C int, also where it is ``inf``."""
    number = _integer(at, key, default)
    kept = (number + 2**31) % 2**32 - 2**31
    if kept != number and (said := at.get(key)):
        text = f"{key} is {_short(said.value)}, expected at most {INT_MAX:,}; for no limit leave it out"
        faults.append(Fault(said.line, "error", text, f"the library takes {kept}"))
    return kept


def _integer(at: At, key: str, default: int) -> int:
    number = at.get(key)
    if number is None:
        return default
    if isinstance(number.value, int) and not isinstance(number.value, bool) and abs(number.value) <= INF:
        return number.value
    if isinstance(number.value, str) and number.value[:3] in ("inf", "Inf", "INF"):
        return INF
    raise Refused(number.line, f"{key} is {_short(number.value)}, expected a whole number or 'inf'")


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "an array" if isinstance(value, list) else "an object"
    text = repr(value) if isinstance(value, str | int | float) else "null"
    return text if len(text) <= 40 else text[:37] + "..."
