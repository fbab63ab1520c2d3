"""Headers of tables: which column means what, and in which unit its times are."""

import itertools
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from loaders.delimited import Field
from loaders.facet_names import ROW_FACETS
from loaders.names import RESERVED
from loaders.source import Source

#: Columns of text and of numbers that a table may have; `total_size` = bytes of all processes together.
TEXTS = ("collective", "algorithm", "double_of", *ROW_FACETS)
NUMBERS = (
    "segment_size",
    "comm_size",
    "message_size",
    "total_size",
    "ppn",
    "nodes",
    "time",
    "time_std",
    "repetitions",
    "repetition",
    "library_id",
)
_TIMED = ("time", "time_std")
UNITS: Mapping[str, float] = {
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    # The same of Latin-1, as spreadsheets write it: no other unit begins with a sign that is not ASCII.
    "\ufffds": 1e-6,
    "usec": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
}
SEPARATORS = (",", "\t", ";")
#: Before the name of a column that is a further parameter of the method: ``parameter radix``.
PARAMETER = "parameter "

_MEANS = tuple(map("".join, itertools.product(("avg", "average", "mean"), ("_", ""), ("latency", "lat", "time"))))
#: How others call them, by our names.
_CALLED: Mapping[str, tuple[str, ...]] = {
    "collective": ("coll",),
    "algorithm": ("alg", "algo", "algorithm_name"),
    "segment_size": ("seg", "segment", "segsize", "seg_size", "segmentsize"),
    "comm_size": (
        "communicator_size",
        "communicatorsize",
        "commsize",
        "nprocs",
        "processes",
        "ranks",
        "np",
        "nproc",
        "procs",
        "nranks",
    ),
    "message_size": ("messagesize", "msg_size", "msgsize", "size", "bytes"),
    "ppn": ("processes_per_node", "procs_per_node", "ranks_per_node", "tasks_per_node", "ntasks_per_node"),
    "nodes": ("nnodes",),
    "system": ("cluster", "machine", "node_type", "nodetype"),
    "placement": ("mapping", "mapby", "map_by", "allocation"),
    "library": ("mpi_lib", "mpi_library"),
    "library_version": ("mpi_lib_version", "mpi_version"),
    "element_type": ("datatype", "data_type", "dtype"),
    "time": (*_MEANS, "latency", "lat"),
    "repetitions": ("reps",),
    "time_std": ("std",),
}
_SPELLINGS = {theirs: ours for ours, each in _CALLED.items() for theirs in each}
#: What a column means where no other one means it.
_ELSE = {
    "operation": "collective",
    "cores": "comm_size",
    "processors": "comm_size",
    "tasks": "comm_size",
    "ntasks": "comm_size",
    "iterations": "repetitions",
}
#: What may stand before a name to say that it is a number of such, and behind one to say that it is in bytes.
_NUMBER_OF = re.compile(r"(?:n|num|number_of|mpi)_")
_IN_BYTES = re.compile(r"_bytes$|_?[(\[]b(?:ytes?)?[)\]]$")
_KILOBYTES = re.compile(r"[_([][kmg]i?b(?:ytes?)?[)\]]?$|(?:kilo|mega|giga)bytes?[)\]]?$")
_COUNTED = frozenset({"comm_size", "nodes", "ppn", "repetitions"})
_SIZES = frozenset({"message_size", "segment_size", "total_size"})
#: Such that may name a unit; ``t`` is IMB's of ping-pongs, and without a unit may be anything.
_TIMES = {name: _SPELLINGS.get(name, name) for name in ("time", "time_std", "std", "latency", "lat", *_MEANS)}
_TIMES["t"] = "time"
#: What may stand between a name and its unit.
_BEFORE_UNIT = " \t_"


@dataclass(frozen=True)
class Plan:
    """How the columns of a table are read."""

    #: In the order of the file; a name that is none of `TEXTS` and `NUMBERS` is a method parameter.
    fields: tuple[Field, ...]
    #: What the times (and their standard deviations) are multiplied with to be seconds.
    scale: Mapping[str, float]
    #: Columns that are not read.
    unknown: tuple[str, ...] = ()
    #: Between the columns, `None` = blanks.
    separator: str | None = None
    #: The header line as it stands in the file.
    header: str = ""
    #: Whether rows of message size 0 are measurements.
    empty_sends: bool = True
    #: Last conversion of a table of good rows.
    adjust: Callable[[Source, pd.DataFrame], pd.DataFrame] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(f.name for f in self.fields if f.kind != "ignored")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The columns that are further parameters of the method."""
        return tuple(n for n in self.names if n not in TEXTS and n not in NUMBERS)


def separator_of(line: str) -> str | None:
    """The separator that the header line has most of; `None` if it has none."""
    best = max(SEPARATORS, key=line.count)
    return best if best in line else None


def mapping_of(source: Source) -> dict[str, str]:
    """The user's mapping of columns (option ``columns``), ``{their name: our name}``.

    Raises
    ------
    LoadError
        It is not a mapping of text to text.
    """
    given = source.option("columns") or {}
    if not isinstance(given, Mapping) or not all(isinstance(v, str | None) for v in [*given, *given.values()]):
        raise source.fail(f"the hint columns must map their names to ours, {{'lat': 'time_us'}}, not {given!r}")
    return {str(theirs): str(ours or "") for theirs, ours in given.items()}


def plan(
    source: Source,
    cells: Sequence[str],
    mapping: Mapping[str, str],
    *,
    parameters: Iterable[str] = (),
    separator: str | None = None,
    header: str = "",
) -> Plan | None:
    """Say what the columns of a header mean.

    Parameters
    ----------
    source
        The file, for errors.
    cells
        The names in the header.
    mapping
        ``{their name: our name}``; our name may carry a unit (``time_us``), one that is not known makes
        the column a method parameter, an empty one leaves it out.
    parameters
        Names that are method parameters without being mapped.

    Returns
    -------
    Plan or None
        `None` if no column holds times: the line is not a header.

    Raises
    ------
    LoadError
        Two columns mean the same, or the mapping names a column that is not there.
    """
    names = [c.strip().lstrip("#").strip() for c in cells]
    wanted = {plain(theirs): ours for theirs, ours in mapping.items()}
    meanings_of = [_meaning(name, wanted, frozenset(parameters)) for name in names]
    meanings = _else(names, wanted, _without_doubles(meanings_of))
    if not any(m and m[0] == "time" for m in meanings):
        return None
    if absent := [theirs for theirs in mapping if plain(theirs) not in map(plain, names)]:
        raise source.fail(f"there is no column {absent[0]!r} as the hint columns says; there are {', '.join(names)}")
    _refuse_unclear(source, names, meanings)
    for name, meaning in zip(names, meanings_of, strict=True):
        if meaning is not None and meaning[:2] == ("time", None) and not meaning[2] and plain(name) != "time":
            option = shlex.quote(f"time_us={name}")
            source.note(
                f"the column {name!r} names no unit: its times are read as seconds; --column {option} if they are "
                "microseconds",
                warn=True,
            )
    units = {m[0]: m[1] for m in meanings if m and m[1] is not None}
    scale = {"time": units.get("time", 1.0)}
    scale["time_std"] = units.get("time_std", scale["time"])
    return Plan(
        tuple(_field(m, n) for n, m in enumerate(meanings)),
        scale,
        tuple(n for n, m in zip(names, meanings, strict=True) if m is None),
        separator,
        header,
    )


def _refuse_unclear(source: Source, names: Sequence[str], meanings: Sequence[tuple[str, float | None] | None]) -> None:
    """LoadError where a parameter has a name that means something else, or two columns mean the same."""
    taken = [m[0] for m in meanings if m]
    if reserved := [n for n in taken if n in RESERVED and n not in (*TEXTS, *NUMBERS)]:
        raise source.fail(f"the hint columns names a parameter {reserved[0]!r}, which means something else here")
    pairs = zip(names, meanings, strict=True)
    if kilo := next((n for n, m in pairs if m and m[0] in _SIZES and _KILOBYTES.search(plain(n))), None):
        raise source.fail(f"the column {kilo!r} is not in bytes, as sizes are: write them in bytes, or as 8K or 1MiB")
    if doubled := next((n for n in taken if taken.count(n) > 1), None):
        theirs = ", ".join(repr(n) for n, m in zip(names, meanings, strict=True) if m and m[0] == doubled)
        raise source.fail(f"the columns {theirs} all mean {doubled}; say with the hint columns which is meant")


def no_times(names: Sequence[str], file: str) -> str:
    """Say that the table of this file with these columns has none of times, and what would be right."""
    shown = ", ".join(repr(n.strip()[:40]) for n in names[:20]) or "no columns"
    return (
        f"no column of times among {shown}; a table has the columns collective, algorithm, segment_size, comm_size, "
        "message_size, time (or time_us, time_ms, time_ns), or the hint columns (--column of a command) maps its own "
        f"to these{_long_of(names, file)}"
    )


def _long_of(names: Sequence[str], file: str) -> str:
    """How to make a row of each time of a wide table; empty where it is none."""
    meanings = {name: _meaning(name, {}, frozenset()) for name in names if name.strip()}
    kept = {meaning[0]: name for name, meaning in meanings.items() if meaning}
    wide = [name for name, meaning in meanings.items() if not meaning]
    across = "comm_size" if all(name.strip().isdecimal() for name in wide) else "algorithm"
    if not wide or across in kept or not kept.keys() & {"message_size", "total_size"}:
        return ""
    each = "communicator size" if across == "comm_size" else "algorithm"
    return (
        f". Where each other column is of one {each}, pandas makes a row of each time (time_us: microseconds): "
        f"pandas.read_csv({file!r}, sep=None).melt({list(kept.values())!r}, var_name={across!r}, value_name='time_us')"
        ".to_csv('long.csv', index=False)"
    )


def plain(name: str) -> str:
    """A column's name in lower case with underscores: ``Message size`` is ``message_size``."""
    return re.sub(r"[\s\-]+", "_", name.strip().lstrip("#").strip().lower())


def split_unit(name: str) -> tuple[str, float | None]:
    """Split ``time_us``, ``time [us]`` or ``Time (ns)`` into the plain name and seconds per unit."""
    text = name.strip().lower()
    if text.endswith(("]", ")")):
        at = max(text.rfind("["), text.rfind("("))
        unit = text[at + 1 : -1].strip() if at >= 0 else ""
    else:
        at = max(map(text.rfind, _BEFORE_UNIT))
        unit = text[at + 1 :] if at >= 0 else ""
    return (plain(text[:at].rstrip(_BEFORE_UNIT)), UNITS[unit]) if unit in UNITS else (plain(name), None)


def _known(spelling: str) -> str:
    """Our name of a column, whether or not it says besides that it is a number of such or in bytes."""
    for bare, those in ((_NUMBER_OF.sub("", spelling, 1), _COUNTED), (_IN_BYTES.sub("", spelling), _SIZES)):
        if (known := _SPELLINGS.get(bare, bare)) in those:
            return known
    return _SPELLINGS.get(spelling, spelling)


def _meaning(name: str, wanted: Mapping[str, str], parameters: frozenset[str]) -> tuple[str, float | None, bool] | None:
    """Our name, the unit, and whether the user says so; `None` = not known."""
    mapped = plain(name) in wanted
    text = wanted[plain(name)] if mapped else name
    if mapped and not text:
        return None
    if text.startswith(PARAMETER) and (parameter := text.removeprefix(PARAMETER).strip()):
        return parameter, None, mapped
    spelling, (bare, unit) = plain(text), split_unit(text)
    # Mapped to a time of no unit, it is in the one that it names itself.
    unit = split_unit(name)[1] if unit is None else unit
    if unit is not None and bare in _TIMES:
        return _TIMES[bare], unit, mapped
    known = _known(spelling)
    return (known, None, mapped) if mapped or known in (*TEXTS, *NUMBERS, *parameters) else None


def _without_doubles(
    meanings: Sequence[tuple[str, float | None, bool] | None],
) -> list[tuple[str, float | None] | None]:
    """Leave out columns that mean what the user says that another one means."""
    said = {m[0] for m in meanings if m and m[2]}
    return [None if m is None or (m[0] in said and not m[2]) else m[:2] for m in meanings]


def _else(
    names: Sequence[str], wanted: Mapping[str, str], meanings: Sequence[tuple[str, float | None] | None]
) -> list[tuple[str, float | None] | None]:
    """Read columns by `_ELSE` of which the user does not speak."""
    taken = {m[0] for m in meanings if m}
    free = {name: ours for name, ours in _ELSE.items() if ours not in taken}
    bare = ["" if plain(n) in wanted else _NUMBER_OF.sub("", plain(n), 1) for n in names]
    return [(free[n], None) if n in free else m for n, m in zip(bare, meanings, strict=True)]


def _field(meaning: tuple[str, float | None] | None, place: int) -> Field:
    if meaning is None:
        return Field(f"column {place}", "ignored")
    name = meaning[0]
    kind: Literal["text", "number", "whole"] = (
        "text" if name not in NUMBERS else "number" if name in _TIMED else "whole"
    )
    return Field(name, kind)
