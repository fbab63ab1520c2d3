"""Campaigns that are not there yet: started or only shown; nothing of them stays where they are not started."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.libraries.library import Installation


def start(
    campaign: Campaign, launcher: Launcher, installation: Installation, seconds: float, *, asked: float | None = None
) -> dict[str, Any]:
    """Launch a campaign whose folder was made just now, as `control.start`; one that cannot be launched goes again."""
    try:
        return control.start(campaign, launcher, installation, seconds, asked=asked)
    except (BenchError, OSError) as error:
        # Left as a plan, it would look as if it could be started here, wherever it was meant to run. What the system
        # refused may have come after the launch, which is known by its state: that is written before anything runs.
        if isinstance(error, BenchError) or not campaign.state_file.exists():
            shutil.rmtree(campaign.folder, ignore_errors=True)
        raise


def preview(folder: Path, plan: Plan, launcher: Launcher, installation: Installation, seconds: float) -> str:
    """What starting would run or submit, as text; errors as `control.preview`."""
    with tempfile.TemporaryDirectory(prefix="colltune-") as aside:
        campaign = Campaign.create(Path(aside) / folder.name, plan)
        text = control.preview(campaign, launcher, installation, seconds)
        return text.replace(str(campaign.folder.resolve()), str(folder.resolve()))
