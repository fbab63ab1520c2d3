"""What ``colltune export`` writes beside a C file: its header, and a program that checks it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import output
from dashboard.commands.output import say
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction

_TARGETS = ("c", "c-table")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--header`` and ``--self-test``."""
    group = parser.add_argument_group("C", f"for --to {' and '.join(_TARGETS)} with -o FILE.c")
    group.add_argument("--header", action="store_true", help="write FILE.h beside it")
    group.add_argument(
        "--self-test",
        action="store_true",
        help="write FILE_test.c beside it: a program that checks the decisions at every border, 0 = right",
    )


def check(args: argparse.Namespace) -> None:
    """Usage where there is no C file that they could stand beside."""
    asked = [f"--{name.replace('_', '-')}" for name in ("header", "self_test") if getattr(args, name)]
    if asked and (args.to not in _TARGETS or Path(args.output).suffix != ".c"):
        raise Usage(f"{asked[0]} goes with --to {' or '.join(_TARGETS)} and -o FILE.c")


def write(args: argparse.Namespace, decisions: Sequence[DecisionFunction], provenance: Mapping[str, Any]) -> None:
    """Write what is asked for."""
    from dashboard.export.targets.c.header import to_header
    from dashboard.export.targets.c.selftest import to_selftest

    file = Path(args.output)
    texts = {}
    if args.header:
        texts[file.with_suffix(".h")] = to_header(decisions, provenance=provenance)
    if args.self_test:
        test = file.with_name(f"{file.stem}_test.c")
        texts[test] = to_selftest(decisions, provenance=provenance, file=file.name)
    for path, text in texts.items():
        output.write(path, text)
        say(f"wrote {path}")
