"""``colltune tune-check``: rules measured against the library's own decision; the slower ones found, and dropped."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboard.commands import arguments as cli_arguments
from dashboard.commands import bench_plan
from dashboard.commands import beyond as cli_beyond
from dashboard.commands import launching as cli_launching
from dashboard.commands import trees as cli_trees
from dashboard.commands import tune_check_decided as cli_decided
from dashboard.commands import values as cli_values
from dashboard.commands.output import Working, say, show, write
from dashboard.commands.tune_check_again import Again
from dashboard.commands.tune_check_text import LISTED, described, lines_of
from dashboard.commands.usage import Usage
from loaders.collectives import POINT_TO_POINT

if TYPE_CHECKING:
    from dashboard.benchmarks.libraries.library import Installation
    from dashboard.decisions import DecisionFunction
    from dashboard.decisions.judged.improvement import Improvement, Verdict

_FOLDER = "tune-check"
_WATCH_S = 0.25
_LAUNCHES = 3
"""Of each of two methods that cannot be measured in one job."""
_PROVEN_RANKS = 16
"""So many processes are proven at most: more of them show nothing else on the cores of one machine."""
_EPILOG = (
    "Both are measured in turns in one job. An improvement of 50 % means half the time; a difference counts where it "
    "is beyond noise (Yuen's test of the logarithms, corrected for the number of cells, of rules: for theirs)."
)


def add_parser(commands: Any, parents: Sequence[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add ``tune-check`` to the subcommands of ``colltune``; the options of measurements are still to come."""
    about = "Measure rules against the library's own decision in one job; point out, or drop, those that are slower."
    parser: argparse.ArgumentParser = commands.add_parser(
        "tune-check", help=about, description=about, epilog=_EPILOG, parents=list(parents)
    )
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a rules file or a saved decision function; with --tree the benchmark files to decide by",
    )
    cli_arguments.collectives(parser)
    parser.add_argument(
        "--tree", metavar="TREE:OPTION=VALUE,…", help='decide by PATH…, such as "quadtree:max_depth=3", and export that'
    )
    parser.add_argument("--for", dest="version", metavar="V", help="version of Open MPI (default: the installed one's)")
    where = parser.add_argument_group("where")
    parser.add_argument("--han", metavar="FILE", help="HAN's rules that belong to the rules file (Open MPI, nodes)")
    where.add_argument("--folder", default=_FOLDER, help=f"of the campaign; resumed if it is there (default {_FOLDER})")
    where.add_argument(
        "--results",
        nargs="+",
        metavar="FILE",
        help="measure nothing: results that hold the methods 'default' and 'tuned'",
    )
    where.add_argument("--default", default="default", metavar="METHOD", help="of --results, what to compare with")
    where.add_argument("--tuned", default="tuned", metavar="METHOD", help="of --results, what to compare")
    _measuring(parser)
    judged = parser.add_argument_group("how it is judged")
    judged.add_argument(
        "--level", type=cli_values.level, default=0.05, metavar="LEVEL", help="of the tests (default 0.05)"
    )
    judged.add_argument(
        "--between-launches",
        type=cli_values.percent,
        default=0.0,
        metavar="PCT",
        help="standard deviation by which launches of one method differ beyond their repetitions (default 0)",
    )
    judged.add_argument(
        "--decided",
        nargs="+",
        metavar="FILE",
        help="results that the rules were decided from: tell cell by cell whether they gain as much in use",
    )
    judged.add_argument("--all-cells", action="store_true", help=f"list all cells also where they are over {LISTED}")
    judged.add_argument(
        "--drop-slower",
        action="store_true",
        help="write the rules without those that are slower, and without the cells at which they are (-o), then prove "
        "and measure what is left once more",
    )
    judged.add_argument("-o", "--output", metavar="FILE", help="rules file to write with --drop-slower")
    cli_beyond.add_option(judged)
    cli_arguments.json(parser)
    return parser


def _measuring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is measured", "grids of sizes as for 'colltune bench run'")
    group.add_argument(
        "--ranks", type=cli_values.count, metavar="N", help="processes to launch (default: as measured, else the cores)"
    )
    group.add_argument("--comm-sizes", metavar="GRID", help="communicator sizes (default: those of PATH…, or x2)")
    group.add_argument("--message-sizes", metavar="GRID", help="bytes (default: those of PATH…, or 4-1MiB:x4)")
    group.add_argument("--datatype", metavar="NAME", help="of reductions (default float32)")
    group.add_argument("--memory", metavar="SIZE", help="buffers of one process at most (default 256MiB)")
    group.add_argument("--launches", type=cli_values.count, metavar="N", help="measure all so often, ranks anew (1)")
    group.add_argument("--seed", type=cli_values.count, metavar="N", help="of the order of turns (default 1)")
    bench_plan.protocol_options(parser)
    parser.add_argument("--time-limit", type=float, metavar="S", help="the job is ended then (default: 5 × estimate)")
    cli_launching.add_options(parser)
    parser.set_defaults(combined=False)


@dataclass(frozen=True)
class _Given:
    """The rules: their text for Open MPI, what it decides by collective, and sizes to measure, if anything says."""

    text: str
    decisions: Mapping[str, DecisionFunction]
    comm_sizes: Sequence[int] = ()
    message_sizes: Sequence[int] = ()


@dataclass(frozen=True)
class _Left:
    """The rules that were written, how many rules are gone and how many lost cells, by collective."""

    given: _Given
    dropped: dict[str, int]
    cut: dict[str, int]


def tune_check(args: argparse.Namespace) -> None:
    """Measure, compare, judge and drop, as asked."""
    from dashboard.benchmarks.errors import BenchError
    from dashboard.export import ExportError
    from dashboard.export.rules import RulesError

    if args.han and (args.tree or args.drop_slower):
        raise Usage("--han FILE goes with a rules file that is measured as it is, without --tree and --drop-slower")
    if args.drop_slower != bool(args.output):
        raise Usage("--drop-slower and -o FILE go together: the rules without the slower ones are written there")
    if args.decided and not args.paths:
        raise Usage("--decided FILE… goes with the rules file that was decided from these results")
    if not args.paths and (args.drop_slower or not args.results):
        raise Usage("name a rules file or a saved decision function; or benchmark files with --tree")
    try:
        _checked(args)
    except (BenchError, ExportError, RulesError) as error:
        raise Usage(str(error)) from error


def _checked(args: argparse.Namespace) -> None:
    installation = None if args.results else _installation(args)
    version = args.version or (installation.library.version if installation else "5.0")
    given = _given(args, version) if args.paths else None
    files = args.results
    if installation is not None and given is not None:
        files = [_measured(args, given, installation)]
    found = _compared(args, files)
    verdicts = {} if given is None else _judged(given, found)
    held = {}
    if given is not None and args.decided:
        held = cli_decided.held_against(args.decided, found, given.decisions, files, version)
    left, again = None, None
    if given is not None and args.drop_slower:
        left = _left(args, given, found, verdicts, version)
        again = None if installation is None else _once_more(args, left.given, installation)
    result = {
        "results": [str(file) for file in files],
        "rules": None if given is None else args.paths,
        "collectives": {name: described(one, verdicts.get(name, [])) for name, one in found.items()},
        "dropped": None if left is None else left.dropped,
        "cut": None if left is None else left.cut,
        "left": None if again is None else again.to_dict(),
        **({"decided": cli_decided.described(held)} if args.decided else {}),
    }
    show(
        args,
        result,
        lambda: [*lines_of(found, verdicts, all_cells=args.all_cells), *cli_decided.lines_of(held)],
    )
    if again is not None:
        again.say(args.output)
    slower = sum(one.outcome == "slower" for each in verdicts.values() for one in each)
    if slower and not args.drop_slower:
        are = "rule is" if slower == 1 else "rules are"
        say(f"{slower} {are} slower than the library's own decision beyond noise (--drop-slower -o FILE)")


def _installation(args: argparse.Namespace) -> Installation:
    """The installed Open MPI, given the rules file that is going to be in the folder."""
    from dashboard.benchmarks.libraries.library import find
    from dashboard.benchmarks.tune_check import rules_of, with_rules

    return with_rules(find(), rules_of(Path(args.folder)), han=bool(args.han))


def _given(args: argparse.Namespace, version: str) -> _Given:
    """What is to be checked, as rules of Open MPI."""
    if args.tree:
        return _grown(args, version)
    if len(args.paths) > 1:
        raise Usage("one rules file at a time; benchmark files need --tree")
    path = Path(args.paths[0])
    from dashboard.decisions import DecisionFunction
    from dashboard.decisions.function.saved import FORMAT
    from dashboard.export.rules.lint import read_rules
    from loaders import disk

    if not path.is_file():
        raise Usage(f"{path}: no such file")
    if path.suffix == ".json" and f'"{FORMAT}"' in disk.read_text(path, errors="replace")[:4096]:
        return _as_rules(cli_beyond.bounded(args, [DecisionFunction.load(path)]), version)
    if args.han:
        return _across_nodes(path, Path(args.han), version)
    found = read_rules(path, version=version)
    if found.errors:
        fault = next(fault for fault in found.faults if fault.severity == "error")
        raise Usage(f"{path}: {fault} (colltune lint {path} lists all faults)")
    if found.format in ("openmpi-1", "openmpi-2"):
        return _Given(disk.read_text(path, errors="surrogateescape"), found.decisions)
    say(f"note: {path}: {found.title}; measured as rules for Open MPI {version}")
    return _as_rules(list(found.decisions.values()), version)


def _across_nodes(tuned: Path, han: Path, version: str) -> _Given:
    """Rules of tuned and HAN's as the one decision that they are."""
    from dashboard.export.rules.given import read_beside

    text, found = read_beside(tuned, han, version)
    if found.errors:
        fault = next(fault for fault in found.faults if fault.severity == "error")
        raise Usage(f"{tuned} with {han}: {fault} (colltune lint {tuned} --han {han} lists all faults)")
    return _Given(text, found.decisions)


def _grown(args: argparse.Namespace, version: str) -> _Given:
    """A tree for each collective, exported as ``colltune export --to openmpi`` would."""
    from dashboard.commands.load import load
    from dashboard.commands.treatment import preparation
    from dashboard.decisions.grown.families import family

    name, _, options = args.tree.partition(":")
    chosen = family(name)
    known = cli_trees.read(chosen, [word for word in options.split(",") if word])
    names = args.collective or [one for one in load(args).children if one != POINT_TO_POINT]
    decisions, cubes = [], {}
    for collective in names:
        prepared = preparation(argparse.Namespace(**{**vars(args), "collective": [collective]}))
        with Working() as progress:
            decisions.append(chosen.grow(prepared.learnt, progress=progress, **known))
        cubes[collective] = prepared.problem.slices[0].cube
    made = _as_rules(cli_beyond.bounded(args, decisions), version, cubes)
    sizes = {dim: sorted({int(v) for one in cubes.values() for v in one[dim].values}) for dim in _DIMS}
    return _Given(made.text, made.decisions, sizes["comm_size"], sizes["message_size"])


_DIMS = ("comm_size", "message_size")


def _as_rules(
    decisions: Sequence[DecisionFunction], version: str, cubes: Mapping[str, Any] | None = None, file_version: int = 1
) -> _Given:
    from dashboard.export import TARGETS
    from dashboard.export.rules.lint import read_text

    kind = 2 if file_version == 2 else 1
    text = TARGETS["openmpi"].write(decisions, None, version=version, cubes=cubes, file_version=kind)
    return _Given(text, read_text(text, version=version).decisions)


def _ranks(args: argparse.Namespace, given: _Given) -> int:
    """Processes to launch: those asked for, those that the rules were measured with, or the cores."""
    known = max(given.comm_sizes, default=0) or cli_beyond.measured_ranks(given.text) or len(_cores())
    return int(args.ranks or max(2, known))


def _measured(args: argparse.Namespace, given: _Given, installation: Installation) -> Path:
    """Measure what is missing in the campaign's folder; the file with the results."""
    from dashboard.benchmarks.campaigns import control
    from dashboard.benchmarks.tune_check import measurable, prepare

    folder = Path(args.folder)
    known = {name: given.decisions[name] for name in args.collective or given.decisions if name in given.decisions}
    if lost := [name for name in args.collective or () if name not in known]:
        raise Usage(f"-c {lost[0]}: the rules decide {', '.join(given.decisions)}")
    unasked = dict.fromkeys(bench_plan.PLANNING)
    told = argparse.Namespace(**{**unasked, **vars(args), "ppn": None, "collectives": list(measurable(known))})
    if args.han and args.launches is None:
        # Launches differ by more than the repetitions within one of them show.
        told.launches = _LAUNCHES
    # Ranks of 5.0.11 crash when HAN has answered while messages are counted.
    told.no_graphs = True if cli_launching.spreads(args) else told.no_graphs
    ranks = _ranks(args, given)
    sizes = [size for size in given.comm_sizes if 2 <= size <= ranks]
    told.comm_sizes = args.comm_sizes or (",".join(map(str, sizes)) or None)
    told.message_sizes = args.message_sizes or (",".join(str(m) for m in given.message_sizes if m > 0) or None)
    campaign = prepare(folder, given.text, bench_plan.planned(told, installation, ranks))
    now = control.status(campaign)
    if now["measured"] + now["refused"] >= now["points"]:
        say(f"{folder}: everything is measured already")
        return campaign.results
    done = campaign.done()
    limit = args.time_limit or control.limit_of(campaign.plan(), done.all, len(_cores()), done.seconds)
    launcher = cli_launching.launcher_of(args, installation)
    control.start(campaign, launcher, installation, limit)
    try:
        with Working() as progress:
            now = control.wait(campaign, launcher, _WATCH_S, None if progress is None else _Told(progress))
    except KeyboardInterrupt:
        control.cancel(campaign, launcher)
        raise
    if now["state"] != "finished":
        raise Usage(f"{folder}: {now['state']}: {now['reason']}; the same command measures what is missing")
    return campaign.results


class _Told:
    """Says how far the campaign is."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress

    def __call__(self, now: Mapping[str, Any]) -> None:
        done = now["measured"] + now["refused"]
        self._progress(done / max(1, now["points"]), f"{done} of {now['points']} points: {now['now']}")


def _cores() -> set[int]:
    import os

    return os.sched_getaffinity(0)


def _compared(args: argparse.Namespace, files: Sequence[Path | str]) -> dict[str, Improvement]:
    from dashboard.decisions.judged.improvement import improvement
    from loaders import open_results

    results = open_results([str(file) for file in files])
    names = [str(name) for name in results.children if not args.collective or name in args.collective]
    if not names:
        raise Usage(f"-c {args.collective[0]}: these results hold {', '.join(results.children)}")
    known = {"level": args.level, "between_launches": args.between_launches}
    pair = (args.default, args.tuned) if args.results else ("default", "tuned")
    return {name: improvement(results[name].to_dataset(), *pair, **known) for name in names}


def _judged(given: _Given, found: Mapping[str, Improvement]) -> dict[str, list[Verdict]]:
    from dashboard.decisions.judged.improvement import judge

    if lost := [name for name in found if name not in given.decisions]:
        say(f"note: the rules do not decide {', '.join(lost)}")
    return {name: judge(one, given.decisions[name]) for name, one in found.items() if name in given.decisions}


def _left(
    args: argparse.Namespace,
    given: _Given,
    found: Mapping[str, Improvement],
    verdicts: Mapping[str, Sequence[Verdict]],
    version: str,
) -> _Left:
    """Write the rules without what is slower."""
    from dashboard.decisions.function.cutting import without_slower
    from dashboard.export.provenance import today

    changed, gone, cut = [], {}, {}
    for name, decision in given.decisions.items():
        kept, dropped, lost = without_slower(decision, verdicts.get(name, []), found.get(name))
        changed.append(kept)
        gone[name], cut[name] = len(dropped), len(lost)
    total, parts = sum(gone.values()), sum(cut.values())
    what = f"{total} rule that was slower is" if total == 1 else f"{total} rules that were slower are"
    if parts:
        what = f"{what[: what.rindex(' ')]}, and the slower cells of {parts} more, are"
    text = _as_rules(changed, version, file_version=2 if given.text.startswith("rule-file-version-2") else 1).text
    note = f"# Checked against the library's own decision on {today()}: {what} left to it."
    head, _, rest = text.partition("\n")
    lines = [head, note, rest] if head.startswith("rule") else [note, text]
    write(args.output, "\n".join(lines))
    say(f"wrote {args.output}: {what} left to the library's own decision")
    decisions = {one.collective: one for one in changed}
    return _Left(_Given(text, decisions, given.comm_sizes, given.message_sizes), gone, cut)


def _once_more(args: argparse.Namespace, given: _Given, installation: Installation) -> Again:
    """Prove and measure what is left, in a folder beside the first one."""
    from dashboard.benchmarks.proof.prove import Wish, prove
    from dashboard.benchmarks.tune_check import rules_of, with_rules

    again = argparse.Namespace(**{**vars(args), "folder": f"{args.folder}-left"})
    ranks = _ranks(args, given)
    with Working() as progress:
        launcher = cli_launching.launcher_of(args, installation)
        wish = Wish(Path(args.output), installation.mpiexec, launcher=launcher, ranks=min(ranks, _PROVEN_RANKS))
        proof = prove(wish, progress)
    if not any(not _is_default(decision) for decision in given.decisions.values()):
        return Again(proof, {}, {})
    installation = with_rules(installation, rules_of(Path(again.folder)))
    found = _compared(again, [_measured(again, given, installation)])
    return Again(proof, found, _judged(given, found))


def _is_default(decision: DecisionFunction) -> bool:
    """Whether it leaves everything to the library."""
    used = {int(code) for code in decision.tree.codes if code >= 0}
    return all(decision.methods[place].algorithm == "default" for place in used)
