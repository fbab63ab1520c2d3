"""The options that say how ranks are started, the same for every command that starts some."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.commands import values as cli_values
from dashboard.commands.output import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dashboard.benchmarks.campaigns.plan import Plan
    from dashboard.benchmarks.launchers.launch import Launcher
    from dashboard.benchmarks.launchers.site import Site
    from dashboard.benchmarks.libraries.library import Installation

#: Help of ``--launch``.
LAUNCH = (
    "here: the library's own start command, in an allocation over all its nodes (default); slurm: a job of its own; or "
    "a start command such as 'mpiexec --hostfile hosts -n {ranks} --map-by ppr:{ppn}:node', whose {ranks}, {ppn}, "
    "{nodes} and {program} are replaced word by word, by no shell"
)


def add_options(parser: argparse.ArgumentParser, *, ppn: bool = True) -> None:
    """Add the options.

    Parameters
    ----------
    ppn
        Whether to add ``--ppn`` too; a campaign's plan has one of its own.
    """
    group = parser.add_argument_group("how ranks are started")
    group.add_argument("--launch", metavar="COMMAND", help=LAUNCH)
    if ppn:
        group.add_argument("--ppn", type=cli_values.count, metavar="N", help="processes on each node (site's)")
    site_option(group)


def site_option(group: argparse._ArgumentGroup) -> None:
    """Add ``--site``."""
    group.add_argument(
        "--site",
        metavar="FILE",
        help="what the site says once: launch, ppn, folder, [environment], [slurm] (default: $COLLTUNE_SITE, "
        "~/.config/colltune/colltune.toml, /etc/colltune/colltune.toml)",
    )


def site_of(args: argparse.Namespace) -> Site:
    """What the site says; ``--launch`` comes first.

    Raises
    ------
    PlanError
        When the site's file cannot be read.
    """
    from dataclasses import replace

    from dashboard.benchmarks.launchers import site

    known = site.read(Path(args.site) if args.site else None)
    if known.file is not None and not getattr(args, "said", False):
        args.said = True
        say(f"note: as {known.file} says")
    launch = getattr(args, "launch", None)
    return replace(known, launch=launch) if launch else known


def spreads(args: argparse.Namespace) -> bool:
    """Whether ranks are started on several nodes, as far as is known: in an allocation of some, or by a command."""
    from dashboard.benchmarks.launchers.site import HERE
    from dashboard.benchmarks.libraries.own_settings import allocated_nodes

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


def check(args: argparse.Namespace, installation: Installation, plan: Plan) -> Launcher:
    """Say what is wrong with how ranks of a plan would be started, before it is written.

    Returns what would start them; errors as `launcher_of`.
    """
    from dashboard.benchmarks.launchers.launch import Job
    from dashboard.benchmarks.launchers.local import LocalLauncher

    folder, launcher = Path(args.folder), launcher_of(args, installation, plan.ppns)
    launcher.preview([Job(folder, plan.ranks, (), {}, 0.0, folder / "log.txt")])
    # It may be planned here and run elsewhere.
    if isinstance(launcher, LocalLauncher) and shutil.which(launcher.mpiexec[0]) is None:
        say(f"note: there is no start command {launcher.mpiexec[0]!r} here (--launch)")
    return launcher
