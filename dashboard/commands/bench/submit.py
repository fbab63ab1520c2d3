"""The options of ``colltune bench submit`` that say what is asked of Slurm."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dashboard.commands import values as cli_values
from dashboard.commands.launching import site_option
from dashboard.commands.output import say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.benchmarks.campaigns.campaign import Campaign
    from dashboard.benchmarks.launchers.site import Site
    from dashboard.benchmarks.launchers.slurm import Request
    from dashboard.benchmarks.libraries.library import Installation


def slurm_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is asked of Slurm."""
    group = parser.add_argument_group("what is asked of Slurm")
    group.add_argument("-N", "--nodes", type=cli_values.count, metavar="N", help="default: as many as the ranks need")
    group.add_argument("--tasks-per-node", type=cli_values.count, metavar="N", help="ranks on each node at most")
    for name in ("partition", "account", "qos", "constraint"):
        group.add_argument(f"--{name}", default="", metavar="NAME", help="default: the site's")
    group.add_argument(
        "--sbatch", action="append", default=[], metavar="LINE", help="further line, such as --sbatch=--exclusive"
    )
    group.add_argument(
        "--library",
        metavar="NAME-VERSION",
        help="plan with the methods of this one by the tables, such as openmpi-5.0 (default: the installed library's; "
        "where none is, that of --module)",
    )
    group.add_argument("--module", action="append", default=[], metavar="NAME", help="module to load first")
    group.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="such as OMPI_MCA_btl=self,tcp or UCX_TLS=rc"
    )
    group.add_argument("--start", metavar="NAME", help="mpiexec (default), mpirun or srun")
    group.add_argument(
        "--start-option", action="append", default=[], metavar="OPTION", help="of it, such as --start-option=--mpi=pmix"
    )
    group.add_argument(
        "--array", type=cli_values.count, metavar="N", help="a job for each communicator size, N of them at once"
    )
    site_option(group)
    group.add_argument("--dry-run", action="store_true", help="print the batch script, submit nothing")


def installation(
    args: argparse.Namespace, modules: Sequence[str], installed: Callable[[], Installation]
) -> Installation:
    """What is planned with: the library named, the installed one, or where there is none that of the module.

    Raises
    ------
    NoMpiError
        When there is none and no table either; the message says what to name.
    """
    from dashboard.benchmarks.errors import NoMpiError
    from dashboard.benchmarks.libraries.named import installation_named, version_of_module
    from loaders.openmpi import DEFAULT_VERSION

    if args.library:
        return installation_named(args.library)
    try:
        return installed()
    except NoMpiError as error:
        named = version_of_module(tuple(modules))
        if not named and any("openmpi" in module.lower() for module in modules):
            named = f"openmpi-{DEFAULT_VERSION}"
        if not named:
            raise NoMpiError(f"{error}; or name what the job will run (--library openmpi-5.0)") from error
        named_installation = installation_named(named)
    title = f"{named_installation.library.name} {named_installation.library.version}"
    say(f"note: no MPI here: planned with the methods of {title} by the tables (--library); the job checks the version")
    return named_installation


def of_plan(campaign: Campaign, installed: Callable[[], Installation]) -> Installation:
    """What a campaign was planned with: the installed library, or where none is that of its plan by the tables."""
    from dashboard.benchmarks.errors import NoMpiError
    from dashboard.benchmarks.libraries.named import installation_named

    try:
        return installed()
    except NoMpiError:
        plan = campaign.plan()
        return installation_named(f"{plan.library} {plan.library_version}")


def request(args: argparse.Namespace, site: Site) -> Request:
    """What the options ask for; for the rest what the site says."""
    pairs = [text.partition("=") for text in args.env]
    if wrong := next((name for name, equals, _ in pairs if not equals), None):
        raise Usage(f"--env {wrong}: must be NAME=VALUE")
    names = [name for name, _, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Usage(f"--env {twice}: is given twice")
    return site.request(
        nodes=args.nodes,
        tasks_per_node=args.tasks_per_node,
        partition=args.partition,
        account=args.account,
        qos=args.qos,
        constraint=args.constraint,
        extra=tuple(args.sbatch),
        modules=tuple(args.module),
        environment={name: value for name, _, value in pairs},
        start=args.start,
        start_options=tuple(args.start_option),
        array=args.array or 0,
    )
