"""``colltune tune``: from nothing to a proven gain, and back again whenever the machine changes.

Exit status: 0 proven, and nothing slower; 3 nothing is better than the library's own decision; 4 unsafe or unproven;
5 too noisy, or too little time, to say; 2 on bad usage or input, as everywhere. That of ``--status`` is the same: 0
while it runs, 2 where it ended before all was done.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import launching
from dashboard.commands import trees as cli_trees
from dashboard.commands.bench import options as bench_options
from dashboard.commands.output import Working, say, show
from dashboard.commands.usage import Usage
from dashboard.domain.jobs import SLURM
from dashboard.domain.tuning import OPTIONS

if TYPE_CHECKING:
    from dashboard.benchmarks.launchers.launch import Launcher
    from dashboard.benchmarks.libraries.library import Installation
    from dashboard.tuning import Asked, Folder, Work


def add_parser(commands: Any, common: argparse.ArgumentParser) -> None:
    """Add ``tune`` to the subcommands of ``colltune``."""
    about = "Tune the installed MPI: measure, decide, export, prove, compare with its own decision, and bundle."
    more = " Called again it goes on where it was, and does only what has changed."
    ends = (
        "Exit status: 0 proven, nothing slower; 3 nothing better than the library's own decision; 4 unsafe or "
        "unproven; 5 too noisy, or too little time, to say; 2 bad usage or input. With --status the same; 0 while it "
        "runs, 2 where it ended before all was done."
    )
    parser = cli_arguments.command(commands, "tune", about, common, more=more, epilog=ends)
    parser.add_argument("folder", metavar="FOLDER", help="where all of it is kept")
    cli_arguments.json(parser)
    group = parser.add_argument_group("what is tuned, and how much of it")
    for option in OPTIONS:
        cli_trees.add_option(group, option)
    group.add_argument("--workload", metavar="FILE", help="collective, comm_size, message_size, calls")
    other = parser.add_argument_group("what was tuned before").add_mutually_exclusive_group()
    other.add_argument(
        "--again",
        action="store_true",
        help="check by fresh launches whether the rules still hold, and measure only those anew that do not",
    )
    other.add_argument("--status", action="store_true", help="how far it is and what it came to: nothing is run")
    other.add_argument("--compare", metavar="OTHER", help="what the rules of the folder OTHER cost on this one's times")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--here", action="store_true", help="on this machine, or all nodes of this allocation (default)")
    where.add_argument("--slurm", action="store_true", help="by jobs of Slurm, asked for as follows")
    where.add_argument("--launch", metavar="COMMAND", help=launching.LAUNCH)
    bench_options.slurm_options(parser)


def tune(args: argparse.Namespace) -> None:
    """Do what is missing, and leave with the status that it came to."""
    from dashboard.tuning import EXITS, Folder, lines_of
    from dashboard.tuning import again as repeat
    from dashboard.tuning import answer as answer_of
    from dashboard.tuning import tune as do

    folder = Folder(Path(args.folder))
    args.site = args.site or folder.asked().get("site") or None
    _by_slurm(args)
    if asked := [option.flags[0] for option in SLURM if not args.slurm and getattr(args, option.name) is not None]:
        where = "together with --slurm; what a start command's {ppn} stands for is ppn in a site's file (--site)"
        raise Usage(f"{', '.join(asked)}: asked of Slurm, so {where}")
    if args.compare:
        _beside(args, folder)
        return
    if args.status:
        _status(args, folder)
        return
    work = _work(args, folder)
    if args.dry_run:
        _preview(args, work)
        return
    with Working() as progress:
        work = _telling(work, progress)
        checked = repeat(work) if args.again else None
        done = {} if args.again else do(work)
    answer = answer_of(folder, done)
    answer |= {} if checked is None else {"again": checked}
    show(args, answer, lambda: lines_of(answer))
    if answer["outcome"] == "proven":
        say(f"next: . {folder.path}/bundle/colltune.sh   (switches it on; {folder.path}/bundle/README.md has the rest)")
    if status := EXITS.get(str(answer["outcome"]), 4):
        raise SystemExit(status)


def _by_slurm(args: argparse.Namespace) -> None:
    """Take ``--launch slurm``, and a site that says so where nothing else is asked, for ``--slurm``."""
    from dashboard.benchmarks.launchers.site import SLURM as BY_SLURM

    asked = any(getattr(args, option.name) is not None for option in SLURM)
    if args.launch == BY_SLURM or (
        asked and not (args.here or args.slurm) and launching.site_of(args).launch == BY_SLURM
    ):
        args.slurm, args.launch = True, None


def _status(args: argparse.Namespace, folder: Folder) -> None:
    """Say how it is, and leave with the status of the command that ended so; 0 while it runs."""
    from dashboard.measuring import tunings
    from dashboard.tuning import lines_of

    if not folder.asked():
        raise Usage(f"{folder.path} holds no tuning")
    now = tunings.standing(folder.path)
    # What a stage says of its end stands in its line.
    said = tunings.SAID.get(now.state) or ("" if now.stage else now.reason)
    word = "" if now.over else f"{now.state}{now.where}{f': {said}' if said else ''}"
    show(args, now.facts, lambda: [line for line in (*lines_of(now.facts), word) if line])
    if not now.over and now.state != tunings.RUNNING and not args.json:
        say(f"next: colltune tune {shlex.quote(str(folder.path))}   (goes on with what is missing)")
    if now.exit_status:
        raise SystemExit(now.exit_status)


def _beside(args: argparse.Namespace, folder: Folder) -> None:
    """Say what the rules of another folder cost here."""
    from dashboard.commands.text import percent, table
    from dashboard.tuning import Folder, beside

    rows = beside(folder, Folder(Path(args.compare)))
    head = ["collective", "library's own", f"rules of {args.folder}", f"rules of {args.compare}", ""]
    names = ("default", "own", "other")

    def lines() -> list[str]:
        penalties = [["-" if row[name] is None else percent(row[name]) for name in names] for row in rows]
        cells = [[row["collective"], *each, row["why"]] for row, each in zip(rows, penalties, strict=True)]
        body = table(head, cells, right=(1, 2, 3))
        return [f"mean penalty over the times measured in {args.folder}", *body]

    show(args, {"folder": args.folder, "other": args.compare, "collectives": rows}, lines)


def _telling(work: Work, progress: Callable[[float, str], None]) -> Work:
    """Work that writes the report, and says how far it is: a line for each stage, on a terminal one that changes."""
    from dataclasses import replace

    def tell(stage: str, share: float | None, words: str) -> None:
        if share is None:
            say(f"{stage}: {words}")
        else:
            progress(share, f"{stage}: {words}")

    return replace(work, tell=tell, report=_report)


def _work(args: argparse.Namespace, folder: Folder) -> Work:
    from dashboard.tuning import Asked, Work

    kept = folder.asked()
    asked = Asked.of(kept, _given(args, kept.get("slurm") or {}))
    installation = _installation(args)
    return Work(folder, asked, installation, _launcher(args, asked, installation))


def _given(args: argparse.Namespace, kept: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked now, by the names of `Asked`; of Slurm also what was asked before."""
    from dashboard.commands.bench import submit as bench_submit
    from dashboard.tuning import Asked

    given = Asked.named({name: getattr(args, name) for name in (*(option.name for option in OPTIONS), "workload")})
    if args.slurm:
        given |= {"slurm": bench_submit.request(args, launching.site_of(args), kept).record(), "launch": ""}
    elif args.here or args.launch:
        given |= {"slurm": None, "launch": args.launch or "here"}
    # What is kept is read wherever the command goes on.
    return given | {name: str(Path(file).absolute()) for name in ("site", "workload") if (file := getattr(args, name))}


def _installation(args: argparse.Namespace) -> Installation:
    from dashboard.benchmarks.libraries.library import find
    from dashboard.commands.bench import submit as bench_submit

    return bench_submit.installation(args, launching.site_of(args).request().modules, find) if args.slurm else find()


def _launcher(args: argparse.Namespace, asked: Asked, installation: Installation) -> Launcher:
    from dataclasses import replace

    from dashboard.benchmarks.launchers.slurm import Request

    site = launching.site_of(args)
    request = None if asked.slurm is None else Request.from_record(asked.slurm)
    return replace(site, launch=asked.launch or site.launch).launcher(installation, request=request)


def _preview(args: argparse.Namespace, work: Work) -> None:
    """Say what would be done, and what it costs; nothing is run or written."""
    from dashboard.benchmarks.campaigns import fresh
    from dashboard.tuning.look import look, plan_of

    looked = look(work)
    plan = plan_of(work.asked, work.installation, nodes=work.nodes)
    folder = work.folder.path / "measure"
    text = fresh.preview(folder, plan, work.launcher, work.installation, work.asked.limit)
    preview = {"asked": work.asked.to_json(), "look": {**looked.facts, **looked.noted}, "runs": text}
    show(args, preview, lambda: [looked.noted["said"], text])


def _report(results: Sequence[Path], collectives: Sequence[str], output: Path) -> None:
    """Write the report of the bundle."""
    from dashboard.commands.output import write
    from dashboard.report import Contents, to_html
    from dashboard.session.choice import Choice
    from dashboard.session.registry import register
    from dashboard.session.state import State
    from loaders import open_results

    state = State()
    state.show(register(open_results(results)))
    state.choose(Choice.of("recommended"))
    write(output, to_html(state.view, Contents(tuple(collectives), frontier=False, held_out=None)))
