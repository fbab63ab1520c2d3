"""What comes next after a command, in one line that can be typed as it stands."""

import argparse
import glob
import os
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from dashboard.commands import trees as cli_trees
from dashboard.commands.load import hints_of
from dashboard.commands.output import say
from dashboard.commands.treatment import JUDGED_BY
from dashboard.domain.campaign import BY_NAME as CAMPAIGN_BY_NAME
from dashboard.domain.campaign import OPTIONS as CAMPAIGN
from dashboard.domain.options import Option
from dashboard.session import reading
from dashboard.session.treatment import OPTIONS
from loaders.collectives import POINT_TO_POINT

#: Rules that can be proven on any version of their library.
_PROVEN = ("openmpi-1", "openmpi-2", "openmpi-nodes", "mpich")
#: Target of two files, rules of tuned and HAN's.
_ACROSS = "openmpi-nodes"
#: Files that are named each by itself, at most.
_NAMED = 8


class _Wildcard(str):
    """What the shell expands, with all else quoted already."""

    __slots__ = ()


def say_following(args: argparse.Namespace) -> None:
    """Say what comes next on standard error, unless a program reads the answer."""
    if getattr(args, "json", False):
        return
    after = _AFTER.get(args.command)
    words = after(args) if after is not None else None
    if words:
        typed = (word if isinstance(word, _Wildcard) else shlex.quote(word) for word in words)
        say(f"next: colltune {' '.join(typed)}")
        failed = words[:2] == ["bench", "resume"] and args.ended["state"] == "failed" and _was_asked_of_slurm(words[2])
        if failed or words[:2] == ["bench", "cancel"]:
            before = "or, where what was asked of Slurm is at fault" if failed else "and then"
            say(f"  ({before}: colltune bench submit {shlex.quote(words[2])}")
            _say_other_options(")")
        elif words[:2] == ["bench", "submit"] and hasattr(args, "ended"):
            _say_other_options("")
        examples = [value for name, value in getattr(args, "suggested", {}).items() if name != "select"]
        if examples:
            say(f"  (with what is right in place of {' and '.join(examples)})")


def _say_other_options(after: str) -> None:
    say("  with other options, such as --partition NAME or --time-limit TIME;")
    say(f"  what else was asked of Slurm stays as it was{after}")


def _reading(args: argparse.Namespace) -> list[str]:
    """The files of a command, with what they do not say themselves."""
    hints = {"format": getattr(args, "format", None), **hints_of(args)}
    hints.pop("collective", None)
    return [*_files(list(map(str, args.paths))), *reading.words(hints)]


def _files(paths: list[str]) -> list[str]:
    """Paths, or what stands for exactly these in a shell where they are many."""
    if len(paths) <= _NAMED:
        return paths
    begin = _common(paths)
    end = _common([path[len(begin) :][::-1] for path in paths])[::-1]
    folder, name = os.path.split(begin)
    alike = Path(folder).glob(f"{glob.escape(name)}*{glob.escape(end)}")
    if set(alike) != set(map(Path, paths)):
        return paths
    begin, end = (shlex.quote(each) if each else "" for each in (begin, end))
    return [_Wildcard(f"{begin}*{end}")]


def _common(texts: list[str]) -> str:
    """What all begin with."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in alike)


def _collectives(args: argparse.Namespace) -> list[str]:
    given = getattr(args, "collective", None)
    names = [given] if isinstance(given, str) else list(given or ())
    return ["-c", ",".join(names)] if names else []


def _ppn(args: argparse.Namespace) -> list[str]:
    ppn = getattr(args, "ppn", None)
    return ["--ppn", str(ppn)] if ppn is not None else []


def _info(args: argparse.Namespace) -> list[str] | None:
    if args.first:
        return ["map", *_reading(args), "-c", args.first]
    return None if getattr(args, "suggested", None) is None else ["info", *_reading(args), *_collectives(args)]


def _decide(args: argparse.Namespace) -> list[str]:
    combined = ["--combined"] if getattr(args, "combined", False) else []
    # What a map marks is no choice of a decision.
    treated = _treated(args, [option.name for option in OPTIONS if getattr(args, option.name, None) != "mark"])
    return ["decide", *_reading(args), *_collectives(args), *_ppn(args), *combined, *treated]


def _export(args: argparse.Namespace) -> list[str]:
    from dashboard.export import TARGETS

    name = "-".join(_collectives(args)[1:]).replace(",", "-") or "rules"
    alone = getattr(args, "alternatives", None) == 1
    if alone or args.tree == "default" or getattr(args, "decided", "") == POINT_TO_POINT:
        # What is left to the library needs no file, and no library takes rules for a ping-pong or of a single method.
        return []
    combined = ["--combined"] if args.combined else []
    words = ["export", *_reading(args), *_collectives(args), *_ppn(args), *combined, *_deciding(args)]
    target = getattr(args, "rules_target", "openmpi")
    if target == "openmpi" and getattr(args, "on_nodes", False):
        target = _ACROSS
    if getattr(args, "runs_own", False):
        # No rules can name what runs over the library.
        target = "preload-mpich" if target == "mpich" else "preload"
    return [*words, "--to", target, "-o", f"{name}{TARGETS[target].extension}"]


def _deciding(args: argparse.Namespace) -> list[str]:
    """The tree and what is made of measurements before it, as they were asked for."""
    from dashboard.decisions.grown.families import family

    words = ["--tree", args.tree] if args.tree != cli_trees.DEFAULT else []
    for name, value in cli_trees.chosen(args).items():
        words += family(args.tree).option(name).typed(value)
    if args.model_parameters:
        words += ["--parameters", args.model_parameters]
    return [*words, *_treated(args, [option.name for option in OPTIONS])]


def _treated(args: argparse.Namespace, names: Collection[str]) -> list[str]:
    """What is made of measurements, as it was asked for: these options, methods left out, and the workload."""
    words = []
    for option in OPTIONS:
        if option.name in names and (value := getattr(args, option.name, None)) is not None:
            words += option.typed(value)
    words += [word for name in args.without for word in ("--without", name)]
    weights = getattr(args, "weights", None)
    return [*words, "--weights", weights] if weights else words


def _after_export(args: argparse.Namespace) -> list[str] | None:
    if not _linted(args):
        return None
    if args.ppn == "all":
        (args.ppn,) = args.written_for if len(args.written_for) == 1 else (None,)
    # Of several the results say which they hold.
    named = _collectives(args) if len(args.collective or ()) == 1 else []
    return ["lint", *_files_written(args), "--over", *_reading(args), *named, *_ppn(args), *_treated(args, JUDGED_BY)]


def _linted(args: argparse.Namespace) -> bool:
    """Whether what was written is what ``lint`` reads."""
    from dashboard.export import TARGETS

    return args.output != "-" and TARGETS[args.to].readable


def _files_written(args: argparse.Namespace) -> list[str]:
    """The rules file that was written, and HAN's that belongs to it."""
    from dashboard.export.usage import han_name

    return [args.output, *(["--han", han_name(args.output)] if args.to == _ACROSS else [])]


def _after_lint(args: argparse.Namespace) -> list[str] | None:
    if not (form := getattr(args, "found_format", "")):
        return None
    if not args.han and (both := _across_nodes(Path(args.rules), form)):
        tuned, han = map(str, both)
        return ["lint", tuned, "--han", han]
    # Rules of version 3 need an Open MPI that reads them.
    proven = form.startswith(_PROVEN) or (form == "openmpi-3" and args.version.startswith("6"))
    return ["prove", args.rules, *_beside(args)] if proven else None


def _across_nodes(rules: Path, form: str) -> tuple[Path, Path] | None:
    """Rules of tuned and HAN's that were written beside each other, where the file is one of these."""
    from dashboard.export.rules.given import han_beside

    tuned = rules.with_stem(rules.stem.removesuffix("-han")) if form == "openmpi-han" else rules
    han = han_beside(tuned) if form.startswith("openmpi") and tuned.is_file() else None
    return (tuned, han) if han else None


def _beside(args: argparse.Namespace) -> list[str]:
    """HAN's rules that belong to the rules file, named or beside it."""
    from dashboard.export.rules.given import han_beside

    han = args.han or han_beside(Path(args.rules))
    return ["--han", str(han)] if han else []


def _after_check(args: argparse.Namespace) -> list[str] | None:
    if not args.rules or args.han:
        return None
    if args.output:
        return ["prove", args.output, *_started(args)]
    if not args.slower:
        return None
    kept = Path(args.rules)
    kept = kept.with_suffix(f".kept{kept.suffix or '.conf'}")
    measured = [word for option in CAMPAIGN if option.name != "ppn" for word in _typed(args, option)]
    words = ["tune-check", str(args.rules), *_collectives(args), *measured, *_launching(args), *_ppn(args)]
    return [*words, "--folder", args.folder, "--drop-slower", "-o", str(kept)]


def _typed(args: argparse.Namespace, option: Option) -> list[str]:
    """An option as it was given."""
    value = getattr(args, option.name, None)
    return [] if value is None else option.typed(value)


def _launching(args: argparse.Namespace) -> list[str]:
    """How ranks are started, as it was given."""
    given = {name: getattr(args, name, None) for name in ("launch", "site")}
    return [word for name, value in given.items() if value for word in (f"--{name}", str(value))]


def _started(args: argparse.Namespace) -> list[str]:
    """How many ranks are started, and how, as it was given."""
    return [*_typed(args, CAMPAIGN_BY_NAME["ranks"]), *_launching(args), *_ppn(args)]


def _after_bench(args: argparse.Namespace) -> list[str] | None:
    if args.order == "refine":
        order, *options = _measured_by(args.paths)
        ppn = getattr(args, "planned_ppn", None)
        options = _per_node(options, ppn) if order == "submit" and ppn else options
        return ["bench", order, args.output, *options] if args.planned else None
    if args.order == "parameters":
        into = str(Path(args.output).with_suffix(".json"))
        return ["model", "parameters", args.output, "-o", into] if args.modelled else None
    if getattr(args, "under_way", False):
        return ["bench", "status", args.folder, "--follow"]
    if getattr(args, "dry_run", False):
        return None
    if args.order == "plan":
        return _results(args.folder) if args.complete else ["bench", "run", args.folder, *_launching(args)]
    return _ended(args.folder, args.ended) if args.order in ("status", "cancel") else _results(args.folder)


def _per_node(options: Sequence[str], ppn: int) -> list[str]:
    """Options of a job with so many processes on each node, and as many nodes as these need."""
    placing = ("--nodes", "--tasks-per-node")
    others = [
        word
        for before, word in zip(["", *options], options, strict=False)
        if before not in placing and word not in placing
    ]
    return [*others, "--tasks-per-node", str(ppn)]


def _measured_by(paths: Sequence[str]) -> list[str]:
    """Order of ``bench`` with its options that measures as the campaign did which results are of."""
    from dashboard.benchmarks.campaigns.campaign import Campaign
    from dashboard.benchmarks.errors import BenchError
    from dashboard.benchmarks.launchers import launcher_of, site

    for path in map(Path, paths):
        try:
            campaign = Campaign(path if path.is_dir() else path.parent).root()
            if campaign.state_file.exists():
                return site.typed(launcher_of(campaign))
        except (BenchError, LookupError, TypeError, OSError):
            continue
    return ["run"]


def _was_asked_of_slurm(folder: str) -> bool:
    """Whether a campaign was a job of Slurm, so that the same request may fail again."""
    from dashboard.benchmarks.campaigns.campaign import Campaign

    return bool((Campaign(Path(folder)).state().get("launcher") or {}).get("name") == "slurm")


def _ended(folder: str, now: Mapping[str, Any]) -> list[str] | None:
    """What comes after a campaign that has ended: what is missing of one that was stopped, or else its results."""
    from dashboard.benchmarks.campaigns.campaign import ENDED
    from dashboard.benchmarks.launchers.slurm import NEVER, REFUSED

    if now["state"] == "queued" and NEVER in now["reason"]:
        return ["bench", "cancel", folder]
    if now["state"] == "failed" and REFUSED in now["reason"]:
        return ["bench", "submit", folder]
    if now["state"] == "planned":
        order, *options = _measured_by([folder])
        return ["bench", order, folder, *options]
    if now["state"] not in ENDED:
        return None
    missing = now["state"] != "finished" and now["measured"] + now["refused"] < now["points"]
    return ["bench", "resume", folder] if missing else _results(folder)


def _results(folder: str) -> list[str] | None:
    """What there is to look at of a campaign, of an array the results of each of its jobs."""
    from dashboard.benchmarks.campaigns.campaign import Campaign

    files = Campaign(Path(folder)).result_files()
    return ["info", *_files(list(map(str, files)))] if files else None


def _after_model(args: argparse.Namespace) -> list[str] | None:
    if (model := getattr(args, "saved", None)) is None:
        return None
    method, sizes = ["-c", "bcast", "--algorithm", "binomial"], ["--comm-size", "16", "--message-size", "64KiB"]
    return ["model", "predict", *method, "--model", model, *sizes, "--parameters", args.output]


_AFTER: Mapping[str, Callable[[argparse.Namespace], Sequence[str] | None]] = {
    "info": _info,
    "convert": lambda args: ["info", args.output],
    "map": _decide,
    "compare": _decide,
    "frontier": _decide,
    "decide": _export,
    "export": _after_export,
    "translate": lambda args: ["lint", *_files_written(args)] if _linted(args) else None,
    "lint": _after_lint,
    "prove": lambda args: ["tune-check", args.rules, *_beside(args), *_started(args)],
    "tune-check": _after_check,
    "bench": _after_bench,
    "model": _after_model,
}
