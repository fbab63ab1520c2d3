"""Results that the processes of one server hand to each other, so that an address made in one opens in all.

Each process has a registry of its own. Where there are several, what one has loaded is also written to a folder that
only the user of this machine can open, under its digest, and read from there by the others.
"""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path
from threading import Thread

import xarray as xr

from loaders import LoadError, open_results, save_results

#: Most results in the folder, and bytes of one of them.
KEPT = 8
MOST_BYTES = 256 << 20
_DIGEST = re.compile(r"[0-9a-f]{16}")
_folder: Path | None = None


def share() -> Path:
    """Hand over results from now on; to be called before the server becomes several processes."""
    global _folder  # noqa: PLW0603 - of the process, as its registry is
    _folder = Path(tempfile.mkdtemp(prefix="colltune-results-"))
    atexit.register(_remove, _folder, os.getpid())
    return _folder


def give(tree: xr.DataTree, digest: str, size: int) -> None:
    """Write results for the other processes, beside what is under way; large ones are not."""
    if _folder is not None and size <= MOST_BYTES and not _file(digest).exists():
        Thread(target=_write, args=(tree, digest), name="colltune-spool", daemon=True).start()


def take(digest: str) -> xr.DataTree | None:
    """Results that another process has loaded; None if there are none of this digest."""
    if _folder is None or not _DIGEST.fullmatch(digest) or not _file(digest).exists():
        return None
    try:
        return open_results(_file(digest))
    except LoadError:
        return None


def _write(tree: xr.DataTree, digest: str) -> None:
    assert _folder is not None  # noqa: S101 - give() saw it
    # Under a name of this process until it is whole.
    own = _folder / f"{digest}-{os.getpid()}.nc"
    try:
        save_results(tree, own)
        own.rename(_file(digest))
        for old in sorted(_folder.glob("*.nc"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, LoadError):
        own.unlink(missing_ok=True)


def _file(digest: str) -> Path:
    return Path(_folder or "") / f"{digest}.nc"


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
