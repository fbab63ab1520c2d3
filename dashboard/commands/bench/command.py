"""``colltune bench``: plan a measurement campaign, run or submit it, look how far it is, cancel and resume it."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from dashboard.benchmarks.adaptive.words import words_of
from dashboard.benchmarks.allowed import processors
from dashboard.benchmarks.campaigns import control, fresh, limits
from dashboard.benchmarks.campaigns.campaign import STOPPED, UNDER_WAY, Campaign, refusal
from dashboard.benchmarks.campaigns.pace import too_short
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.launchers import launcher_of, site, slurm
from dashboard.benchmarks.launchers.launch import Launcher, cores_of, last_words
from dashboard.benchmarks.launchers.site import HERE
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Fixed
from dashboard.benchmarks.libraries.own_settings import allocated_nodes, default_ranks, kept, words
from dashboard.benchmarks.safety.check import faulty_of
from dashboard.commands import launching
from dashboard.commands.bench import plan as bench_plan
from dashboard.commands.bench import submit as bench_submit
from dashboard.commands.output import answer, say, show, working
from dashboard.commands.text import one_line
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count, format_duration
from dashboard.export.components import HAN, TUNED

_WATCH_S = 0.25
#: Lines at the end of a log in which a failure's last words are.
_LOGGED = 20
#: Most reasons that are listed.
_REASONS = 6
#: Orders of their own, imported when they are given.
_FURTHER = {
    "parameters": "dashboard.commands.bench.parameters:run",
    "refine": "dashboard.commands.bench.refine:run",
}


def bench(args: argparse.Namespace) -> None:
    """Run the order that was given."""
    orders = {"plan": _plan, "run": _run, "submit": _submit, "resume": _resume, "status": _status, "cancel": _cancel}
    (orders.get(args.order) or resolve_name(_FURTHER[args.order]))(args)


def _plan(args: argparse.Namespace) -> None:
    installation = _installation()
    plan = bench_plan.with_another_end(args)
    plan = plan or bench_plan.planned(args, installation, spread=launching.spreads(args))
    launcher = launching.check(args, installation, plan)
    campaign = Campaign(Path(args.folder))
    former = campaign.plan() if campaign.plan_file.exists() else plan
    campaign = Campaign.create(campaign.folder, plan)
    if former != plan:
        say(f"note: {campaign.folder} held another plan, which this one replaces")
    # Planned without a word of where, it may be run on a cluster.
    elsewhere = launcher if launching.site_of(args).launch != HERE else None
    _offer(args, campaign, plan, elsewhere)


def _offer(args: argparse.Namespace, campaign: Campaign, plan: Plan, launcher: Launcher | None) -> None:
    done = campaign.done()
    beyond = bench_plan.beyond(plan, launcher, done.all) if launcher else frozenset()
    cores = cores_of(launcher) if launcher else processors()
    estimate = plan.estimate(done.all | beyond, cores, done.seconds)
    checked = limits.check_of(plan, done.all) > 0
    offer = {
        "folder": str(campaign.folder),
        "library": plan.library,
        "library_version": plan.library_version,
        "ranks": plan.ranks,
        "methods": {name: len(methods) for name, methods in plan.timed.items()},
        "cells": len({key[:1] + key[2:] for key in set(plan.points()) - beyond}),
        "points": estimate.points,
        "seconds": round(estimate.seconds, 1),
        "at_most": round(estimate.at_most, 1),
        "core_hours": round(estimate.core_hours, 4),
        "left_out": plan.left_out(),
        "launch_per_method": plan.apart,
    }
    args.complete = not estimate.points and bool(done.all)
    show(args, offer, lambda: _offer_lines(offer, bench_plan.cost(estimate, checked=checked)))


def _offer_lines(offer: Mapping[str, Any], cost: str) -> list[str]:
    methods = ", ".join(f"{name} {count}" for name, count in offer["methods"].items())
    points = f"{format_count(offer['points'], 'point')} in {format_count(offer['cells'], 'cell')}"
    what = f"{offer['folder']}: {points if offer['points'] else 'nothing is missing'}"
    lines = [
        f"{what}, {offer['ranks']} ranks, {offer['library']} {offer['library_version']}",
        f"methods: {methods}",
        f"estimated {cost}",
    ]
    lines += ["each method in a launch of its own"] if offer["launch_per_method"] else []
    return lines + [f"left out: {format_count(count, 'cell')}, {why}" for why, count in offer["left_out"].items()]


def _as_before(args: argparse.Namespace) -> Mapping[str, Any]:
    """Go on by the site's file of a campaign's last start unless one is named; what its last submission asked for."""
    asked, file = bench_submit.kept(Path(args.folder))
    args.site = args.site or file
    return asked


def _run(args: argparse.Namespace) -> None:
    _as_before(args)
    installation = _installation()
    plan = _chosen(args, installation, spread=launching.spreads(args))
    launcher = launching.launcher_of(args, installation, plan.ppns)
    if launcher.name == "local":
        _say_settings(installation, launcher)
        launching.say_beside_nodes(launcher)
    _begin(args, plan, launcher, installation)


def _say_settings(installation: Installation, launcher: Launcher) -> None:
    """Say what the environment sets, and is kept, and over how many nodes of an allocation the ranks are spread."""
    nodes = allocated_nodes()
    if said := kept(installation.library.environment(here=launcher.here, graphs=True)):
        say(f"note: kept as the environment says: {words(said)}")
    if nodes > 1:
        say(f"note: {nodes} nodes are allocated: the start command spreads the ranks over them")


def _submit(args: argparse.Namespace) -> None:
    campaign = Campaign(Path(args.folder))
    before = _as_before(args)
    site = launching.site_of(args)
    request = bench_submit.request(args, site, before)
    measured = before if campaign.result_files() else {}
    for name in ("nodes", "tasks_per_node"):
        if measured and (now := request.record()[name]) != measured[name]:
            words = f"--{name.replace('_', '-')} is {now or 'not given'}, was {measured[name] or 'not given'}"
            say(f"warning: {words}: what is measured from now on is placed otherwise than what {args.folder} has")
    installation = bench_submit.installation(args, request.modules, _installation)
    launcher = site.launcher(installation, request=request)
    asked = (request.nodes or 1) * (request.tasks_per_node or 1)
    ranks = asked if asked > 1 else default_ranks()
    if asked == 1 and not args.ranks and not campaign.plan_file.exists():
        say(f"note: {ranks} ranks, as would be started here: --ranks, or --nodes and --tasks-per-node, say how many")
    plan = _chosen(args, installation, ranks, spread=request.nodes_for(args.ranks or ranks) != 1)
    if args.dry_run:
        limit, cost = _limit(args, campaign, plan, launcher)
        for line in cost:
            say(line)
        if campaign.plan_file.exists():
            answer(control.preview(campaign, launcher, installation, limit))
        else:
            answer(fresh.preview(campaign.folder, plan, launcher, installation, limit))
        return
    if why := slurm.available():
        raise Usage(f"{why}; --dry-run shows what would be submitted")
    _begin(args, plan, launcher, installation)


def _resume(args: argparse.Namespace) -> None:
    campaign = Campaign(Path(args.folder))
    launcher = launcher_of(campaign)
    installation = _installation() if launcher.name == "local" else bench_submit.of_plan(campaign, _installation)
    _start(args, campaign, site.again(launcher, installation), installation)


def _chosen(
    args: argparse.Namespace, installation: Installation, ranks: int | None = None, *, spread: bool = False
) -> Plan:
    """The plan in the folder, made of the options where none is there; options of another one are refused."""
    campaign = Campaign(Path(args.folder))
    given, there = bench_plan.plans(args), campaign.plan_file.exists()
    if there and not given:
        known = campaign.plan()
        if spread and HAN in installation.library.components and not known.components:
            say(
                f"note: the plan in {args.folder} has no parts of the library as methods: across nodes {HAN} answers "
                f"by itself, so 'default' is its decision, and rules for {TUNED} alone do not act beside it; "
                "a plan made with --components all measures them"
            )
        return known
    if not given:
        say(f"note: {args.folder} holds no plan and no option says what to measure: all is measured, by default")
    plan = bench_plan.with_another_end(args)
    plan = plan or bench_plan.planned(args, installation, ranks=ranks, spread=spread)
    if there and not campaign.takes(plan):
        raise Usage(
            f"{args.folder} holds another plan than these options make: run that one without them (colltune bench "
            f"{args.order} {args.folder}), or name another folder for a plan of all that is wanted"
        )
    return plan


def _begin(args: argparse.Namespace, plan: Plan, launcher: Launcher, installation: Installation) -> None:
    """Launch what is missing of a plan; a folder that is made for it goes again where nothing can be launched."""
    new = not Path(args.folder).exists()
    _start(args, Campaign.create(Path(args.folder), plan), launcher, installation, new=new)


def _limit(
    args: argparse.Namespace, campaign: Campaign, plan: Plan, launcher: Launcher, again: float = 0.0
) -> tuple[float, list[str]]:
    """Time limit, and what to say of what the campaign will cost; `again` are seconds of what is measured again."""
    done = campaign.done()
    cores = cores_of(launcher)
    limit: float = args.time_limit or (
        limits.limit_again(campaign, cores, again)
        if args.order == "resume"
        else limits.limit_of(plan, done.all, cores, done.seconds, again)
    )
    beyond = bench_plan.beyond(plan, launcher, done.all, campaign)
    estimate = plan.estimate(done.all | beyond, cores, done.seconds)
    if not estimate.points or campaign.settled(plan.goal):
        return limit, []
    cost = bench_plan.cost(estimate, limit, checked=limits.check_of(plan, done.all) > 0)
    text = f"{format_count(estimate.points, 'point')}, estimated {cost}; time limit {format_duration(limit)}"
    return limit, [text, *(f"warning: {why}" for why in [too_short(limit, estimate.seconds)] if why)]


def _start(
    args: argparse.Namespace, campaign: Campaign, launcher: Launcher, installation: Installation, *, new: bool = False
) -> None:
    """Launch what is missing, and wait for the end of a job of this machine; a `new` folder goes where that fails."""
    resumed = args.order == "resume"
    doubts = control.doubts_of(campaign) if resumed and campaign.complete() else control.NO_DOUBTS
    limit, cost = _limit(args, campaign, campaign.plan(), launcher, doubts.seconds)
    if new:
        now = fresh.start(campaign, launcher, installation, limit, asked=args.time_limit)
    else:
        now = control.start(campaign, launcher, installation, limit, asked=args.time_limit, again=resumed)
    # What is refused has no cost.
    for line in cost:
        say(line)
    if doubts.points:
        goal = campaign.plan().goal
        beyond = f", beyond the budget of {format_duration(goal.seconds)}" if goal and goal.seconds else ""
        took = f" for about {format_duration(doubts.seconds)}" if doubts.seconds else ""
        times = "1 time" if doubts.points == 1 else f"all {doubts.points:,} times"
        again = f"measured again{took}, and once more what stays so{beyond}"
        say(f"nothing is missing: {times} that cannot be trusted {'is' if doubts.points == 1 else 'are'} {again}")
    if launcher.name != "local" and now["jobs"]:
        say(f"submitted as job {', '.join(job['id'] for job in now['jobs'])} (colltune bench status {campaign.folder})")
    # Of `run` one waits for the end wherever it runs.
    waits = args.follow if launcher.name != "local" and args.order != "run" else not args.detach
    if waits:
        now = _watched(campaign, launcher)
    args.under_way = now["state"] in UNDER_WAY
    show(args, now, lambda: _status_lines(campaign, now))
    _complain(campaign, now)


def _complain(campaign: Campaign, now: Mapping[str, Any]) -> None:
    if now["state"] in STOPPED:
        raise Usage(f"{campaign.folder}: {control.ending(now)} (colltune bench resume {campaign.folder})")


def _watched(campaign: Campaign, launcher: Launcher) -> dict[str, Any]:
    """Wait for the end, with a line that says how far it is; an interrupt cancels a job of this machine."""
    try:
        with working() as progress:
            states: list[tuple[str, str]] = []

            def tell(now: Mapping[str, Any]) -> None:
                """Say how far the job is, and of one that waits, why."""
                # Of a job that waits for others the scheduler's reasons are all there is to say.
                if launcher.name != "local" and (now["state"], now["reason"]) not in states[-1:]:
                    states.append((now["state"], now["reason"]))
                    say(_state_line(campaign, now))
                done = now["measured"] + now["refused"]
                progress(done / max(1, now["points"]), f"{control.progress_words(now)}: {now['now']}")

            return control.wait(campaign, launcher, _WATCH_S, tell)
    except KeyboardInterrupt:
        if launcher.name == "local":
            control.cancel(campaign, launcher)
        raise


def _status(args: argparse.Namespace) -> None:
    campaign = Campaign(Path(args.folder))
    now = control.status(campaign)
    if args.follow and now["state"] in UNDER_WAY:
        said: list[str] = []

        def tell(state: Mapping[str, Any]) -> None:
            if (line := _state_line(campaign, state)) not in said[-1:]:
                said.append(line)
                say(line)

        now = control.wait(campaign, launcher_of(campaign), _WATCH_S, tell)
    if chosen := campaign.choices():
        now["chosen"] = chosen
    if args.log:
        now["log"] = campaign.tail(args.log)
    args.ended = now
    show(args, now, lambda: _status_lines(campaign, now))


def _state_line(campaign: Campaign, now: Mapping[str, Any]) -> str:
    reason = f" ({now['reason']})" if now["reason"] not in ("", now["state"]) else ""
    return f"{campaign.folder}: {now['state']}{reason}"


def _status_lines(campaign: Campaign, now: Mapping[str, Any]) -> list[str]:
    lines = [_state_line(campaign, now), control.progress_words(now), *_reason_lines(now["reasons"])]
    # One that was refused has none, and its reason is that of all.
    for job in (job for job in now["jobs"] if job["id"]):
        details = ", ".join(word for word in (job["reason"], job["nodes"]) if word)
        lines.append(f"job {job['id']}: {job['state']}" + (f" ({details})" if details else ""))
    lines += [f"now: {now['now']}"] if now["state"] == "running" and now["now"] else []
    lines += [f"note: {now['note']}"] if now["note"] else []
    if now["state"] == "failed" and now["exit_code"] not in control.WORKER_FAILED and "log" not in now:
        log = [f"log: {line}" for line in last_words(campaign.tail(_LOGGED, of_attempt=True))]
        lines += [*log, f"more of its log: colltune bench status {campaign.folder} --log 50"] if log else []
    lines += words_of(campaign.choices())
    lines += _unsafe_lines(campaign)
    lines += [f"results: {path}" for path in campaign.result_files()] if now["measured"] else []
    return lines + list(now.get("log", []))


def _reason_lines(reasons: Sequence[Mapping[str, Any]]) -> list[str]:
    """Why points were refused or wrong, those of a reason together."""
    lines = [f"  {one_line(refusal(each))}" for each in reasons[:_REASONS]]
    further = len(reasons) - _REASONS
    return [*lines, f"  and {format_count(further, 'further reason')} (--json has all)"] if further > 0 else lines


def _unsafe_lines(campaign: Campaign) -> list[str]:
    """Methods that were found to be wrong in some way of calling them, of all parts of a campaign, each once."""
    faults = [fault for part in (campaign, *campaign.parts()) for fault in faulty_of(part)]
    words = {True: "unsafe, not timed", False: "limited"}
    return list({(each.collective, each.method): f"{words[each.excluded]}: {each}" for each in faults}.values())


def _cancel(args: argparse.Namespace) -> None:
    campaign = Campaign(Path(args.folder))
    args.ended = now = control.cancel(campaign)
    show(args, now, lambda: _status_lines(campaign, now))


def _installation() -> Installation:
    installation = library.find()
    if isinstance(installation.library, Fixed):
        say(f"note: {installation.library.why}")
    return installation
