"""The subcommands of ``colltune`` by their names: each loads, computes and prints what is computed elsewhere."""

import argparse
import logging
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pkgutil import resolve_name

from dashboard.commands import following as cli_following
from dashboard.commands import rules as cli_rules
from dashboard.commands.model import command as cli_model
from dashboard.commands.output import refuse_same

COMMANDS: Mapping[str, str] = {
    "info": "dashboard.commands.info:info",
    "convert": "dashboard.commands.convert:convert",
    "map": "dashboard.commands.map:decision_map",
    "decide": "dashboard.commands.decide:decide",
    "export": "dashboard.commands.decide:export",
    "frontier": "dashboard.commands.frontier:frontier",
    "compare": "dashboard.commands.compare:compare",
    "lint": "dashboard.commands.lint:lint",
    "model": "dashboard.commands.model.command:model",
    "translate": "dashboard.commands.translate:translate",
    "bench": "dashboard.commands.bench.command:bench",
    "portability": "dashboard.commands.portability:portability",
    "view": "dashboard.commands.view:view",
    "report": "dashboard.commands.report:report",
    "online": "dashboard.commands.online.command:online",
    "orthogonal": "dashboard.commands.orthogonal.command:orthogonal",
    "methods": "dashboard.commands.methods.command:methods",
    "prove": "dashboard.commands.prove:prove",
    "check-methods": "dashboard.commands.check_methods:check_methods",
    "tune": "dashboard.commands.tune:tune",
    "tune-check": "dashboard.commands.tune_check.command:tune_check",
    "decide-time": "dashboard.commands.decide_time:decide_time",
    "serve": "dashboard.commands.serve:serve",
}


@contextmanager
def _interruptible() -> Iterator[None]:
    """Take SIGTERM, by which pages, schedulers and ``timeout`` end a command, as Ctrl-C: what it started ends, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def run(args: argparse.Namespace) -> None:
    """Run the subcommand that was called."""
    # HoloViews brings Matplotlib, which tells at length of a home that it cannot write to, and takes another folder.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    refuse_same(args)
    cli_rules.keep(args)
    with _interruptible(), cli_model.known(args):
        resolve_name(COMMANDS[args.command])(args)
        cli_following.say_following(args)
