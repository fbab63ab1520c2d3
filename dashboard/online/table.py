"""The methods that may be chosen, numbered: algorithm and parameters together are one number (AlgID, from 1).

Parameters are folded into the choice by giving each a small set of values (Steiner, section 4.4, appendix A). Numbers
stand for *names*: the appendix's own numbers of Open MPI's broadcasts are shifted by one from 5 on, so that a table
made of them would force the wrong algorithms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dashboard.decisions.function.nodes import Method
from dashboard.decisions.function.saved import method_from_data, methods_to_data
from dashboard.domain.algorithm_names import normal
from dashboard.domain.arrays import BoolArray
from dashboard.export import ExportError
from dashboard.export.known_faults import known_fault
from dashboard.export.library_names import is_of_library, least_fan_out, takes_segments
from dashboard.export.targets.preload.own import units_on
from dashboard.online.errors import OnlineError
from dashboard.schedules import ALGORITHMS, NotApplicableError, ScheduleError
from dashboard.schedules.orthogonal import NAME as GRIDS
from dashboard.schedules.orthogonal import worded
from dashboard.schedules.phases import by_library
from loaders.methods import MethodKey, method_label
from loaders.openmpi import DEFAULT_VERSION, TWO_PROCESSES, algorithms

COLLECTIVES = ("allreduce", "bcast", "allgather", "alltoall")
SEGMENT_SIZES = (1 << 10, 1 << 20, 8 << 20)
FAN_OUTS = (1, 4, 16)
MAX_REQUESTS = (0, 64, 128, 512)
_DIGITS = 16
#: What methods need of a call.
NEEDS = NOTHING, TWO, POWER_OF_TWO, EVEN, BYTE_EACH, NEVER = range(6)
#: A schedule is for one number of processes, which is added to this, and for a byte for each of them at least.
EXACTLY = 16
#: Traces have a byte for the number of a method.
_MOST_METHODS = 255


@dataclass(frozen=True)
class AlgTable:
    """Methods by collective; AlgID ``a`` is the method at place ``a - 1``."""

    #: Whose methods they are.
    library: str
    version: str
    #: By collective, in the order of their numbers.
    methods: Mapping[str, tuple[Method, ...]] = field(hash=False)

    def __post_init__(self) -> None:
        for name, listed in self.methods.items():
            labels = [method.label for method in listed]
            if not labels or len(set(labels)) < len(labels):
                raise OnlineError(
                    f"the table of {name} has {len(labels)} methods; expected different ones, at least one"
                )

    @property
    def collectives(self) -> tuple[str, ...]:
        """In the order of their numbers."""
        return tuple(self.methods)

    @property
    def listed(self) -> dict[str, list[dict[str, Any]]]:
        """The methods as JSON has them."""
        return {name: methods_to_data(methods) for name, methods in self.methods.items()}

    @property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 over names and parameters."""
        text = json.dumps(self.listed, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"colltune_online_table": 1, "library": self.library, "version": self.version, "methods": self.listed}

    @classmethod
    def from_dict(cls, data: Any) -> AlgTable:
        """Rebuild from `to_dict`.

        Raises
        ------
        OnlineError
            It is not of that form.
        """
        try:
            methods = {
                str(name): tuple(method_from_data(entry, f"a method of {name}") for entry in listed)
                for name, listed in data["methods"].items()
            }
            return cls(str(data["library"]), str(data["version"]), methods)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise OnlineError(f"the table of methods cannot be read: {error}") from None


def default_table(
    version: str = DEFAULT_VERSION,
    collectives: tuple[str, ...] = COLLECTIVES,
    segment_sizes: tuple[int, ...] = SEGMENT_SIZES,
    fan_outs: tuple[int, ...] = FAN_OUTS,
    max_requests: tuple[int, ...] = MAX_REQUESTS,
) -> AlgTable:
    """Table of all algorithms of an Open MPI with these values of their parameters.

    Algorithms that are known to give wrong results are left out; those that only do so for operations that do not
    commute are there, since such calls are passed on.

    Raises
    ------
    OnlineError
        A collective has no algorithms to choose from.
    """
    made = {}
    for name in collectives:
        known = algorithms(name, version)
        if not known:
            raise OnlineError(f"Open MPI {version} has no algorithms of {name} to choose from")
        made[name] = tuple(
            method
            for number, algorithm in known.items()
            if not _faulty(name, number, version)
            for method in _variants(name, number, algorithm, segment_sizes, fan_outs, max_requests)
        )
    return AlgTable("Open MPI", version, made)


def with_own(table: AlgTable, words: Sequence[str], processes: Sequence[int]) -> AlgTable:
    """Add own methods and grids, each on each number of processes as a method of its own.

    Parameters
    ----------
    table
        Of a library.
    words
        Algorithms with parameters as `dashboard.schedules.orthogonal.worded` reads them, such as
        ``pipeline:segment_size=8192`` or ``orthogonal:grid=4x4:inner=linear``; each is added to all collectives that
        have it.
    processes
        Of the communicators that they are for, each at least 2.

    Raises
    ------
    OnlineError
        No collective has such an algorithm, it serves none of them, or a collective has more than 255 methods.
    """
    methods = {name: list(listed) for name, listed in table.methods.items()}
    for word in words:
        algorithm, given = worded(word)
        holders = [name for name in methods if algorithm in ALGORITHMS.get(name, {})]
        if not holders:
            raise OnlineError(f"{word}: none of {', '.join(methods)} has an own method {algorithm!r}")
        made, refusal = [], ""
        for name in holders:
            for size in processes:
                try:
                    made.append((name, _own(name, algorithm, given, size)))
                except (NotApplicableError, ScheduleError, ExportError) as error:
                    refusal = str(error)
        if not made:
            raise OnlineError(f"{word}: {refusal}")
        for name, method in made:
            methods[name].append(method)
    for name, listed in methods.items():
        if len(listed) > _MOST_METHODS:
            raise OnlineError(f"{name}: {len(listed)} methods; at most {_MOST_METHODS} can be told apart")
    return AlgTable(table.library, table.version, {name: tuple(listed) for name, listed in methods.items()})


def _own(collective: str, algorithm: str, given: Mapping[str, Any], processes: int) -> Method:
    """An own method on one number of processes; its errors are those of `units_on`."""
    # What calls the library is no algorithm that a schedule has inside.
    inner = {"inner": given["inner"]} if by_library(str(given.get("inner", ""))) else {}
    values = ALGORITHMS[collective][algorithm].values({k: v for k, v in given.items() if k not in inner}) | inner
    size = int(values.pop("segment_size", 0))
    parameters = {**values, "processes": processes, "provider": GRIDS if algorithm == GRIDS else "own"}
    label = method_label(MethodKey(algorithm, size, tuple(parameters.items())))
    method = Method(label, algorithm, size, parameters)
    units_on(method, collective, processes)
    return method


def _faulty(collective: str, number: int, version: str) -> bool:
    fault = known_fault("Open MPI", version, collective, number=number)
    return fault is not None and not fault.only_commutative


def _variants(
    collective: str,
    number: int,
    algorithm: str,
    segment_sizes: tuple[int, ...],
    fan_outs: tuple[int, ...],
    max_requests: tuple[int, ...],
) -> Iterator[Method]:
    sizes = segment_sizes if takes_segments(collective, number) else (0,)
    named: list[dict[str, Any]] = [{}]
    if least := least_fan_out(collective, algorithm):
        named = [{"fan_out": value} for value in fan_outs if value >= least]
    elif (collective, algorithm) == ("alltoall", "linear_sync"):
        named = [{"max_requests": value} for value in max_requests]
    for size in sizes:
        for parameters in named:
            label = method_label(MethodKey(algorithm, size, tuple(parameters.items())))
            yield Method(label, algorithm, size, parameters)


def need_of(collective: str, method: Method) -> int:
    """What a call must be like so that Open MPI takes this algorithm and no other: one of the `NEEDS`.

    By the source of ``coll/base`` of 4.1 and 5.0. Where elements count, bytes bound them from above.
    """
    if not is_of_library(method):
        # Of measurements that are replayed nothing is told, and nothing needed: they are where they were measured.
        return EXACTLY + int(method.parameters["processes"]) if "processes" in method.parameters else NOTHING
    name = normal(method.algorithm, collective)
    return {
        ("allgather", "recursive_doubling"): POWER_OF_TWO,
        ("allgather", "neighbor"): EVEN,
        ("allreduce", "rabenseifner"): BYTE_EACH,
        ("allreduce", "ring"): BYTE_EACH,
        ("allreduce", "segmented_ring"): BYTE_EACH,
    }.get((collective, name), TWO if name == TWO_PROCESSES else NOTHING)


def usable(need: Any, comm_size: Any, message_size: Any) -> BoolArray:
    """Whether calls are as a method needs them; the library in C asks the same.

    Parameters
    ----------
    need, comm_size, message_size
        Of shapes that broadcast together; bytes by the project's convention.
    """
    asked, processes, size = np.broadcast_arrays(
        np.asarray(need, np.int64), np.asarray(comm_size, np.int64), np.asarray(message_size, np.int64)
    )
    cases = [asked == NEVER, asked == TWO, asked == POWER_OF_TWO, asked == EVEN, asked == BYTE_EACH]
    cases.append(asked > EXACTLY)
    answers = [asked < 0, processes == 2, processes & (processes - 1) == 0, processes % 2 == 0, size >= processes]
    answers.append((processes == asked - EXACTLY) & (size >= processes))
    return np.asarray(np.select(cases, answers, default=True), dtype=np.bool_)


def doubles(methods: tuple[Method, ...], largest: float) -> BoolArray:
    """Which methods do what an earlier one does, for messages of at most `largest` bytes, as no segment is shorter."""
    seen: set[tuple[Any, ...]] = set()
    repeated = []
    for method in methods:
        size = method.segment_size if 0 < method.segment_size < largest else 0
        key = (method.algorithm, size, tuple(sorted(method.parameters.items())))
        repeated.append(key in seen)
        seen.add(key)
    return np.array(repeated, dtype=np.bool_)
