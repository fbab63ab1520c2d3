"""``colltune tune``: from nothing to a proven gain, and back again whenever the machine changes.

Exit status: 0 proven, and nothing slower; 3 nothing is better than the library's own decision; 4 unsafe or unproven;
5 too noisy, or too little time, to say; 2 on bad usage or input, as everywhere. That of ``--status`` is the same: 0
while it runs, 2 where it ended before all was done.
"""

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import fresh
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.launchers.site import SLURM as BY_SLURM
from dashboard.benchmarks.launchers.slurm import Request
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.commands import launching
from dashboard.commands.bench import submit as bench_submit
from dashboard.commands.output import say, show, working
from dashboard.commands.text import percent, table
from dashboard.commands.usage import Usage
from dashboard.domain.jobs import SLURM
from dashboard.domain.tuning import OPTIONS
from dashboard.measuring import tunings
from dashboard.tuning import EXITS, Asked, Folder, Work, beside, lines_of
from dashboard.tuning import again as repeat
from dashboard.tuning import answer as answer_of
from dashboard.tuning import tune as do
from dashboard.tuning.look import look, plan_of


def tune(args: argparse.Namespace) -> None:
    """Do what is missing, and leave with the status that it came to."""
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
    with working() as progress:
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
    asked = any(getattr(args, option.name) is not None for option in SLURM)
    if args.launch == BY_SLURM or (
        asked and not (args.here or args.slurm) and launching.site_of(args).launch == BY_SLURM
    ):
        args.slurm, args.launch = True, None


def _status(args: argparse.Namespace, folder: Folder) -> None:
    """Say how it is, and leave with the status of the command that ended so; 0 while it runs."""
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

    def tell(stage: str, share: float | None, words: str) -> None:
        if share is None:
            say(f"{stage}: {words}")
        else:
            progress(share, f"{stage}: {words}")

    return replace(work, tell=tell, report=_report)


def _work(args: argparse.Namespace, folder: Folder) -> Work:
    kept = folder.asked()
    asked = Asked.of(kept, _given(args, kept.get("slurm") or {}))
    installation = _installation(args)
    launcher = _launcher(args, asked, installation)
    if not args.here:
        launching.say_beside_nodes(launcher)
    return Work(folder, asked, installation, launcher)


def _given(args: argparse.Namespace, kept: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked now, by the names of `Asked`; of Slurm also what was asked before."""
    given = Asked.named({name: getattr(args, name) for name in (*(option.name for option in OPTIONS), "workload")})
    if args.slurm:
        given |= {"slurm": bench_submit.request(args, launching.site_of(args), kept).record(), "launch": ""}
    elif args.here or args.launch:
        given |= {"slurm": None, "launch": args.launch or "here"}
    # What is kept is read wherever the command goes on.
    return given | {name: str(Path(file).absolute()) for name in ("site", "workload") if (file := getattr(args, name))}


def _installation(args: argparse.Namespace) -> Installation:
    return (
        bench_submit.installation(args, launching.site_of(args).request().modules, library.find)
        if args.slurm
        else library.find()
    )


def _launcher(args: argparse.Namespace, asked: Asked, installation: Installation) -> Launcher:
    site = launching.site_of(args)
    request = None if asked.slurm is None else Request.from_record(asked.slurm)
    return replace(site, launch=asked.launch or site.launch).launcher(installation, request=request)


def _preview(args: argparse.Namespace, work: Work) -> None:
    """Say what would be done, and what it costs; nothing is run or written."""
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
