"""``colltune orthogonal``: layouts of grids, predicted times, measured improvement and the selection among them."""

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dashboard.commands import text as cli_text
from dashboard.commands.load import cubes_of, load
from dashboard.commands.model.predict import say_network
from dashboard.commands.orthogonal.options import BLOCK
from dashboard.commands.output import say, show
from dashboard.commands.usage import Usage
from dashboard.domain.units import format_bytes, format_count
from dashboard.models.grid_simulation import simulated
from dashboard.models.grids import PHASED, deviation, of_results, predict, summary
from dashboard.models.parameter_text import find_parameters
from dashboard.models.placement import follows, nodes_of, shares
from dashboard.models.published import MACHINES, Runtime, machine, machine_named
from dashboard.models.simulator import Nodes
from dashboard.schedules.layout import layouts
from dashboard.schedules.orthogonal import default_inner, inner_of, worded

_MOST_PROCESSES = 1 << 20
_TREE = "intervals"
_WITHIN = "pairs within a node, by phase"
_DEVIATION = ("measured", "deviation (%)", "of each phase alone")


def orthogonal(args: argparse.Namespace) -> None:
    """Run the subcommand of ``orthogonal`` that was called."""
    if getattr(args, "dimensions", None) == 1:
        raise Usage("--dimensions 1: a grid has at least 2")
    if args.orthogonal_command == "run":
        from dashboard.commands.orthogonal.run import run

        run(args, lambda collective, method: _runtime(args, collective, method))
        return
    commands = {"layouts": _layouts, "predict": _predict, "simulate": _simulate, "improve": _improve, "select": _select}
    commands[args.orthogonal_command](args)


def _layouts(args: argparse.Namespace) -> None:
    if args.processes > _MOST_PROCESSES:
        raise Usage(f"{args.processes} processes: at most {_MOST_PROCESSES} are listed")
    grids = layouts(args.processes, args.dimensions)
    if not grids:
        say(f"note: {_no_grid(args.processes, args.dimensions)}")
    result: dict[str, Any] = {"layouts": [list(each.factors) for each in grids]}
    if args.ppn is None:
        if args.placement is not None:
            raise Usage("--placement: of several processes on a node; --ppn says how many")
        show(args, result, lambda: [str(each) for each in grids])
        return
    nodes = nodes_of(args.processes, args.ppn, args.placement or BLOCK)
    result["within_nodes"] = [shares(each, nodes) for each in grids]
    result["follows_machine"] = [follows(each, nodes) for each in grids]
    rows = [[str(each), _within(shares(each, nodes)), "yes" * follows(each, nodes)] for each in grids]
    columns = ["grid", _WITHIN, "follows the machine"]
    show(args, result, lambda: cli_text.table(columns, rows))


def _no_grid(processes: int, dimensions: int | None) -> str:
    of = "" if dimensions is None else f" of {dimensions} dimensions"
    many = format_count(processes, "process", "processes")
    return f"there is no grid{of} of {many} with more than one process in each dimension"


def _within(shares: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:.0f} %" for share in shares)


def _simulate(args: argparse.Namespace) -> None:
    if args.ppn is None and (args.within is not None or args.placement is not None):
        raise Usage("--within, --placement: of several processes on a node; --ppn says how many")
    args.placement = args.placement or BLOCK
    usual = default_inner(args.collective)
    args.inner = args.inner or usual
    networks = [find_parameters(text, args.model) for text in (args.between, args.within or args.between)]
    say_network(networks[0], args.model)
    between, within = (network.of(args.model) for network in networks)
    nodes = Nodes(nodes_of(args.processes, args.ppn or 1, args.placement), within)
    size = args.processes, args.message_size
    original, runs = simulated(args.collective, *size, args.inner, between, nodes, args.dimensions)
    names = ("collective", "processes", "message_size", "inner", "model", "ppn", "placement")
    rows = [{**_row(each), "inside": list(each.inside)} for each in runs]
    result = {**{name: getattr(args, name) for name in names}, "original": original, "layouts": rows}
    show(args, result, lambda: _predicted_lines(result, args.dimensions))


def _predict(args: argparse.Namespace) -> None:
    from dashboard.models.fitted_runtime import unfitted, unfitted_note

    published = machine_named(args.machine) is not None
    if published and (args.inner is not None or args.method is not None):
        raise Usage(f"--inner, --method: of results; {args.machine} is a published machine, of one method each")
    args.inner, args.method = args.inner or "library", args.method or "default"
    function = _runtime(args, args.collective, args.method)
    original, predictions = predict(function, args.collective, args.processes, args.message_size, args.dimensions)
    cube = None if published else _cubes(args).get(args.collective)
    rows: list[dict[str, Any]] = []
    grids = sorted({str(each) for each in cube["inner"].values} - {""}) if cube is not None and "inner" in cube else []
    if grids and args.inner not in grids:
        say(f"note: no grid of these results runs inside of {args.inner}; --inner {' or '.join(grids)} compares")
    for each in predictions:
        row = _row(each)
        row |= {"phases": list(each.phases)} if each.phases else {}
        row |= {"missing": each.missing} if each.missing else {}
        row |= {"unfitted": dict(each.unfitted)} if each.unfitted else {}
        if cube is not None:
            compared = deviation(cube, args.method, args.inner, args.message_size, each)
            row |= {
                "measured": compared.measured,
                "deviation": compared.total,
                "phase_deviations": list(compared.phases),
            }
        rows.append(row)
    about = {name: getattr(args, name) for name in ("collective", "processes", "message_size", "machine")}
    beyond = unfitted(function, (args.processes, args.message_size))
    if note := unfitted_note({**beyond, **{word: to for each in predictions for word, to in each.unfitted.items()}}):
        say(f"note: {note}")
    result = {**about, "original": original, "unfitted": beyond, "layouts": rows}
    show(args, result, lambda: _predicted_lines(result, args.dimensions))


def _row(made: Any) -> dict[str, Any]:
    """Grid, time and improvement of what was simulated or predicted; no improvement over what takes no time."""
    return {"layout": list(made.grid.factors), "time": made.time, "improvement": made.improvement}


def _runtime(args: argparse.Namespace, collective: str, method: str) -> Runtime:
    """Runtime function of a collective on a published machine, or of a method of results."""
    if name := machine_named(args.machine):
        return machine(name, collective)
    if not Path(args.machine).exists():
        raise Usage(f"--machine {args.machine}: neither a file nor one of {', '.join(MACHINES)}")
    return of_results(_cubes(args), collective, method)


def _cubes(args: argparse.Namespace) -> dict[str, Any]:
    """Results of the machine by collective, as far as they are of such that grids are made of; read once."""
    if not hasattr(args, "machine_cubes"):
        args.paths = [args.machine]
        # Those of --ppn are of what is predicted.
        results = load(args, ppn_hints=False)
        args.machine_cubes = {name: results[name].to_dataset() for name in results.children if name in PHASED}
    cubes: dict[str, Any] = args.machine_cubes
    return cubes


def _predicted_lines(result: Mapping[str, Any], dimensions: int | None) -> list[str]:
    about = f"{result['collective']}, {result['processes']} processes, {format_bytes(result['message_size'])}: "
    rows = [
        [
            "x".join(map(str, row["layout"])),
            cli_text.time(row["time"]),
            _percent(row["improvement"]),
            cli_text.time(row["measured"]) if row.get("measured") else "",
            _percent(row.get("deviation")),
            ", ".join(_percent(each) or "–" for each in row.get("phase_deviations", [])),
            row.get("missing", ""),
            ", ".join(row.get("unfitted", ())),
            _others(row.get("inside", ()), result),
        ]
        for row in result["layouts"]
    ]
    inside = f", {result['inner']} inside" if "inner" in result else ""
    beyond = f" (not fitted to: {', '.join(words)})" if (words := result.get("unfitted")) else ""
    lines = [f"{about}original {cli_text.time(result['original'])}{beyond}{inside}"]
    if not rows:
        return [*lines, _no_grid(result["processes"], dimensions)]
    head = ["grid", "time", "gain (%)", *_DEVIATION, "", "not fitted to", "runs in its phases"]
    return [*lines, *_without_empty(head, rows)]


def _others(inside: Sequence[str], result: Mapping[str, Any]) -> str:
    """Algorithms of the phases, where one is another than was asked for; else empty."""
    asked = [worded(word)[0] for word in inner_of(result["inner"], len(inside))] if inside else []
    return ", ".join(inside) if list(inside) != asked else ""


def _without_empty(columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[int] = (1, 2)) -> list[str]:
    """A table without the columns that hold nothing; `right`: those of figures."""
    kept = [place for place, _ in enumerate(columns) if any(row[place] for row in rows)]
    places = [kept.index(place) for place in right if place in kept]
    return cli_text.table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows], places)


def _percent(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.1f}"


def _improve(args: argparse.Namespace) -> None:
    from dashboard.commands.prepared import judged_as_asked
    from dashboard.decisions.measured.map import select_ppn

    cubes = cubes_of(args, [args.collective] if args.collective else None)
    name = next(iter(cubes))
    cube = judged_as_asked(args, {name: cubes[name]})[name]
    flat, ppn = select_ppn(cube, args.ppn)
    rows = summary(flat, args.original, args.between or (0.0, float("inf")), ppn)
    ends = [int(flat["message_size"].values.min()), int(flat["message_size"].values.max())]
    result = {"collective": name, "original": args.original, "between": list(args.between or ends)}
    result["layouts"] = rows
    show(args, result, lambda: _improved_lines(rows))


def _improved_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = ("minimum", "average", "maximum", "over_two_phases")
    cells = [
        [
            row["comm_size"],
            "x".join(map(str, row["layout"])),
            row["inner"],
            *(_percent(row.get(name)) for name in names),
            _within(row["within_nodes"]) if any(row.get("within_nodes", ())) else "",
        ]
        for row in rows
    ]
    head = ["processes", "grid", "inner", "least gain (%)", "average", "most", "over two phases", _WITHIN]
    return _without_empty(head, cells, (0, 3, 4, 5, 6))


def _select(args: argparse.Namespace) -> None:
    from dashboard.commands.decide import decision_lines
    from dashboard.commands.prepared import grown, preparation

    given = {name: getattr(args, name) for name in ("price", "least_gain", "max_intervals", "significance")}
    options = {name: value for name, value in given.items() if value is not None}
    decided = grown(preparation(args, load(args)), _TREE, options)
    args.tree, args.draw = _TREE, None
    result = decided.answer()
    show(args, result, lambda: decision_lines(args, result, decided))
