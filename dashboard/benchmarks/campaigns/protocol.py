"""How a point of a campaign is measured, and what tells one point from another."""

import math
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import Method

#: Collective, method, communicator size, message size, processes per node, type of the elements, launch.
PointKey = tuple[str, Method, int, int, int | None, str, int]


@dataclass(frozen=True)
class Protocol:
    """How one point is measured."""

    #: ``skampi``: every repetition starts at a common time, and takes until the last process has ended. ``occ``: a loop
    #: of operation and dissemination barrier, less the loop of barriers alone.
    name: Literal["skampi", "occ"] = "skampi"
    #: Repetitions go on until the standard error of the mean without the lowest and the highest quartile is at most
    #: this share of it.
    min_repetitions: int = 9
    max_repetitions: int = 60
    relative_error: float = 0.05
    #: The methods of a cell take turns so many times at least.
    rounds: int = 3
    #: Calls that are not timed, of each method before its first round.
    warm_up: int = 2
    #: Operations in one loop of ``occ``.
    iterations: int = 10
    #: Longest time for the repetitions of one point; it may end with fewer than `min_repetitions`.
    seconds: float = 5.0
    #: ``reuse`` the same memory, which then lies in the caches, or ``rotate`` through more than they hold.
    buffers: Literal["reuse", "rotate"] = "reuse"
    #: Root of rooted collectives: the ``first`` process, or ``rotate`` from repetition to repetition.
    roots: Literal["first", "rotate"] = "first"
    #: Blocks of allgatherv and alltoallv: all ``equal``, or ``skewed``, in proportion to the rank + 1 with the message
    #: size as their mean.
    counts: Literal["equal", "skewed"] = "equal"
    #: Whether a method that is beyond doubt slower than another of its cell is repeated no more; the library's own
    #: decision always is.
    race: bool = False

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            if getattr(self, name) not in allowed:
                raise PlanError(f"protocol {name}: {getattr(self, name)!r}; allowed are {', '.join(allowed)}")
        for name, count, low in (
            ("least repetitions", self.min_repetitions, 1),
            ("most repetitions", self.max_repetitions, 1),
            ("rounds", self.rounds, 1),
            ("warm-up", self.warm_up, 0),
            ("iterations", self.iterations, 1),
        ):
            if type(count) is not int or count < low:
                raise PlanError(f"{name}: {count!r}; allowed are whole numbers of at least {low}")
        if self.max_repetitions < self.min_repetitions:
            raise PlanError(
                f"most repetitions, {self.max_repetitions}, are fewer than the least, {self.min_repetitions}"
            )
        if not 0 < self.relative_error < 1:
            raise PlanError(f"relative_error: {self.relative_error!r}; allowed is a share above 0 and below 1")
        if not 0 < self.seconds < math.inf:
            raise PlanError(f"seconds: {self.seconds!r}; allowed is a time above 0")


#: Words that a field may be.
_ALLOWED = {name: get_args(kind) for name, kind in get_type_hints(Protocol).items() if get_args(kind)}


@dataclass(frozen=True)
class Cell:
    """One pair of sizes of a collective; all methods are measured in turns there.

    `ppn` None: as placed; `launch`: in which start of the ranks, from 1; `datatype`: of the elements of a reduction,
    where several are measured.
    """

    collective: str
    comm_size: int
    message_size: int
    ppn: int | None = None
    launch: int = 1
    datatype: str = ""
