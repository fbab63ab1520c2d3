"""Start, watch, cancel and resume a campaign; the command and the page use these, and nothing else launches."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from dashboard.benchmarks.campaigns.campaign import STOPPED, UNDER_WAY, Campaign, Done, write_json
from dashboard.benchmarks.campaigns.confined import own_handle
from dashboard.benchmarks.campaigns.jobs import counter_of, executor_of, jobs_of
from dashboard.benchmarks.campaigns.limits import left_of
from dashboard.benchmarks.campaigns.pace import about
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.reach import check_reach
from dashboard.benchmarks.errors import CampaignError, NotLaunchedError, unwritable
from dashboard.benchmarks.launchers import launcher_of, leftovers, sound, started_by
from dashboard.benchmarks.launchers.launch import CANNOT_SWITCH, PART, Launcher, Status
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.benchmarks.ranks.again import can_repeat, doubted, remedy
from dashboard.benchmarks.ranks.selection import NAME as COMPONENTS
from dashboard.benchmarks.ranks.world import FAILED, said
from dashboard.domain.units import format_count
from loaders import RunWriter, disk

#: So many launches must end while a method is called before it is given up.
_STRIKES = 2
#: Seconds without a new point from which on they are told.
_QUIET = 60.0
#: Lines at the end of a log in which the worker's own words are looked for.
_TAIL = 200
#: Exit codes with which the worker says why it cannot measure.
WORKER_FAILED = (FAILED, CANNOT_SWITCH)


def start(
    campaign: Campaign,
    launcher: Launcher,
    installation: Installation,
    seconds: float,
    *,
    asked: float | None = None,
    again: bool = False,
) -> dict[str, Any]:
    """Launch what is missing of a campaign, and return at once with its status.

    Parameters
    ----------
    asked
        Time limit in seconds if the user set it: a resume keeps it.
    again
        Whether this is a resume: where nothing is missing, times that cannot be trusted are measured again, if one job
        can.

    Raises
    ------
    CampaignError
        When it runs already, or nothing is missing and nothing is measured again.
    """
    campaign.plan()
    with _written(campaign), campaign.lock.open("w") as lock:
        disk.hold(lock, wait=True)
        now = status(campaign)
        if now["state"] in UNDER_WAY:
            raise CampaignError(f"{campaign.folder} is {now['state']} already (bench status, bench cancel)")
        suspects = _suspects(campaign, now["state"])
        now = status(campaign)
        if now["measured"] + now["refused"] >= now["points"]:
            _complete(campaign, launcher, now["points"], again=again)
        elif not (again and doubts_of(campaign).points):
            check_reach(campaign, launcher)
        attempt = int(campaign.state().get("attempt", 0)) + 1
        campaign.forget_progress()
        _clean(campaign)
        _forget_components(campaign, launcher)
        seconds = launcher.limit(seconds)
        native = executor_of(campaign, installation)
        counter = counter_of(campaign, installation)
        if isinstance(installation.library, Mpich):
            # An export needs the selection of this very version, and may be made where it is not installed.
            from dashboard.export.targets.mpich import base  # noqa: PLC0415 - brings all that decides along

            base.keep(campaign.folder, installation.mpiexec)
        jobs = jobs_of(campaign, launcher, installation, seconds, attempt, native, counter)
        handle = launcher.prepare(jobs)
        record = {"launcher": launcher.record(), "attempt": attempt, "started": time.time(), "seconds": seconds}
        before = campaign.state()
        if asked := asked or (before.get("asked") if again else None):
            record["asked"] = asked
        record["logged"] = record["heard"] = logged = campaign.logged()
        if launcher.array:
            # A part that has no job this time has its last word in what it wrote before.
            at_work = ["", *(str(job.index) for job in jobs)]
            record["heard"] = before.get("heard", {}) | {part: logged.get(part, 0) for part in at_work}
        # Written before anything runs: a job that nobody knows of would measure what the next one measures too.
        write_json(campaign.state_file, record | {"suspects": suspects, "handle": handle})
        try:
            launcher.launch(handle)
        except NotLaunchedError:
            _take_back(campaign, before)
            raise
    return status(campaign, launcher)


def _forget_components(campaign: Campaign, launcher: Launcher) -> None:
    """Have it heard anew who answers where ranks are started otherwise than when it was heard."""
    if campaign.state().get("launcher") is not None and not started_by(campaign, launcher):
        for file in (campaign.folder / COMPONENTS, *campaign.folder.glob(f"parts/*/{COMPONENTS}")):
            file.unlink(missing_ok=True)


def _complete(campaign: Campaign, launcher: Launcher, points: int, *, again: bool) -> None:
    """CampaignError where nothing is missing, unless doubtful times are to be measured `again` and one job can."""
    doubts, array = doubts_of(campaign).points, bool(launcher.array)
    if doubts and again and can_repeat(campaign.plan(), array=array):
        return
    nothing = _nothing_missing(campaign, doubts, array=array)
    there = "its point is" if points == 1 else f"all {points:,} points are"
    raise CampaignError(f"{campaign.folder}: {there} there, {nothing}")


def _nothing_missing(campaign: Campaign, doubts: int, *, array: bool) -> str:
    """Say so, and how so many points are measured again that cannot be trusted."""
    order = remedy(campaign.plan(), str(campaign.folder), array=array)
    why = f", but {doubts} cannot be trusted: {order} has them measured again" if doubts else ""
    return f"nothing is missing{why}"


class Doubtful(NamedTuple):
    """Number of points whose times cannot be trusted, and seconds that measuring them took."""

    points: int
    seconds: float


NO_DOUBTS = Doubtful(0, 0.0)


def doubts_of(campaign: Campaign) -> Doubtful:
    """How many points cannot be trusted; of launches that disagree a point counts once."""
    plan, took = campaign.plan(), campaign.done().seconds
    points = {key for path in campaign.result_files() for key in doubted(path, plan)}
    return Doubtful(len({key[:-1] for key in points}), sum(took.get(key, 0.0) for key in points))


@contextmanager
def _written(campaign: Campaign) -> Iterator[None]:
    """CampaignError where the folder cannot be written, such as on a full disk."""
    try:
        yield
    except OSError as error:
        kept = "what was measured" if campaign.result_files() else ""
        raise unwritable(campaign.folder, error, kept, f"colltune bench resume {campaign.folder}") from error


@contextmanager
def _readable(campaign: Campaign) -> Iterator[None]:
    """CampaignError where what it holds cannot be read, such as a pipe in the place of its results."""
    try:
        yield
    except OSError as error:
        raise CampaignError(f"{error.filename or campaign.folder} cannot be read: {error.strerror or error}") from error


def _take_back(campaign: Campaign, before: Mapping[str, Any]) -> None:
    """Forget a start of which nothing runs, so that the next one is not refused."""
    try:
        write_json(campaign.state_file, before)
    except OSError:
        # No room for it either: without a state the campaign is as if planned; its results say what is missing.
        campaign.state_file.unlink(missing_ok=True)


def preview(campaign: Campaign, launcher: Launcher, installation: Installation, seconds: float) -> str:
    """What `start` would run or submit, as text."""
    attempt = int(campaign.state().get("attempt", 0)) + 1
    return launcher.preview(jobs_of(campaign, launcher, installation, launcher.limit(seconds), attempt))


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


class Counted(NamedTuple):
    """Points of a plan, and how many of them a run file holds."""

    points: int
    measured: int
    refused: int

    @classmethod
    def of(cls, plan: Plan, done: Done, *, settled: bool = False) -> Counted:
        """Count them; of an adaptive campaign that is `settled` there are no more than were measured."""
        planned = set(plan.points())
        measured, refused = len(planned & done.measured), len(planned & set(done.refused))
        return cls(measured + refused if settled else len(planned), measured, refused)

    def words(self) -> str:
        """How far the campaign is, in words."""
        refused = f", {self.refused:,} refused or wrong" if self.refused else ""
        return f"{self.measured:,} of {format_count(self.points, 'point')} measured{refused}"


def progress_words(now: Mapping[str, Any]) -> str:
    """How far a campaign is, and what is left of it where that is known, by its `status`, in words."""
    words = Counted(now["points"], now["measured"], now["refused"]).words()
    if now["remaining"] is not None:
        time = about(now["remaining"])
        words += f"; what is missing takes {time}" if now["state"] in STOPPED else f", {time} left"
    return words if now["quiet"] < _QUIET else f"{words}; no new point for {about(now['quiet'])}"


def status(campaign: Campaign, launcher: Launcher | None = None, counted: Counted | None = None) -> dict[str, Any]:
    """How a campaign is: everything from disk and from the launcher, so that any process can ask.

    Parameters
    ----------
    launcher
        The one that it was started with, which is found by the campaign's state when it is not given.
    counted
        By whoever has read the results already; None: they are read. ``reasons``, and of a campaign that was stopped or
        is planned ``remaining``, are then left to whoever has.

    Returns
    -------
    dict
        ``state`` (one of `dashboard.benchmarks.campaigns.campaign.STATES`), ``reason``, ``exit_code``, ``points``,
        ``measured``, ``refused``, ``reasons`` (why these: a list of ``reason``, ``points`` and ``methods``, most points
        first), ``remaining`` (seconds, None when not known or finished), ``quiet`` (seconds since a running one wrote
        its last point), ``now``, ``attempt``, ``note`` (what the ranks of a finished one could not do).
    """
    record = campaign.state()
    # Asked first: what an ended job has written is all there when it is read.
    job = None
    if "handle" in record:
        with sound(campaign):
            job = (launcher or launcher_of(campaign)).status(own_handle(campaign.folder, record["handle"]))
    over = {part["id"].partition("_")[2] for part in (job.jobs if job else ()) if part["state"] != "running"}
    progress, done = campaign.progress(over), None
    if counted is None:
        with _readable(campaign):
            plan, done = campaign.plan(), campaign.done()
        counted = Counted.of(plan, done, settled=campaign.settled(plan.goal))
    answer: dict[str, Any] = {"state": "planned", "reason": "", "exit_code": None, "attempt": record.get("attempt", 0)}
    answer |= counted._asdict() | {"reasons": [] if done is None else done.reasons}
    answer |= {"remaining": None, "quiet": 0.0, "now": "", "jobs": [], "note": ""}
    if job is None:
        return answer
    job = _judged(campaign, job, progress.get("ended"), counted, read=done is not None)
    answer["jobs"] = [dict(part) for part in job.jobs]
    answer |= {"state": job.state, "reason": job.reason, "exit_code": job.exit_code, "now": progress.get("now", "")}
    if job.state == "finished" and campaign.planned_again():
        answer |= {"state": "planned", "reason": "it finished before its plan was made again"}
    if done is not None and answer["state"] not in ("queued", "finished"):
        answer["remaining"] = left_of(campaign, plan, done)
    if job.state == "running" and progress.get("done") and (done is None or plan.goal is None):
        left = progress["points"] - progress["done"]
        answer["remaining"] = answer["remaining"] or round(progress["elapsed"] / progress["done"] * left, 1)
    if job.state == "running" and progress.get("done"):
        answer["quiet"] = campaign.quiet()
    answer["note"] = _worker_said(campaign, record.get("heard")) if job.state == "finished" else ""
    return answer


def _judged(campaign: Campaign, job: Status, ended: str | None, counted: Counted, *, read: bool) -> Status:
    """What a launcher says of a job, and what its ranks wrote of its end; `read`: and what is doubtful of results."""
    if job.state == "finished" and ended == "time limit":
        limit = campaign.state()["seconds"]
        job = replace(job, state="timed out", reason=f"stopped at its time limit of {limit:g} s")
    if job.state == "finished" and not ended:
        # Some start commands end with 0 when a node is gone.
        job = replace(job, state="failed", reason="the job ended before all was measured: it lost a node or a rank")
    reasons = [_worker_said(campaign) if job.exit_code in WORKER_FAILED else "", job.reason]
    reasons = list(filter(None, reasons))[:1]
    state = job.state
    if state in STOPPED and counted.measured + counted.refused >= counted.points:
        reasons.append(
            _nothing_missing(campaign, doubts_of(campaign).points if read else 0, array=bool(campaign.parts()))
        )
        # What was cut off is no more than measuring again.
        state = "finished" if state == "timed out" else state
    return replace(job, state=state, reason="; ".join(reasons))


def cancel(campaign: Campaign, launcher: Launcher | None = None) -> dict[str, Any]:
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
    with sound(campaign), _written(campaign):
        launcher = launcher or launcher_of(campaign)
        launcher.cancel(own_handle(campaign.folder, record["handle"]))
        _clean(campaign)
    return status(campaign, launcher)


def _clean(campaign: Campaign) -> None:
    """Take away the shared memory of ranks that were killed."""
    for part in (campaign, *campaign.parts()):
        leftovers.clean(part.folder)


def wait(campaign: Campaign, launcher: Launcher | None, every: float, tell: Any = None) -> dict[str, Any]:
    """Wait until a campaign has ended; `tell` is called with each status."""
    while (now := status(campaign, launcher))["state"] in UNDER_WAY:
        if tell is not None:
            tell(now)
        time.sleep(every)
    return now


def ending(now: Mapping[str, Any]) -> str:
    """How a campaign ended, by its status, in words."""
    return ": ".join(dict.fromkeys(filter(None, (now["state"], now["reason"]))))


def _worker_said(campaign: Campaign, since: Mapping[str, int] | None = None) -> str:
    """What the worker itself said at the end of the log, if anything; what one job said, with it.

    Parameters
    ----------
    since
        Bytes of the log, and of those of the parts, at which that begins; None: this attempt.
    """
    texts: dict[str, list[re.Match[str] | None]] = {}
    for line in campaign.tail(_TAIL, of_attempt=True, since=since):
        for text in said([line]):
            texts.setdefault(text, []).append(PART.match(line))
    alone = {text: parts[0] for text, parts in texts.items() if len(parts) == 1}
    return "; ".join(f"job {part[1]}: {text}" if (part := alone.get(text)) else text for text in texts)
