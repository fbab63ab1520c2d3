"""What the page *Measure* shows, as commands and as Python."""

import shlex
from pathlib import Path

from dashboard.measuring.asked import Asked
from dashboard.measuring.launching import Place

_FINDING = "from dashboard.benchmarks.libraries.library import find"
_ASKING = "from dashboard.measuring.asked import Asked, offer"
_FOLLOWING = """\
from pathlib import Path
from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign"""


def recipe(root: Path, asked: Asked, place: Place, name: str, shown: str) -> tuple[str, list[str]]:
    """Say the campaign that the form asks for, which is planned and then run, and how the one on show is.

    Parameters
    ----------
    root
        Folder of the campaigns.
    name, shown
        Of the campaign that would be started, and of the one on show; empty: none.
    """
    folder = shlex.quote(str(root / name)) if name else "FOLDER"
    run = "run" if place.here else "submit"
    commands = [f"colltune bench plan {folder} {shlex.join(asked.words())}"]
    commands.append(f"colltune bench {run} {folder} {shlex.join(place.words())}".rstrip())
    given = ", ".join(f"{key}={value!r}" for key, value in asked.values.items())
    imports = [_FOLLOWING] if shown else []
    python = [*imports, _FINDING, _ASKING, "", f"offered = offer(Asked.of({given}), find(), here={place.here})"]
    python.append("offered.points, offered.seconds, offered.core_hours")
    if shown:
        commands.append(f"colltune bench status {shlex.quote(str(root / shown))} --json")
        python.append(f"campaign = Campaign(Path({str(root / shown)!r}))")
        python.append("control.status(campaign), campaign.choices()")
    return "\n".join(commands), python
