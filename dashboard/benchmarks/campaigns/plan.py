"""What a campaign measures, in which order, and how long that will take."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any

from dashboard.benchmarks.adaptive.goal import Goal
from dashboard.benchmarks.campaigns.pace import Estimate, Pace
from dashboard.benchmarks.campaigns.protocol import Cell, PointKey, Protocol
from dashboard.benchmarks.campaigns.ranges import levels
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import LIBRARY, Method, serves
from dashboard.domain.campaign import DATATYPES, FIRST, SUM
from dashboard.domain.units import format_bytes
from loaders.collectives import COLLECTIVES, REDUCING

_VERSION, _MOST_LAUNCHES = 1, 1000
#: Rotated buffers reach beyond the last-level cache.
ROTATED_BYTES = 64 << 20
#: Whole numbers of a plan are below it; these hold several of them.
_MOST, _GRIDS = 2**62, ("comm_sizes", "message_sizes", "ppns")
#: Communicator size, message size and places of methods.
Only = tuple[int, int, tuple[int, ...]]
#: Cells with methods to measure there.
Todo = list[tuple[Cell, list[Method]]]


@dataclass(frozen=True)
class Plan:
    """A campaign."""

    #: Processes that are launched; communicators are made of them.
    ranks: int
    #: Of each collective, in the order of the cube.
    methods: Mapping[str, tuple[Method, ...]]
    #: Grids; message sizes in bytes by the project's convention, ignored for the barrier.
    comm_sizes: tuple[int, ...]
    message_sizes: tuple[int, ...]
    #: Processes per node; empty: as the launcher places them.
    ppns: tuple[int, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    #: Of reductions, or several, by commas; message sizes that one does not divide are left out for it.
    datatype: str = "float32"
    #: Of reductions: `SUM`, or `FIRST`, which does not commute.
    operation: str = SUM
    #: Bytes of buffers that a process may hold; cells above it are left out.
    memory: int = 1 << 28
    #: Of each collective, for each of its methods: control variables to write before a communicator is made, and again
    #: before it is used. Empty where the library cannot be switched.
    settings: Mapping[str, tuple[Mapping[str, int], ...]] = field(default_factory=dict)
    #: Control variables that are set while a method is verified, so that one that cannot work is refused.
    strict: Mapping[str, int] = field(default_factory=dict)
    #: Performance variables that count messages by peer; empty when message graphs are not recorded.
    graph_counters: tuple[str, ...] = ()
    seed: int = 1
    #: How often everything is measured, each time by ranks started anew: launches differ by more than the repetitions
    #: within one of them show.
    launches: int = 1
    #: Whether methods are forced by variables of the environment, those that share these in a launch of their own;
    #: `settings` are empty then.
    apart: bool = False
    #: Whether the methods are called in every way before they are timed (`benchmarks.safety`).
    checked: bool = True
    #: When it is enough, of a campaign that chooses its points itself (`benchmarks.adaptive`); None: all are measured.
    goal: Goal | None = None
    #: Of each collective named here, the points that are measured of the grid: communicator size, message size and
    #: places of the methods; empty: all of them.
    only: Mapping[str, tuple[Only, ...]] = field(default_factory=dict)
    #: Whether other results have times of some of these points that cannot be trusted: where both are loaded, what is
    #: measured stands for those.
    anew: bool = False
    #: Names of methods that are parts of the library which answer calls by themselves.
    components: tuple[str, ...] = ()
    #: What the methods were read from; the worker refuses another version.
    library: str = ""
    library_version: str = ""

    def __post_init__(self) -> None:
        self._check_numbers()
        unknown = [name for name in self.methods if name not in COLLECTIVES]
        if unknown or not self.methods:
            raise PlanError(f"collectives {unknown}: allowed are {', '.join(COLLECTIVES)}, at least one")
        if empty := [name for name, methods in self.methods.items() if not methods]:
            raise PlanError(f"{empty[0]}: no method to measure")
        if self.ranks < 2:
            raise PlanError(f"{self.ranks} rank: collectives need at least 2; launch more (--ranks)")
        if not self.comm_sizes or not all(2 <= size <= self.ranks for size in self.comm_sizes):
            raise PlanError(
                f"communicator sizes {list(self.comm_sizes)}: allowed are 2 to {self.ranks}, the ranks launched; for "
                "larger ones raise Ranks (--ranks)"
            )
        if set(self.methods) != {"barrier"} and (not self.message_sizes or min(self.message_sizes) < 1):
            raise PlanError(f"message sizes {list(self.message_sizes)}: allowed are whole bytes of at least 1")
        counts = {name: len(methods) for name, methods in self.methods.items()}
        if self.settings and {name: len(each) for name, each in self.settings.items()} != counts:
            raise PlanError("settings: there must be one for each method of each collective, or none at all")
        if self.apart and self.settings:
            raise PlanError("settings: there must be none where each method has a launch of its own")
        self._check_launches()
        self._check_only()
        if not self.datatypes or not set(self.datatypes) <= set(DATATYPES):
            raise PlanError(f"datatype {self.datatype!r}: allowed are {', '.join(DATATYPES)}, or several by commas")
        if self.operation not in (SUM, FIRST):
            raise PlanError(f"operation {self.operation!r}: allowed are {SUM}, {FIRST}")

    def _check_numbers(self) -> None:
        single = {name: (getattr(self, name),) for name in ("ranks", "memory", "seed")}
        for name, values in {**single, **{each: getattr(self, each) for each in _GRIDS}}.items():
            if not all(type(value) is int and 0 <= value < _MOST for value in values):
                raise PlanError(f"{name}: {values!s:.60}; allowed are whole numbers from 0")
        if 0 in self.ppns:
            raise PlanError("processes per node: 0; allowed are whole numbers from 1")

    def _check_launches(self) -> None:
        if type(self.launches) is not int or not 1 <= self.launches <= _MOST_LAUNCHES:
            raise PlanError(f"launches: {self.launches!r}; allowed are 1 to {_MOST_LAUNCHES}")
        several = max(self.launches, len(self.ppns), len(self.datatypes)) > 1
        if self.goal is not None and (self.apart or several):
            raise PlanError(
                "adaptive measuring is one job of one launch at one number of processes per node with one datatype, in "
                "which methods are switched; plan without --launches, --launch-per-method, several --ppn and several "
                "--datatype, or without --adaptive"
            )

    def _check_only(self) -> None:
        if unknown := [name for name in self.only if name not in self.methods]:
            raise PlanError(f"only: {unknown[0]} is no collective of this plan")
        for name, chosen in self.only.items():
            for comm_size, size, places in chosen:
                if comm_size not in self.comm_sizes or size not in self.message_sizes:
                    raise PlanError(f"only: {comm_size} processes and {size} bytes are not of this plan's grid")
                most = len(self.methods[name]) - 1
                if not places or not all(type(place) is int and 0 <= place <= most for place in places):
                    raise PlanError(f"only: methods {list(places)} of {name}; allowed are 0 to {most}")

    @cached_property
    def _only(self) -> defaultdict[tuple[str, int, int], tuple[int, ...]]:
        """Places of methods by collective and sizes."""
        chosen = {(name, point[0], point[1]): point[2] for name, each in self.only.items() for point in each}
        return defaultdict(tuple, chosen)

    @cached_property
    def datatypes(self) -> tuple[str, ...]:
        """Types of the elements of reductions."""
        return tuple(dict.fromkeys(self.datatype.split(",")))

    def datatype_of(self, cell: Cell) -> str:
        """Type of the elements that a cell is measured with, if its collective reduces."""
        return cell.datatype or self.datatypes[0]

    def settings_of(self, collective: str, method: Method) -> Mapping[str, int]:
        """Control variables that make the library take a method."""
        settings = self.settings.get(collective)
        return settings[self.methods[collective].index(method)] if settings else {}

    def component_of(self, method: Method) -> str:
        """Part of the library that is to answer a method's calls; empty: the one that the library finds first."""
        named = method.provider == LIBRARY and method.library_id is None and method.algorithm in self.components
        return method.algorithm if named else ""

    def _grid(self) -> Iterator[Cell]:
        """Cells of one launch, those that are left out among them."""
        for collective in self.methods:
            sizes = (0,) if collective == "barrier" else self.message_sizes
            # What tells cells of the same sizes apart: nothing, where there is one type.
            types = self.datatypes if collective in REDUCING and len(self.datatypes) > 1 else ("",)
            for ppn, comm_size, size, datatype in product(self.ppns or (None,), self.comm_sizes, sizes, types):
                yield Cell(collective, comm_size, size, ppn, datatype=datatype)

    def cells(self) -> list[Cell]:
        """All cells, coarse to fine, so that a campaign that was stopped covers both axes; launch after launch."""
        axes = self.comm_sizes, self.message_sizes
        comm_levels, size_levels = (dict(zip(axis, levels(len(axis)), strict=True)) for axis in axes)
        numbers = {collective: number for number, collective in enumerate(self.methods)}

        def turn(cell: Cell) -> tuple[int, int, int]:
            level = max(comm_levels[cell.comm_size], size_levels.get(cell.message_size, 0))
            return level, cell.comm_size, numbers[cell.collective]

        there = (
            cell
            for cell in self._grid()
            if cell.collective not in self.only or self._only[cell.collective, cell.comm_size, cell.message_size]
        )
        once = sorted((cell for cell in there if self.why_left_out(cell) is None), key=turn)
        return [replace(cell, launch=launch) for launch in range(1, self.launches + 1) for cell in once]

    def why_left_out(self, cell: Cell) -> str | None:
        """Why a cell of the grid is not measured; None when it is."""
        datatype = self.datatype_of(cell)
        if cell.collective in REDUCING and cell.message_size % DATATYPES[datatype]:
            return f"not a whole number of {datatype}"
        if buffer_bytes(cell) > self.memory:
            return f"buffers above the limit of {format_bytes(self.memory)} per process"
        if cell.ppn is not None and (cell.comm_size % cell.ppn or cell.ppn > cell.comm_size):
            return "not a whole number of nodes"
        if not any(_serves(method, cell) for method in self.methods[cell.collective]):
            return "no method for so many processes or bytes"
        return None

    def left_out(self) -> dict[str, int]:
        """How many cells of the grid are not measured, by the reason."""
        return dict(Counter(filter(None, map(self.why_left_out, self._grid()))))

    def methods_of(self, cell: Cell) -> list[Method]:
        """Methods of a cell that serve it; segments that hold the whole message change nothing and are left out."""
        every = self.methods[cell.collective]
        if cell.collective in self.only:
            every = tuple(every[place] for place in self._only[cell.collective, cell.comm_size, cell.message_size])
        return [method for method in every if _serves(method, cell)]

    def points(self) -> Iterator[PointKey]:
        """All points, in the order of the cells."""
        for cell in self.cells():
            for method in self.methods_of(cell):
                yield point_key(cell, method)

    @cached_property
    def timed(self) -> dict[str, tuple[Method, ...]]:
        """Of each collective, the methods that have any point."""
        there = {point[:2] for point in self.points()}
        return {name: tuple(m for m in methods if (name, m) in there) for name, methods in self.methods.items()}

    def estimate(
        self,
        done: Collection[PointKey] = (),
        cores: int | None = None,
        took: Mapping[PointKey, float] = MappingProxyType({}),
    ) -> Estimate:
        """Estimate what is left to measure.

        Parameters
        ----------
        cores
            Of the machine that all ranks are on: those of a communicator with more take turns. None: as many as ranks.
        took
            Seconds that points of this campaign took; those that are missing will take as long.
        """
        known = {key: took[key] for key in self.points() if key in took} if took else {}
        pace, points, seconds, at_most = Pace(self.protocol, cores, known), 0, 0.0, 0.0
        apart: set[tuple[str, Method, int]] = set()
        launches: set[int] = set()
        for cell, methods in missing(self, done):
            points += len(methods)
            seconds += len(methods) * pace.point(cell)
            at_most += len(methods) * pace.most(cell)
            launches.add(cell.launch)
            apart.update((cell.collective, method, cell.launch) for method in methods)
        starts = len(apart if self.apart else launches) * pace.start(self.ranks)
        seconds += starts
        if self.goal is not None and self.goal.seconds is not None:
            seconds, at_most = (min(value, self.goal.seconds + starts) for value in (seconds, at_most))
        taken = min(self.ranks, cores) if cores else self.ranks
        return Estimate(points, seconds, max(seconds, at_most + starts), seconds * taken / 3600, len(known))

    def to_json(self) -> dict[str, Any]:
        """As it stands in the campaign's folder."""
        record = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        record["methods"] = {name: [m.to_json() for m in methods] for name, methods in self.methods.items()}
        record["settings"] = {name: [dict(variables) for variables in each] for name, each in self.settings.items()}
        record["protocol"] = asdict(self.protocol)
        record["goal"] = None if self.goal is None else asdict(self.goal)
        return {"colltune_plan": _VERSION, **record}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Plan:
        """Read a plan.

        Raises
        ------
        PlanError
            When the record is no plan, or one of another version.
        """
        if not isinstance(record, Mapping) or record.get("colltune_plan") != _VERSION:
            raise PlanError(f"not a plan of this version: 'colltune_plan' must be {_VERSION}")
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(record) - known - {"colltune_plan"}):
            raise PlanError(f"a plan has no {unknown[0]!r}; it has {', '.join(sorted(known))}")
        given = {name: record[name] for name in known & set(record)}
        try:
            given["methods"] = {n: tuple(map(Method.from_json, ms)) for n, ms in record["methods"].items()}
            given["protocol"] = Protocol(**record["protocol"])
            given["goal"] = Goal.from_json(record.get("goal"))
            given["only"] = {
                name: tuple((point[0], point[1], tuple(point[2])) for point in each)
                for name, each in record.get("only", {}).items()
            }
            given["settings"] = {name: tuple(each) for name, each in record.get("settings", {}).items()}
            for name in ("comm_sizes", "message_sizes", "ppns", "graph_counters", "components"):
                given[name] = tuple(given.get(name, ()))
            return cls(**given)
        except (LookupError, TypeError, AttributeError) as error:
            raise PlanError(f"the plan cannot be read: {error!r}") from error


def _serves(method: Method, cell: Cell) -> bool:
    """Whether a method is for so many processes, and no segment of it holds the whole message."""
    return serves(method, cell.comm_size) and not 0 < cell.message_size <= method.segment_size


def point_key(cell: Cell, method: Method) -> PointKey:
    """What tells one point of a run from all others."""
    return (cell.collective, method, cell.comm_size, cell.message_size, cell.ppn, cell.datatype, cell.launch)


def todo_of(plan: Plan, wanted: Callable[[PointKey], bool]) -> Todo:
    """Cells with the methods whose points are wanted, in order."""
    cells = [(cell, [m for m in plan.methods_of(cell) if wanted(point_key(cell, m))]) for cell in plan.cells()]
    return [(cell, methods) for cell, methods in cells if methods]


def missing(plan: Plan, done: Collection[PointKey]) -> Todo:
    """Cells with the methods that are still to be measured there, in order."""
    return todo_of(plan, lambda key: key not in done)


def buffer_bytes(cell: Cell) -> int:
    """Bytes that one process holds in send and receive buffers at most."""
    entry = COLLECTIVES[cell.collective]
    blocks = [entry.sends, entry.receives].count("blocks")
    return (blocks * cell.comm_size + 2 - blocks) * cell.message_size


def placed(nodes: Sequence[str], comm_size: int, ppn: int | None) -> list[int] | None:
    """Ranks of a communicator: the first ones, or `ppn` of each of the first nodes; None when there are too few.

    Parameters
    ----------
    nodes
        Name of each rank's node.
    """
    if ppn is None:
        return list(range(comm_size)) if comm_size <= len(nodes) else None
    by_node: dict[str, list[int]] = {}
    for rank, node in enumerate(nodes):
        by_node.setdefault(node, []).append(rank)
    able = [ranks[:ppn] for ranks in by_node.values() if len(ranks) >= ppn]
    wanted = comm_size // ppn
    if comm_size % ppn or len(able) < wanted:
        return None
    return sorted(rank for ranks in able[:wanted] for rank in ranks)
