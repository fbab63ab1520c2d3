"""The steps of online tuning that work on a folder: make it, run programs, learn, show, export."""

import argparse
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboard.benchmarks.libraries.library import library_of
from dashboard.benchmarks.libraries.mpicc import compiler
from dashboard.commands import arguments as cli_arguments
from dashboard.commands import text as cli_text
from dashboard.commands import trees as cli_trees
from dashboard.commands.output import say, show, working
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count
from dashboard.online.course import Kept
from dashboard.online.deciding import decision_of, seen_ppns
from dashboard.online.library import LIBRARY, build
from dashboard.online.model_file import load
from dashboard.online.running import evaluations, loop, read_plan
from dashboard.online.runs import Run, run_command, why_untraced
from dashboard.online.selection import Blocked
from dashboard.online.settings import Learning
from dashboard.online.state import SETTLED_S, Folder
from dashboard.online.table import AlgTable, default_table, with_own
from loaders import disk
from loaders.online import programs_of, totals_of
from loaders.openmpi import series


def _init(args: argparse.Namespace) -> None:
    if args.folder.exists() and not args.folder.is_dir():
        raise Usage(f"{args.folder}: is a file; name a folder")
    there = (args.folder / "loop.json").exists()
    if there and (args.folder / LIBRARY).exists():
        raise Usage(f"{args.folder}: is there already; take another folder")
    mpicc, version = _installed(args, compiler)
    folder = Folder.open(args.folder) if there else _chosen(args, version)
    if folder.table.version != version:
        raise Usage(f"{args.folder}: is for Open MPI {folder.table.version}, not {version}; --mpicc names its compiler")
    if there:
        say(f"note: {args.folder} is there already: its library is built, all else is kept as it is")
    with disk.made(args.folder):
        # First: without it the folder is none, and another try is free.
        library = build(folder.table, mpicc, args.folder, folder.blocked)
        folder.save()
    result = {
        "folder": str(args.folder),
        "library": str(library),
        "table": folder.table.digest,
        "version": version,
        "methods": {name: [each.label for each in listed] for name, listed in folder.table.methods.items()},
    }
    counts = ", ".join(f"{name} {len(listed)}" for name, listed in folder.table.methods.items())
    show(args, result, lambda: [f"{library}: for Open MPI {version}", f"methods: {counts}"])


def _chosen(args: argparse.Namespace, version: str) -> Folder:
    """The folder that the options ask for, which is not written yet."""
    names = ("segment_sizes", "fan_outs", "max_requests")
    given = {name: tuple(value) for name in names if (value := getattr(args, name)) is not None}
    if args.collective:
        given["collectives"] = tuple(args.collective)
    table = default_table(version, **given)
    if args.own:
        table = with_own(table, args.own, args.processes or [args.nodes * args.cores])
    machine, learning = (args.nodes, args.cores), Learning.of(cli_trees.chosen(args))
    return Folder(args.folder, table, machine, learning, _blocked(args, table))


def _blocked(args: argparse.Namespace, table: AlgTable) -> tuple[Blocked, ...]:
    """Methods of a table that are never to be chosen."""
    blocked = tuple(Blocked(*text.partition(":")[::2]) for text in args.block)
    for text, each in zip(args.block, blocked, strict=True):
        if not any(each.names(method.label) for method in table.methods.get(each.collective, ())):
            raise Usage(f"--block {text}: expected COLLECTIVE:METHOD, such as bcast:chain*; no such method is there")
    return blocked


def _installed(args: argparse.Namespace, compiler: Callable[[Path], Path | None]) -> tuple[Path, str]:
    """The compiler, and the series of its Open MPI."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpicc = Path(shutil.which(args.mpicc) or args.mpicc).absolute() if args.mpicc else compiler(beside)
    if mpicc is None:
        raise Usage("there is no mpicc, neither beside this Python nor on the PATH; --mpicc names one")
    if args.version:
        try:
            return mpicc, series(args.version)
        except ValueError as error:
            raise Usage(f"--for {args.version}: {error}") from None
    mpiexec = mpicc.with_name("mpiexec")
    library = library_of(mpiexec)
    if library.name != "Open MPI":
        raise Usage(f"{mpiexec} is of {library.name}; online tuning sets methods of Open MPI only")
    return mpicc, series(library.version)


def _run(args: argparse.Namespace) -> None:
    folder = Folder.open(args.folder)
    if args.mode == "tuned" and not folder.model.exists():
        raise Usage(
            f"{args.folder}: nothing is learnt yet, so that nothing can be tuned: run in mode tuning, then train"
        )
    run = Run(args.run_name or f"run-{secrets.token_hex(8)}", tuple(args.words), args.mode)
    with folder.named(run.name):
        try:
            code = run_command(folder, run)
        finally:
            left = programs_of(folder.traces, run.name)
            if endless := [name for name in left if not totals_of(folder.traces, name).exists()]:
                say(
                    f"note: run {', '.join(endless)} has no end: of each process what it had not written, at most a "
                    f"MiB, is lost; 'colltune online train' takes in the rest {SETTLED_S:g} s after the last of it"
                )
    if code:
        raise Usage(f"{args.words[0]} ended with {code}")
    if not left and args.mode != "off":
        why = f"{args.words[0]} left no traces: {why_untraced(folder, folder.traces)}"
        if args.mode != "tuned":
            raise Usage(why)
        # Who has programs tuned needs no traces of them.
        say(f"note: {why}")
        return
    programs = f", of {len(left)} programs" if len(left) > 1 else ""
    say(f"run {run.name}: {f'traces in {folder.traces}{programs}' if left else 'no traces, as asked'}")


def _train(args: argparse.Namespace) -> None:
    folder = Folder.open(args.folder)
    if args.traces is not None and not args.traces.is_dir():
        raise Usage(f"--traces {args.traces}: there is no such folder")
    with folder.held():
        collected = folder.collect(args.settled, traces=args.traces)
        left_out = collected.left_out(args.settled)
        model = folder.train(left_out)
    for text in (*collected.notes, *left_out):
        say(f"note: {text}")
    result = {**vars(collected), "iteration": model.provenance["iteration"], "in_all": model.provenance["timings"]}
    result["learnt"] = folder.progress[-1]["learnt"]
    taken_in = f"{format_count(len(collected.runs), 'run')}, {format_count(collected.timings, 'timing')} taken in"
    text = f"{taken_in}; {result['in_all']:,} in all"
    show(args, result, lambda: [text, *_learnt_lines(folder, result["learnt"])])


def _learnt_lines(folder: Folder, learnt: Mapping[str, int]) -> list[str]:
    rows = [[name, f"{learnt.get(name, 0)} of {len(listed)}"] for name, listed in folder.table.methods.items()]
    return cli_text.table(["collective", "methods learnt"], rows)


def _loop(args: argparse.Namespace) -> None:
    folder = Folder.open(args.folder)
    loop(folder, read_plan(args.plan), args.seed, say)
    result = {"progress": folder.progress, "evaluations": evaluations(folder)}
    show(args, result, lambda: _shown_lines(folder, result))


def _show(args: argparse.Namespace) -> None:
    folder = Folder.open(args.folder)
    calls = folder.calls()
    result: dict[str, Any] = {
        "table": folder.table.digest,
        "learning": folder.learning.to_dict(),
        "timings": len(calls),
        "runs": int(calls["run"].nunique()) if len(calls) else 0,
        "progress": folder.progress,
        "evaluations": evaluations(folder),
    }
    if not args.course:
        show(args, result, lambda: _shown_lines(folder, result))
        return
    learning, blocked = _settings(args, folder)
    with working() as progress:
        course = Kept.of(folder).course(learning, blocked, progress)
    result |= {"learning": learning.to_dict(), "course": course.to_dict()}
    show(args, result, lambda: _course_lines(course.iterations))


def _settings(args: argparse.Namespace, folder: Folder) -> tuple[Learning, Sequence[Blocked]]:
    """Those of a folder, with what is given in their place."""
    learning = Learning.of({**folder.learning.to_dict(), **cli_trees.chosen(args)})
    return learning, _blocked(args, folder.table) if args.block else folder.blocked


def _course_lines(iterations: Sequence[Mapping[str, Any]]) -> list[str]:
    kinds = ("default", "tuning", "tuned")
    rows = [
        [each["iteration"], f"{each['timings']:,}", *(f"{b[2]:.3f}" if (b := each["boxes"][k]) else "" for k in kinds)]
        for each in iterations
    ]
    head = ["iteration", "timings", *(f"{kind}/best, median" for kind in kinds)]
    return cli_text.table(head, rows, range(len(head)))


def _shown_lines(folder: Folder, result: Mapping[str, Any]) -> list[str]:
    rows = [[each["iteration"], each["runs"], f"{each['timings']:,}"] for each in result["progress"]]
    lines = cli_text.table(["iteration", "runs", "timings"], rows, (0, 1, 2))
    if result["progress"]:
        lines += ["", *_learnt_lines(folder, result["progress"][-1]["learnt"])]
    judged = [
        [
            each["iteration"],
            " ".join(each["command"]),
            *(word for seconds in ("collectives", "run") for word in _beside_default(each, seconds)),
        ]
        for each in result["evaluations"]
    ]
    if not judged:
        return lines
    kinds = [[f"{what}, default", "tuned", "tuned/default"] for what in ("all calls", "run")]
    head = ["iteration", "command", *kinds[0], *kinds[1]]
    note = "all calls: the longest process of each, summed; calls of other processes may run meanwhile"
    return [*lines, "", *cli_text.table(head, judged, (0, *range(2, 8))), note]


def _beside_default(evaluation: Mapping[str, Any], seconds: str) -> list[str]:
    """Seconds by the library's own decision and by what was learnt, and their ratio; empty where they were not kept."""
    default, tuned = (evaluation[way].get(seconds, 0.0) for way in ("default", "tuned"))
    return [cli_text.time(default), cli_text.time(tuned), f"{tuned / default:.3f}"] if default > 0 else ["", "", ""]


def _export(args: argparse.Namespace) -> None:
    from dashboard.commands.decide import deliver
    from dashboard.export.writing import Order

    folder = Folder.open(args.folder)
    cli_arguments.target(args.to)
    model = load(folder.model)
    names = args.collective or [name for name, choice in model.choices.items() if choice.best.any()]
    if unknown := [name for name in names if name not in model.choices]:
        raise Usage(f"-c {unknown[0]}: what was learnt is of {', '.join(model.choices)}")
    if not names:
        blocked = ", ".join(f"{each.collective}:{each.method}" for each in folder.blocked)
        why = f"no collective was learnt yet{f', or its methods are blocked ({blocked})' if blocked else ''}"
        raise Usage(f"{args.folder}: {why}; 'colltune online show' says how far each is")
    calls = folder.calls()
    decisions = []
    for name in names:
        seen = seen_ppns(calls, name)
        decision = decision_of(model, name, seen[0] if seen else None)
        decisions.append(decision if args.ppn is None else decision.restricted(ppn=args.ppn))
        if args.ppn is None and len(seen) > 1 and "ppn" in decision.needs:
            others = ", ".join(map(str, sorted(seen)))
            say(
                f"note: {name}: where processes per node are not told they are {seen[0]}, seen most of {others}; "
                "--ppn fixes them"
            )
    deliver(Order.of(args.to, decisions, (), version=model.table.version), args.output)


COMMANDS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "init": _init,
    "run": _run,
    "train": _train,
    "loop": _loop,
    "show": _show,
    "export": _export,
}
