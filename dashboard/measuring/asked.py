"""What was asked for, read into a plan with what it costs, within what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.allowed import memory, processors
from dashboard.benchmarks.campaigns import limits
from dashboard.benchmarks.campaigns.groups import parse_group
from dashboard.benchmarks.campaigns.pace import Estimate
from dashboard.benchmarks.campaigns.plan import Plan, buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.ranges import parse_size, parse_sizes
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import LIBRARY, Variants, components_of
from dashboard.benchmarks.libraries.own_settings import default_ranks
from dashboard.benchmarks.providers import NAMES, orthogonal
from dashboard.domain import adaptive
from dashboard.domain.campaign import ALL, BY_NAME, OPTIONS, ORTHOGONAL
from dashboard.domain.errors import OptionError
from dashboard.domain.options import Option

#: More would take hours to plan and to draw; such a grid is better cut into campaigns.
MOST_POINTS = 200_000
#: Ranks for each core of this machine, and those that every machine may have.
_RANKS_PER_CORE, _RANKS_ANYWHERE = 4, 16
_SHARE_OF_MEMORY = 0.5


@dataclass(frozen=True)
class Asked:
    """What is to be measured, as `dashboard.domain.campaign.OPTIONS` declares it."""

    #: What is not as usual of it, by name, as it was typed; grids as `dashboard.benchmarks.campaigns.ranges` reads
    #: them.
    values: Mapping[str, Any]

    @classmethod
    def of(cls, **given: Any) -> Asked:
        """Of these values; PlanError for a name that is no option's."""
        if unknown := [name for name in given if name not in BY_NAME]:
            raise PlanError(f"{unknown[0]!r} cannot be asked for; allowed are {', '.join(BY_NAME)}")
        return cls({name: value for name, value in given.items() if value != BY_NAME[name].default})

    def but(self, **given: Any) -> Asked:
        """The same with other values."""
        return self.of(**{**self.values, **given})

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name, BY_NAME[name].default)

    @property
    def ranks(self) -> int:
        """Processes that are started."""
        ranks = self["ranks"]
        return default_ranks() if ranks is None else int(ranks)

    def wish(self, *, spread: bool = False) -> Wish:
        """Read the values.

        Parameters
        ----------
        spread
            Whether the ranks are on several nodes, where other parts of the library answer.

        Raises
        ------
        PlanError
            One of them cannot be read, or is out of its range; the message names it.
        """
        asked = {option.name: self._checked(option) for option in OPTIONS}
        ranks, algorithms = self.ranks, asked["algorithms"] or ()
        comm_sizes = _grid("comm_sizes", (asked["comm_sizes"] or "2-{ranks}:x2").replace("{ranks}", str(ranks)))
        providers = providers_of(asked["providers"], grids=bool(asked["grids"] or asked["inner"]))
        grids = orthogonal.grids(asked["grids"] or "2", comm_sizes) if ORTHOGONAL in providers else ()
        if not grids and ORTHOGONAL in (asked["providers"] or ()):
            sizes = ", ".join(map(str, comm_sizes))
            raise PlanError(
                f"{ORTHOGONAL}: communicators of {sizes} processes have no grids; 4 and more have, but primes"
            )
        variants: dict[str, Any] = {name: _grid(name, asked[name]) for name in _VARIANTS if asked[name]}
        ends = _grid("repetitions", asked["repetitions"])
        return Wish(
            ranks=ranks,
            collectives=asked["collectives"] or (),
            comm_sizes=comm_sizes,
            message_sizes=_grid("message_sizes", asked["message_sizes"]),
            algorithms=algorithms,
            ppns=_grid("ppn", asked["ppn"]) if asked["ppn"] else (),
            variants=Variants(
                **variants,
                components=components_of(asked["components"], spread=spread),
                grids=grids,
                inner=asked["inner"] or (),
                named=tuple(word for word in algorithms if ":" in word),
                launched=asked["launch_per_method"],
            ),
            protocol=Protocol(
                name=asked["protocol"],
                min_repetitions=ends[0],
                max_repetitions=ends[-1],
                seconds=asked["point_seconds"],
                race=asked["adaptive"],
                **{name: asked[name] for name in _PROTOCOL},
            ),
            groups=tuple(map(parse_group, asked["groups"])),
            apart=asked["launch_per_method"],
            checked=not asked["unchecked"],
            datatype=",".join(asked["datatype"] or BY_NAME["datatype"].default),
            memory=_size("memory", asked["memory"]),
            providers=providers,
            goal=Goal.asked(**{option.name: asked[option.name] for option in adaptive.OPTIONS}),
            **{name: asked[name] for name in ("operation", "graphs", "launches", "seed")},
        )

    def _checked(self, option: Option) -> Any:
        try:
            return option.checked(self[option.name])
        except OptionError as error:
            raise PlanError(str(error).replace(option.name, option.title, 1)) from error

    def words(self) -> list[str]:
        """What is asked for as ``colltune bench plan`` takes it; what is usual is left out."""
        known = {name: value for name, value in self.values.items() if value is not None}
        return [word for option in OPTIONS if option.name in known for word in option.typed(known[option.name])]


_VARIANTS = ("segment_sizes", "fan_outs", "radixes", "max_requests", "first_segments")
_PROTOCOL = ("relative_error", "rounds", "iterations", "buffers", "roots", "counts")


def providers_of(named: Sequence[str] | None, *, grids: bool = False) -> tuple[str, ...]:
    """Providers by name; who asks for grids asks for those who offer them, beside the library."""
    further = (ORTHOGONAL,) if grids else ()
    return NAMES if ALL in (named or ()) else tuple(dict.fromkeys((*(named or (LIBRARY,)), *further)))


def _size(name: str, text: str) -> int:
    try:
        return parse_size(text)
    except PlanError as error:
        raise PlanError(f"{BY_NAME[name].title}: {error}") from error


def _grid(name: str, text: str) -> tuple[int, ...]:
    try:
        return parse_sizes(text)
    except PlanError as error:
        raise PlanError(f"{BY_NAME[name].title}: {error}") from error


@dataclass(frozen=True, kw_only=True)
class Offer(Estimate):
    """What a campaign would be, and cost, before it is started."""

    #: To be measured.
    plan: Plan
    #: Time limit of the job in seconds, where none is given.
    limit: float
    #: Number of cells, of methods that have any point by collective, and of cells left out by the reason.
    cells: int
    methods: Mapping[str, int]
    left_out: Mapping[str, int]
    #: What to think of before starting.
    remarks: tuple[str, ...] = ()
    #: Whether calling every method in every way comes on top.
    checked: bool = False


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
    cores = processors()
    if here:
        check_ranks(wish.ranks)
    plan = make_plan(wish, installation)
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
        **vars(estimate),
        plan=plan,
        limit=limits.limit_of(plan, set(), cores if here else None),
        cells=len(cells) // plan.launches,
        methods={name: len(methods) for name, methods in plan.timed.items()},
        left_out=plan.left_out(),
        remarks=tuple(_remarks(plan, installation, cores if here else None)),
        checked=limits.check_of(plan) > 0,
    )


def check_ranks(ranks: int) -> None:
    """Raise `PlanError` for more ranks than this machine can take."""
    cores = processors()
    most = max(_RANKS_ANYWHERE, _RANKS_PER_CORE * cores)
    if ranks > most:
        raise PlanError(
            f"{ranks:,} ranks on {cores} cores: at most {most} on this machine; use a cluster for larger communicators"
        )


def _check_memory(plan: Plan, largest: int) -> None:
    held, needed = memory(), largest * plan.ranks
    if held is not None and needed > _SHARE_OF_MEMORY * held:
        raise PlanError(
            f"{plan.ranks} ranks with buffers of {largest >> 20:,} MiB need {needed / 2**30:.1f} GiB; at most half of "
            f"the {held / 2**30:.1f} GiB to be used here may be taken: lower the memory limit, the sizes or the ranks"
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
