"""What starts ranks, by the options that say how, the same for every command that starts some."""

import argparse
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import site, slurm
from dashboard.benchmarks.launchers.launch import Job, Launcher
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.site import HERE, Site
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.own_settings import allocated_nodes
from dashboard.commands.output import say

#: Of what a rules file was made, as its head says.
_RANGES = re.compile(r"\b(\d+) processes, (?:\d+ to )?\d+ bytes\b")


def site_of(args: argparse.Namespace) -> Site:
    """What the site says; ``--launch`` comes first.

    Raises
    ------
    PlanError
        When the site's file cannot be read.
    """
    known = site.read(Path(args.site) if args.site else None)
    if known.file is not None and not getattr(args, "said", False):
        args.said = True
        say(f"note: as {known.file} says")
    launch = getattr(args, "launch", None)
    return replace(known, launch=launch) if launch else known


def spreads(args: argparse.Namespace) -> bool:
    """Whether ranks are started on several nodes, as far as is known: in an allocation of some, or by a command."""
    return allocated_nodes() > 1 or site_of(args).launch != HERE


def python_of(args: argparse.Namespace, installation: Installation) -> Path | None:
    """The interpreter beside a start command that was named, whose mpi4py is of its library; None: this one."""
    beside = installation.mpiexec.parent / "python"
    return beside if args.mpiexec and beside.exists() else None


def launcher_of(args: argparse.Namespace, installation: Installation, ppns: Iterable[int] = ()) -> Launcher:
    """What starts ranks.

    Parameters
    ----------
    ppns
        Processes per node of a campaign's plan.

    Raises
    ------
    BenchError
        When the site's file or the start command cannot be right.
    """
    named = getattr(args, "ppn", None)
    return site_of(args).launcher(installation, max(ppns, default=named if isinstance(named, int) else None))


def say_beside_nodes(launcher: Launcher) -> None:
    """Say where what is started here leaves a cluster's nodes idle, as on a login node, where others work."""
    if not launcher.here or "SLURM_JOB_ID" in os.environ or slurm.available():
        return
    with suppress(CampaignError, ValueError):
        if names := ", ".join(dict.fromkeys(each["name"] for each in slurm.partitions() if each["up"])):
            say(
                f"note: this measures this machine, be it a login node, and none of Slurm's ({names}): for these take "
                "'bench submit', 'tune --slurm' or an allocation (salloc)"
            )


def check(args: argparse.Namespace, installation: Installation, plan: Plan) -> Launcher:
    """Say what is wrong with how ranks of a plan would be started, before it is written.

    Returns what would start them; errors as `launcher_of`.
    """
    folder, launcher = Path(args.folder), launcher_of(args, installation, plan.ppns)
    launcher.preview([Job(folder, plan.ranks, (), {}, 0.0, folder / "log.txt")])
    # It may be planned here and run elsewhere.
    if isinstance(launcher, LocalLauncher) and shutil.which(launcher.mpiexec[0]) is None:
        say(f"note: there is no start command {launcher.mpiexec[0]!r} here (--launch)")
    return launcher


def measured_ranks(text: str) -> int | None:
    """Largest number of processes that a rules file was measured with, as its head tells; None where it tells none."""
    head = " ".join(line.lstrip("#/* ") for line in text.splitlines() if line.lstrip().startswith(("#", "/*", "*")))
    return max((int(match[1]) for match in _RANGES.finditer(head)), default=None)
