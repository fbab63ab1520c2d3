"""``colltune tune-check``: rules measured against the library's own decision; the slower ones found, and dropped."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns import control, limits
from dashboard.benchmarks.launchers.launch import cores_of
from dashboard.benchmarks.libraries.library import Installation, find
from dashboard.benchmarks.libraries.own_settings import default_ranks
from dashboard.benchmarks.proof.prove import MOST_RANKS, Wish, prove
from dashboard.benchmarks.tune_check import measurable, prepare, rules_of, with_rules
from dashboard.commands import launching as cli_launching
from dashboard.commands.bench import plan as bench_plan
from dashboard.commands.output import say, show, working, write
from dashboard.commands.prepared import judged
from dashboard.commands.tune_check import decided as cli_decided
from dashboard.commands.tune_check.again import Again
from dashboard.commands.tune_check.options import LAUNCHES
from dashboard.commands.tune_check.rules import Given, form_of, given, written
from dashboard.commands.tune_check.text import described, lines_of
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.decisions.function.cutting import without_slower
from dashboard.decisions.judged.improvement import Improvement, Verdict, improvement, judge
from dashboard.decisions.measured.map import ends_of
from dashboard.export.bundle import files_of
from dashboard.export.provenance import today
from dashboard.export.usage import han_name
from dashboard.tuning.measure import finished
from loaders import open_results

#: What helps beside a quiet machine where no time can be trusted.
_ANEW = ", in another --folder, or add --keep-doubtful"


@dataclass(frozen=True)
class _Left:
    """The rules that were written, how many rules are gone and how many lost cells, by collective."""

    rules: Given
    dropped: dict[str, int]
    cut: dict[str, int]

    @property
    def changed(self) -> bool:
        """Whether anything is gone."""
        return any((*self.dropped.values(), *self.cut.values()))


def tune_check(args: argparse.Namespace) -> None:
    """Measure, compare, judge and drop, as asked."""
    if args.drop_slower != bool(args.output):
        raise Usage("--drop-slower and -o FILE go together: the rules without the slower ones are written there")
    if args.decided and not args.rules:
        raise Usage("--decided FILE… goes with the rules file that was decided from these results")
    if not args.rules and (args.drop_slower or not args.results):
        raise Usage("name a rules file or a saved decision function")
    _checked(args)


def _checked(args: argparse.Namespace) -> None:
    installation = None if args.results else _installation(args)
    rules = given(args, form_of(args, installation)) if args.rules else None
    files = args.results
    if installation is not None and rules is not None:
        files = [_measured(args, rules, installation)]
    improvements = _compared(args, files)
    verdicts = {} if rules is None else _judged(rules, improvements)
    held = {}
    if rules is not None and args.decided:
        held = cli_decided.held_against(args.decided, improvements, rules.decisions, rules.form.version)
    left, again = None, None
    if rules is not None and args.drop_slower:
        left = _left(args, rules, improvements, verdicts)
        again = None if installation is None else _once_more(args, left, installation)
    result = {
        "results": [str(file) for file in files],
        "rules": None if rules is None else [args.rules],
        "collectives": {
            name: described(improvement, verdicts.get(name, [])) for name, improvement in improvements.items()
        },
        "dropped": None if left is None else left.dropped,
        "cut": None if left is None else left.cut,
        "left": None if again is None else again.to_dict(),
        **({"decided": cli_decided.described(held)} if args.decided else {}),
    }
    show(args, result, lambda: [*lines_of(improvements, verdicts), *cli_decided.lines_of(held)])
    if again is not None:
        again.say(args.output)
    args.slower = slower = sum(verdict.outcome == "slower" for each in verdicts.values() for verdict in each)
    if slower and not args.drop_slower:
        are = "rule is" if slower == 1 else "rules are"
        say(f"{slower} {are} slower than the library's own decision beyond noise (--drop-slower -o FILE)")


def _installation(args: argparse.Namespace) -> Installation:
    """The installed library, given the rules file that is going to be in the folder."""
    return with_rules(find(), rules_of(Path(args.folder)), han=bool(args.han))


def _ranks(args: argparse.Namespace, rules: Given) -> int:
    """Processes to launch: those asked for, those that the rules were measured with, or the cores."""
    return int(args.ranks or cli_launching.measured_ranks(rules.text) or default_ranks())


def _measured(args: argparse.Namespace, rules: Given, installation: Installation) -> Path:
    """Measure what is missing in the campaign's folder; the file with the results."""
    folder = Path(args.folder)
    if lost := [name for name in args.collective or () if name not in rules.decisions]:
        raise Usage(f"-c {lost[0]}: the rules decide {', '.join(rules.decided)}")
    names = measurable(args.collective or rules.decided or rules.decisions)
    installation = with_rules(installation, rules_of(folder), names, han=bool(args.han))
    if installation.library.unheeded:
        say(f"note: {installation.library.unheeded}")
    ranks = _ranks(args, rules)
    otherwise: dict[str, Any] = {"ranks": ranks, "collectives": names}
    if installation.library.apart:
        # Launches differ by more than the repetitions within one of them show.
        otherwise["launches"] = LAUNCHES
    if cli_launching.spreads(args):
        # Ranks of 5.0.11 crash when HAN has answered while messages are counted.
        otherwise["graphs"] = False
    # That of the plan is how many are measured; here it says how ranks are placed.
    measuring = argparse.Namespace(**{**vars(args), "ppn": None})
    campaign = prepare(folder, rules.text, bench_plan.planned(measuring, installation, **otherwise))
    now = control.status(campaign)
    if now["measured"] + now["refused"] >= now["points"]:
        say(f"{folder}: everything is measured already")
        return campaign.results
    done = campaign.done()
    launcher = cli_launching.launcher_of(args, installation)
    cores = cores_of(launcher)
    limit = args.time_limit or limits.limit_of(campaign.plan(), done.all, cores, done.seconds)
    with working() as progress:

        def tell(now: Mapping[str, Any]) -> None:
            """Say how far the campaign is."""
            done = now["measured"] + now["refused"]
            progress(done / max(1, now["points"]), f"{done} of {now['points']} points: {now['now']}")

        finished(campaign, launcher, installation, limit, tell)
    return campaign.results


def _compared(
    args: argparse.Namespace, files: Sequence[Path | str], otherwise: str | None = _ANEW
) -> dict[str, Improvement]:
    """Compare what can be trusted; what else than measuring again helps where nothing can, None: that is no error."""
    results = open_results([str(file) for file in files])
    names = [str(name) for name in results.children if not args.collective or name in args.collective]
    if not names:
        raise Usage(f"-c {args.collective[0]}: these results hold {', '.join(results.children)}")
    kept = bool(args.keep_doubtful)
    cubes = judged({name: results[name].to_dataset() for name in names}, otherwise, keep_doubtful=kept)
    return {name: improvement(cube, level=args.level) for name, cube in cubes.items()}


def _judged(rules: Given, improvements: Mapping[str, Improvement]) -> dict[str, list[Verdict]]:
    if lost := [name for name in improvements if name not in rules.decisions]:
        say(f"note: the rules do not decide {', '.join(lost)}")
    return {
        name: judge(improvement, rules.decisions[name])
        for name, improvement in improvements.items()
        if name in rules.decisions
    }


def _left(
    args: argparse.Namespace,
    rules: Given,
    improvements: Mapping[str, Improvement],
    verdicts: Mapping[str, Sequence[Verdict]],
) -> _Left:
    """Write the rules without what is slower."""
    changed, gone, cut = [], {}, {}
    for name, decision in rules.decisions.items():
        kept, dropped, lost = without_slower(decision, verdicts.get(name, []), improvements.get(name))
        changed.append(_with_data(kept, improvements.get(name)))
        gone[name], cut[name] = len(dropped), len(lost)
    total, parts = sum(gone.values()), sum(cut.values())
    what = f"{total} rule that was slower is" if total == 1 else f"{total} rules that were slower are"
    if parts:
        what = f"{what[: what.rindex(' ')]}, and the slower cells of {parts} more, are"
    note = f"Checked against the library's own decision on {today()}: {what} left to it."
    left = written(changed, rules.form, note=note, like=rules.text)
    files = files_of(args.output, left.text)
    for name, text in files:
        write(name, text)
    say(f"wrote {' and '.join(name for name, _ in files)}: {what} left to the library's own decision")
    return _Left(left, gone, cut)


def _with_data(decision: DecisionFunction, improvement: Improvement | None) -> DecisionFunction:
    """The decision, and the sizes that it was compared at, if any."""
    if improvement is None:
        return decision
    return decision.changed(provenance={**decision.provenance, **ends_of(improvement.cells)})


def _once_more(args: argparse.Namespace, left: _Left, installation: Installation) -> Again:
    """Prove what is left and, where anything is gone, measure it in a folder beside the first one."""
    rules = left.rules
    again = argparse.Namespace(**{**vars(args), "folder": f"{args.folder}-left"})
    ranks = _ranks(args, rules)
    with working() as progress:
        launcher = cli_launching.launcher_of(args, installation)
        wish = Wish(
            Path(args.output),
            installation.mpiexec,
            launcher=launcher,
            ranks=min(ranks, MOST_RANKS),
            collectives=rules.decided,
            han=Path(han_name(args.output)) if args.han else None,
        )
        proof = prove(wish, progress)
    if not (rules.decided and left.changed):
        return Again(proof, {}, {})
    improvements = _compared(again, [_measured(again, rules, installation)], None)
    return Again(proof, improvements, _judged(rules, improvements))
