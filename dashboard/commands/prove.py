"""``colltune prove``: run the installed MPI library with a rules file, and show that it does what the file asks.

Exit status: 0 when every region that could be run did as asked, also where the file makes no difference; 3 when one did
not, or the library did not take the file, or no region could be run; 2 on bad usage or input, as everywhere.
"""

import argparse
import json
from pathlib import Path

from dashboard.benchmarks.campaigns.ranges import parse_size
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.proof.prove import MOST_RANKS, Wish
from dashboard.benchmarks.proof.prove import prove as run
from dashboard.benchmarks.proof.report import lines_of, markdown
from dashboard.benchmarks.proof.verdict import Proof
from dashboard.commands import launching as cli_launching
from dashboard.commands.options.libraries import WRITTEN_AS
from dashboard.commands.output import say, show, working, write
from dashboard.commands.usage import Usage
from loaders import disk

NOT_PROVEN = 3
#: Processes where nobody says how many.
_RANKS = 8


def prove(args: argparse.Namespace) -> None:
    """Print the report; SystemExit with `NOT_PROVEN` when the library does not do as asked."""
    if args.output and Path(args.output).suffix not in WRITTEN_AS:
        raise Usage(f"-o {args.output}: the name must end in one of {', '.join(WRITTEN_AS)}")
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
    with working() as progress:
        return run(wish, progress)


def _measured_ranks(rules: Path) -> int:
    """As many as the file's head says that were measured, up to what one machine can show; else `_RANKS`."""
    try:
        text = disk.read_text(rules, errors="replace")
    except OSError:
        return _RANKS
    return max(2, min(cli_launching.measured_ranks(text) or _RANKS, MOST_RANKS))
