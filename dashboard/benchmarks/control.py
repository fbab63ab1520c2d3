"""Start, watch, cancel and resume a campaign; the command and the page use these, and nothing else launches."""

from __future__ import annotations

import fcntl
import json
import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from dashboard.benchmarks.campaign import Campaign, write_json
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.launch import Job, Launcher, Status
from dashboard.benchmarks.library import Installation
from dashboard.benchmarks.methods import COLLECTIVES, Method, Variants, choose
from dashboard.benchmarks.openmpi import GRAPH_COUNTERS, OpenMpi
from dashboard.benchmarks.plan import Plan, PointKey, Protocol
from loaders import RunWriter

_WORKER = ("-m", "mpi4py", "-m", "dashboard.benchmarks.worker")
#: The worker starts no cell in the last part of the time limit, so that it mostly ends by itself.
_LAST_PART, _LAST_SECONDS = 0.05, 10.0
_SHORTEST_LIMIT, _LIMIT_FACTOR = 120.0, 5.0
#: So many launches must end while a method is called before it is given up.
_STRIKES = 2
_SAID_BY_WORKER = "colltune worker: "
#: Threads of numerical libraries would compete with the ranks for the cores.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Wish:
    """What somebody wants to measure, before the library was asked what it offers; see `Plan` and `Protocol`."""

    ranks: int
    collectives: tuple[str, ...]
    comm_sizes: tuple[int, ...]
    message_sizes: tuple[int, ...]
    algorithms: tuple[str, ...] = ()
    ppns: tuple[int, ...] = ()
    variants: Variants = field(default_factory=Variants)
    protocol: Protocol = field(default_factory=Protocol)
    datatype: str = "float32"
    memory: int = 1 << 28
    graphs: bool = True
    seed: int = 1


def make_plan(wish: Wish, installation: Installation) -> Plan:
    """Make the plan of a wish for the library that is there.

    Raises
    ------
    PlanError
        When a collective or an algorithm is not known, or a size is out of range; the message says what is allowed.
    """
    library = installation.library
    if unknown := [name for name in wish.collectives if name not in COLLECTIVES]:
        raise PlanError(f"{unknown[0]!r} cannot be measured; allowed are {', '.join(COLLECTIVES)}")
    offered = {name: library.methods(name, wish.variants) for name in wish.collectives}
    methods = {name: tuple(_chosen(name, offered[name], wish.algorithms)) for name in wish.collectives}
    methods = {name: chosen for name, chosen in methods.items() if chosen}
    known = dict.fromkeys(method.algorithm for each in offered.values() for method in each)
    if lost := [name for name in wish.algorithms if name not in known]:
        raise PlanError(f"no collective asked for has an algorithm {lost[0]!r}; they have {', '.join(known)}")
    settings = {name: tuple(library.settings(name, method) for method in each) for name, each in methods.items()}
    switched = isinstance(library, OpenMpi)
    return Plan(
        ranks=wish.ranks,
        methods=methods,
        comm_sizes=wish.comm_sizes,
        message_sizes=wish.message_sizes,
        ppns=wish.ppns,
        protocol=wish.protocol,
        datatype=wish.datatype,
        memory=wish.memory,
        settings=settings if switched else {},
        graph_counters=GRAPH_COUNTERS if switched and wish.graphs else (),
        seed=wish.seed,
        library=library.name,
        library_version=library.version,
    )


def _chosen(collective: str, offered: list[Method], wanted: tuple[str, ...]) -> list[Method]:
    """Methods of a collective among those wanted; a name that only another collective has is passed over."""
    here = [name for name in wanted if any(method.algorithm == name for method in offered)]
    return [] if wanted and not here else choose(offered, here, collective)


def limit_of(plan: Plan, done: set[PointKey], cores: int | None) -> float:
    """Time limit in seconds that is taken when none is given: several times the estimate, at least two minutes."""
    return math.ceil(max(_SHORTEST_LIMIT, _LIMIT_FACTOR * plan.estimate(done, cores).seconds))


def start(campaign: Campaign, launcher: Launcher, installation: Installation, seconds: float) -> dict[str, Any]:
    """Launch what is missing of a campaign, and return at once with its status.

    Raises
    ------
    CampaignError
        When it runs already, or nothing is missing.
    """
    plan = campaign.plan()
    with (campaign.folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        now = status(campaign, launcher)
        if now["state"] in ("queued", "running"):
            raise CampaignError(f"{campaign.folder} is {now['state']} already (bench status, bench cancel)")
        suspects = _suspects(campaign, now["state"])
        now = status(campaign, launcher)
        if now["measured"] + now["refused"] >= now["points"]:
            raise CampaignError(f"{campaign.folder}: all {now['points']} points are there, nothing is missing")
        attempt = int(campaign.state().get("attempt", 0)) + 1
        campaign.progress_file.unlink(missing_ok=True)
        soft = seconds - min(_LAST_SECONDS, _LAST_PART * seconds)
        folder = campaign.folder.resolve()
        program = (sys.executable, *_WORKER, str(folder), "--seconds", f"{soft:g}", "--attempt", str(attempt))
        environment = installation.library.environment(one_node=not plan.ppns, graphs=bool(plan.graph_counters))
        job = Job(folder, plan.ranks, program, {**_ONE_THREAD, **environment}, seconds, folder / campaign.log.name)
        record = {"launcher": launcher.name, "attempt": attempt, "started": time.time(), "seconds": seconds}
        write_json(campaign.state_file, record | {"suspects": suspects, "handle": launcher.start(job)})
    return status(campaign, launcher)


def _suspects(campaign: Campaign, state: str) -> dict[str, int]:
    """How often a launch ended while a method was called for the first time, by its point.

    A method that never comes back, or takes the job down with it, would do so at every resume. The second time it is
    recorded as refused, and measured no more.
    """
    suspects = dict(campaign.state().get("suspects", {}))
    calling = campaign.progress().get("calling")
    if state not in ("failed", "timed out") or not calling:
        return suspects
    key = json.dumps(calling, sort_keys=True)
    suspects[key] = suspects.get(key, 0) + 1
    if suspects[key] >= _STRIKES:
        with RunWriter(campaign.results, {}) as writer:
            writer.append({**calling, "error": f"never came back: {_STRIKES} launches ended while it was called"})
    return suspects


def status(campaign: Campaign, launcher: Launcher) -> dict[str, Any]:
    """How a campaign is: everything from disk and from the launcher, so that any process can ask.

    Returns
    -------
    dict
        ``state`` (one of `dashboard.benchmarks.campaign.STATES`), ``reason``, ``exit_code``, ``points``,
        ``measured``, ``refused``, ``remaining`` (seconds, None when not known), ``now``, ``attempt``.
    """
    plan, done, progress, record = campaign.plan(), campaign.done(), campaign.progress(), campaign.state()
    planned = set(plan.points())
    answer: dict[str, Any] = {"state": "planned", "reason": "", "exit_code": None, "attempt": record.get("attempt", 0)}
    answer |= {"points": len(planned), "measured": len(planned & done.measured)}
    answer |= {"refused": len(planned & set(done.refused)), "remaining": None, "now": ""}
    if "handle" not in record:
        return answer
    found = launcher.status(record["handle"])
    if found.state == "finished" and progress.get("ended") == "time limit":
        found = Status("timed out", f"stopped at its time limit of {record['seconds']:g} s", found.exit_code)
    reason = found.reason
    if found.state == "failed":
        reason = _worker_said(campaign) or found.reason
    answer |= {"state": found.state, "reason": reason, "exit_code": found.exit_code, "now": progress.get("now", "")}
    if found.state == "running" and progress.get("done"):
        left = progress["points"] - progress["done"]
        answer["remaining"] = round(progress["elapsed"] / progress["done"] * left, 1)
    return answer


def cancel(campaign: Campaign, launcher: Launcher) -> dict[str, Any]:
    """End a running campaign with all its ranks; what was measured stays.

    Raises
    ------
    CampaignError
        When it was never started.
    """
    campaign.plan()
    record = campaign.state()
    if "handle" not in record:
        raise CampaignError(f"{campaign.folder} was never started")
    launcher.cancel(record["handle"])
    return status(campaign, launcher)


def wait(campaign: Campaign, launcher: Launcher, every: float, tell: Any = None) -> dict[str, Any]:
    """Wait until a campaign has ended; `tell` is called with each status."""
    while (now := status(campaign, launcher))["state"] in ("queued", "running"):
        if tell is not None:
            tell(now)
        time.sleep(every)
    return now


def _worker_said(campaign: Campaign) -> str:
    """The worker's own reason at the end of the log, if it gave one."""
    said = [line for line in campaign.tail(40) if line.startswith(_SAID_BY_WORKER)]
    return said[-1].removeprefix(_SAID_BY_WORKER) if said else ""
