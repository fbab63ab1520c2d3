"""Slurm's own commands by argument lists, and its words turned into ours."""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dashboard.benchmarks.campaigns.campaign import UNDER_WAY
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import State

COMMANDS = ("sbatch", "scontrol", "scancel", "squeue")
_SECONDS = 20
_QUEUED = ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
_RUNNING = ("RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING")
_ENDED: Mapping[str, tuple[State, str]] = {
    "COMPLETED": ("finished", ""),
    "FAILED": ("failed", ""),
    "CANCELLED": ("cancelled", "cancelled in Slurm"),
    "TIMEOUT": ("timed out", "ended by Slurm at its time limit"),
    "DEADLINE": ("timed out", "ended by Slurm at its deadline"),
    "NODE_FAIL": ("failed", "a node of the job failed"),
    "BOOT_FAIL": ("failed", "a node of the job could not be started"),
    "LAUNCH_FAILED": ("failed", "Slurm could not start the job on its nodes"),
    "RECONFIG_FAIL": ("failed", "Slurm could not set up the nodes of the job"),
    "OUT_OF_MEMORY": ("failed", "the job ran out of memory"),
    "PREEMPTED": ("failed", "Slurm took the nodes away for another job"),
    "REVOKED": ("failed", "Slurm revoked the job"),
}
#: Words that say no more than what the job wrote down itself.
PLAIN = ("COMPLETED", "FAILED")
#: Of a job in the queue that has to be asked for otherwise.
NEVER = "it will not start"
_WAITS = {
    "Resources": "waits for free nodes",
    "Priority": "waits behind other jobs",
    "Dependency": "waits for an earlier job",
    "BeginTime": "waits for its time",
    "JobArrayTaskLimit": "waits for other jobs of its array",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "PartitionConfig": f"more than the partition has: {NEVER}",
    "BadConstraints": f"no node has what is asked for: {NEVER}",
    "PartitionNodeLimit": f"more nodes than the partition allows: {NEVER}",
    "PartitionTimeLimit": f"a longer time limit than the partition allows: {NEVER}",
    "ReqNodeNotAvail": "nodes that it needs are not available",
    "JobHeldUser": "held by its user",
    "JobHeldAdmin": "held by the administrator",
    "DependencyNeverSatisfied": f"an earlier job can never end as it should: {NEVER}",
}
_FORGOTTEN = "Invalid job id"
#: Exit code of a job whose log Slurm could not open on its node.
_NO_LOG = -53
_FIELD = re.compile(r"(?:^|\s)([A-Za-z/:]+)=(\S*)")


@dataclass(frozen=True)
class Told:
    """What Slurm says of one job, or one of an array."""

    id: str
    #: Such as ``PENDING``.
    word: str
    state: State
    reason: str
    nodes: str
    #: Exit code; negative for a signal.
    code: int | None


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's commands.

    Raises
    ------
    CampaignError
        When it is not there or does not come back.
    """
    path = shutil.which(name)
    if path is None:
        raise CampaignError(f"no Slurm here: {name} is not on the PATH; submit from a machine that has it")
    # Of an array it would say no more numbers than have room in 64 characters, and the others would seem forgotten.
    said = {**os.environ, "SLURM_BITSTR_LEN": "0"}
    try:
        return subprocess.run(
            [path, *words], capture_output=True, errors="replace", timeout=_SECONDS, check=False, env=said
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CampaignError(f"{name} gave no answer: {error}") from error


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """What a command complained of, in one line."""
    said = [line.partition("error: ")[2] or line for line in (done.stderr or done.stdout).strip().splitlines()]
    return "; ".join(said)[:300] or f"exit code {done.returncode}"


Jobs = dict[int | None, Told]


def ask(job: str) -> Jobs | Literal["forgotten", "no answer"]:
    """Ask ``scontrol`` for a job: what it says of each index of an array, of None when it is none."""
    try:
        done = run("scontrol", "-o", "show", "job", job)
    except CampaignError:
        return "no answer"
    if done.returncode:
        return "forgotten" if _FORGOTTEN in done.stderr else "no answer"
    jobs: Jobs = {}
    for line in done.stdout.splitlines():
        record = dict(_FIELD.findall(line))
        if "JobState" in record:
            for index in _indexes(record.get("ArrayTaskId", "")):
                jobs[index] = told_of(record, index)
    return jobs or "forgotten"


def _indexes(text: str) -> list[int | None]:
    """Indexes of an array that one record is for, such as ``0,2-4%1``; those not started yet share one."""
    if not text or text == "N/A":
        return [None]
    indexes: list[int | None] = []
    for part in text.partition("%")[0].split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            end, _, step = last.partition(":")
            indexes += range(int(first), int(end or first) + 1, int(step or 1))
    return indexes


def told_of(record: Mapping[str, str], index: int | None = None) -> Told:
    """Turn the fields of ``scontrol show job`` into ours."""
    # The number of a job, of one of an array that of them all.
    word, base = record["JobState"], record.get("ArrayJobId", record.get("JobId", ""))
    said = "" if record.get("Reason") in (None, "None", "(null)") else record["Reason"].replace("_", " ").strip()
    code, _, number = record.get("ExitCode", "0:0").partition(":")
    exit_code = -int(number) if number.isdecimal() and int(number) else int(code) if code.isdecimal() else None
    nodes = record.get("NodeList", "").replace("(null)", "")
    # An array's jobs are all named beside what became of them.
    state, reason = _meaning(word, record, said, exit_code, f"job {base}" if index is None else "")
    ended = state not in UNDER_WAY
    return Told(base if index is None else f"{base}_{index}", word, state, reason, nodes, exit_code if ended else None)


def _meaning(word: str, record: Mapping[str, str], said: str, code: int | None, job: str) -> tuple[State, str]:
    if word in _QUEUED:
        head = record.get("Reason", "").partition(",")[0]
        waits = _WAITS.get(head, "waits")
        return "queued", f"{waits} ({said})" if said else waits
    if word in _RUNNING:
        return "running", {"RUNNING": "", "COMPLETING": "is ending"}.get(word, word.lower())
    # Words of a later Slurm are failures until somebody knows better.
    state, reason = _ENDED.get(word, ("failed", word))
    if word == "TIMEOUT" and "TimeLimit" in record:
        reason += f" of {record['TimeLimit']}"
    if word == "FAILED":
        return state, f"{_code(code)} ({said})" if said and said != "NonZeroExitCode" else _code(code)
    where = record.get("NodeList", "").replace("(null)", "") if word == "NODE_FAIL" else ""
    named = {"COMPLETED": "", "CANCELLED": job}.get(word, word)
    details = ", ".join(detail for detail in (named, where) if detail)
    return state, f"{reason} ({details})" if details and reason else reason


def _code(code: int | None) -> str:
    if code == _NO_LOG:
        return "Slurm could not begin its log: nodes must see the campaign's folder, with room in it"
    return f"ended by signal {-code}" if code is not None and code < 0 else f"exit code {code}"


def accounted(job: str, index: int | None) -> Told | None:
    """What the site's accounting, if it has one, says of a job that the controller has forgotten."""
    if shutil.which("sacct") is None:
        return None
    wanted = job if index is None else f"{job}_{index}"
    form = "--format=JobID,State,ExitCode,NodeList"
    try:
        done = run("sacct", "--jobs", wanted, "--allocations", "--noheader", "--parsable2", form)
    except CampaignError:
        return None
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        number, word, code, nodes = [*line.split("|"), "", "", "", ""][:4]
        if number == wanted and word:
            # It says "CANCELLED by 1000".
            record = {"JobId": job, "JobState": word.split()[0], "ExitCode": code, "NodeList": nodes}
            return told_of(record, index)
    return None


def partitions() -> list[dict[str, Any]]:
    """Partitions of this Slurm: ``name``, ``default``, ``up``, ``nodes``, ``cores`` of a node, ``seconds`` or None."""
    done = run("sinfo", "--noheader", "--format=%P|%a|%D|%c|%l")
    if done.returncode:
        raise CampaignError(f"sinfo: {complaint(done)}")
    rows = []
    for line in done.stdout.splitlines():
        name, up, nodes, cores, limit = line.split("|")
        each = {"name": name.removesuffix("*"), "default": name.endswith("*"), "up": up == "up"}
        counts = {"nodes": int(nodes), "cores": int(re.sub(r"\D.*", "", cores) or 0)}
        rows.append(each | counts | {"seconds": seconds_of(limit)})
    return rows


def too_few(partition: str, nodes: int) -> str:
    """Why a job of so many nodes would never begin; empty where it may, or Slurm does not tell.

    Parameters
    ----------
    partition
        That is asked for, several by commas; empty: the default one.
    """
    try:
        known = partitions()
    except (CampaignError, ValueError):
        return ""
    wanted = partition.split(",") if partition else [each["name"] for each in known if each["default"]]
    holds = Counter[str]()
    for each in known:
        # A line for each kind of its nodes.
        holds[each["name"]] += each["nodes"] if each["name"] in wanted else 0
    name, most = max(holds.items(), key=lambda pair: pair[1], default=("", 0))
    return f"partition {name} has {most} of the {nodes} nodes asked for (--nodes)" if 0 < most < nodes else ""


def seconds_of(limit: str) -> int | None:
    """Seconds of a time limit, such as ``1-12:00:00``, ``1-12``, ``30:00`` or ``30``; None for ``infinite``."""
    days, _, rest = limit.rpartition("-")
    parts = rest.split(":")
    if not all(part.isdecimal() for part in parts) or (days and not days.isdecimal()):
        return None
    numbers = [int(part) for part in parts]
    # Hours come first behind days, else the last of several are seconds, and a single number is of minutes.
    before = 0 if days or len(numbers) == 3 else 1
    hours, minutes, seconds = ([0] * before + numbers + [0, 0])[:3]
    return ((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds
