"""Files of a campaign's folder stay in it: others may write into a shared one, and links are how they would reach out.

What a link leads to would be read to whoever watches the campaign, or be replaced with the rights of who runs it. Links
within the folder, and to the folder itself, are followed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.benchmarks.errors import CampaignError

JOBS = "jobs"
PARTS = "parts"
#: What a launcher's handle names files by.
_FILES = ("order", "script", "submitted")


def own_path(folder: Path, *names: str) -> Path:
    """A file or folder below a campaign's folder.

    Raises
    ------
    CampaignError
        When a link leads out of the folder.
    """
    path = folder
    for name in names:
        path /= name
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise CampaignError(f"{path} is a link that leads out of the campaign's folder; put the file itself there")
    return path


def jobs_folder(folder: Path) -> Path:
    """Where launchers keep their files; made if need be."""
    path = own_path(folder, JOBS)
    path.mkdir(exist_ok=True)
    return path


def own_handle(folder: Path, handle: Mapping[str, Any]) -> dict[str, Any]:
    """What a launcher needs of jobs, with its files in the campaign's folder, wherever the record says they are.

    A folder may have been moved, and in one that others write to the record may name any file.

    Raises
    ------
    CampaignError
        As `own_path`.
    """
    made: dict[str, Any] = {}
    for name, value in handle.items():
        if name in ("groups", "tasks"):
            made[name] = [own_handle(folder, each) for each in value]
        else:
            made[name] = _own_file(folder, Path(value)) if name in _FILES else value
    return made


def _own_file(folder: Path, path: Path) -> str:
    parts = path.parts[-4:-2] if path.parts[-4:-3] == (PARTS,) else ()
    return str(own_path(folder.resolve(), *parts, JOBS, path.name))
