"""``colltune model map``: the decision map that models make without any measurement, or the optimal implementation."""

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from dashboard.commands import text as cli_text
from dashboard.commands.model.predict import say_undetermined
from dashboard.commands.output import say, show, writing
from dashboard.commands.prepared import say_undetermined_choices
from dashboard.commands.usage import Usage
from dashboard.decisions import DecisionFunction
from dashboard.domain.units import format_bytes, format_count
from dashboard.models import MODEL_NAMES
from dashboard.models.deciding import Ensemble, ModelMap, decision_of_map, decision_of_optimal
from dashboard.models.deciding import model_map as find
from dashboard.models.family import read_labels, read_trust
from dashboard.models.optimal_map import optimal_map, times_of
from dashboard.models.parameter_set import ParameterSet
from dashboard.models.parameter_text import find_parameters
from dashboard.models.predicting import Covered, candidates, methods_named


def model_map(args: argparse.Namespace) -> None:
    """Show the map, and save its decision function if asked to."""
    if args.optimal and args.model not in MODEL_NAMES:
        raise Usage(f"--optimal needs --model {' or '.join(MODEL_NAMES)}: models that vote have no one segment size")
    network = find_parameters(args.parameters, args.model)
    sizes = sorted(set(args.comm_sizes)), sorted(set(args.message_sizes))
    if args.optimal:
        _optimal(args, network, sizes)
    else:
        _given(args, network, sizes)


def _given(args: argparse.Namespace, network: ParameterSet, sizes: tuple[list[int], list[int]]) -> None:
    """The map over given methods."""
    named = read_labels(args.methods or "")
    methods = (
        methods_named(args.collective, named)
        if named
        else candidates(args.collective, segment_sizes=tuple(args.segment_sizes))
    )
    known = Covered.of(args.collective, methods)
    ensemble = Ensemble(network, args.model, read_trust(args.trust or ""), args.variant)
    elected = find(known, *sizes, ensemble)
    decision = decision_of_map(elected, ensemble)
    say_undetermined_choices(decision)
    if args.output:
        _save(args, decision)
    labels = [method.label for method in methods]
    answer = {
        **_about(args, network, sizes),
        "methods": labels,
        "best": _indices(elected.best),
        "votes": {name: _indices(votes) for name, votes in elected.votes.items()},
        "time": _of_best(elected).tolist(),
        "undetermined": decision.provenance["models"].get("undetermined", {}).get("parameters", []),
    }
    show(args, answer, lambda: _lines(answer, _drawn(sizes, labels, elected.best, _of_best(elected))))


def _save(args: argparse.Namespace, decision: DecisionFunction) -> None:
    with writing(args.output):
        decision.save(args.output)
    say(f"wrote {args.output}: {format_count(decision.leaves, 'leaf', 'leaves')}")


def _optimal(args: argparse.Namespace, network: ParameterSet, sizes: tuple[list[int], list[int]]) -> None:
    """The map over all segment sizes."""
    if args.variant == "as_published" or args.trust or args.methods:
        raise Usage(
            "--optimal takes no --methods, --trust and --as-published: its methods are those that it finds, and "
            "optimal segment sizes follow from the corrected formulas"
        )
    optimal = optimal_map(args.collective, network.of(args.model), *sizes, multiple=args.multiple)
    if args.output:
        _save(args, decision_of_optimal(optimal, network))
    labels = [str(name) for name in optimal["candidate"].values]
    answer = {
        **_about(args, network, sizes),
        "algorithms": labels,
        "best": _indices(optimal["algorithm"].values),
        "segment_size": optimal["segment_size"].values.tolist(),
        "time": optimal["time"].values.tolist(),
        "undetermined": say_undetermined(network, args.model, partial(times_of, optimal)),
    }

    def lines() -> list[str]:
        heading = _lines(answer, _drawn(sizes, labels, optimal["algorithm"].values, optimal["time"].values))
        heads = ["", *map(format_bytes, sizes[1])]
        rows = [
            [str(count), *(f"{each:.0f}" if each else "-" for each in row)]
            for count, row in zip(sizes[0], optimal["segment_size"].values, strict=True)
        ]
        return [*heading, "", "optimal segment sizes in bytes", *cli_text.table(heads, rows, range(len(heads)))]

    show(args, answer, lines)


def _about(args: argparse.Namespace, network: ParameterSet, sizes: tuple[list[int], list[int]]) -> dict[str, Any]:
    return {
        "collective": args.collective,
        "model": args.model,
        "parameters": network.name,
        "comm_size": sizes[0],
        "message_size": sizes[1],
    }


def _of_best(predicted: ModelMap) -> Any:
    time = predicted.cube["time"].values
    picked = np.take_along_axis(time, np.maximum(predicted.best, 0)[None], axis=0)[0]
    return np.where(predicted.best >= 0, picked, np.nan)


def _indices(best: Any) -> list[list[int | None]]:
    return [[None if each < 0 else int(each) for each in row] for row in best]


def _drawn(sizes: tuple[list[int], list[int]], labels: list[str], best: Any, time: Any) -> xr.Dataset:
    """A decision map as the others are printed."""
    dims = ("comm_size", "message_size")
    return xr.Dataset(
        {"best": (dims, best), "best_time": (dims, time)},
        coords={"method": labels, "comm_size": sizes[0], "message_size": sizes[1]},
    )


def _lines(answer: Mapping[str, Any], dmap: xr.Dataset) -> list[str]:
    heading = [f"{answer['collective']}: what {answer['model']} calls fastest ({answer['parameters']})", ""]
    return heading + cli_text.map_text(dmap)
