"""Shared memory that ranks leave behind when they are killed: known while they run, taken away when they are gone."""

import contextlib
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from dashboard.benchmarks.campaigns.confined import own_path
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.ranks import surroundings
from loaders import disk

SHARED = Path("/dev/shm")  # noqa: S108 - where Linux keeps POSIX shared memory
_PROC = Path("/proc")
_NAME = "shared-memory.json"
_DELETED = " (deleted)"


def mapped(process: str = "self") -> set[str]:
    """Names of the files in ``/dev/shm`` that a process has mapped; none where the system does not tell."""
    try:
        maps = (_PROC / process / "maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    paths = {"/" + line.partition("/")[2] for line in maps.splitlines() if f"{SHARED}/" in line}
    return {Path(path).name for path in paths if Path(path).parent == SHARED and not path.endswith(_DELETED)}


def remember(folder: Path, names: Iterable[str]) -> None:
    """Write down the files of a job that has just started, with the machine that they are on."""
    record = {"machine": surroundings.machine(), "names": sorted(names)}
    disk.write_text(own_path(folder, _NAME), json.dumps(record))


def clean(folder: Path) -> int:
    """Remove what a job that has ended left behind on this machine; how many files that were.

    Only files of this user that no process has mapped any more are touched.
    """
    try:
        record = disk.read_json(own_path(folder, _NAME))
        names = {str(name) for name in record["names"] if Path(str(name)).name == name}
    except (CampaignError, OSError, ValueError, KeyError, TypeError):
        return 0
    if record.get("machine") != surroundings.machine():
        return 0
    there = {name for name in names if _own(SHARED / name)}
    if there:
        there -= {name for entry in _PROC.iterdir() if entry.name.isdecimal() for name in mapped(entry.name)}
    for name in there:
        with contextlib.suppress(OSError):
            (SHARED / name).unlink()
    with contextlib.suppress(OSError):
        (folder / _NAME).unlink()
    return len(there)


def _own(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
