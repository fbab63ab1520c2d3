"""Where the command writes: answers to standard output, everything for people to standard error."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import time
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
_PROGRESS_AFTER_S = 0.5
_PROGRESS_EVERY_S = 0.1


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


class _Line:
    """One line on a terminal that says how far something is; quick work and files show nothing."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PROGRESS_AFTER_S if sys.stderr.isatty() else math.inf
        self._shown = 0

    def show(self, text: Callable[[], str]) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PROGRESS_EVERY_S
        line = text()[: shutil.get_terminal_size().columns - 1]
        print("\r" + line.ljust(self._shown), end="", file=sys.stderr, flush=True)
        self._shown = len(line)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)


class Loading(_Line):
    """Shows how far a long load is."""

    def __enter__(self) -> Callable[[str, int, int], None]:
        return self._loaded

    def _loaded(self, path: str, done: int, total: int) -> None:
        share = f"{100 * done // total:3d} %" if total else ""
        self.show(lambda: f"loading {Path(path).name} {share}")


class Working(_Line):
    """Shows how far a search is; what it gives is a `dashboard.decisions.grown.family.Progress`."""

    def __enter__(self) -> Callable[[float, str], None]:
        return self._done

    def _done(self, share: float, what: str) -> None:
        self.show(lambda: f"{100 * share:3.0f} % {what}")
