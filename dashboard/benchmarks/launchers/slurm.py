"""Campaigns on a Slurm cluster, by ``sbatch``, ``scontrol`` and ``scancel``.

Each job runs a supervisor (`dashboard.benchmarks.launchers.supervise`) on its first node, which starts the ranks,
holds the time limit and writes into the campaign's folder how it ended; that folder must be seen by all nodes. What
Slurm says comes first, as it knows of nodes that failed; what the supervisor wrote counts when Slurm says no more than
that the job has ended, when it has forgotten the job, or does not answer.
"""

from __future__ import annotations

import contextlib
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, read_json, write_json
from dashboard.benchmarks.campaigns.confined import JOBS, jobs_folder
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import slurm_words as words
from dashboard.benchmarks.launchers.launch import (
    Job,
    State,
    Status,
    end_of,
    final_of,
    read_end,
    supervisor_of,
    write_order,
)
from dashboard.benchmarks.launchers.slurm_script import GRACE_S, Request, minutes, script
from dashboard.benchmarks.launchers.slurm_words import NEVER, Told, partitions, too_few
from loaders import disk

__all__ = ["NEVER", "REFUSED", "Request", "SlurmLauncher", "available", "partitions"]

#: Begins the reason of a job that Slurm did not take.
REFUSED = "Slurm refused the job"
#: An answer of Slurm is good for so long: who watches asks often, and every question is work for all users' Slurm.
_FRESH_S = 1.0
#: A Slurm that does not answer keeps who asks waiting for seconds: it is asked again after so long.
_SILENT_S = 5.0
#: Seconds in which a job that was handed over must be known.
_SUBMIT_S = 30.0
#: Slurm kills what does not end by itself after its KillWait, mostly half a minute.
_CANCEL_S = 90.0
_POLL_S = 0.1
#: Seconds that a supervisor which was told to end may need for its last word.
_LAST_WORD_S = 4.0
#: What ``scancel`` says of a job that needs no cancelling any more.
_ENDED_ALREADY = ("already completing", "already completed", "invalid job id")
#: What several jobs are together: the first of these that one of them is.
_ORDER: tuple[State, ...] = ("running", "queued", "failed", "timed out", "cancelled", "finished")


def available() -> str:
    """Why campaigns cannot be submitted here; empty when they can."""
    lost = [name for name in words.COMMANDS if shutil.which(name) is None]
    return f"no Slurm here: {', '.join(lost)} not on the PATH" if lost else ""


@dataclass(frozen=True)
class SlurmLauncher:
    """Jobs of a Slurm cluster."""

    #: What is asked for beside ranks and time.
    request: Request = field(default_factory=Request)
    #: Where the start command is, when the request does not name another one.
    mpiexec: str = "mpiexec"
    #: See `dashboard.benchmarks.launchers.launch.Launcher`.
    folder: str = ""
    #: Of the site, see `dashboard.benchmarks.launchers.site.Site.environment`.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: Its file; empty: there was none.
    site: str = field(default="", compare=False)
    name: str = field(default="slurm", init=False)

    @property
    def array(self) -> int:
        """How many jobs of an array may run at once; 0 when a campaign is one job."""
        return self.request.array

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SlurmLauncher:
        """Make the launcher that `record` is of."""
        request = Request.from_record(record["request"])
        return cls(request, record["mpiexec"], variables=record.get("variables", {}), site=record.get("site", ""))

    def record(self) -> dict[str, Any]:
        """What `from_record` makes the same launcher of, as JSON."""
        further = {"variables": dict(self.variables), "site": self.site}
        record = {"name": self.name, "request": self.request.record(), "mpiexec": self.mpiexec}
        return record | {key: it for key, it in further.items() if it}

    def limit(self, seconds: float) -> float:
        """Time limit a little before Slurm's whole minutes."""
        return min(seconds, 60 * minutes(seconds) - GRACE_S)

    @property
    def here(self) -> bool:
        """Never: what this machine is says nothing of nodes."""
        return False

    @property
    def ppn(self) -> int | None:
        """Ranks on each node, as the request says."""
        return self.request.tasks_per_node

    def nodes(self, ranks: int) -> int | None:
        """Nodes that the request asks for with so many ranks."""
        return self.request.nodes_for(ranks)

    def prepare(self, jobs: Sequence[Job]) -> dict[str, Any]:
        """Write orders and batch scripts, for an array where all jobs need as many nodes.

        Raises
        ------
        CampaignError
            When there are not so many nodes: Slurm would keep the job waiting for ever.
        """
        if why := too_few(self.request.partition, max(self.request.nodes_for(job.ranks) or 1 for job in jobs)):
            raise CampaignError(why)
        mark = uuid.uuid4().hex
        groups = []
        for number, group in enumerate(self._groups(jobs)):
            name = f"colltune-{mark[:12]}-{number}"
            for job in group:
                jobs_folder(job.folder)
            orders = [write_order(path, job, path.stem) for path, job in _orders(mark, group)]
            path = orders[0].with_name(f"{mark}-{number}.sh")
            disk.write_text(path, self._script(group, orders, name, number))
            tasks = [{"index": job.index, "order": str(order)} for job, order in zip(group, orders, strict=True)]
            submitted = str(path.with_suffix(".id"))
            groups.append({"name": name, "script": str(path), "submitted": submitted, "tasks": tasks})
        return {"mark": mark, "prepared": time.time(), "groups": groups, "at_once": self.array}

    def preview(self, jobs: Sequence[Job]) -> str:
        """Batch scripts as they would be submitted."""
        texts = []
        for number, group in enumerate(self._groups(jobs)):
            orders = [path for path, _ in _orders("ORDER", group)]
            texts.append(self._script(group, orders, f"colltune-{number}", number))
        return "\n".join(texts)

    def _groups(self, jobs: Sequence[Job]) -> list[list[Job]]:
        """Jobs that are submitted together: where they differ in their nodes each alone, which waits for earlier ones.

        The limit of an array holds for its own jobs only.
        """
        alike = len({self.request.nodes_for(job.ranks) or -job.ranks for job in jobs}) == 1
        return [list(jobs)] if alike else [[job] for job in jobs]

    def _script(self, group: Sequence[Job], orders: Sequence[Path], name: str, number: int) -> str:
        # With modules, the start command is the one that they bring.
        own = self.request.start == "mpiexec" and not self.request.modules
        start = self.mpiexec if own else self.request.start
        return script(self.request, group, orders, name, start, self.variables, after=0 < self.array <= number)

    def launch(self, handle: Mapping[str, Any]) -> None:
        """Submit the batch scripts; CampaignError with Slurm's own words when one is refused."""
        submitted: list[str] = []
        at_once = handle["at_once"]
        for group in handle["groups"]:
            waits = len(submitted) >= at_once > 0
            options = [f"--dependency=afterany:{submitted[-at_once]}"] if waits else []
            try:
                submitted.append(_submit(Path(group["script"]), options))
            except CampaignError as error:
                self._give_up(handle, str(error))
                raise
            write_json(Path(group["submitted"]), {"id": submitted[-1]})

    def _give_up(self, handle: Mapping[str, Any], why: str) -> None:
        for group in handle["groups"]:
            if job := _id_of(group):
                with contextlib.suppress(CampaignError):
                    words.run("scancel", job)
            for task in group["tasks"]:
                _write_final(task, Status("failed", why))

    def status(self, handle: Mapping[str, Any]) -> Status:
        """State of all jobs of a handle together, and of each in `Status.jobs`."""
        statuses = [pair for group in handle["groups"] for pair in _statuses(group, handle)]
        states = [status.state for _, status in statuses]
        state = next(state for state in _ORDER if state in states)
        decisive = [status for _, status in statuses if status.state == state]
        reason = next((status.reason for status in decisive if status.reason), "")
        if reason and len(statuses) > 1:
            reason = f"{len(decisive)} of {len(statuses)} jobs: {reason}"
        codes = [status.exit_code for _, status in statuses if status.exit_code]
        ended = state not in UNDER_WAY
        code = next(iter(codes), 0 if state == "finished" else None) if ended else None
        return Status(state, reason, code, tuple(job for job, _ in statuses))

    def cancel(self, handle: Mapping[str, Any]) -> Status:
        """Cancel all jobs of a handle, and wait until Slurm has ended them on all nodes."""
        for group in handle["groups"]:
            job = _id_of(group) or _by_name(group["name"])
            if job is None:
                raise CampaignError("Slurm does not answer, so the job cannot be cancelled; cancel again")
            if not job:
                for task in group["tasks"]:
                    _write_final(task, Status("cancelled", "cancelled before it was submitted"))
            elif any(_final(task) is None for task in group["tasks"]):
                done = words.run("scancel", job)
                if done.returncode and not any(word in done.stderr.lower() for word in _ENDED_ALREADY):
                    raise CampaignError(f"scancel {job}: {words.complaint(done)}; cancel again when Slurm answers")
        until = time.monotonic() + _CANCEL_S
        _answers.clear()
        while (now := self.status(handle)).state in UNDER_WAY:
            if time.monotonic() > until:
                raise CampaignError(f"Slurm has not ended the job within {_CANCEL_S:g} s: {now.reason}; cancel again")
            time.sleep(_POLL_S)
            _answers.clear()
        # Without cgroups Slurm may say so before the last process has ended; the supervisor writes when they have.
        until = time.monotonic() + _LAST_WORD_S
        orders = [Path(task["order"]) for group in handle["groups"] for task in group["tasks"]]
        while any(_ending(order) for order in orders) and time.monotonic() < until:
            time.sleep(_POLL_S)
        return now


def _ending(order: Path) -> bool:
    return supervisor_of(order).exists() and not end_of(order).exists()


def _submit(script_file: Path, options: Sequence[str]) -> str:
    """Id that Slurm gave."""
    done = words.run("sbatch", "--parsable", f"--chdir={script_file.parent}", *options, str(script_file))
    # A federation adds ";CLUSTER".
    job = (done.stdout.strip().splitlines() or [""])[-1].partition(";")[0]
    if done.returncode or not job.isdecimal():
        raise CampaignError(f"{REFUSED}: {words.complaint(done)}")
    return job


def _orders(mark: str, group: Sequence[Job]) -> Iterator[tuple[Path, Job]]:
    for job in group:
        # A supervisor ends what bears its mark: jobs of an array may share a node.
        yield job.folder / JOBS / (f"{mark}.json" if job.index is None else f"{mark}-{job.index}.json"), job


def _id_of(group: Mapping[str, Any]) -> str:
    """Slurm's id of what was submitted; empty when that is not known."""
    return str(read_json(Path(group["submitted"])).get("id", ""))


def _by_name(name: str) -> str | None:
    """Id of the job of this name, for one whose submitter was killed before it could write down the id.

    Empty when there is none; None when Slurm does not answer.
    """
    try:
        done = words.run("squeue", "--noheader", "--states=all", f"--name={name}", "--format=%F")
    except CampaignError:
        return None
    return next(iter(done.stdout.split()), "") if done.returncode == 0 else None


def _final(task: Mapping[str, Any]) -> Status | None:
    return read_end(final_of(Path(task["order"])))


def _write_final(task: Mapping[str, Any], status: Status) -> Status:
    if final := _final(task):
        return final
    kept = final_of(Path(task["order"]))
    try:
        write_json(kept, asdict(status))
    except OSError as error:
        # On a full disk, which may be what ended it, its state is said all the same.
        return replace(status, reason=f"{status.reason or status.state}; {kept.parent}: {error.strerror}")
    return status


#: Answers of Slurm by job, with the time of each.
_answers: dict[str, tuple[float, Any]] = {}


def _ask(job: str) -> Any:
    at, answer = _answers.get(job, (0.0, None))
    if answer is None or time.monotonic() - at > (_SILENT_S if answer == "no answer" else _FRESH_S):
        answer = words.ask(job)
        _answers[job] = (time.monotonic(), answer)
    return answer


def _statuses(group: Mapping[str, Any], handle: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Status]]:
    """Each job of an array, or the one that is none: what is shown of it, and its state."""
    job: str | None = _id_of(group)
    answer: Any = None
    if not all(_final(task) for task in group["tasks"]):
        if not job and (job := _by_name(group["name"])):
            write_json(Path(group["submitted"]), {"id": job})
        answer = _ask(job) if job else "no answer" if job is None else "not submitted"
    job = job or ""
    for task in group["tasks"]:
        report = answer.get(task["index"]) if isinstance(answer, dict) else None
        status = _final(task) or _status(task, report, answer, job, handle["prepared"])
        number = job if not job or task["index"] is None else f"{job}_{task['index']}"
        shown = {"id": number, "state": status.state, "reason": status.reason, "nodes": report.nodes if report else ""}
        yield shown, status


def _status(task: Mapping[str, Any], report: Told | None, answer: Any, job: str, prepared: float) -> Status:
    own = read_end(end_of(Path(task["order"])))
    if answer == "no answer":
        began: State = "running" if supervisor_of(Path(task["order"])).exists() else "queued"
        return own or Status(began, "Slurm does not answer; this is what the job itself has written")
    if answer == "not submitted" and time.time() - prepared < _SUBMIT_S:
        return Status("queued", "is being submitted")
    if answer == "not submitted":
        ended = Status("failed", "what submitted the job was killed before it could")
    elif (report := report or words.accounted(job, task["index"])) is None:
        lost = f"Slurm knows nothing of job {job} any more, and the job has not said how it ended"
        ended = own or Status("failed", lost)
    elif report.state in UNDER_WAY:
        return Status(report.state, report.reason)
    else:
        ended = _ended(report, own)
    return _write_final(task, ended)


def _ended(report: Told, own: Status | None) -> Status:
    """How a job ended: by its own words when Slurm's say no more."""
    if own is not None and report.word in words.PLAIN:
        return own
    code = own.exit_code if report.code is None and own is not None else report.code
    return Status(report.state, report.reason, code)
