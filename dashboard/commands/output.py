"""Where the command writes: answers to standard output, everything for people to standard error."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands.usage import Usage
from dashboard.export.usage import han_name

if TYPE_CHECKING:
    from dashboard.decisions import PenaltySummary

#: Arguments that name files to read.
_READ = (
    *("paths", "rules", "against", "results", "base", "weights", "tree_file", "rules_files"),
    *("parameters", "model_parameters"),
)
#: When progress is shown first, and how often, s.
_PROGRESS_AFTER_S, _PROGRESS_EVERY_S = 0.5, 0.1


def say(text: str) -> None:
    """Print one line for people on standard error; where there is no room for it, the answer is given all the same."""
    try:
        print(f"colltune: {text}", file=sys.stderr)
    except OSError as error:
        # What is left in the buffer must not fail again when Python leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        if isinstance(error, BrokenPipeError):
            raise


def show(args: argparse.Namespace, result: Mapping[str, Any], lines: Callable[[], Iterable[str]]) -> None:
    """Print the result as JSON or as text, as the arguments ask."""
    shown = [json.dumps(strict(result), allow_nan=False)] if args.json else lines()
    answer("".join(f"{line}\n" for line in shown))


def strict(value: Any) -> Any:
    """A result as strict JSON takes it: null for each number that is none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: strict(each) for key, each in value.items()}
    return [strict(each) for each in value] if isinstance(value, list | tuple) else value


def answer(text: str) -> None:
    """Write text to standard output; Usage when it cannot be written."""
    if sys.stdout is None:
        raise Usage("standard output is closed, so there is nowhere to write the answer")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is left in the buffer must not fail again when Python leaves.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Usage(f"the answer cannot be written to standard output: {error.strerror or error}") from error


def write(path: str | Path, content: str | bytes) -> None:
    """Write a file, whole or not at all; Usage when it cannot be written."""
    from loaders import disk

    with writing(path):
        disk.write_bytes(path, content.encode() if isinstance(content, str) else content)


def deliver(path: str, text: str, what: str = "") -> None:
    """Write text to standard output (``-``), or to the files that it is, which are said with `what` they hold."""
    from dashboard.export.bundle import files_of

    if path == "-":
        answer(text)
        return
    files = files_of(path, text)
    for name, content in files:
        write(name, content)
    lines = " and ".join(f"{content.count(chr(10)):,}" for _, content in files)
    say(f"wrote {' and '.join(name for name, _ in files)}: {what and f'{what}, '}{lines} lines")


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn what goes wrong with a file that is written into Usage."""
    try:
        yield
    except OSError as error:
        raise Usage(f"{path}: cannot be written: {error.strerror or error}") from error


def refuse_same(args: argparse.Namespace) -> None:
    """Usage where a command would write over a file that it reads, or where the name of its file is empty."""
    output = getattr(args, "output", None)
    for name, flag in (("output", "-o "), ("folder", "")):
        if str(getattr(args, name, None)) == "":
            raise Usage(f"{flag}'': that is no name of a {'file' if flag else 'folder'}")
    if output in (None, "-"):
        return
    files = [output, *([han_name(output)] if getattr(args, "to", "") == "openmpi-nodes" else [])]
    for file in filter(os.path.exists, files):
        for name in _READ:
            given = getattr(args, name, None) or ()
            for path in [given] if isinstance(given, str) else given:
                if Path(path).is_file() and Path(path).samefile(file):
                    which = "that" if file == output else f"{file}, written beside it,"
                    raise Usage(f"-o {output}: {which} is the file to read; give another name")


def penalty(summary: PenaltySummary) -> dict[str, Any]:
    """A penalty as JSON."""
    figures = {name: getattr(summary, name) for name in ("min", "max", "mean", "median")}
    return {**figures, "unmeasured": summary.unmeasured, "cells": summary.cells}


@contextmanager
def working() -> Iterator[Callable[[float, str], None]]:
    """Show on a terminal how far long work is; what it gives is a `dashboard.decisions.grown.family.Progress`."""
    import threading

    from tqdm import tqdm

    # No thread beside the work, and no lock between processes.
    tqdm.monitor_interval = 0
    tqdm.set_lock(threading.RLock())
    when: dict[str, Any] = {"delay": _PROGRESS_AFTER_S, "mininterval": _PROGRESS_EVERY_S, "miniters": 0}
    look = {"bar_format": "{percentage:3.0f} % |{bar:20}| {desc}", "leave": False}
    # Files show nothing.
    with tqdm(total=1.0, disable=None if sys.stderr else True, **when, **look) as bar:

        def show(share: float, what: str) -> None:
            bar.set_description_str(what, refresh=False)
            bar.update(share - bar.n)

        yield show


@contextmanager
def loading() -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal how far a long load is."""
    with working() as show:
        yield lambda path, done, total: show(done / total if total else 0.0, f"loading {Path(path).name}")
