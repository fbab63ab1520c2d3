"""What a site says once, in a file ``colltune.toml``: how ranks are started, what is asked of Slurm, variables.

Such as::

    launch = "mpiexec --hostfile /etc/hosts.mpi -n {ranks} --map-by ppr:{ppn}:node"   # or "here", or "slurm"
    ppn = 2
    folder = "/scratch/me"          # seen by all nodes; for the files of jobs that are nobody's campaign

    [environment]                   # kept as it is where the environment says something else
    OMPI_MCA_btl = "self,tcp"

    [slurm]                         # as the options of 'colltune bench submit'
    partition = "main"
    account = "project"
    modules = ["openmpi/5.0.3"]

It is looked for in ``$COLLTUNE_SITE``, the user's configuration and ``/etc/colltune``; never in the current folder,
since what it says is run.
"""

import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from dashboard.benchmarks.errors import BenchError, PlanError
from dashboard.benchmarks.launchers import LAUNCHERS, template
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.domain.jobs import SLURM as SLURM_OPTIONS
from loaders import disk

VARIABLE = "COLLTUNE_SITE"
NAME = "colltune.toml"
#: Words instead of a start command: the installed library's own, or Slurm; or the name of a further scheduler.
HERE, SLURM = "here", "slurm"
#: Schedulers that have been added, each with a table of its own in the file.
FURTHER = {name: place for name, place in LAUNCHERS.items() if name not in ("local", SLURM)}
_KNOWN: Mapping[str, type] = {"launch": str, "ppn": int, "folder": str, "environment": dict, "slurm": dict}


@dataclass(frozen=True)
class Site:
    """What a site says; made of nothing, it says nothing."""

    #: `HERE`, `SLURM`, one of `FURTHER`, or a start command as `dashboard.benchmarks.launchers.template` reads it.
    launch: str = HERE
    #: Processes on each node; None: as the start command has it.
    ppn: int | None = None
    #: For files of jobs that are nobody's campaign, seen by all nodes; empty: the system's own.
    folder: str = ""
    #: Variables.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Fields of `dashboard.benchmarks.launchers.slurm.Request`.
    slurm: Mapping[str, Any] = field(default_factory=dict)
    #: What else is said to schedulers, by their names.
    further: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Where it says so; None: nowhere.
    file: Path | None = None

    def request(self, **given: Any) -> Request:
        """What is asked of Slurm: what is given first, for the rest what the site says.

        Raises
        ------
        CampaignError
            When a field is not known, or its value not allowed.
        """
        said = {name: value for name, value in given.items() if value not in (None, "", (), [], {}, 0)}
        ppn = {"tasks_per_node": self.ppn} if self.ppn else {}
        record = {**ppn, **self.slurm, **said}
        if "environment" in said and "environment" in self.slurm:
            record["environment"] = {**self.slurm["environment"], **said["environment"]}
        return Request.from_record(record)

    def launcher(self, installation: Installation, ppn: int | None = None, request: Request | None = None) -> Launcher:
        """What starts jobs there; its variables are set where the environment says nothing.

        Parameters
        ----------
        ppn
            Processes on each node; None: as the site says.
        request
            What is asked of Slurm, wherever the site starts its jobs; None: as the site says.

        Raises
        ------
        BenchError
            When the start command or the request cannot be right.
        """
        _set(self.environment)
        mpiexec, file = str(installation.mpiexec), str(self.file.resolve()) if self.file else ""
        if request is not None or self.launch == SLURM:
            asked = request or self.request(tasks_per_node=ppn)
            return SlurmLauncher(asked, mpiexec, folder=self.folder, variables=self.environment, site=file)
        if self.launch in FURTHER:
            said = self.further.get(self.launch, {})
            record = {"mpiexec": mpiexec, "ppn": ppn or self.ppn, "folder": self.folder, **said}
            made: Launcher = resolve_name(FURTHER[self.launch]).from_record(record)
            return made
        words = template.parse(template.MPIEXEC if self.launch == HERE else self.launch)
        started = template.of_library(words, mpiexec)
        return LocalLauncher(started, ppn or self.ppn, self.folder, variables=self.environment, site=file)


def site_file() -> Path | None:
    """The site's file: the one that is named, else the user's own, else that of the machine; None: there is none."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser())
    places = (own / "colltune" / NAME, Path("/etc/colltune") / NAME)
    # Nobody named them: what stands in a folder that may not be searched is as none.
    return next((path for path in places if os.path.isfile(path)), None)  # noqa: PTH113 - Path.is_file raises there


def read(file: Path | None = None) -> Site:
    """Read what a site says.

    Parameters
    ----------
    file
        Default: `site_file`.

    Raises
    ------
    PlanError
        When it cannot be read, or says what is not known; the message names file and key.
    """
    path = file or site_file()
    if path is None:
        return Site()
    try:
        said = tomllib.loads(disk.read_text(path))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise PlanError(f"{path}: the site's file cannot be read: {why}") from error
    known = {**_KNOWN, **dict.fromkeys(FURTHER, dict)}
    for name, value in said.items():
        if name not in known:
            raise PlanError(f"{path}: {name!r} is not known; a site says {', '.join(known)}")
        if type(value) is not known[name]:
            raise PlanError(f"{path}: {name} is {value!r}; right would be {known[name].__name__}")
    further = {name: said.pop(name) for name in FURTHER if name in said}
    site = Site(**said, further=further, file=path)
    try:
        _check(site)
    except (BenchError, TypeError) as error:
        raise PlanError(f"{path}: {error}") from error
    return site


def _check(site: Site) -> None:
    """BenchError when something cannot be right."""
    if site.ppn is not None and site.ppn < 1:
        raise PlanError(f"ppn is {site.ppn}; allowed are whole numbers from 1")
    if wrong := [name for name, value in site.environment.items() if not isinstance(value, str)]:
        raise PlanError(f"environment: {wrong[0]} is {site.environment[wrong[0]]!r}; right would be a text")
    if site.launch not in (HERE, SLURM, *FURTHER):
        template.parse(site.launch)
    site.request()


def again(launcher: Launcher, installation: Installation) -> Launcher:
    """What a campaign is resumed with: as it was started, by the start command of the library that is there now."""
    _set(getattr(launcher, "variables", {}))
    if isinstance(launcher, LocalLauncher) and len(launcher.mpiexec) == 1:
        return replace(launcher, mpiexec=(str(installation.mpiexec),))
    return launcher


def typed(launcher: Launcher) -> list[str]:
    """Order of ``colltune bench`` and its options that start another campaign as this one's launcher does."""
    try:
        known = read(Path(file)) if (file := getattr(launcher, "site", "")) else Site()
    except PlanError:
        # It is gone, or says something else by now: what was asked for is said in full.
        known = Site()
    site = ["--site", str(known.file)] if known.file else []
    if isinstance(launcher, SlurmLauncher):
        asked, said = launcher.request.record(), known.request().record()
        differing = {name: value for name, value in asked.items() if value and value != said[name]}
        if "environment" in differing:
            differing["environment"] = [f"{name}={value}" for name, value in differing["environment"].items()]
        options = [each.typed(differing[each.name]) for each in SLURM_OPTIONS if each.name in differing]
        return ["submit", *site, *(word for words in options for word in words)]
    launch, usual = launcher.name, known.launch
    if isinstance(launcher, LocalLauncher):
        launch = shlex.join(launcher.mpiexec) if len(launcher.mpiexec) > 1 else HERE
        # The first word is where the start command of the library was.
        if usual not in (SLURM, *FURTHER) and template.parse(usual)[1:] == launcher.mpiexec[1:]:
            return ["run", *site]
    return ["run", *site, *(["--launch", launch] if launch != usual else [])]


def _set(variables: Mapping[str, str]) -> None:
    """Set variables for the jobs of this process, where the environment says nothing of them."""
    for name, value in variables.items():
        os.environ.setdefault(name, value)
