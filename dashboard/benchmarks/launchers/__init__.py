"""How jobs are started, watched over and ended: on this machine, by a template, on Slurm."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pkgutil import resolve_name

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import Launcher

__all__ = ["LAUNCHERS", "launch", "launcher_of", "local", "processes", "site", "slurm", "sound", "started_by"]

#: Where each launcher is, by its name.
LAUNCHERS: Mapping[str, str] = {
    "local": "dashboard.benchmarks.launchers.local:LocalLauncher",
    "slurm": "dashboard.benchmarks.launchers.slurm:SlurmLauncher",
}


def launcher_of(campaign: Campaign) -> Launcher:
    """The launcher that a campaign was started with, or that of this machine when it never was; errors as `sound`."""
    record = campaign.state().get("launcher") or {"name": "local"}
    with sound(campaign):
        made: Launcher = resolve_name(LAUNCHERS[record["name"]]).from_record(record)
    return made


@contextmanager
def sound(campaign: Campaign) -> Iterator[None]:
    """CampaignError where the record of how it was started is damaged."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise CampaignError(
            f"{campaign.state_file} is damaged ({type(error).__name__}: {error}); see that none of its jobs runs, "
            f"remove the file, then colltune bench resume {campaign.folder}"
        ) from error


def started_by(campaign: Campaign, launcher: Launcher) -> bool:
    """Whether the last start of a campaign was by a launcher with these very settings."""
    # As it stands in the state, where tuples are lists.
    return bool(campaign.state().get("launcher") == json.loads(json.dumps(launcher.record())))
