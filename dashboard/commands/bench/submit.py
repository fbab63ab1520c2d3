"""What the options of ``colltune bench submit`` ask of Slurm, and what is planned with."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.launchers import launcher_of
from dashboard.benchmarks.launchers.site import Site
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.named import installation_named, version_of_module
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.domain.jobs import SLURM, assignments
from loaders.openmpi import DEFAULT_VERSION


def installation(
    args: argparse.Namespace, modules: Sequence[str], installed: Callable[[], Installation]
) -> Installation:
    """What is planned with: the library named, the installed one, or where there is none that of the module.

    Raises
    ------
    NoMpiError
        When there is none and no table either; the message says what to name.
    """
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
    try:
        return installed()
    except NoMpiError:
        plan = campaign.plan()
        return installation_named(f"{plan.library} {plan.library_version}")


def kept(folder: Path) -> tuple[Mapping[str, Any], str]:
    """What the last submission of a campaign asked for, and the site's file of its last start; empty without any."""
    campaign = Campaign(folder)
    launcher = launcher_of(campaign)
    asked = launcher.request.record() if isinstance(launcher, SlurmLauncher) else {}
    return asked, getattr(launcher, "site", "")


def request(args: argparse.Namespace, site: Site, kept: Mapping[str, Any] = MappingProxyType({})) -> Request:
    """What the options ask for; for the rest what is kept of earlier ones, then what the site says."""
    asked = {option.name: getattr(args, option.name) for option in SLURM}
    try:
        asked["environment"] = assignments(asked["environment"] or ())
    except ValueError as error:
        raise Usage(f"--env: {error}") from error
    return site.request(**{**kept, **{name: value for name, value in asked.items() if value}})
