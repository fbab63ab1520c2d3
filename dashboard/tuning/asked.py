"""What was asked of a tuning: kept in its folder, so that the same command without options goes on with it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.ranges import parse_sizes
from dashboard.benchmarks.campaigns.wish import refuse_unknown
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.launchers.slurm import Request
from dashboard.benchmarks.libraries.methods import Library
from dashboard.benchmarks.libraries.own_settings import default_ranks
from dashboard.decisions.measured.workload import calls_on
from dashboard.domain.tuning import BUDGET, COLLECTIVES, MESSAGE_SIZES, RULES
from dashboard.domain.units import parse_duration
from dashboard.export import TARGETS
from dashboard.export.components import HAN, OWN_VARIANTS, SERVES
from loaders import disk
from loaders.workload import read_workload

#: Every communicator size up to here; of more, powers of two and halfway between them.
_ALL = 16
#: Seconds of a job of measuring beside the budget: for starting, checking methods and ending.
_AROUND_S = 600.0
#: Most seconds of a budget.
_LONGEST_S = 30 * 86400.0
#: Share of the budget for measuring methods; the rest is for comparing with the library's own decision, without which
#: rules are lost.
_MEASURING = 1 / 3


@dataclass(frozen=True)
class Asked:
    """What is to be tuned."""

    #: At least one.
    collectives: tuple[str, ...] = COLLECTIVES
    #: Processes that are started.
    ranks: int = 2
    #: Grids of sizes that are chosen from, as `dashboard.benchmarks.campaigns.ranges` reads them; no communicator
    #: sizes: up to `ranks`.
    comm_sizes: str = ""
    message_sizes: str = MESSAGE_SIZES
    #: Of measuring, methods and comparison together.
    seconds: float = parse_duration(BUDGET)
    #: File with the calls that count, for what is measured, decided and compared; empty: all sizes count alike.
    workload: str = ""
    #: Of its content.
    workload_digest: str = ""
    #: What the decision is written as beside the rules of the library that is there and what can be preloaded: a target
    #: of ``colltune export``, or ``rules``: nothing else.
    target: str = RULES
    #: Of the comparison: the ranks are started so often anew.
    launches: int = 3
    #: Whether methods are called in every way before they are timed.
    checked: bool = True
    #: What is asked of Slurm, see `dashboard.benchmarks.launchers.slurm.Request`; None: nothing.
    slurm: Mapping[str, Any] | None = None
    #: Start command, as `dashboard.benchmarks.launchers.site` has it; empty: as the site says.
    launch: str = ""
    #: Site's file that was named; empty: none.
    site: str = ""

    def __post_init__(self) -> None:
        if not self.collectives:
            raise PlanError("no collective is to be tuned: name at least one (-c)")
        refuse_unknown(self.collectives)
        parse_sizes(self.message_sizes)
        if self.comm_sizes:
            parse_sizes(self.comm_sizes)
        if self.ranks < 2:
            raise PlanError(f"{self.ranks} ranks: collectives need at least 2 (--ranks)")
        if self.target != RULES and self.target not in TARGETS:
            raise PlanError(f"target {self.target!r}: allowed are {RULES}, {', '.join(TARGETS)} (--target)")
        if not 0 < self.seconds <= _LONGEST_S:
            raise PlanError(f"budget of {self.seconds:g} s: allowed are times above 0, to 30 days (--budget)")

    @classmethod
    def of(cls, kept: Mapping[str, Any], given: Mapping[str, Any]) -> Asked:
        """What was asked before, with what is asked now in its place.

        Raises
        ------
        PlanError
            A value is not allowed, or a workload cannot be read.
        """
        known = {option.name for option in fields(cls)}
        settings = {**{name: value for name, value in kept.items() if name in known}, **given}
        settings.setdefault("ranks", default_ranks())
        try:
            settings["collectives"] = tuple(settings.get("collectives") or COLLECTIVES)
            if settings.get("slurm") is not None:
                Request.from_record(settings["slurm"])
            return cls(**settings).with_digest()
        except (TypeError, AttributeError, CampaignError) as error:
            raise PlanError(f"what was asked before (asked.json) cannot be read: {error}") from error

    @staticmethod
    def named(chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Values of `dashboard.domain.tuning.OPTIONS` that were chosen, by the names of this class."""
        given = {name: value for name, value in chosen.items() if value not in (None, "")}
        if "budget" in given:
            given["seconds"] = parse_duration(given.pop("budget"))
        if "unchecked" in given:
            given["checked"] = not given.pop("unchecked")
        return given

    def with_digest(self) -> Asked:
        """The same with the digest of the workload as it is now."""
        if not self.workload:
            return replace(self, workload_digest="")
        try:
            content = disk.read_bytes(Path(self.workload))
        except OSError as error:
            raise PlanError(f"workload {self.workload} cannot be read: {error.strerror or error}") from error
        return replace(self, workload_digest=hashlib.sha256(content).hexdigest()[:16])

    def to_json(self) -> dict[str, Any]:
        """As it stands in the folder."""
        return asdict(self)

    def across(self, library: Library, *, nodes: int) -> bool:
        """Whether HAN takes part, which answers before tuned on several nodes and is told by rules of its own (5.x)."""
        served = any(name in SERVES[HAN] for name in self.collectives)
        return served and nodes > 1 and HAN in library.components and library.version.startswith("5.")

    def one_each(self, nodes: int) -> bool:
        """Whether there is one process on each of so many nodes: HAN hands all calls on once it has answered one."""
        return self.ranks <= nodes

    def components(self, library: Library, *, nodes: int) -> tuple[str, ...]:
        """Components that are methods beside the library's own decision, which is HAN's where that takes part.

        HAN itself with the algorithms that it does not take by itself: these its rules can name, segment sizes not.
        None with one process on each node (`one_each`): there its rules soon act no more.
        """
        if not self.across(library, nodes=nodes) or self.one_each(nodes):
            return ()
        others = (name for name in library.components if name not in (HAN, "sm"))
        return (*others, *(f"{HAN} @{variant}" for variant in OWN_VARIANTS))

    @property
    def rows(self) -> tuple[int, ...]:
        """Communicator sizes that are chosen from."""
        if self.comm_sizes:
            return parse_sizes(self.comm_sizes)
        if self.ranks <= _ALL:
            return tuple(range(2, self.ranks + 1))
        powers = [1 << n for n in range(1, self.ranks.bit_length())]
        halves = [3 * power // 2 for power in powers]
        return tuple(sorted({size for size in (*powers, *halves) if size <= self.ranks} | {self.ranks}))

    @property
    def columns(self) -> tuple[int, ...]:
        """Message sizes that are chosen from, bytes."""
        return parse_sizes(self.message_sizes)

    def calls(self) -> dict[tuple[str, int, int], float]:
        """How often programs call each size of the grid: by collective, communicator size, bytes; empty: no workload.

        Raises
        ------
        PlanError
            They call none of the collectives.
        LoadError
            The workload cannot be read.
        """
        if not self.workload:
            return {}
        calls = calls_on(read_workload(self.workload), self.collectives, self.rows, self.columns)
        if not calls:
            raise PlanError(f"workload {self.workload} calls none of {', '.join(self.collectives)} (-c)")
        return calls

    @property
    def measuring(self) -> float:
        """Seconds for measuring methods."""
        return _MEASURING * self.seconds

    @property
    def limit(self) -> float:
        """Seconds that a job of measuring may take, with the start, the checks and what is around points."""
        return self.measuring + _AROUND_S

    @property
    def comparing(self) -> float:
        """Seconds for each comparison with the library's own decision; there may be two."""
        return (self.seconds - self.measuring) / 2
