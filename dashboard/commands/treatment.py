"""The options that say what is made of measurements before deciding, and what is held out for judging."""

from __future__ import annotations

import argparse
from dataclasses import replace

from dashboard.commands import trees as cli_trees
from dashboard.commands import values as cli_values
from dashboard.domain.held_out import HELD_OUT
from dashboard.session.treatment import OPTIONS

#: Those of decisions that are there already.
JUDGED_BY = ("outliers", "keep_doubtful")


def add_options(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add the options of the treatment, or those named."""
    group = parser.add_argument_group("measurements", "what is made of them before deciding")
    for option in OPTIONS:
        if not names or option.name in names:
            cli_trees.add_option(group, option)
    group.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="METHOD",
        help="method to leave out, as 'colltune map' names it, or 'ALGORITHM *' for all its segment sizes and "
        "parameters; may be given several times",
    )
    if not names:
        group.add_argument("--weights", metavar="FILE", help="workload: collective, comm_size, message_size, calls")


def add_held_out(parser: argparse.ArgumentParser, default: str) -> None:
    """Add what is held out for judging."""
    group = parser.add_argument_group("held out", "penalty on measurements that were not used for deciding")
    cli_trees.add_option(group, replace(HELD_OUT, default=default))
    parser.set_defaults(held_out=default)
    group.add_argument(
        "--folds",
        type=cli_values.folds,
        default=5,
        metavar="N",
        help="parts held out in turn (default 5; for lines, as many along each of the two sizes)",
    )
