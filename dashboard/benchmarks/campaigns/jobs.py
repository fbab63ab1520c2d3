"""The jobs of a campaign's launch: what they run, and how their ranks are started for what is still missing."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dashboard.benchmarks import providers
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan, missing
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import ONE_THREAD, Job, Launcher, Start
from dashboard.benchmarks.libraries import mpicc, preload
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import LIBRARY, Library, Method
from dashboard.benchmarks.libraries.openmpi import COUNTING
from dashboard.benchmarks.libraries.own_settings import ADDED, UNCOUNTED, added, allocated_nodes, words
from dashboard.benchmarks.ranks import counting, selection
from dashboard.benchmarks.ranks.native import FILE, SOURCE
from dashboard.benchmarks.safety.check import AGAIN, HANGS_S, order_of_plan
from dashboard.benchmarks.safety.order import Records
from dashboard.export.components import HAN

_WORKER = ("-m", "mpi4py", "-m", "dashboard.benchmarks.ranks.worker")
#: The worker starts no cell in the last part of the time limit, so that it mostly ends by itself.
_LAST_PART, _LAST_SECONDS = 0.05, 10.0
#: Seconds in which the slowest of common machines has made its communicators and verified a method.
_QUIET_S = 60.0
#: Why messages are not counted across nodes: ranks of 5.0.11 end with a segmentation fault when communicators go for
#: which HAN has answered; with one rank on each node they do not.
_CRASHES = "while it counts messages, Open MPI crashes where its component han answers, as it does across nodes"
_UNKNOWN = (
    "; whether all ranks are on one node was not known before (--nodes and --tasks-per-node of submit tell, of a start "
    "command ppn in a site's file)"
)


def jobs_of(
    campaign: Campaign,
    launcher: Launcher,
    installation: Installation,
    seconds: float,
    attempt: int,
    native: Path | None = None,
    counter: Path | None = None,
) -> list[Job]:
    """The jobs of a launch: one, or one for each communicator size at which something is missing.

    Parameters
    ----------
    native, counter
        The executor of schedules, and what counts messages, as `executor_of` and `counter_of` compile them.
    """
    plan = campaign.plan()
    soft = seconds - min(_LAST_SECONDS, _LAST_PART * seconds)
    numbers: list[int | None] = [None]
    if launcher.array:
        sizes = {cell.comm_size for cell, _ in missing(plan, campaign.done().all)}
        numbers = [number for number, size in enumerate(plan.comm_sizes) if size in sizes]
    jobs = []
    for number in numbers:
        part = campaign if number is None else campaign.part(number, launcher.ppn)
        folder, ranks = part.folder.resolve(), part.plan().ranks
        program: tuple[str, ...] = (sys.executable, *_WORKER, str(folder))
        program += ("--seconds", f"{soft:g}", "--attempt", str(attempt))
        several = launcher.nodes(ranks) != 1 and HAN in installation.library.components
        crashes = plan.graph_counters and several and launcher.ppn != 1
        uncounted = {UNCOUNTED: uncounted_why(launcher.ppn, ranks)} if crashes else {}
        graphs = bool(plan.graph_counters) and not uncounted
        program += ("--native", str(native)) if native else ()
        preloaded = {preload.VARIABLE: str(counter)} if counter and graphs else {}
        library = installation.library.environment(here=launcher.here, graphs=graphs)
        own = added({**ONE_THREAD, **library, **preloaded}, ranks=ranks)
        environment = {**own, ADDED: words(own), **uncounted}
        watched = tuple(folder / path.name for path in (part.progress_file, part.results, part.safety))
        job = Job(folder, ranks, program, environment, seconds, folder / part.log.name, watched, quiet_of(plan))
        # Where it counts messages Open MPI crashes between groups, which the check calls as well.
        uncounting = {COUNTING: "0"} if COUNTING in own else {}
        listen = several or bool(plan.components)
        starts, otherwise = _starts(part, installation.library, uncounting, listen=listen)
        jobs.append(replace(job, index=number, starts=starts, otherwise=otherwise))
    return jobs


def uncounted_why(ppn: int | None, ranks: int) -> str:
    """Why messages of so many ranks, `ppn` on each node if that is known, are not counted."""
    several = (ppn is not None and ppn < ranks) or allocated_nodes() > 1
    return _CRASHES if several else f"{_CRASHES}{_UNKNOWN}"


def executor_of(campaign: Campaign, installation: Installation) -> Path | None:
    """The executor of schedules, compiled into the campaign's folder; None where it is not needed or cannot be."""
    needed = any(method.provider != LIBRARY for each in campaign.plan().methods.values() for method in each)
    try:
        return mpicc.beside(installation.mpiexec, SOURCE, campaign.folder.resolve() / FILE) if needed else None
    except BenchError:
        # A compiler that cannot compile is as none: the record says which executor timed.
        return None


def counter_of(campaign: Campaign, installation: Installation) -> Path | None:
    """What counts messages where Open MPI hides its counters, compiled into the campaign's folder; None: without."""
    if not counting.hidden(installation.library) or not campaign.plan().graph_counters:
        return None
    # No link serves jobs that outlive this process.
    return None if preload.splits(campaign.folder.resolve()) else counting.compiled(campaign.folder)


def _starts(
    campaign: Campaign, library: Library, uncounting: Mapping[str, str], *, listen: bool
) -> tuple[tuple[Start, ...], tuple[Start, ...]]:
    """How the ranks must be started for what is missing, and how if they find that methods cannot be switched.

    Parameters
    ----------
    uncounting
        Variables with which messages are not counted.
    listen
        Whether one more launch is to hear who answers, where that is not known yet.
    """
    plan = campaign.plan()
    todo = missing(plan, campaign.done().all)
    apart = _apart(plan, todo, library) if plan.apart or plan.settings else ()
    if plan.apart and apart:
        return apart, ()
    starts = (Start(),) * max(1, len({cell.launch for cell, _ in todo}))
    # One start for each method would measure the whole grid.
    apart = () if plan.goal is not None else apart
    order = order_of_plan(plan)
    if listen and not (campaign.folder / selection.NAME).exists():
        starts = (Start(selection.ENVIRONMENT, ("--selection",)), *starts)
    # Before anything is timed: what gives wrong results in some case must not be chosen for its times in another.
    if order is not None and Records.read(campaign.safety).missing(order):
        starts = (Start({**uncounting, **order.environment}, ("--safety",), again=AGAIN, quiet=HANGS_S), *starts)
    return starts, apart


def _apart(plan: Plan, todo: Sequence[tuple[Cell, list[Method]]], library: Library) -> tuple[Start, ...]:
    """One start in each launch for all methods that the same variables force; none where the library has no such."""
    needed = {(cell.launch, cell.collective, method) for cell, methods in todo for method in methods}
    starts: dict[tuple[int, tuple[tuple[str, str], ...]], list[str]] = {}
    for launch in range(1, plan.launches + 1):
        for collective, methods in plan.methods.items():
            for number, method in enumerate(methods):
                if (launch, collective, method) not in needed:
                    continue
                if (forced := providers.forcing(library, collective, method)) is None:
                    return ()
                words = starts.setdefault((launch, tuple(forced.items())), [])
                words += ["--only", collective, str(number)]
    for (launch, pairs), words in starts.items():
        words += ["--launch", str(launch), *(word for pair in pairs for word in ("--forced", "=".join(pair)))]
    return tuple(Start(dict(pairs), tuple(words)) for (_, pairs), words in starts.items())


def quiet_of(plan: Plan) -> float:
    """Seconds that a job may be at work without writing anything: twice what a cell takes at most, and a minute."""
    return _QUIET_S + 2 * plan.protocol.seconds * max(map(len, plan.methods.values()))
