"""What was asked for on the page, read into a plan with what it costs, within what is allowed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.plan import Plan, buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.ranges import parse_size, parse_sizes
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Variants, components_of

#: More would take hours to plan and to draw; such a grid is better cut into campaigns.
MOST_POINTS = 200_000
#: Ranks for each core of this machine, and those that every machine may have.
_RANKS_PER_CORE, _RANKS_ANYWHERE = 4, 16
_SHARE_OF_MEMORY = 0.5


def default_ranks() -> int:
    """Ranks that this machine measures well: one for each core."""
    return max(2, os.cpu_count() or 2)


@dataclass(frozen=True)
class Asked:
    """What the page's fields hold, as they were typed; grids as `dashboard.benchmarks.campaigns.ranges` reads them.

    Attributes
    ----------
    collectives
        At least one.
    algorithms
        Empty: all that the library has.
    relative_error
        Percent.
    providers
        Whose methods; none: the library's.
    components
        Parts of the library that are methods, too: names, ``all`` or ``none``; empty: none.
    adaptive, budget, until
        As `dashboard.domain.adaptive` declares them.
    """

    collectives: tuple[str, ...] = ("bcast",)
    algorithms: tuple[str, ...] = ()
    segment_sizes: str = "0,1KiB,8KiB,64KiB"
    fan_outs: str = "4"
    radixes: str = "4"
    comm_sizes: str = "2-{ranks}:x2"
    message_sizes: str = "4-1MiB:x4"
    ppns: str = ""
    ranks: int = 2
    protocol: str = "skampi"
    repetitions: str = "9-60"
    relative_error: float = 5.0
    rounds: int = 3
    iterations: int = 10
    point_seconds: float = 5.0
    buffers: str = "reuse"
    roots: str = "first"
    counts: str = "equal"
    datatype: str = "float32"
    operation: str = "sum"
    providers: tuple[str, ...] = ("library",)
    components: str = ""
    memory: str = "256MiB"
    launches: int = 1
    graphs: bool = True
    adaptive: bool = False
    budget: str = ""
    until: float | None = None

    def wish(self) -> control.Wish:
        """Read the fields.

        Raises
        ------
        PlanError
            One of them cannot be read, or is out of its range; the message names it.
        """
        if not self.collectives:
            raise PlanError("no collective is chosen: choose at least one")
        if type(self.ranks) is not int or self.ranks < 2:
            raise PlanError(f"{self.ranks} ranks: collectives need at least 2")
        for name in _NUMBERS:
            # A field that was emptied.
            if getattr(self, name) is None:
                raise PlanError(f"{_TITLES.get(name, name.replace('_', ' '))}: there is no number; it needs one")
        if not 0 < self.relative_error < _MOST_ERROR:
            raise PlanError(
                f"{_TITLES['relative_error']}: {self.relative_error:g} %; allowed are percent above 0 and below 100"
            )
        ends = _grid("repetitions", self.repetitions)
        # Protocol itself looks whether these texts are among those allowed.
        protocol = Protocol(
            name=cast("Any", self.protocol),
            min_repetitions=ends[0],
            max_repetitions=ends[-1],
            relative_error=self.relative_error / 100,
            rounds=self.rounds,
            iterations=self.iterations,
            seconds=self.point_seconds,
            buffers=cast("Any", self.buffers),
            roots=cast("Any", self.roots),
            counts=cast("Any", self.counts),
            race=self.adaptive,
        )
        named = ("segment_sizes", "fan_outs", "radixes")
        variants: dict[str, Any] = {name: _grid(name, getattr(self, name)) for name in named}
        variants["components"] = components_of(self.components, spread=False)
        return control.Wish(
            ranks=self.ranks,
            collectives=self.collectives,
            comm_sizes=_grid("communicator sizes", self.comm_sizes.replace("{ranks}", str(self.ranks))),
            message_sizes=_grid("message sizes", self.message_sizes),
            algorithms=self.algorithms,
            ppns=_grid("processes per node", self.ppns) if self.ppns.strip() else (),
            variants=Variants(**variants),
            protocol=protocol,
            datatype=self.datatype,
            operation=self.operation,
            providers=tuple(self.providers) or ("library",),
            memory=_most(self.memory),
            graphs=self.graphs,
            launches=self.launches,
            goal=Goal.asked(adaptive=self.adaptive, budget=self.budget, until=self.until),
        )

    def changed(self) -> dict[str, Any]:
        """What is not usual of it, by name; collectives and ranks always."""
        usual = asdict(Asked())
        always = ("collectives", "ranks")
        given = {name: value for name, value in asdict(self).items() if value is not None}
        return {name: value for name, value in given.items() if name in always or value != usual[name]}

    def words(self) -> list[str]:
        """What is asked for as ``colltune bench plan`` takes it; what is usual is left out."""
        words = []
        for name, value in self.changed().items():
            flag = "--" + _FLAGS.get(name, name).replace("_", "-")
            if isinstance(value, bool):
                words.append(flag)
            elif name == "relative_error":
                words += [flag, f"{value / 100:g}"]
            else:
                words += [flag, ",".join(value) if isinstance(value, tuple) else str(value)]
        return [word.replace("{ranks}", str(self.ranks)) for word in words]


#: How the command spells what it does not call by its name here.
_FLAGS = {"collectives": "collective", "ppns": "ppn", "providers": "provider", "graphs": "no_graphs"}
_MOST_ERROR = 100.0
_TITLES = {"relative_error": "standard error", "point_seconds": "longest time of a point"}
_NUMBERS = ("relative_error", "rounds", "iterations", "point_seconds", "launches")


def _most(text: str) -> int:
    try:
        return parse_size(text)
    except PlanError as error:
        raise PlanError(f"most bytes of buffers: {error}") from error


def _grid(name: str, text: str) -> tuple[int, ...]:
    try:
        return parse_sizes(text)
    except PlanError as error:
        raise PlanError(f"{name.replace('_', ' ')}: {error}") from error


@dataclass(frozen=True)
class Offer:
    """What a campaign would be, before it is started.

    Attributes
    ----------
    plan
        To be measured.
    points
        Number of points.
    seconds, at_most, core_hours
        As `dashboard.benchmarks.campaigns.pace.Estimate` has them.
    limit
        Time limit of the job in seconds, where none is given.
    cells, methods, left_out
        Number of cells, of methods by collective, and of cells left out by the reason.
    remarks
        What to think of before starting.
    """

    plan: Plan
    points: int
    seconds: float
    at_most: float
    core_hours: float
    limit: float
    cells: int
    methods: Mapping[str, int]
    left_out: Mapping[str, int]
    remarks: tuple[str, ...] = ()


def offer(asked: Asked, installation: Installation, *, here: bool = True) -> Offer:
    """Plan what was asked for and say what it costs.

    Parameters
    ----------
    here
        Whether it is to run on this machine, whose cores and memory then limit it.

    Raises
    ------
    PlanError
        When it cannot be measured, or is larger than allowed; the message says what would be right.
    """
    wish = asked.wish()
    cores = os.cpu_count() or 1
    if here:
        check_ranks(wish.ranks)
    plan = control.make_plan(wish, installation)
    most = sum(map(len, plan.methods.values())) * len(plan.comm_sizes) * max(1, len(plan.message_sizes))
    most *= max(1, len(plan.ppns)) * plan.launches
    if most > MOST_POINTS:
        raise PlanError(
            f"the grid has {most:,} points; at most {MOST_POINTS:,} make one campaign: take fewer sizes or methods, "
            "or divide it into several"
        )
    cells = plan.cells()
    if here:
        _check_memory(plan, max((buffer_bytes(cell) for cell in cells), default=0))
    estimate = plan.estimate(cores=cores if here else None)
    if not estimate.points:
        why = "; ".join(plan.left_out()) or "the grid is empty"
        raise PlanError(f"nothing would be measured: {why}")
    return Offer(
        plan,
        estimate.points,
        estimate.seconds,
        estimate.at_most,
        estimate.core_hours,
        control.limit_of(plan, set(), cores if here else None),
        len(cells) // plan.launches,
        {name: len(methods) for name, methods in plan.methods.items()},
        plan.left_out(),
        tuple(_remarks(plan, installation, cores if here else None)),
    )


def check_ranks(ranks: int) -> None:
    """Raise `PlanError` for more ranks than this machine can take."""
    cores = os.cpu_count() or 1
    most = max(_RANKS_ANYWHERE, _RANKS_PER_CORE * cores)
    if ranks > most:
        raise PlanError(
            f"{ranks:,} ranks on {cores} cores: at most {most} on this machine; use a cluster for larger communicators"
        )


def _check_memory(plan: Plan, largest: int) -> None:
    try:
        held = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return
    needed = largest * plan.ranks
    if needed > _SHARE_OF_MEMORY * held:
        raise PlanError(
            f"{plan.ranks} ranks with buffers of {largest >> 20:,} MiB need {needed / 2**30:.1f} GiB; at most half of "
            f"this machine's {held / 2**30:.1f} GiB may be taken: lower the memory limit, the sizes or the ranks"
        )


def _remarks(plan: Plan, installation: Installation, cores: int | None) -> list[str]:
    said = []
    if cores == 1:
        said.append(
            "This machine has one core: the ranks take turns on it, and what is measured is the operating system as "
            "much as the algorithms."
        )
    elif cores is not None and plan.ranks > cores:
        said.append(
            f"{plan.ranks} ranks share {cores} cores: sizes of more than {cores} processes are slower than they are "
            "on a machine with a core for each."
        )
    if why := getattr(installation.library, "why", ""):
        said.append(f"{why[0].upper()}{why[1:]}.")
    return said
