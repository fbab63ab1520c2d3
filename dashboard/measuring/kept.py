"""The campaigns there are: where they are kept, what they may be called, how they stand."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from dashboard.benchmarks.campaigns.campaign import ENDED, Campaign
from dashboard.benchmarks.campaigns.follow import Following, follow
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import BenchError, CampaignError
from dashboard.session.registry import Bounded
from loaders import disk

#: Environment variable with the folder of the campaigns.
ROOT_VARIABLE = "COLLTUNE_CAMPAIGNS"
NAME_RULE = "letters, digits, dots, hyphens and underscores, beginning with a letter or digit, 64 at most"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
MOST_CAMPAIGNS = 500


def campaigns_root() -> Path:
    """Folder that holds the campaigns: the one that `ROOT_VARIABLE` names, else one of the user's own."""
    if named := os.environ.get(ROOT_VARIABLE, ""):
        return Path(named).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME", "")
    return (Path(data) if data else Path.home() / ".local" / "share") / "colltune" / "campaigns"


def folder_of(root: Path, name: str) -> Path:
    """Folder of a campaign; a name never leads out of the root.

    Raises
    ------
    CampaignError
        When the name has other characters than allowed, or is a link.
    """
    if not _NAME.fullmatch(name):
        raise CampaignError(f"campaign name {name[:70]!r}: allowed are {NAME_RULE}")
    folder = root / name
    if folder.is_symlink():
        raise CampaignError(f"campaign {name}: its folder is a link, which is not followed")
    return folder


def free_name(root: Path, collectives: tuple[str, ...], ranks: int, kind: str = "") -> str:
    """Name for a new campaign, such as ``bcast-8-ranks`` or ``bcast-8-ranks-2``; `kind` stands before it."""
    what = collectives[0] if len(collectives) == 1 else f"{len(collectives)}-collectives"
    name, number = "-".join(filter(None, [kind, what, str(ranks), "ranks"])), 1
    made = name
    while (root / made).exists():
        number += 1
        made = f"{name}-{number}"
    return made


def create(root: Path, name: str, plan: Plan) -> Campaign:
    """Make the folder of a new campaign.

    Raises
    ------
    CampaignError
        When there is one of that name, the name is not allowed, or the root cannot be written.
    """
    folder = folder_of(root, name)
    try:
        # Whoever makes the folder has the name, of several that ask for it at once.
        with disk.made(folder, new=True):
            return Campaign.create(folder, plan)
    except FileExistsError:
        raise CampaignError(f"there is a campaign {name} already: choose another name, or resume that one") from None
    except OSError as error:
        raise CampaignError(f"{folder} cannot be written: {error.strerror or error}") from error


@dataclass(frozen=True)
class Entry:
    """One line of the list of campaigns."""

    name: str
    state: str
    reason: str
    points: int
    measured: int
    refused: int
    collectives: tuple[str, ...]
    ranks: int
    where: str
    started: float


_ENDED: Bounded[Entry] = Bounded(MOST_CAMPAIGNS, 1 << 20)
#: Those that have not ended are read on from where they were read before; all sessions share them.
_UNDER_WAY: dict[Path, Following] = {}


def campaigns(root: Path) -> tuple[list[Entry], list[str]]:
    """List the campaigns below a root, the newest first, and what could not be read or listed of them."""
    entries: list[Entry] = []
    faults: list[str] = []
    below = sorted(root.iterdir()) if root.is_dir() else []
    folders = [each for each in below if (each / "plan.json").exists() and not each.is_symlink()]
    for gone in [each for each in list(_UNDER_WAY) if each.parent == root and each not in folders]:
        _UNDER_WAY.pop(gone, None)
    for folder in folders:
        try:
            entries.append(_entry(folder))
        except (BenchError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"{folder.name}: {str(error).replace(f'{root}/', '')}")
    newest = sorted(entries, key=lambda entry: (-entry.started, entry.name))
    if older := newest[MOST_CAMPAIGNS:]:
        faults.insert(0, f"{len(older):,} older than the {MOST_CAMPAIGNS} newest; move folders elsewhere to see them")
    return newest[:MOST_CAMPAIGNS], faults


def _entry(folder: Path) -> Entry:
    """Line of a campaign; one that has ended is not asked after again until one of its files has changed."""
    campaign = Campaign(folder)
    files = (campaign.plan_file, campaign.state_file, campaign.progress_file, *campaign.result_files())
    key = (folder, *map(stamp, files))
    known = _ENDED.get(key)
    if known is None:
        following = _UNDER_WAY[folder] = follow(folder)
        known = _seen(following)
        if known.state in ENDED:
            # The look may be a little older than the files' stamps: what is kept must be of the same moment.
            following.forget()
            known = _seen(following)
        if known.state in ENDED:
            _UNDER_WAY.pop(folder, None)
            _ENDED.put(key, known)
    return known


def _seen(following: Following) -> Entry:
    campaign, plan, now = following.campaign, following.plan, following.look().status
    record = campaign.state()
    return Entry(
        campaign.folder.name,
        collectives=tuple(plan.methods),
        ranks=plan.ranks,
        where=str(record.get("launcher", {}).get("name", "")),
        started=float(record.get("started") or campaign.plan_file.stat().st_mtime),
        **{name: now[name] for name in ("state", "reason", "points", "measured", "refused")},
    )


def stamp(file: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written; None while it is not there."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
