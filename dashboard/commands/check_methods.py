"""``colltune check-methods``: call every method of the installed MPI in every way, and say which are at fault.

Exit status: 0 when every method can be chosen, 3 when one must not be or was not called everywhere; 2 on bad usage or
input, as everywhere.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dashboard.benchmarks.campaigns.ranges import parse_sizes
from dashboard.benchmarks.libraries.library import at
from dashboard.benchmarks.safety.check import TIME_UP, Report, check, methods_of, order_of
from dashboard.commands import launching as cli_launching
from dashboard.commands.output import answer, say, show, working
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_count, format_range
from dashboard.export.known_faults import FAULTS, PROGRAMS

UNSAFE = 3


def check_methods(args: argparse.Namespace) -> None:
    """Print what is at fault; SystemExit with `UNSAFE` when a method must not be chosen."""
    if args.program:
        _program(args.program)
        return
    if args.known:
        _known(args)
        return
    report = _checked(args)
    show(args, report.to_dict(), lambda: lines_of(report))
    if not report.safe:
        chosen = any(each.excluded for each in report.faulty)
        say(f"{report.library}: not every method {'can be chosen' if chosen else 'was called in every way'}")
        raise SystemExit(UNSAFE)


def _checked(args: argparse.Namespace) -> Report:
    sizes = parse_sizes(args.ranks)
    if not sizes or min(sizes) < 2:
        raise Usage(f"--ranks {args.ranks}: allowed are numbers of processes of at least 2")
    installation = at(args.mpiexec)
    launcher = cli_launching.launcher_of(args, installation)
    library = installation.library
    order = order_of(library, methods_of(library, args.collective, args.algorithm), sizes)
    python = cli_launching.python_of(args, installation)
    known: dict[str, Any] = {"seconds": args.time_limit, "hangs": args.hangs, "python": python, "launcher": launcher}
    with working() as progress:
        return check(installation, order, progress=progress, **known)


def _program(name: str) -> None:
    if name not in PROGRAMS:
        raise Usage(f"--program {name}: there are {', '.join(PROGRAMS)}")
    answer(PROGRAMS[name])


def _known(args: argparse.Namespace) -> None:
    def lines() -> list[str]:
        return [
            f"{each.collective} {each}" + (f" (--program {each.program})" if each.program else "") for each in FAULTS
        ]

    show(args, {"faults": [asdict(fault) for fault in FAULTS]}, lines)


def lines_of(report: Report) -> list[str]:
    """Give the report as plain text."""
    sizes = format_range(report.comm_sizes[0], report.comm_sizes[-1])
    count = sum(report.methods.values())
    counts = f"{format_count(count, 'method')}, {format_count(report.cases, 'case')}, {sizes} processes"
    lines = [f"{report.library}: {counts}, {report.seconds:.0f} s"]
    unsafe = [each for each in report.faulty if each.excluded]
    limited = [each for each in report.faulty if each.only_commutative]
    own = [each for each in report.faulty if not each.excluded and not each.only_commutative]
    for title, methods in (
        ("must not be chosen", unsafe),
        ("right only for operations that commute", limited),
        ("the library's own decision is at fault", own),
    ):
        lines += _listed(title, [_words(each) for each in methods])
    lines += _listed("not for all numbers of processes", [_not_for(each) for each in report.not_for])
    once = [f"{each['collective']} {each['label']}: {each['case']}: {each['effect']}" for each in report.once]
    lines += _listed("once, and not when called again (perhaps the machine was too busy)", once)
    if report.missing:
        remedy = " (--time-limit)" if report.stopped == TIME_UP else ""
        lines.append(f"not called everywhere: {format_count(report.missing, 'method')}; {report.stopped}{remedy}")
    verdict = "SAFE" if report.safe else "NOT SAFE" if unsafe else "NOT ALL CALLED"
    return [*lines, f"{verdict}: {len(unsafe):,} of {count:,} methods must not be chosen"]


def _listed(title: str, rows: Sequence[str]) -> list[str]:
    return [f"{title}:", *(f"  {row}" for row in rows)] if rows else []


def _words(each: Any) -> str:
    sizes = ", ".join(map(str, each.comm_sizes))
    return f"{each} ({format_count(each.cases, 'case')} at {sizes} processes: {'; '.join(each.kinds)})"


def _not_for(each: Mapping[str, Any]) -> str:
    return f"{each['collective']} {each['label']}: {', '.join(map(str, each['comm_sizes']))}: {each['why']}"
