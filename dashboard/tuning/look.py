"""Stage *look*: what is there to tune, and what that will cost."""

import os
import platform
from dataclasses import replace
from typing import Any

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.allowed import processors
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.launchers.launch import cores_of
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed, Library, Variants
from dashboard.benchmarks.libraries.own_settings import added, kept
from dashboard.domain.units import format_count, format_duration
from dashboard.tuning.asked import Asked
from dashboard.tuning.folder import Result
from dashboard.tuning.stages import Work

_SHORTEST_POINT, _LONGEST_POINT, _POINTS = 0.3, 5.0, 60
#: A machine that is so much busier than it has cores is not quiet.
_BUSY = 0.5


def plan_of(asked: Asked, installation: Installation, *, nodes: int = 1) -> Plan:
    """Plan the campaign of what was asked: a grid of sizes to choose from, and the time to do it in.

    Parameters
    ----------
    nodes
        That the ranks are on: on several, components of the library are methods, too (`Asked.components`).

    Raises
    ------
    PlanError
        It cannot be measured; the message says what can.
    LoadError
        The workload cannot be read.
    """
    refuse_fixed(installation.library)
    calls = asked.calls()
    called = {name for name, *_ in calls} or asked.collectives
    seconds = min(max(asked.measuring / _POINTS, _SHORTEST_POINT), _LONGEST_POINT)
    wish = Wish(
        ranks=asked.ranks,
        collectives=tuple(name for name in asked.collectives if name in called),
        comm_sizes=asked.rows,
        message_sizes=asked.columns,
        # More repetitions of one launch would not tell how launches differ, which is most of what scatters.
        protocol=Protocol(min_repetitions=9, max_repetitions=15, seconds=seconds, race=True),
        checked=asked.checked,
        variants=Variants(components=asked.components(installation.library, nodes=nodes), ruled=True),
        goal=Goal(seconds=asked.measuring, calls=tuple((*sizes, number) for sizes, number in calls.items())),
    )
    return make_plan(wish, installation)


def refuse_fixed(library: Library) -> None:
    """Raise `PlanError` where methods cannot be switched within a job, as measuring and comparing here do."""
    if isinstance(library, Fixed):
        raise PlanError(f"{library.why}; there is nothing to tune")
    if library.apart:
        raise PlanError(
            f"tune switches the methods of a library within one job to measure them, which {library.name} cannot; "
            "measure with colltune bench plan and run, then colltune decide, and export --to the library's target"
        )


def too_short(asked: Asked, plan: Plan, cores: int | None) -> str:
    """Why the budget will hardly do; empty where it is expected to last for all methods at one size.

    Parameters
    ----------
    plan
        Of what was asked.
    cores
        As for `dashboard.benchmarks.campaigns.plan.Plan.estimate`.
    """
    at_one_size = replace(plan, goal=None).estimate(cores=cores).seconds / len(plan.cells())
    if asked.measuring >= at_one_size:
        return ""
    return (
        f"too short: all methods at one size alone are estimated to take {format_duration(at_one_size)}, and of the "
        f"budget {format_duration(asked.measuring)} are for that"
    )


def look(work: Work) -> Result:
    """Look at library, machine and launcher, and plan."""
    library, plan = work.installation.library, plan_of(work.asked, work.installation, nodes=work.nodes)
    own = library.environment(here=work.launcher.here, graphs=True)
    cores = cores_of(work.launcher)
    estimate = plan.estimate(cores=cores)
    methods = {name: len(each) for name, each in plan.methods.items()}
    facts: dict[str, Any] = {
        "library": library.name,
        "library_version": library.version,
        "mpiexec": str(work.installation.mpiexec),
        "launcher": work.launcher.record(),
        "system": platform.node() if work.launcher.name == "local" else work.launcher.name,
        "cores": processors(),
        "nodes": work.nodes if work.launcher.name == "local" else None,
        "across": work.across,
        "environment": kept(own),
        "added": added(own, ranks=work.asked.ranks),
        "methods": methods,
        "grid": len(plan.cells()),
    }
    load = os.getloadavg()[0]
    noted = {
        "load": round(load, 2),
        "busy": facts["nodes"] == 1 and load > _BUSY * facts["cores"],
        "points": estimate.points,
        "seconds": round(work.asked.seconds, 1),
    }
    said = "; ".join(filter(None, [_said(work, facts, noted), library.unheeded, too_short(work.asked, plan, cores)]))
    return Result(facts, noted={**noted, "said": said})


def _said(work: Work, facts: dict[str, Any], noted: dict[str, Any]) -> str:
    counts = sum(facts["methods"].values())
    where = format_count(facts["cores"], "core") if facts["nodes"] == 1 else f"{facts['nodes']} nodes"
    if work.nodes_assumed:
        where = f"what is taken to be {where}: the start command does not say (ppn in a site's file)"
    where = "Slurm" if facts["nodes"] is None else where
    busy = f", load {noted['load']:.1f}: times will scatter" if noted["busy"] else ""
    return (
        f"{facts['library']} {facts['library_version']}, {format_count(counts, 'method')} of "
        f"{format_count(len(facts['methods']), 'collective')}, {work.asked.ranks} ranks on {where}{busy}; "
        f"{format_duration(work.asked.seconds)} of measuring at most, start and checks beside it"
    )
