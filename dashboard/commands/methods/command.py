"""``colltune methods``: the own methods, their schedules, and the proof that they do what a collective promises.

Exit status of ``verify``: 0 when every case is right, 3 when one is not, or none ran what was asked for; 2 on bad
usage or input, as everywhere.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.ranges import parse_sizes
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.method_check import MOST_CASES, PROCESSES, check_methods
from dashboard.commands import values as cli_values
from dashboard.commands.methods import trace as methods_trace
from dashboard.commands.methods.options import PROVIDERS
from dashboard.commands.methods.text import description, schedule_lines, simulated
from dashboard.commands.output import answer, say, show, working, write
from dashboard.commands.usage import Usage
from dashboard.domain.campaign import ORTHOGONAL
from dashboard.domain.units import format_count
from dashboard.models import MODELS
from dashboard.schedules import (
    ALGORITHMS,
    Algorithm,
    Call,
    NotApplicableError,
    Schedule,
    algorithm_of,
    drawing,
    grid,
    schedule,
)
from dashboard.schedules.movement import movement
from dashboard.schedules.verification import failure, fallbacks, ran
from loaders.collectives import COLLECTIVES, Collective

NOT_RIGHT = 3
_MOST_PROCESSES = 4096
_MOST_VERIFIED = 64
_SHOWN = 20


def methods(args: argparse.Namespace) -> None:
    """Run the subcommand of ``methods`` that was called."""
    run = {"list": _list, "schedule": _schedule, "verify": _verify, "draw": _draw, "trace": _trace}
    run[args.methods_command](args)


def _listed(collectives: Sequence[str], provider: str) -> Iterator[dict[str, Any]]:
    """Methods of a provider as `methods list --json` shows them."""
    for collective in collectives:
        for each in ALGORITHMS.get(collective, {}).values():
            if (each.name == ORTHOGONAL) != (provider == ORTHOGONAL):
                continue
            yield {
                "collective": collective,
                "algorithm": each.name,
                "provider": provider,
                "parameters": {parameter.name: list(parameter.values) for parameter in each.parameters},
                "defaults": {parameter.name: parameter.default for parameter in each.parameters},
                "requires": each.requires,
                "order": each.order or None,
                "fallback": each.fallback or None,
                "model": each.name if each.name in MODELS.get(collective, {}) else None,
                "formula": each.formula or None,
                "source": each.source,
            }


def _list(args: argparse.Namespace) -> None:
    if args.collective is not None and args.collective not in ALGORITHMS:
        raise Usage(f"-c {args.collective}: no methods of it, known are {', '.join(ALGORITHMS)}")
    wanted = [args.collective] if args.collective else list(ALGORITHMS)
    rows = [row for name in PROVIDERS if args.provider in (None, name) for row in _listed(wanted, name)]
    text = json.dumps(rows) if args.json else "\n".join(map(_line, rows))
    answer(text + "\n")


def _line(row: Mapping[str, Any]) -> str:
    parameters = ", ".join(f"{name} {'|'.join(map(str, values))}" for name, values in row["parameters"].items())
    needs = {"any": "", "even": "even P", "power_of_two": "P a power of two"}[row["requires"]]
    extras = "; ".join(filter(None, [parameters, needs, row["order"], row["source"], row["formula"]]))
    return f"{row['collective']:<15}{row['algorithm']:<22}{row['provider']:<12}{extras}"


def _schedule(args: argparse.Namespace) -> None:
    from dashboard.commands.model.predict import say_network
    from dashboard.models.parameter_text import find_parameters

    made = _made(args, 0)
    result = description(made)
    if args.network:
        network = find_parameters(args.network)
        result["time"] = simulated(made, network)
        say_network(network, *result["time"])
    show(args, result, lambda: schedule_lines(made, result))


def _draw(args: argparse.Namespace) -> None:
    if args.output and Path(args.output).suffix != ".svg":
        raise Usage(f"-o {args.output}: the name must end in .svg")
    # An element for each rank where a vector is cut, else one in each block: enough to see what moves.
    vector = args.collective in COLLECTIVES and COLLECTIVES[args.collective].sends == "vector"
    made = _made(args, args.element_size * (args.processes if vector else 1))
    if args.output:
        text = drawing.movement_svg(made) if args.movement else drawing.graph_svg(made)
        write(args.output, text)
        say(f"wrote {args.output}")
    if args.json or not args.output:
        edges = [{"from": source, "to": to, "step": step} for source, to, step in drawing.messages(made)]
        answer: dict[str, Any] = {"held": movement(made).tolist()} if args.movement else {"edges": edges}
        show(args, answer, lambda: drawing.movement_text(made) if args.movement else drawing.graph_text(made))


def _trace(args: argparse.Namespace) -> None:
    methods_trace.trace(args, _made(args, 0))


def _made(args: argparse.Namespace, otherwise: int) -> Schedule:
    """The schedule that is asked for; of so many bytes where that is not said."""
    if collective := COLLECTIVES.get(args.collective):
        _note_useless(args, collective)
    total = otherwise if args.bytes is None and args.collective != "barrier" else args.bytes or 0
    algorithm = algorithm_of(args.collective, args.algorithm)
    if args.processes > _MOST_PROCESSES:
        raise Usage(f"--processes {args.processes}: at most {_MOST_PROCESSES} can be shown")
    if not args.element_size or total % args.element_size:
        raise Usage(f"--bytes {total}: not a whole number of elements of --element-size {args.element_size}")
    count = total // args.element_size
    call = Call(
        args.collective,
        args.processes,
        count,
        args.root,
        args.element_size,
        in_place=args.in_place,
        commutative=not args.not_commutative,
    )
    further = {"fallback": args.fallback, **_parameters(algorithm, args)}
    made = schedule(call, algorithm.name, **further)
    if args.root and args.collective == "barrier":
        few = [schedule(replace(call, processes=3, root=root), algorithm.name, **further) for root in (0, 1)]
        if few[0].messages.tolist() == few[1].messages.tolist():
            say(f"note: {algorithm.title} has no root: --root changes nothing")
    return made


def _note_useless(args: argparse.Namespace, collective: Collective) -> None:
    """Say which options change nothing of a collective."""
    if args.bytes and args.collective == "barrier":
        say("note: a barrier has no message: --bytes changes nothing")
    if args.not_commutative and not collective.reduces:
        say(f"note: {args.collective} has no operation: --not-commutative changes nothing")
    if args.in_place and (collective.in_one_buffer or args.collective == "barrier"):
        say(f"note: {args.collective} has no two buffers: --in-place changes nothing")


def _parameters(algorithm: Algorithm, args: argparse.Namespace) -> dict[str, Any]:
    """Parameters said on the command line, as numbers where they are numbers."""
    parameters: dict[str, Any] = {}
    known = {each.name: each for each in algorithm.parameters}
    if args.segment_size is not None:
        # Of the synchronised gather the first segment is the one that has a size.
        name = "first_segment" if "first_segment" in known else "segment_size"
        if args.segment_size or name in known:
            parameters[name] = args.segment_size
    for word in args.set:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Usage(f"--set {word}: not of the form NAME=VALUE")
        if name in parameters:
            raise Usage(f"--set {word}: {name} is given twice")
        if name in known and isinstance(known[name].default, int):
            try:
                value = cli_values.size(value)
            except argparse.ArgumentTypeError as error:
                raise Usage(f"--set {word}: {error}") from None
        parameters[name] = value
    return parameters


def _verify(args: argparse.Namespace) -> None:
    algorithms = _chosen(args)
    result = (_without_mpi if args.without_mpi else _over_mpi)(algorithms, args)
    show(args, result, lambda: _verdict(result))
    if result["failed"]:
        say(f"{len(result['failed'])} of {result['cases']} cases are wrong")
        raise SystemExit(NOT_RIGHT)
    if result["cases"] <= sum(each["cases"] for each in result["fallbacks"]):
        say("nothing was verified: none of the cases can be served by what was asked for (--processes)")
        raise SystemExit(NOT_RIGHT)


def _chosen(args: argparse.Namespace) -> list[Algorithm]:
    for name in args.collective:
        if name not in ALGORITHMS:
            raise Usage(f"-c {name}: no methods of it, known are {', '.join(ALGORITHMS)}")
    wanted = args.collective or list(ALGORITHMS)
    if args.algorithm is None:
        return [each for name in wanted for each in ALGORITHMS[name].values()]
    if args.collective:
        return [algorithm_of(name, args.algorithm) for name in wanted]
    same = [ALGORITHMS[name][args.algorithm] for name in wanted if args.algorithm in ALGORITHMS[name]]
    if not same:
        raise Usage(f"--algorithm {args.algorithm}: no method has this name; 'colltune methods list' names them")
    return same


def _grid(text: str | None, otherwise: Sequence[int], least: int, most: int) -> Sequence[int]:
    """Numbers of processes that are asked for."""
    if text is None:
        return otherwise
    try:
        sizes = parse_sizes(text)
    except PlanError as error:
        raise Usage(f"--processes {text}: {error}") from None
    if not least <= sizes[0] <= sizes[-1] <= most:
        raise Usage(f"--processes {text}: allowed are {least} to {most}")
    return sizes


def _over_mpi(algorithms: Sequence[Algorithm], args: argparse.Namespace) -> dict[str, Any]:
    """Run cases on the installed MPI."""
    processes = _grid(args.processes, PROCESSES, 1, _MOST_VERIFIED)
    with working() as progress:
        return check_methods(
            [(each.collective, each.name) for each in algorithms],
            processes,
            most=args.cases or MOST_CASES,
            seconds=args.time_limit,
            eager=not args.rendezvous,
            progress=progress,
        )


def _without_mpi(algorithms: Sequence[Algorithm], args: argparse.Namespace) -> dict[str, Any]:
    """Run all cases here; those that a fallback ran, and those that it refused as well, are counted apart."""
    for name in ("cases", "rendezvous"):
        if getattr(args, name):
            raise Usage(f"--{name} is for ranks over MPI; --without-mpi runs all cases both ways")
    processes = _grid(args.processes, grid.PROCESSES, 1, _MOST_VERIFIED)
    count = refused = 0
    failed: list[dict[str, str]] = []
    ran_by: Counter[tuple[str, str, str]] = Counter()
    total = len(algorithms) * len(processes)
    with working() as progress:
        for number, (algorithm, size) in enumerate((a, p) for a in algorithms for p in processes):
            progress(number / total, f"{algorithm.title}, {size} processes")
            for case in grid.cases(algorithm, [size]):
                try:
                    ran_by[algorithm.collective, algorithm.name, ran(case)] += 1
                    reason = failure(case)
                except NotApplicableError:
                    refused += 1
                    continue
                count += 1
                if reason:
                    failed.append({"case": str(case), "reason": reason})
    return {"cases": count, "refused": refused, "fallbacks": fallbacks(ran_by), "failed": failed}


def _verdict(result: Mapping[str, Any]) -> Iterator[str]:
    """How many cases are right, and those that are not."""
    wrong = result["failed"]
    where = f" over {result['library']}" if "library" in result else ""
    counts = f"{format_count(result['cases'], 'case')}{where}, {len(wrong)} wrong"
    yield f"{counts}; {result['refused']} refused before the first message"
    for each in result["fallbacks"]:
        yield "{cases} of the cases of {collective} {algorithm} ran its fallback {ran}: it cannot serve them".format(
            **each
        )
    if "library" in result:
        yield "messages counted by the library: " + (
            "compared with the schedules" if result["graphs"] else "none, it cannot"
        )
        yield "executors: mpi4py" + (" and native" if result["native"] else "; no mpicc to build the native one with")
    yield from (f"{each['case']}: {each['reason']}" for each in wrong[:_SHOWN])
    if len(wrong) > _SHOWN:
        yield f"and {len(wrong) - _SHOWN} more; --json lists them"
