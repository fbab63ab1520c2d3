"""A trace: when each rank ran each operation of a schedule, once; the schedule itself is made anew from the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.schedules.call import Call
from dashboard.schedules.errors import ScheduleError
from dashboard.schedules.schedule import Schedule, schedule, segment_sizes

_VERSION = 1
#: Types of elements that are reduced, by their bytes.
REDUCED: Mapping[int, str] = {1: "uint8", 4: "float32", 8: "float64"}
#: What a file says of the call; counts are equal.
_CALL = ("collective", "processes", "count", "root", "element_size", "in_place", "commutative")


@dataclass(frozen=True, eq=False)
class Trace:
    """One run of a method."""

    #: What was called.
    call: Call
    algorithm: str
    parameters: Mapping[str, Any]
    #: Of each rank begin and end of each row of its program, in seconds since the first of all began.
    times: Sequence[npt.NDArray[np.float64]]
    #: Where it ran: executor, library, system.
    facts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def schedule(self) -> Schedule:
        """What was run."""
        return schedule(self.call, self.algorithm, **self.parameters)

    def to_json(self) -> dict[str, Any]:
        """As it stands in a file."""
        call = {name: getattr(self.call, name) for name in _CALL}
        method = {"algorithm": self.algorithm, "parameters": dict(self.parameters)}
        times = [np.round(each, 9).tolist() for each in self.times]
        return {"colltune_trace": _VERSION, "call": call, **method, "facts": dict(self.facts), "ranks": times}

    @classmethod
    def from_json(cls, record: Any) -> Trace:
        """Read a trace.

        Raises
        ------
        ScheduleError
            When it is none, of another version, or does not fit the schedule of its method; the message says why.
        """
        if not isinstance(record, dict) or record.get("colltune_trace") != _VERSION:
            raise ScheduleError(f"not a trace: 'colltune_trace' must be {_VERSION} ('colltune methods trace')")
        try:
            facts = {str(name): str(value) for name, value in dict(record.get("facts", {})).items()}
            times = [np.array(each, dtype=np.float64).reshape(-1, 2) for each in record["ranks"]]
            call = Call(**{name: record["call"][name] for name in _CALL})
            made = cls(call, record["algorithm"], dict(record["parameters"]), times, facts)
            made._check()
        except ScheduleError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise ScheduleError(f"the trace cannot be read: {error!r:.120}") from None
        return made

    def _check(self) -> None:
        # Before a schedule is made that may be as long as the file likes: a segment is an operation at least.
        most = max(map(len, self.times), default=0)
        sizes = segment_sizes(self.call, self.parameters)
        if self.call.processes != len(self.times) or any(
            self.call.elements > most * self.call.held_by(size) for size in sizes
        ):
            raise ScheduleError("the trace has too few ranks or operations for its call; trace it anew")
        rows = [len(program.rows) for program in self.schedule.programs]
        traced = [len(each) for each in self.times]
        if rows != traced:
            raise ScheduleError(
                f"the trace has {sum(traced)} operations of {len(traced)} ranks, its method {sum(rows)} of "
                f"{len(rows)}; trace it anew"
            )
        if not all(np.isfinite(each).all() and (each[:, 0] <= each[:, 1]).all() for each in self.times):
            raise ScheduleError("the trace has an operation that ends before it begins, or a time that is no number")
