"""What an application is to do, as data: which one, how large, and the ways in which it communicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dashboard.benchmarks.applications.systems import side_of
from dashboard.benchmarks.errors import PlanError
from dashboard.domain.units import format_count
from dashboard.schedules.errors import ScheduleError
from dashboard.schedules.layout import Grid, balanced
from dashboard.schedules.orthogonal import inner_of, worded
from dashboard.schedules.phases import LIBRARY
from dashboard.schedules.registry import algorithm_of

JACOBI, PAB, PABM = "jacobi", "pab", "pabm"
#: Collectives that the variants of Jacobi's iteration call.
_OF_JACOBI = {
    "row": ("allgather",),
    "column": ("allreduce", "allgather"),
    "reduce_bcast": ("reduce", "bcast"),
    "gather_scatter": ("gather", "scatter"),
}
#: Variants of each application; the first one is taken when none is named.
VARIANTS: Mapping[str, tuple[str, ...]] = {JACOBI: tuple(_OF_JACOBI), PAB: ("data", "task"), PABM: ("data", "task")}
SYSTEMS = ("sparse", "dense")
#: Ways to communicate: as it is, and in phases over a grid; a grid may be named instead.
ORIGINAL, ORTHOGONAL = "original", "orthogonal"
#: Step sizes within which the explicit methods are stable for the systems here.
_STEP = 0.002


@dataclass(frozen=True)
class Order:
    """A run of an application."""

    #: See `VARIANTS`.
    application: str
    variant: str
    #: Number of ranks.
    processes: int
    #: Unknowns n; of the sparse system twice the square of a number.
    size: int
    #: Each `ORIGINAL`, `ORTHOGONAL` or a grid such as ``4x4``; run in turns.
    ways: tuple[str, ...] = (ORIGINAL, ORTHOGONAL)
    #: Method by collective, as `dashboard.benchmarks.providers.grid_comms.Caller` takes it: of the collective in the
    #: original, of each phase in a grid. Under the empty name for those not named; else the library's own decision.
    inner: Mapping[str, str] = field(default_factory=dict)
    #: K, and I of the corrector (PABM).
    stages: int = 4
    iterations: int = 1
    #: Of PAB and PABM, one of `SYSTEMS`.
    system: str = "sparse"
    #: Time steps of PAB and PABM; iterations at most of Jacobi.
    steps: int = 10
    #: Of time.
    step_size: float = _STEP
    #: Jacobi ends when no component changed by more.
    tolerance: float = 1e-10
    #: Turns.
    repetitions: int = 3
    #: Of random matrices.
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be run; the message says what is allowed."""
        for what, value, known in (
            ("application", self.application, VARIANTS),
            ("variant", self.variant, VARIANTS.get(self.application, ())),
            ("system", self.system, SYSTEMS),
        ):
            if value not in known:
                raise PlanError(f"{what} {value!r}: allowed are {', '.join(known)}")
        for what in ("processes", "size", "stages", "iterations", "steps", "repetitions"):
            if getattr(self, what) < 1:
                raise PlanError(f"{what} {getattr(self, what)}: allowed are whole numbers of at least 1")
        if self.size < self.processes:
            raise PlanError(f"size {self.size}: each of {self.processes} processes needs an unknown")
        side = side_of(self.size)
        if self.application != JACOBI and self.system == "sparse" and 2 * side**2 != self.size:
            raise PlanError(
                f"size {self.size}: the sparse system has 2 N² unknowns, such as {2 * side**2} or {2 * (side + 1) ** 2}"
            )
        if self.in_tasks and self.processes % self.stages:
            raise PlanError(
                f"{self.processes} processes: tasks of {self.stages} stages need a multiple of {self.stages}"
            )
        for way in self.ways:
            self._check_inner(self.grid(way))
        if lost := [name for name in self.inner if name not in ("", *self.collectives)]:
            called = " and ".join(self.collectives)
            raise PlanError(f"inner of {lost[0]}: {self.application} {self.variant} calls {called}")

    def _check_inner(self, grid: Grid | None) -> None:
        """Refuse methods that there are not, and other numbers of them than the grid has phases."""
        for collective in self.collectives:
            given = self.inner.get(collective, self.inner.get("", LIBRARY))
            try:
                for word in [given] if grid is None else inner_of(given, len(grid.factors)):
                    name, parameters = worded(word)
                    if word != LIBRARY:
                        algorithm_of(collective, name).values(parameters)
            except ScheduleError as error:
                raise PlanError(f"inner {given!r}: {error} ({LIBRARY}: its own calls)") from None

    @property
    def collectives(self) -> tuple[str, ...]:
        """Collectives that it calls."""
        return _OF_JACOBI[self.variant] if self.application == JACOBI else ("allgather",)

    @property
    def in_tasks(self) -> bool:
        """Whether stages are computed at the same time by groups of processes."""
        return self.variant == "task"

    def grid(self, way: str) -> Grid | None:
        """The grid of a way; None for the original.

        Of tasks it is that of the stages and the processes of each: only columns communicate at the end of a step.
        """
        if way == ORIGINAL:
            return None
        if self.in_tasks:
            if way != ORTHOGONAL:
                raise PlanError(f"way {way!r}: of tasks there are {ORIGINAL} and {ORTHOGONAL}")
            return None
        if way != ORTHOGONAL:
            try:
                grid: Grid | None = Grid.of(way)
            except ScheduleError as error:
                raise PlanError(f"{error}; or {ORIGINAL}, {ORTHOGONAL}") from None
        else:
            grid = balanced(self.processes)
        if grid is None or grid.processes != self.processes:
            processes = format_count(self.processes, "process", "processes")
            raise PlanError(f"way {way!r}: there is no such grid of {processes}")
        return grid

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "ways": list(self.ways), "inner": dict(self.inner)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Order:
        """What `to_json` gave."""
        return cls(**{**record, "ways": tuple(record["ways"])})


def shares(number: int, parts: int) -> tuple[int, ...]:
    """Cut a number into parts that differ by one at most, the longer ones first."""
    return tuple(number // parts + (place < number % parts) for place in range(parts))
