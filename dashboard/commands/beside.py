"""What ``colltune export`` writes beside a C file: its header, and a program that checks it."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboard.commands import output
from dashboard.commands.arguments import C_TARGETS
from dashboard.commands.output import say
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.export.targets.c.header import to_header
from dashboard.export.targets.c.selftest import to_selftest


def check(args: argparse.Namespace) -> None:
    """Usage where there is no C file that they could stand beside."""
    asked = [f"--{name.replace('_', '-')}" for name in ("header", "self_test") if getattr(args, name)]
    if asked and (args.to not in C_TARGETS or Path(args.output).suffix != ".c"):
        raise Usage(f"{asked[0]} goes with --to {' or '.join(C_TARGETS)} and -o FILE.c")


def write(args: argparse.Namespace, decisions: Sequence[DecisionFunction], provenance: Mapping[str, Any]) -> None:
    """Write what is asked for."""
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
