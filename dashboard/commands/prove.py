"""``colltune prove``: run the installed MPI library with a rules file, and show that it does what the file asks.

Exit status: 0 when every region that could be run did as asked, also where the file makes no difference; 3 when one did
not, or the library did not take the file, or no region could be run; 2 on bad usage or input, as everywhere.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import launching as cli_launching
from dashboard.commands import values as cli_values
from dashboard.commands.beyond import measured_ranks
from dashboard.commands.output import Working, say, show, write
from dashboard.commands.usage import Usage

if TYPE_CHECKING:
    from dashboard.benchmarks.proof.verdict import Proof

NOT_PROVEN = 3
#: Processes where nobody says how many.
_RANKS = 8
_WRITTEN_AS = (".txt", ".md", ".json")


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``prove`` to the subcommands of ``colltune``."""
    about = "Run the installed MPI library with a rules file, and show that every region does what the file asks."
    ends = "Exit status: 0 all that could be run did as asked, 3 something did not, 2 bad usage or input."
    parser = cli_arguments.command(commands, "prove", about, common, epilog=ends)
    parser.add_argument("rules", metavar="RULESFILE", help="rules of Open MPI (version 1 or 2) or MPICH (JSON)")
    parser.add_argument("--library", choices=("openmpi", "mpich"), help="refuse to prove it on another one")
    parser.add_argument("--han", metavar="FILE", help="HAN's rules that belong to it: both are proven as one decision")
    cli_arguments.start_command(parser)
    cli_arguments.collectives(parser)
    parser.add_argument(
        "--ranks", type=cli_values.count, metavar="N", help="largest communicator tried (default: as measured, else 8)"
    )
    parser.add_argument(
        "--memory", default="4MiB", metavar="SIZE", help="buffers of one process at most (default 4MiB)"
    )
    parser.add_argument(
        "--time-limit", type=cli_values.seconds, default=300.0, metavar="TIME", help="all is ended then (default 5min)"
    )
    cli_launching.add_options(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help=f"write the report: {', '.join(_WRITTEN_AS)}")
    cli_arguments.json(parser)


def prove(args: argparse.Namespace) -> None:
    """Print the report; SystemExit with `NOT_PROVEN` when the library does not do as asked."""
    from dashboard.benchmarks.proof.report import lines_of, markdown

    if args.output and Path(args.output).suffix not in _WRITTEN_AS:
        raise Usage(f"-o {args.output}: the name must end in one of {', '.join(_WRITTEN_AS)}")
    proof = _proven(args)
    show(args, proof.to_dict(), lambda: lines_of(proof))
    if args.output:
        texts = {".txt": lambda: "\n".join(lines_of(proof)) + "\n", ".md": lambda: markdown(proof)}
        as_json = json.dumps(proof.to_dict(), indent=2) + "\n"
        text = texts.get(Path(args.output).suffix, lambda: as_json)()
        write(args.output, text)
        say(f"wrote {args.output}")
    if not proof.holds:
        say(f"{args.rules}: not proven")
        raise SystemExit(NOT_PROVEN)


def _proven(args: argparse.Namespace) -> Proof:
    from dashboard.benchmarks.campaigns.ranges import parse_size
    from dashboard.benchmarks.libraries import library
    from dashboard.benchmarks.proof.prove import Wish, prove

    installation = library.at(args.mpiexec)
    python = cli_launching.python_of(args, installation)
    wish = Wish(
        rules=Path(args.rules),
        mpiexec=installation.mpiexec,
        launcher=cli_launching.launcher_of(args, installation),
        ranks=args.ranks or _measured_ranks(Path(args.rules)),
        memory=parse_size(args.memory),
        seconds=args.time_limit,
        collectives=tuple(dict.fromkeys(args.collective)),
        library={"openmpi": "Open MPI", "mpich": "MPICH"}.get(args.library, ""),
        han=Path(args.han) if args.han else None,
        **({} if python is None else {"python": python}),
    )
    with Working() as progress:
        return prove(wish, progress)


def _measured_ranks(rules: Path) -> int:
    """As many as the file's head says that were measured, up to what one machine can show; else `_RANKS`."""
    from dashboard.benchmarks.proof.prove import MOST_RANKS
    from loaders import disk

    try:
        text = disk.read_text(rules, errors="replace")
    except OSError:
        return _RANKS
    return max(2, min(measured_ranks(text) or _RANKS, MOST_RANKS))
