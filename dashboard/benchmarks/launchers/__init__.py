"""How jobs are started, watched over and ended: on this machine, by a template, on Slurm."""

import json
from collections.abc import Mapping
from pkgutil import resolve_name

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.launchers.launch import Launcher

__all__ = ["LAUNCHERS", "launch", "launcher_of", "local", "processes", "site", "slurm", "started_by"]

#: Where each launcher is, by its name.
LAUNCHERS: Mapping[str, str] = {
    "local": "dashboard.benchmarks.launchers.local:LocalLauncher",
    "slurm": "dashboard.benchmarks.launchers.slurm:SlurmLauncher",
}


def launcher_of(campaign: Campaign) -> Launcher:
    """The launcher that a campaign was started with, or that of this machine when it never was."""
    record = campaign.state().get("launcher") or {"name": "local"}
    made: Launcher = resolve_name(LAUNCHERS[record["name"]]).from_record(record)
    return made


def started_by(campaign: Campaign, launcher: Launcher) -> bool:
    """Whether the last start of a campaign was by a launcher with these very settings."""
    # As it stands in the state, where tuples are lists.
    return bool(campaign.state().get("launcher") == json.loads(json.dumps(launcher.record())))
