"""Loading beside the event loop, with progress."""

import asyncio
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboard.domain.units import format_count
from dashboard.pages.data.files import confined
from dashboard.pages.parts.reports import usable, without_folders
from dashboard.session.registry import Origin, Results, load_results
from dashboard.session.samples import sample_start
from dashboard.session.state import State
from loaders import LoadError, apart

POLL_SECONDS = 0.15
#: Ends what is said of files that were not loaded, where others were before.
_BEFORE = "The page still shows what was loaded before."
#: What the loaders say of files that differ: on pages it is chosen otherwise.
_BY_OPTIONS = re.compile(
    r"choose one with --select .+? \(page Data: menu (\w+)\), (load them apart, )?or join them with --join \w+"
)
_COUNTS = re.compile(r"\((\d+) files?\)")
_BY_MENU = "choose one, or all of them together, in the menu {} of page Data"

#: Called as ``note(path, bytes done, bytes in all)`` from the loading thread.
Note = Callable[[str, int, int], None]


class Progress:
    """How far loading has come; written by the loading thread, read by the session.

    Parameters
    ----------
    paths
        Files and folders that are loaded.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._done: dict[str, int] = {}
        self._total: int | None = None
        self._latest = ""

    def note(self, path: str, done: int, total: int) -> None:
        """Take the loaders' word for one file."""
        with self._lock:
            if self._total is None:
                self._total = sum(bytes_below(each) for each in self._paths)
            self._done[path] = done
            self._latest = Path(path).name

    @property
    def share(self) -> float | None:
        """Part of all bytes that was read, 0 to 1; None while nothing is known."""
        with self._lock:
            return min(sum(self._done.values()) / self._total, 1.0) if self._total else None

    @property
    def text(self) -> str:
        """Say it in a few words."""
        share = self.share
        return "Loading …" if share is None else f"Loading, {100 * share:.0f} %: {self._latest}"


def bytes_below(path: Path) -> int:
    """Size of a file, or of all files in a folder and below it; 0 if there is none."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


async def load(
    state: State, paths: Sequence[Path], hints: Mapping[str, Any], folders: Sequence[Path] = ()
) -> list[dict[str, Any]] | None:
    """Load results and show them.

    Parameters
    ----------
    state
        Shows the results; where they cannot be loaded, its ``error`` says why, and what it shows stays.
    paths, hints
        As for `loaders.open_results`.
    folders
        Names of files are said relative to these.

    Returns
    -------
    list of dict or None
        Where loading failed, what each file gives and needs, as `loaders.scan` tells it; else None.
    """
    progress = Progress(paths)
    state.param.update(busy=progress.text, progress=None)
    try:
        task = asyncio.ensure_future(asyncio.to_thread(read, paths, hints, progress.note))
        while not (await asyncio.wait({task}, timeout=POLL_SECONDS))[0]:
            state.param.update(busy=progress.text, progress=progress.share)
        results, reports, why = task.result()
        if results is not None:
            # Still under way: of large results the first view takes a while, too.
            state.show(results)
            return None
    finally:
        state.param.update(busy="", progress=None)
    fail(state, without_folders(why, folders))
    return reports


async def load_sample(state: State, *_: Any) -> None:
    """Load the sample data, and show what is decided on them."""
    sample = sample_start()
    if await load(state, list(sample.paths), sample.hints) is None:
        state.param.update(error="", page="Decisions")


def fail(state: State, why: str) -> None:
    """Say why nothing was loaded, and what the figures of all pages are of then."""
    ended = why if why.endswith((".", "…")) else f"{why}."
    state.error = why if state.results is None else f"{ended}\n{_BEFORE}"


def read(
    paths: Sequence[Path], hints: Mapping[str, Any], note: Note | None = None
) -> tuple[Results | None, list[dict[str, Any]], str]:
    """Load results, or find out file by file why they cannot be loaded.

    Returns
    -------
    results, reports, why
        Results, or None with the reports of `loaders.scan`, the first reason, and how many other files have one.
    """
    paths = confined(paths)
    try:
        return load_results(paths, progress=note, **hints), [], ""
    except apart.EndedError as error:
        return None, [], str(error)
    except LoadError as error:
        why = _on_pages(str(error), uploaded=Origin(tuple(map(str, paths))).uploaded)
    except MemoryError:
        why = "these files need more memory than this machine has; load fewer of them at once"
    try:
        names, size = [str(path) for path in paths], sum(map(bytes_below, paths))
        reports = apart.scan(names, size=size, progress=note, **hints)
    except (LoadError, MemoryError):
        return None, [], why
    fit = usable(reports)
    others = [path for each in reports if (path := Path(each["path"])) not in fit and str(path) not in why]
    more = f"; likewise not usable: {format_count(len(others), 'other file')}" if others else ""
    return None, reports, why + more


def _on_pages(why: str, *, uploaded: bool) -> str:
    """What the loaders say, with the remedies that pages have.

    To choose one of two files leaves out all others, too, so that of uploads another remedy comes first.
    """
    differ = _BY_OPTIONS.search(why)
    if differ is None:
        return why
    menu, by_files = differ.groups()
    remedy = _BY_MENU.format(menu) + (", or load them apart" if by_files else "")
    counts = _COUNTS.findall(why)
    if by_files and uploaded and set(counts) == {"1"}:
        remedy = f"remove {'one of the two' if len(counts) == 2 else 'all but one of them'}, {remedy}"
    return why.replace(differ.group(), remedy)
