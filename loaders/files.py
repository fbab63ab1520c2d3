"""From the paths a user gives to the files to read and their formats."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from loaders.errors import LoadError
from loaders.hints import Hints
from loaders.pico_tar import is_tar
from loaders.source import Format, Source
from loaders.storage import is_zarr

#: How text in UTF-16 begins.
_WIDE = (b"\xff\xfe", b"\xfe\xff")
#: How files begin that hold others, packed: text among them would pass for one measurement.
_PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\xfd7zXZ": "packed by xz",
    b"BZh": "packed by bzip2",
    b"\x28\xb5\x2f\xfd": "packed by zstd",
}

#: File by which the folder of a campaign is known; the folder in it that holds one for each job of an array; and what
#: it keeps beside its results.
_PLAN, _PARTS = "plan.json", "parts"
_KEPT = frozenset((_PLAN, "jobs", _PARTS, "log.txt", "safety.jsonl", "mpich_selection.json", "shared-memory.json"))
_KEPT |= {"chosen.json", "components.json", "progress.json", "state.json"}
#: Its libraries, which are compiled there.
_BUILT = "libcolltune_"
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass
class Found:
    """Files to read, and what was left aside."""

    #: ``(path, named)`` in order; `named` = given by the user rather than found in a folder.
    files: list[tuple[Path, bool]] = field(default_factory=list)
    #: Remarks, such as sub-folders that were not entered.
    notes: list[str] = field(default_factory=list)
    _known: set[Path] = field(default_factory=set)

    def add(self, path: Path, *, named: bool) -> None:
        """Add a file, once: measurements that are there twice would pass for repetitions."""
        real = Path(os.path.realpath(path))
        if real in self._known:
            self.notes.append(f"{path}: given more than once, read once")
            return
        self._known.add(real)
        self.files.append((path, named))


def find(paths: Paths, hints: Hints) -> Found:
    """List the files that the paths name; a folder gives its files in the order of their names.

    Sub-folders are entered with the hint ``recursive``, or where a folder holds no files of its own but texts about it
    and scripts (`_ABOUT`). The folder of a campaign gives the run files of its parts as well, and nothing that it keeps
    beside them.

    Raises
    ------
    LoadError
        A path does not exist, or nothing was found.
    """
    files = Found()
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    for entry in given:
        _given(Path(entry), hints, files)
    if not files.files:
        planned = (
            " (a campaign that has no results yet)" if any((Path(each) / _PLAN).is_file() for each in given) else ""
        )
        raise LoadError(f"no files found in {', '.join(map(str, given)) or 'an empty list'}{planned}")
    return files


_SHOWN = 200
#: How names of files end that hold no results.
_ABOUT = frozenset((".md", ".rst", ".pdf", ".png", ".svg", ".sh", ".slurm", ".sbatch", ".py", ".ipynb", ".r", ".rmd"))


def _given(path: Path, hints: Hints, files: Found) -> None:
    try:
        there, folder, file = path.exists(), path.is_dir(), path.is_file()
    except OSError as error:
        raise LoadError(f"cannot be opened: {error.strerror or error}", path=str(path)[:_SHOWN]) from error
    if folder and not is_zarr(path):
        _folder(path, hints, files, frozenset())
    elif file or folder:
        files.add(path, named=True)
    elif there:
        raise LoadError("is neither a file nor a folder; save what comes from a pipe in a file first", path=path)
    else:
        raise LoadError("there is no such file or folder", path=path)


def _folder(folder: Path, hints: Hints, listing: Found, above: frozenset[Path]) -> None:
    """Take the files of a folder; `above` are the folders it is in, which a link may lead back to."""
    above |= {Path(os.path.realpath(folder))}
    try:
        entries = sorted(e for e in folder.iterdir() if not e.name.startswith("."))
        files = [e for e in entries if e.is_file() or is_zarr(e)]
        folders = [e for e in entries if e.is_dir() and not is_zarr(e)]
        neither = [e.name for e in entries if not (e.is_file() or e.is_dir())]
    except OSError as error:
        raise LoadError(f"cannot be listed: {error.strerror or error}", path=folder) from error
    if neither:
        names = ", ".join(neither)
        listing.notes.append(f"{folder}: neither files nor folders, such as links that lead nowhere: {names}")
    if folder / _PLAN in files:
        kept = {e for e in entries if e.name in _KEPT or e.name.startswith(_BUILT)}
        files, folders = ([e for e in each if e not in kept] for each in (files, folders))
        # Those of the jobs of an array by their numbers: 10 is behind 9.
        files += sorted(folder.glob(f"{_PARTS}/*/results.jsonl"), key=lambda e: (len(e.parent.name), e.parent.name))
    for file in files:
        listing.add(file, named=False)
    if hints.values.get("recursive") or all(f.suffix.lower() in _ABOUT for f in files):
        for sub in folders:
            if Path(os.path.realpath(sub)) not in above:
                _folder(sub, hints, listing, above)
        return
    if folders:
        names = ", ".join(f"{f.name}/" for f in folders)
        listing.notes.append(f"{folder}: sub-folders not entered: {names} (recursive enters them)")


def detect(source: Source, formats: Mapping[str, Format], name: str | None = None) -> Format:
    """The format of a file, by its content, or the one named.

    Raises
    ------
    LoadError
        The name is unknown, or no format recognises the file.
    """
    if name is not None and name not in formats:
        raise LoadError(f"there is no format {name!r}; possible are {', '.join(formats)}")
    if source.path.is_dir():
        return formats[name or "zarr"]
    head = source.head()
    if packed := next((words for magic, words in _PACKED.items() if head.startswith(magic)), None):
        raise source.fail(f"it is {packed}, which is not looked into: unpack it, and name the folder or the files")
    if head.startswith(_WIDE):
        raise source.fail("it is text in UTF-16, which is not read; 'iconv -f UTF-16 -t UTF-8' makes UTF-8 of it")
    if b"\r" in head and b"\n" not in head and b"\0" not in head:
        raise source.fail("its lines end with a carriage return alone; \"tr '\\r' '\\n'\" makes lines of it")
    if name is not None or is_tar(head):
        # The texts of an archive, one behind the other, look like a single one.
        return formats[name or "pico"]
    if not head.strip():
        raise source.without_rows("the file is empty")
    for candidate in formats.values():
        if candidate.recognises(head, source.path):
            return candidate
    raise source.fail(
        f"the content is of no format that is known ({', '.join(formats)}); if it is one of these, name it (format, "
        "--format of a command)"
    )
