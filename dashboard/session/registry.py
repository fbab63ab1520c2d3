"""Results and what was computed from them, kept for all sessions of this process.

Everything is found again by a digest of the results and by small values (names and numbers), never by
comparing arrays, and every store is bounded. What is in here is shared by sessions and never changed.
"""

import hashlib
import json
import os
import pickle
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import xarray as xr

from dashboard.session import reading, spool
from dashboard.session.samples import is_sample
from loaders import apart, open_results
from loaders.source import Progress

KEPT_RESULTS = 8
KEPT_RESULTS_BYTES = 2 << 30
KEPT_COMPUTED = 512
KEPT_COMPUTED_BYTES = 512 << 20

Value = TypeVar("Value")
#: Those of each node of results.
Attributes = Sequence[Mapping[Any, Any]]
#: Bytes of what cannot be looked through, or is too deep, or changes meanwhile.
_UNKNOWN = 1 << 20


def footprint(value: Any) -> int:
    """Bytes that a value says of itself, else those that it would be sent in: what it refers to twice counts once."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    # Arrays are asked for their size, not copied.
    arrays: list[pickle.PickleBuffer] = []
    try:
        text = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    except (AttributeError, TypeError, RuntimeError, pickle.PicklingError):
        return _UNKNOWN
    return len(text) + sum(each.raw().nbytes for each in arrays)


class Bounded(Generic[Value]):
    """A store that forgets what was not asked for longest; safe to use from several threads.

    Parameters
    ----------
    items
        Most values to keep.
    size
        Most bytes to keep (`footprint`); the newest value is kept however large.
    """

    def __init__(self, items: int, size: int) -> None:
        self._items, self._size = items, size
        self._kept: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> Value | None:
        """Value of a key, or None."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, and forget others where there is no room."""
        size = footprint(value)
        with self._lock:
            self._bytes -= self._kept.pop(key, (None, 0))[1]
            self._kept[key] = value, size
            self._bytes += size
            while len(self._kept) > 1 and (len(self._kept) > self._items or self._bytes > self._size):
                self._bytes -= self._kept.popitem(last=False)[1][1]

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Value of a key, made if it is not there."""
        value = self.get(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value


#: Attributes of results that name the places of files.
_OF_PLACES = ("notes", "notes_when_made", "stored")
#: Stands for results that no path leads to, such as an upload.
SOMEWHERE = "RESULTS"
#: How the folder of a session's uploads begins, and the one in it that has them: results are called by that.
UPLOADS, UPLOADED = "colltune-", "uploaded"


@dataclass(frozen=True)
class Origin:
    """Where results came from."""

    #: Files and folders as they were given; empty: not known.
    paths: tuple[str, ...] = ()
    #: As for `loaders.open_results`.
    hints: Mapping[str, Any] = field(default_factory=dict)

    @property
    def uploaded(self) -> bool:
        """Whether files of it were uploaded: their paths lead to copies, which go with the session."""
        folders = [Path(path).parent for path in self.paths]
        return any(each.name == UPLOADED and each.parent.name.startswith(UPLOADS) for each in folders)

    def words(self) -> list[str]:
        """The paths and hints as the commands take them."""
        return [*(self.shortened() or [SOMEWHERE]), *reading.words(self.hints)]

    def shortened(self) -> Iterable[str]:
        """The paths, with a folder in place of all of its files of one kind."""
        files = [Path(path) for path in self.paths]
        folders = {file.parent for file in files}
        if len(files) > 1 and len(folders) == 1 and (folder := folders.pop()).is_dir():
            there = {each for suffix in {file.suffix for file in files} for each in folder.glob(f"*{suffix}")}
            if there == set(files):
                return [str(folder)]
        return self.paths


@dataclass(frozen=True)
class Results:
    """Results as `loaders.open_results` gives them, and the digest by which they are found again."""

    tree: xr.DataTree
    digest: str

    @property
    def nbytes(self) -> int:
        """Bytes held in memory; lazily opened arrays count as none."""
        variables = (each for node in self.tree.children.values() for each in node.to_dataset().variables.values())
        return sum(variable.nbytes for variable in variables if _in_memory(variable))

    @property
    def sources(self) -> list[dict[str, Any]]:
        """What each file gave; ``unused`` where nothing of it is in the results, such as another system's."""
        reports = list(json.loads(self.tree.attrs.get("sources", "[]")))
        cubes = [node.to_dataset().attrs.get("sources", "[]") for node in self.tree.children.values()]
        used = {each.get("path") for text in cubes for each in json.loads(text)}
        unused = [bool(used) and not each.get("error") and each.get("path") not in used for each in reports]
        return [{**each, "unused": True} if left else each for each, left in zip(reports, unused, strict=True)]

    @property
    def title(self) -> str:
        """What to call them: the machine and library that they tell, and where they came from."""
        cubes = [node.to_dataset() for node in self.tree.children.values()]
        facts = {str(cube.attrs[name]) for name in _NAMED_BY for cube in cubes if cube.attrs.get(name)}
        given = [each for each in self.sources if not (each.get("error") or each.get("unused"))]
        used = [Path(str(each["path"])) for each in given if each.get("path")]
        if len(used) == 1:
            facts_of_files = used[0].name
        else:
            folders = {path.parent.name for path in used}
            facts_of_files = f"{', '.join(sorted(folders)[:2])} ({len(used)} files)"
        return ", ".join([*sorted(facts)[:3], facts_of_files])

    @property
    def notes(self) -> list[str]:
        """Remarks on finding the files."""
        return list(json.loads(self.tree.attrs.get("notes", "[]")))


#: Attributes of results that tell campaigns apart.
_NAMED_BY = ("selected", "system", "library", "library_version")
_RESULTS: Bounded[Results] = Bounded(KEPT_RESULTS, KEPT_RESULTS_BYTES)
COMPUTED: Bounded[Any] = Bounded(KEPT_COMPUTED, KEPT_COMPUTED_BYTES)
_LOADED: Bounded[tuple[str, Attributes]] = Bounded(64, 8 << 20)
_ORIGINS: Bounded[Origin] = Bounded(64, 1 << 20)
_READING: weakref.WeakValueDictionary[Hashable, Any] = weakref.WeakValueDictionary()


def results_by_digest(digest: str) -> Results | None:
    """Results that some session of this server has loaded, if they are still kept."""
    results = _RESULTS.get(digest)
    if results is None and (tree := spool.take(digest)) is not None:
        results = Results(_read_only(tree), digest)
        _RESULTS.put(digest, results)
    return results


def register(tree: xr.DataTree) -> Results:
    """Keep results for all sessions; the arrays of the same results loaded twice are kept once.

    The arrays become read-only, since sessions share them. Where the same measurements come from other files, or from
    beside others that were refused, the results say so.
    """
    digest = digest_of(tree)
    kept = _kept(digest, _attributes(tree))
    if kept is None:
        kept = Results(_read_only(tree), digest)
        _RESULTS.put(digest, kept)
        spool.give(tree, digest, kept.nbytes)
    return kept


def _kept(digest: str, attributes: Attributes) -> Results | None:
    """Results that are kept, and say this of themselves; None where they are not kept any more."""
    kept = _RESULTS.get(digest)
    if kept is not None and _attributes(kept.tree) != attributes:
        kept = Results(kept.tree.copy(deep=False), digest)
        for node, said in zip(kept.tree.subtree, attributes, strict=True):
            node.attrs = dict(said)
        _RESULTS.put(digest, kept)
    return kept


def _attributes(tree: xr.DataTree) -> Attributes:
    """What the results say of themselves beside their arrays."""
    return [node.attrs for node in tree.subtree]


def _read_only(tree: xr.DataTree) -> xr.DataTree:
    for node in tree.children.values():
        for variable in node.to_dataset().variables.values():
            # What is lazy comes in chunks.
            if variable.chunks is None:
                variable.values.flags.writeable = False
    return tree


def load_results(paths: Sequence[str | Path], *, progress: Progress | None = None, **hints: Any) -> Results:
    """Load files, or take them from the registry if they were loaded before and have not changed.

    Parameters
    ----------
    progress, **hints
        As for `loaders.open_results`.

    Raises
    ------
    LoadError
        As `loaders.open_results`.
    """
    signature = (tuple(_stamps(paths)), json.dumps(hints, sort_keys=True, default=str))
    # Two sessions that open the same files at once: the second waits and takes what the first has read.
    with _READING.setdefault(signature, threading.Lock()):
        known = _LOADED.get(signature)
        results = None if known is None else _kept(*known)
        if results is None:
            names = [str(path) for path in paths]
            if all(is_sample(path) for path in paths):
                tree = open_results(names, progress=progress, **hints)
            else:
                tree = apart.open_results(names, size=sum(s for _, s, _ in signature[0]), progress=progress, **hints)
            results = register(tree)
            _LOADED.put(signature, (results.digest, _attributes(tree)))
        _ORIGINS.put(results.digest, Origin(tuple(map(str, paths)), dict(hints)))
    return results


def origin_of(digest: str) -> Origin:
    """Where the results with this digest came from, as far as it is known."""
    return _ORIGINS.get(digest) or Origin()


def digest_of(tree: xr.DataTree) -> str:
    """First 16 hex digits of the SHA-256 over all that the pages show of results.

    Lazily opened arrays are not read: their cubes' own digests, which they were saved with, stand for them.
    """
    sha = hashlib.sha256()
    sha.update(_facts(tree.attrs))
    for name, node in tree.children.items():
        cube = node.to_dataset()
        sha.update(name.encode() + _facts(cube.attrs))
        for key in sorted(map(str, cube.variables)):
            variable = cube.variables[key]
            sha.update(json.dumps([key, list(map(str, variable.dims)), list(variable.shape)]).encode())
            if _in_memory(variable):
                sha.update(_content(variable.values))
    return sha.hexdigest()[:16]


def _facts(attrs: Mapping[Any, Any]) -> bytes:
    """Attributes as text; of the files that gave results what they hold, whatever they are called, and wherever."""
    facts = {str(name): str(value) for name, value in attrs.items() if name not in _OF_PLACES}
    if "sources" in facts:
        files = json.loads(facts["sources"])
        keys = ("digest", "rows", "skipped")
        facts["sources"] = str([[*map(each.get, keys)] for each in files if not each.get("error")])
    return json.dumps(facts, sort_keys=True).encode()


def _content(values: np.ndarray[Any, Any]) -> bytes:
    if values.dtype.kind in "OUST":
        return json.dumps(values.astype(str).tolist()).encode()
    if values.dtype == np.float64:
        # Stores scale times, which changes the last bit of some.
        values = values.astype(np.float32)
    return np.ascontiguousarray(values).tobytes()


def _in_memory(variable: xr.Variable) -> bool:
    return bool(variable._in_memory)  # noqa: SLF001 - the public way, `.data`, would load what is lazy


def _stamps(paths: Sequence[str | Path]) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of every file that loading could read."""
    for given in paths:
        path = Path(given).absolute()
        files = [path]
        if path.is_dir():
            files = [Path(folder, name) for folder, _, names in os.walk(path) for name in sorted(names)]
        for file in files:
            try:
                status = file.stat()
            except OSError:
                continue
            yield str(file), status.st_size, status.st_mtime_ns
