"""What may be asked of Slurm, every field checked against what is allowed, and the batch script that is made of it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import Job, own_environment, supervised
from dashboard.benchmarks.libraries.own_settings import added
from dashboard.domain.jobs import STARTS
from dashboard.domain.units import format_count

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:+@-]*")
_CONSTRAINT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:&|*()\[\]-]*")
_MODULE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,+/-]*")
_OPTION = re.compile(r"--?[a-z][A-Za-z0-9_-]*(=[A-Za-z0-9_.,:/+%^@-]+)?")
#: Options whose value is an argument of its own, as every mpiexec takes it; none of these could name a program.
_PLACING = re.compile(r"(?<!\S)(--?(?:bind-to|map-by|rank-by))[ =](\S+)")
_EXTRA = re.compile(r"--(?P<name>[a-z][a-z0-9-]*)(=[^\x00-\x1f\x7f]+)?")
_VARIABLE = re.compile(r"(OMPI_MCA|PRTE_MCA|PMIX_MCA|MPIR_CVAR|UCX|I_MPI|FI|PSM2|HCOLL|COLLTUNE)_[A-Za-z0-9_]+")
_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")
#: Lines that this program writes itself, or that would run or change something else than the campaign.
_OWN: tuple[str, ...]
_OWN = ("account", "array", "chdir", "comment", "constraint", "dependency", "error", "export", "export-file", "gid")
_OWN += ("input", "job-name", "nodes", "ntasks", "ntasks-per-node", "no-requeue", "open-mode", "output", "parsable")
_OWN += ("partition", "qos", "requeue", "signal", "time", "uid", "wait", "wrap")
#: What the run file calls the machine and its network where the request does not.
_PLACE = ("COLLTUNE_SYSTEM", "COLLTUNE_NETWORK")
_MINUTE = 60
#: Seconds that the job itself ends before Slurm would end it, so that it can say why.
GRACE_S = 5.0


@dataclass(frozen=True)
class Request:
    """What a campaign asks Slurm for."""

    #: None: as many as the ranks need at `tasks_per_node`; Slurm decides when that is None too.
    nodes: int | None = None
    #: Ranks on each node at most; None: as Slurm places them.
    tasks_per_node: int | None = None
    #: By the site's names; empty: the site's default.
    partition: str = ""
    account: str = ""
    qos: str = ""
    constraint: str = ""
    #: Further lines of ``#SBATCH``, each ``--option`` or ``--option=value``.
    extra: tuple[str, ...] = ()
    #: Loaded by the job before anything else.
    modules: tuple[str, ...] = ()
    #: Variables of MPI libraries and networks, such as ``OMPI_MCA_btl``; before those of `Job`.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Start command, one of `dashboard.domain.jobs.STARTS`.
    start: str = "mpiexec"
    #: Of the start command, such as ``--mpi=pmix``; where ranks are placed also in two words: ``--bind-to core``.
    start_options: tuple[str, ...] = ()
    #: One job for each communicator size, so many of them at once; 0: one job for all.
    array: int = 0

    def __post_init__(self) -> None:
        for name in ("nodes", "tasks_per_node"):
            _integer(name, getattr(self, name), 1)
        _integer("array", self.array, 0)
        for name in ("partition", "account", "qos"):
            _match(name, getattr(self, name), _NAME, "letters, digits and _ . , : + @ -")
        _match("constraint", self.constraint, _CONSTRAINT, "names of features with & | * ( ) [ ]")
        for line in self.extra:
            match = _EXTRA.fullmatch(line) if isinstance(line, str) else None
            if match is None or not line:
                raise CampaignError(f"extra line {line!r}: allowed is --option or --option=value in one line")
            if match["name"] in _OWN:
                raise CampaignError(f"extra line {line!r}: --{match['name']} is set by this program or not allowed")
        for module in self.modules:
            _match("module", module or " ", _MODULE, "letters, digits and _ . , + / -")
        for name, value in self.environment.items():
            _match("variable", name or " ", _VARIABLE, "names that begin with OMPI_MCA_, UCX_ and the like")
            _match(f"value of {name}", value, _VALUE, "one line")
        if self.start not in STARTS:
            raise CampaignError(f"start command {self.start!r}: allowed are {', '.join(STARTS)}")
        for option in self._options:
            allowed = "-o, --option, --option=value, and --bind-to, --map-by and --rank-by with a value"
            _match("option of the start command", option or " ", _OPTION, allowed)

    @property
    def _options(self) -> list[str]:
        """Of the start command, each in one word."""
        return _PLACING.sub(r"\1=\2", " ".join(self.start_options)).split(" ") if self.start_options else []

    @property
    def arguments(self) -> list[str]:
        """What stands behind the start command."""
        return [word for option in self._options for word in _PLACING.sub(r"\1 \2", option).split(" ")]

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Request:
        """Read what `record` gave.

        Raises
        ------
        CampaignError
            When it names what is not known or not allowed.
        """
        if not isinstance(record, Mapping):
            raise CampaignError(f"what is asked of Slurm is {record!r}; right would be a table")
        known = {entry.name for entry in fields(cls)}
        if unknown := sorted(set(record) - known):
            raise CampaignError(f"{unknown[0]!r} cannot be asked of Slurm; allowed are {', '.join(sorted(known))}")
        lists = {name: record.get(name, ()) for name in ("extra", "modules", "start_options")}
        for name, value in lists.items():
            # The letters of a text would be taken for its members.
            if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
                raise CampaignError(f"{name} {value!r}: right would be a list of texts")
        if not isinstance(variables := record.get("environment", {}), Mapping):
            raise CampaignError(f"environment {variables!r}: right would be a table of variables")
        return cls(**{**record, **{name: tuple(value) for name, value in lists.items()}})

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "environment": dict(self.environment)}

    def nodes_for(self, ranks: int) -> int | None:
        """Nodes to ask for; None when that is left to Slurm.

        Raises
        ------
        CampaignError
            When the ranks do not fit on the nodes.
        """
        if self.tasks_per_node is None:
            return self.nodes
        needed = math.ceil(ranks / self.tasks_per_node)
        if self.nodes is not None and self.nodes < needed:
            held = f"{format_count(self.nodes, 'node')} with {format_count(self.tasks_per_node, 'rank')} each"
            raise CampaignError(f"{ranks} ranks are more than {held}: ask for at least {needed} nodes (--nodes)")
        return needed if self.array or self.nodes is None else self.nodes


def _integer(name: str, value: Any, low: int) -> None:
    if value is not None and (type(value) is not int or not low <= value <= 1_000_000):
        raise CampaignError(f"{name} {value!r}: allowed are whole numbers from {low} to 1000000")


def _match(name: str, value: Any, pattern: re.Pattern[str], allowed: str) -> None:
    if not isinstance(value, str) or (value and not pattern.fullmatch(value)):
        raise CampaignError(f"{name} {value!r}: allowed are {allowed}")


def minutes(seconds: float) -> int:
    """Slurm's time limits are whole minutes."""
    return max(1, math.ceil(seconds / _MINUTE))


def script(
    request: Request,
    jobs: Sequence[Job],
    orders: Sequence[Path],
    name: str,
    start: str,
    variables: Mapping[str, str],
    *,
    after: bool,
) -> str:
    """Write the batch script of some jobs that ask for the same.

    Parameters
    ----------
    jobs, orders
        With what their supervisors are told; several, or one with an index, are an array.
    variables
        Of the site; what is set already is kept.
    after
        Whether the job starts when an earlier one has ended; its id is told to ``sbatch``.
    """
    first = jobs[0]
    log = first.log if first.index is None else first.folder.parent / "%a" / first.log.name
    # A login shell is what knows the command of modules.
    shell = "#!/bin/bash -l" if request.modules else "#!/bin/bash"
    lines = [shell, *(f"#SBATCH {line}" for line in _asked(request, jobs, name, _escaped(log, first)))]
    if after:
        lines.append("# starts when an earlier job has ended: sbatch --dependency=afterany:…")
    if request.modules:
        lines.append(f"module load {shlex.join(request.modules)} || exit 1")
    lines += [
        f'[ -n "${{{key}+set}}" ] || export {key}={shlex.quote(value)}' for key, value in sorted(variables.items())
    ]
    environment = {
        **added(first.environment, request.environment),
        **request.environment,
        "PYTHONPATH": own_environment()["PYTHONPATH"],
    }
    lines += [f"export {key}={shlex.quote(value)}" for key, value in sorted(environment.items())]
    # Jobs of one array bear one name, whatever their nodes are.
    lines += [f'export {key}="${{{key}:-$SLURM_CLUSTER_NAME}}"' for key in _PLACE]
    if any("--only" in start.arguments for job in jobs for start in job.starts):
        lines.append("# each method in a start of the ranks of its own, forced by variables that its order names")
    commands = []
    for job, order in zip(jobs, orders, strict=True):
        words = [] if job.alone else [start, *request.arguments, "-n", str(job.ranks)]
        commands.append(shlex.join(supervised(order, [*words, *job.program])))
    if first.index is None:
        lines.append(f"exec {commands[0]}")
    else:
        lines.append('case "$SLURM_ARRAY_TASK_ID" in')
        lines += [f"{job.index}) exec {command} ;;" for job, command in zip(jobs, commands, strict=True)]
        lines.append("esac")
    return "\n".join(lines) + "\n"


def _asked(request: Request, jobs: Sequence[Job], name: str, log: str) -> list[str]:
    ranks, seconds = max(job.ranks for job in jobs), max(job.seconds for job in jobs)
    nodes = request.nodes_for(ranks)
    asked: dict[str, Any] = {"job-name": name}
    if jobs[0].index is not None:
        numbers = ",".join(str(job.index) for job in jobs)
        asked["array"] = f"{numbers}%{request.array}"
    asked |= {key: getattr(request, key) for key in ("partition", "account", "qos", "constraint")}
    asked |= {"nodes": nodes, "ntasks": ranks, "ntasks-per-node": request.tasks_per_node}
    asked |= {"time": minutes(seconds), "output": log, "open-mode": "append"}
    lines = [f"--{key}={value}" for key, value in asked.items() if value not in (None, "")]
    return [*lines, "--no-requeue", *request.extra]


def _escaped(log: Path, job: Job) -> str:
    """Name of the log as Slurm takes it, with %a for the index of an array."""
    text = str(log)
    if any(mark in text for mark in '"\\\n'):
        raise CampaignError(f"{text}: Slurm takes no file names with quotes, backslashes or line breaks")
    if job.index is None:
        text = text.replace("%", "%%")
    elif text.count("%") > 1:
        raise CampaignError(f"{text}: job arrays take no folder with % in its name")
    return f'"{text}"'
