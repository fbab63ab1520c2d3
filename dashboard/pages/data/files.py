"""The files a user can choose from: those below the folders given at the start, and uploads."""

import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.session.registry import UPLOADED, UPLOADS

MOST_FILES = 5_000
MOST_UPLOADS = 500
UPLOAD_BYTES = 500_000_000
#: Of all sessions of this process together.
ALL_UPLOADS_BYTES = 4_000_000_000
#: What uploads leave free of the disk.
_FREE_BYTES = 1_000_000_000
#: Of a name, as file systems count: 255 are allowed nearly everywhere.
_LONGEST_NAME = 150
_ZARR = (".zgroup", "zarr.json")


@dataclass(frozen=True)
class Listed:
    """A file to choose: where it is, how it is shown (relative to its folder), its size in bytes."""

    path: Path
    name: str
    size: int


def list_files(roots: Sequence[Path], most: int = MOST_FILES) -> tuple[list[Listed], int]:
    """List the files at and below `roots`, in the order of their names.

    A Zarr store counts as one file. Hidden files are left out, links that lead outside of `roots`, and what is
    neither file nor store, such as a device or a pipe.

    Returns
    -------
    listed
        At most `most` of them.
    found
        How many there are.
    """
    allowed = [root.resolve() for root in roots]
    listed: list[Listed] = []
    count = 0
    for root in roots:
        for path in _below(root):
            if not is_inside(path, allowed) or not (
                path.is_file() or (_is_store(path) and not _leads_out(path, allowed))
            ):
                continue
            count += 1
            if count <= most:
                name = path.name if path == root else str(path.relative_to(root))
                listed.append(Listed(path, name, _size(path)))
    return listed, count


def confined(paths: Sequence[Path]) -> list[Path]:
    """Paths to load where nothing leads out of them: a folder with links to elsewhere is replaced by its own files.

    A file named by itself is taken as it is; who names it may read it.
    """
    allowed = [path.resolve() for path in paths]
    chosen: list[Path] = []
    for path in paths:
        if path.is_dir() and _leads_out(path, allowed):
            own = [each.path for each in list_files([path])[0]]
            # As a folder is opened: the files in it, and those further down only where there are no others.
            chosen += [each for each in own if each.parent == path] or own
        else:
            chosen.append(path)
    return chosen


def _leads_out(root: Path, allowed: Sequence[Path]) -> bool:
    entries = (Path(here, name) for here, folders, names in os.walk(root) for name in (*folders, *names))
    return any(entry.is_symlink() and not is_inside(entry, allowed) for entry in entries)


def _below(root: Path) -> Iterator[Path]:
    if root.is_file() or _is_store(root):
        yield root
        return
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        stores = sorted(name for name in folders if _is_store(here / name))
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in stores)
        yield from (here / name for name in sorted([*names, *stores]) if not name.startswith("."))


def _is_store(path: Path) -> bool:
    return path.is_dir() and any((path / name).exists() for name in _ZARR)


def is_inside(path: Path, allowed: Sequence[Path]) -> bool:
    """Whether a path, wherever its links lead, is one of these or below one of them; all of `allowed` without links."""
    try:
        real = path.resolve(strict=True)
    except OSError:
        return False
    return any(real == root or root in real.parents for root in allowed)


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size


def safe_name(name: str) -> str:
    """Name for an uploaded file: its last part alone, of harmless characters, never hidden, never empty.

    ``mine (2).csv`` stays as it is, for that is how a second file of a name is called.
    """
    last = re.split(r"[/\\]", name)[-1]
    cleaned = re.sub(r"[^\w.+=@ ()-]", "_", last).lstrip(". ").rstrip()
    stem, dot, ending = cleaned.rpartition(".")
    if dot and len(cleaned.encode()) > _LONGEST_NAME:
        cleaned = _cut(stem, _LONGEST_NAME - len(ending.encode()) - 1) + dot + ending
    return _cut(cleaned, _LONGEST_NAME) or "file"


def _cut(text: str, size: int) -> str:
    return text.encode()[: max(size, 0)].decode("utf-8", "ignore")


class _Room:
    """Bytes that all sessions of this process may still upload."""

    def __init__(self, size: int) -> None:
        self.left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take room, or give it back where `size` is negative; False if there is not so much."""
        with self._lock:
            if size > self.left:
                return False
            self.left -= size
            return True


_ROOM = _Room(ALL_UPLOADS_BYTES)


@dataclass
class _Arriving:
    """A file of which not all has come."""

    path: Path
    size: int = 0


@dataclass(eq=False)
class Uploads:
    """Uploaded files of one session, in a folder of its own that only this user of the machine can read."""

    #: What is accepted in all.
    most_files: int = MOST_UPLOADS
    most_bytes: int = UPLOAD_BYTES
    _folder: Path | None = None
    _kept: dict[str, Path] = field(default_factory=dict)
    _arriving: dict[str, _Arriving] = field(default_factory=dict)
    _held: dict[Path, int] = field(default_factory=dict)

    @property
    def paths(self) -> list[Path]:
        """The files, in the order of their names."""
        return sorted(self._kept.values())

    @property
    def folder(self) -> Path | None:
        """Where they are; None before the first."""
        return self._folder

    def put(self, name: str, content: bytes | str) -> str | None:
        """Keep a file; one of the same name is replaced.

        Returns
        -------
        str or None
            Why it was refused.
        """
        return self.begin(name) or self.add(name, content.encode() if isinstance(content, str) else content, last=True)

    def begin(self, name: str) -> str | None:
        """Expect a file piece by piece, in place of what there was of this name.

        Returns
        -------
        str or None
            Why it is refused.
        """
        self.remove(name)
        if len(self._kept) + len(self._arriving) >= self.most_files:
            return f"{name}: there are {self.most_files} files already; give a folder at the start instead"
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=UPLOADS), UPLOADED)
            self._folder.mkdir(mode=0o700)
            # Also where the server stops before the session does.
            weakref.finalize(self, _remove, self._folder, self._held)
        path = self._free(safe_name(name))
        path.touch(mode=0o600, exist_ok=False)
        self._held[path] = 0
        self._arriving[name] = _Arriving(path)
        return None

    def add(self, name: str, piece: bytes, *, last: bool) -> str | None:
        """Take the next piece of a file that was begun; pieces of any other are dropped.

        Returns
        -------
        str or None
            Why the file is refused; what came of it before is removed.
        """
        arriving = self._arriving.get(name)
        if arriving is None:
            return None
        if sum(self._held.values()) + len(piece) > self.most_bytes:
            self.remove(name)
            return (
                f"{name}: together the uploads may have {self.most_bytes / 1e6:,.0f} MB; "
                "give larger files as a folder at the start"
            )
        if shutil.disk_usage(arriving.path.parent).free < _FREE_BYTES + len(piece) or not _ROOM.take(len(piece)):
            self.remove(name)
            return f"{name}: this machine has no room for more uploads; give the files as a folder at the start"
        try:
            with arriving.path.open("ab") as file:
                file.write(piece)
        except OSError as error:
            self._held[arriving.path] += len(piece)
            self.remove(name)
            return f"{name}: cannot be kept on this machine: {error.strerror or error}"
        self._held[arriving.path] += len(piece)
        if last:
            self._kept[name] = self._arriving.pop(name).path
        return None

    def holds(self, name: str) -> bool:
        """Whether all of a file has come and was taken."""
        return name in self._kept

    def remove(self, name: str) -> None:
        """Remove a file, or what has come of it."""
        arriving = self._arriving.pop(name, None)
        for path in filter(None, (self._kept.pop(name, None), arriving and arriving.path)):
            path.unlink(missing_ok=True)
            _ROOM.take(-self._held.pop(path, 0))

    def close(self) -> None:
        """Remove everything."""
        if self._folder is not None:
            _remove(self._folder, self._held)
        self._folder = None
        self._kept.clear()
        self._arriving.clear()

    def _free(self, name: str) -> Path:
        assert self._folder is not None  # noqa: S101 - begin() made it
        stem, dot, ending = name.rpartition(".")
        path, number = self._folder / name, 2
        while path in self._held:
            path = self._folder / (f"{stem} ({number}){dot}{ending}" if stem else f"{name} ({number})")
            number += 1
        return path


def _remove(folder: Path, held: dict[Path, int]) -> None:
    shutil.rmtree(folder.parent, ignore_errors=True)
    _ROOM.take(-sum(held.values()))
    held.clear()
