"""``colltune model parameters | fit | runtime | decide``: models beside measurements."""

import argparse
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands.load import load
from dashboard.commands.output import penalty, say, show, working, writing
from dashboard.commands.prepared import judged_as_asked
from dashboard.commands.usage import Usage
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.models import parameter_title
from dashboard.domain.units import format_range
from dashboard.models import MODEL_NAMES, MODELS
from dashboard.models.deciding import decision_times, model_penalties
from dashboard.models.family import read_trust
from dashboard.models.fit import Fit, fit_all
from dashboard.models.observations import observe
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import find_parameters
from dashboard.models.pingpong import (
    LOGP_MPI,
    parameters_of_pingpong,
    parameters_of_table,
    pingpong_of,
    read_logp_table,
)
from dashboard.models.predicting import Covered
from dashboard.models.runtime_functions import runtime_functions
from loaders import disk
from loaders.collectives import POINT_TO_POINT


def parameters(args: argparse.Namespace) -> None:
    """Make parameters of point-to-point measurements."""
    network = _of_table(args) if _is_table(args.paths) else _of_pingpong(args)
    _save(args, network)
    show(args, network.to_dict(), lambda: _network_lines(network))


def _is_table(paths: list[str]) -> bool:
    """Whether it is one table of gaps and overheads, or one that logp_test saved, rather than results."""
    if len(paths) != 1 or not Path(paths[0]).is_file():
        return False
    with disk.opened(paths[0]) as file:
        first = file.readline(1 << 16)
        head = next((line for line in (first, *file) if line.strip() and not line.startswith(b"#")), b"")
    return first.startswith(LOGP_MPI.encode()) or (paths[0].endswith(".csv") and b"gap_us" in head)


def _of_table(args: argparse.Namespace) -> ParameterSet:
    path = Path(args.paths[0])
    if args.gamma:
        say("note: --gamma is for ping-pongs; a table says all itself")
    table = read_logp_table(path)
    return parameters_of_table(table, sources=[path.name], name=args.name or path.stem)


def _of_pingpong(args: argparse.Namespace) -> ParameterSet:
    args.collective = args.ppn = None
    results = load(args)
    if POINT_TO_POINT not in results.children:
        raise Usage(f"these results hold no ping-pong, but {', '.join(results.children)}")
    measured = pingpong_of(results[POINT_TO_POINT].to_dataset())
    name = args.name or Path(args.paths[0]).stem
    return parameters_of_pingpong(measured, gamma=args.gamma, name=name)


def _cubes(args: argparse.Namespace) -> dict[str, xr.Dataset]:
    """Cubes of the collectives asked for; else of all that there are models of."""
    results = load(args)
    there = list(results.children)
    wrong = [name for name in args.collective or () if name not in there]
    if wrong:
        raise Usage(f"-c {wrong[0]}: these results hold {', '.join(there)}")
    names = args.collective or [name for name in there if name in MODELS]
    if not names:
        raise Usage(f"there is no model of what these results hold: {', '.join(there)}")
    return judged_as_asked(args, {name: results[name].to_dataset() for name in names})


def fit(args: argparse.Namespace) -> None:
    """Fit parameters to measured collectives."""
    observed = replace(observe(_cubes(args).values(), args.methods, ppn=args.ppn), variant=args.variant)
    models = tuple(name for name in MODEL_NAMES if name in (args.models or MODEL_NAMES))
    start = find_parameters(args.parameters, models[0]) if args.parameters else None
    with working() as progress:
        network, fits = fit_all(
            observed, models, start=start, name=args.name or "fitted", level=args.level, progress=progress
        )
    _save(args, network)
    result = {
        **network.to_dict(),
        "fits": {
            name: {
                **fitted.provenance(),
                "cells": len(fitted.residuals),
                "residuals": {
                    method: {
                        "median_percent": 100 * float(rows["residual"].median()),
                        "median_absolute_percent": 100 * float(rows["residual"].abs().median()),
                        "largest_percent": 100 * float(rows["residual"].abs().max()),
                    }
                    for method, rows in _by_method(fitted)
                },
            }
            for name, fitted in fits.items()
        },
    }

    def lines() -> list[str]:
        text_lines: list[str] = []
        for name, fitted in fits.items():
            text_lines += [*_fit_lines(name, fitted), ""]
        return text_lines[:-1]

    show(args, result, lines)


def _by_method(fit: Fit) -> list[tuple[str, Any]]:
    groups = fit.residuals.groupby(["collective", "method"], sort=False)
    return [(f"{collective} {method}", rows) for (collective, method), rows in groups]


def _fit_lines(name: str, fit: Fit) -> list[str]:
    rows = [
        [parameter_title(parameter), f"{fit.value(parameter):.4g}", f"{low:.4g}" if high < 1e300 else "-", _high(high)]
        for parameter, (low, high) in fit.intervals.items()
    ]
    head = [name, "value (s, s/B)", f"{100 * fit.level:g} % from", "to"]
    lines = cli_text.table(head, rows, right=(1, 2, 3))
    lines.append("(intervals of independent scatter: what a model gets wrong along a whole line widens them)")
    lines.append(f"median residual {fit.median_error:.1f} % over {len(fit.residuals):,} cells; by method:")
    figures = [
        [f"  {method}", f"{100 * rows['residual'].median():+.1f}", f"{100 * rows['residual'].abs().max():.0f}"]
        for method, rows in _by_method(fit)
    ]
    lines += cli_text.table(["  method", "median (%)", "largest (%)"], figures, (1, 2))
    return [*lines, *(f"note: {note}" for note in fit.notes)]


def _high(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "not determined"


def runtime(args: argparse.Namespace) -> None:
    """Fit runtime functions to each method."""
    high = float("inf") if args.high is None else float(args.high)
    fitted = {
        name: runtime_functions(cube, args.methods, ppn=args.ppn, message_range=(args.low, high))
        for name, cube in _cubes(args).items()
    }
    result = {
        "collectives": {
            name: {label: [each.to_dict() for each in functions] for label, functions in methods.items()}
            for name, (methods, _) in fitted.items()
        },
        "left_out": {name: left_out for name, (_, left_out) in fitted.items() if left_out},
    }

    def lines() -> list[str]:
        """A row for each function, and why methods have none."""
        rows = [
            [name, label, format_range(*each.comm_range), each.text(), f"{each.error:.1f}"]
            for name, (methods, _) in fitted.items()
            for label, functions in methods.items()
            for each in functions
        ]
        head = ["collective", "method", "processes", "seconds, b in bytes", "median (%)"]
        without = [f"{name} {label}: {why}" for name, (_, why_of) in fitted.items() for label, why in why_of.items()]
        return [*cli_text.table(head, rows, (4,)), *(f"note: no function of {each}" for each in without)]

    show(args, result, lines)


def decide(args: argparse.Namespace) -> None:
    """Show what deciding by each model, and by their vote, costs."""
    network = find_parameters(args.parameters)
    trust = read_trust(args.trust or "")
    answers: dict[str, Any] = {}
    for name, cube in _cubes(args).items():
        problem = Problem.of(cube, ppn=args.ppn)
        covered = Covered.of(name, problem.methods)
        penalties = model_penalties(problem, network, trust=trust, variant=args.variant)
        answers[name] = {
            "not_covered": list(covered.missing),
            "penalty": {by: penalty(fair) for by, (fair, _) in penalties.items()},
            "penalty_of_all": {by: penalty(every) for by, (_, every) in penalties.items()},
            "decision_time": decision_times(problem, network),
        }
    result = {"parameters": network.name, "variant": args.variant, "collectives": answers}
    show(args, result, lambda: _decide_lines(answers))


def _decide_lines(answers: Mapping[str, Any]) -> list[str]:
    head = ["collective", "model", "mean (%)", "median (%)", "max (%)"]
    head += ["all methods: mean (%)", "median (%)", "max (%)"]
    rows = [
        [name, by, *_three(figures), *_three(answer["penalty_of_all"][by])]
        for name, answer in answers.items()
        for by, figures in answer["penalty"].items()
    ]
    lines = ["penalty against the best measured method that models cover, and against the best of all", ""]
    lines += cli_text.table(head, rows, range(2, len(head)))
    for name, answer in answers.items():
        times = [f"{by} {cli_text.time(seconds)}" for by, seconds in answer["decision_time"].items()]
        lines.append(f"{name}: one decision takes {', '.join(times)}")
        if answer["not_covered"]:
            lines.append(f"{name}: no model covers {', '.join(answer['not_covered'])}")
    return lines


def _three(figures: Mapping[str, float | None]) -> list[str]:
    return [cli_text.number(figures[name]) for name in ("mean", "median", "max")]


def _save(args: argparse.Namespace, network: ParameterSet) -> None:
    if args.output:
        with writing(args.output):
            network.save(args.output)
        # What comes next predicts by a model of them.
        args.saved = network.models[0]
        say(f"wrote {args.output}: {', '.join(network.models)}")


def _network_lines(network: ParameterSet) -> list[str]:
    lines = [network.name]
    for model in network.models:
        for name, value in network.of(model).to_dict().items():
            if name not in ("model", "delta"):
                digits = ".12g" if name == "sizes" else ".4g"
                text = ", ".join(f"{each:{digits}}" for each in np.atleast_1d(value))
                lines.append(f"{model:8} {parameter_title(name)}: {text}")
    return [*lines, *(f"note: {note}" for note in network.provenance.get("assumed", ()))]
