"""Have every method called in every way, in one job that is started again after what hangs or takes it down."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import BenchError, PlanError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Job, Launcher, Progress, Start, finish_job, workplace
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import ALL_COMPONENTS, Library, Method, Variants
from dashboard.benchmarks.libraries.mpich import MAKE_ROOM
from dashboard.benchmarks.libraries.mpich import NAME as MPICH
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.benchmarks.safety.order import Forced, Order, Records
from dashboard.benchmarks.safety.verdict import Finding, findings
from loaders.collectives import COLLECTIVES

WORKER = ("-m", "mpi4py", "-m", "dashboard.benchmarks.safety.worker")
#: Whole messages, and segments that cut those of the cases: the code of all others is the same.
VARIANTS = Variants(segment_sizes=(0, 1024), components=(ALL_COMPONENTS,))
#: Of a campaign's plan: beyond so many processes a fault would have shown before.
MOST_RANKS = 9
#: Seconds without a call coming back after which a method hangs; so many of them may be passed by.
HANGS_S, AGAIN = 20.0, 40
TIME_UP = "the time was up"


@dataclass(frozen=True)
class Report:
    """What a check came to."""

    #: Name and version.
    library: str
    #: That were tried.
    comm_sizes: tuple[int, ...]
    #: How many of each collective.
    methods: Mapping[str, int]
    #: Calls that were made and looked at.
    cases: int
    #: Methods with which something is wrong.
    faulty: tuple[Finding, ...]
    #: Methods that the library refuses for some numbers of processes: ``collective, label, comm_sizes, why``.
    not_for: tuple[Mapping[str, Any], ...] = ()
    #: Methods that hung or took the job down once, and not when they were called again: ``collective, label, case,
    #: effect``. Perhaps the machine was too busy.
    once: tuple[Mapping[str, Any], ...] = ()
    #: Methods that were not called for all numbers of processes.
    missing: int = 0
    #: Why not, such as that the time was up.
    stopped: str = ""
    #: That it took.
    seconds: float = 0.0

    @property
    def safe(self) -> bool:
        """Whether everything was called, and no method must be left out."""
        return not self.missing and not any(finding.excluded for finding in self.faulty)

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        faulty = [finding.to_dict() for finding in self.faulty]
        return {**vars(self), "safe": self.safe, "faulty": faulty, "seconds": round(self.seconds, 1)}


def order_of(library: Library, methods: Mapping[str, Iterable[Method]], comm_sizes: Iterable[int]) -> Order:
    """What is called to check methods of a library that can be switched within one job.

    Raises
    ------
    PlanError
        When it cannot be switched.
    """
    chosen = {
        name: tuple(Forced(method, library.settings(name, method), library.component(name, method)) for method in each)
        for name, each in methods.items()
    }
    if not any(forced.settings for each in chosen.values() for forced in each):
        raise PlanError(
            f"methods of {library.name} cannot be switched within one job, so they cannot be checked; install Open "
            "MPI or MPICH"
        )
    return Order(tuple(sorted(set(comm_sizes))), chosen, library.name == MPICH)


def order_of_plan(plan: Plan) -> Order | None:
    """What is called before a campaign is timed: its methods; None where there is nothing to choose, or no check."""
    if not plan.checked:
        return None
    methods = {
        name: tuple(
            Forced(method, settings, plan.component_of(method))
            for method, settings in zip(each, plan.settings[name], strict=True)
            if method.library_id or plan.component_of(method)
        )
        for name, each in plan.methods.items()
        if name in plan.settings
    }
    methods = {name: each for name, each in methods.items() if each}
    sizes = {*range(2, 1 + min(plan.ranks, MOST_RANKS)), *(size for size in plan.comm_sizes if size <= MOST_RANKS)}
    return Order(tuple(sorted(sizes)), methods, plan.library == MPICH) if methods else None


def faulty_of(campaign: Campaign) -> tuple[Finding, ...]:
    """Methods of a campaign with which its check found something wrong."""
    order = order_of_plan(campaign.plan())
    return () if order is None else findings(order, Records.read(campaign.safety))


def methods_of(
    library: Library, collectives: Sequence[str] = (), algorithms: Sequence[str] = ()
) -> dict[str, list[Method]]:
    """Methods of a library by collective, all of them or those asked for.

    Raises
    ------
    PlanError
        When a collective or an algorithm is not known; the message says what is.
    """
    if lost := [name for name in collectives if name not in COLLECTIVES]:
        raise PlanError(f"{lost[0]!r} cannot be called; allowed are {', '.join(COLLECTIVES)}")
    offered = {name: library.methods(name, VARIANTS) for name in collectives or COLLECTIVES}
    known = list(dict.fromkeys(method.algorithm for each in offered.values() for method in each))
    if lost := [name for name in algorithms if name not in known]:
        raise PlanError(f"{' and '.join(offered)} have no algorithm {lost[0]!r}; they have {', '.join(known)}")
    if not algorithms:
        return offered
    chosen = {name: [method for method in each if method.algorithm in algorithms] for name, each in offered.items()}
    return {name: each for name, each in chosen.items() if each}


def check(
    installation: Installation,
    order: Order,
    *,
    seconds: float = 600.0,
    hangs: float = HANGS_S,
    python: Path | None = None,
    launcher: Launcher | None = None,
    environment: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Call everything of an order.

    Parameters
    ----------
    seconds
        Time limit; what is not called then is counted.
    hangs
        Seconds without a call coming back after which a method hangs.
    python
        Interpreter that the ranks run; default: this one.
    launcher
        What starts them; default: the library's own start command, on this machine.
    environment
        Variables beside those of the library.

    Raises
    ------
    BenchError
        When no job can be run.
    """
    began = time.monotonic()
    library = installation.library
    ranks = order.comm_sizes[-1]
    launcher = launcher or LocalLauncher((str(installation.mpiexec),))
    with workplace(launcher) as folder:
        written, records = folder / "order.json", folder / "records.jsonl"
        order.save(written)
        program = (str(python or sys.executable), *WORKER, str(written), str(records))
        own = {**ONE_THREAD, **MAKE_ROOM, **library.environment(here=launcher.here, graphs=False)}
        said = {**added(own), **order.environment, **(environment or {})}
        log = folder / "log.txt"
        job = Job(folder, ranks, program, said, seconds, log, (records,), starts=(Start(again=AGAIN, quiet=hangs),))
        total = len(order.steps)

        def far() -> tuple[float, str]:
            done = len(Records.read(records).done)
            return done / total, f"{done} of {total} methods and communicator sizes"

        status = finish_job(launcher, job, progress, far)
        seen = Records.read(records)
        if status.state not in ("finished", "timed out") and not seen.done and not seen.faults:
            last = " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-300:]
            raise BenchError(f"no job can be run with {installation.mpiexec}: {status.reason} ({last})")
    title = f"{library.name} {library.version}".strip()
    why = TIME_UP if status.state == "timed out" else status.reason
    return report_of(order, seen, title, time.monotonic() - began, why)


def report_of(order: Order, records: Records, library: str, seconds: float = 0.0, why: str = "") -> Report:
    """What records come to, with the reason why the job ended before all was called."""
    not_for: dict[tuple[str, int], dict[str, Any]] = {}
    for (name, number, size), reason in records.refused.items():
        label = order.methods[name][number].method.label
        entry = {"collective": name, "label": label, "comm_sizes": [], "why": reason}
        not_for.setdefault((name, number), entry)["comm_sizes"].append(size)
    return Report(
        library,
        order.comm_sizes,
        {name: len(each) for name, each in order.methods.items()},
        sum(records.done.values()),
        findings(order, records),
        tuple(not_for.values()),
        tuple(
            {"collective": name, "label": order.methods[name][number].method.label, "case": words, "effect": text}
            for (name, number), (words, text) in records.died.items()
            if (name, number) not in records.dead
        ),
        missing := len({step[:2] for step in records.missing(order)}),
        why if missing else "",
        seconds,
    )
