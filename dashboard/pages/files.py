"""The files a user can choose from: those below the folders given at the start, and uploads."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

MOST_FILES = 5_000
MOST_UPLOADS = 500
UPLOAD_BYTES = 500_000_000
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

    A Zarr store counts as one file. Hidden files are left out, and links that lead outside of `roots`.

    Returns
    -------
    listed
        At most `most` of them.
    found
        How many there are.
    """
    allowed = [root.resolve() for root in roots]
    listed: list[Listed] = []
    found = 0
    for root in roots:
        for path in _below(root):
            if not _inside(path, allowed):
                continue
            found += 1
            if found <= most:
                name = path.name if path == root else str(path.relative_to(root))
                listed.append(Listed(path, name, _size(path)))
    return listed, found


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


def _inside(path: Path, allowed: Sequence[Path]) -> bool:
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
    """Name for an uploaded file: its last part alone, of harmless characters, never hidden, never empty."""
    last = re.split(r"[/\\]", name)[-1]
    cleaned = re.sub(r"[^\w.+=@-]", "_", last).lstrip(".")
    stem, dot, ending = cleaned.rpartition(".")
    if dot and len(cleaned) > _LONGEST_NAME:
        cleaned = stem[: _LONGEST_NAME - len(ending) - 1] + dot + ending
    return cleaned[-_LONGEST_NAME:] or "file"


@dataclass(eq=False)
class Uploads:
    """Uploaded files of one session, in a folder of its own that only this user of the machine can read.

    Attributes
    ----------
    most_files, most_bytes
        What is accepted in all.
    """

    most_files: int = MOST_UPLOADS
    most_bytes: int = UPLOAD_BYTES
    _folder: Path | None = None
    _kept: dict[str, Path] = field(default_factory=dict)

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
        data = content.encode() if isinstance(content, str) else content
        if name not in self._kept and len(self._kept) >= self.most_files:
            return f"{name}: there are {self.most_files} files already; give a folder at the start instead"
        held = sum(path.stat().st_size for key, path in self._kept.items() if key != name)
        if held + len(data) > self.most_bytes:
            return (
                f"{name}: together the uploads may have {self.most_bytes / 1e6:,.0f} MB; "
                "give larger files as a folder at the start"
            )
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="colltune-"))
            # Also where the server stops before the session does.
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        if name not in self._kept:
            self._kept[name] = self._free(safe_name(name))
        self._kept[name].write_bytes(data)
        return None

    def keep_only(self, names: Sequence[str]) -> None:
        """Remove the files that are not among `names`, the names they were uploaded with."""
        for name in set(self._kept) - set(names):
            self._kept.pop(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Remove everything."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._folder = None
        self._kept.clear()

    def _free(self, name: str) -> Path:
        assert self._folder is not None  # noqa: S101 - put() made it
        stem, dot, ending = name.rpartition(".")
        path, number = self._folder / name, 2
        while path in self._kept.values():
            path = self._folder / (f"{stem}-{number}{dot}{ending}" if stem else f"{name}-{number}")
            number += 1
        return path
