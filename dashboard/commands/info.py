"""``colltune info``: what files hold, how complete and how noisy it is, and what they lack."""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from dashboard.commands.info_text import info_lines
from dashboard.commands.load import HELD, file_report, hints_of, load
from dashboard.commands.output import loading, say, show
from dashboard.commands.text import records
from dashboard.commands.usage import Usage
from dashboard.decisions.measured.doubles import difference
from dashboard.decisions.measured.interpolate import interpolation_error
from dashboard.decisions.measured.outliers import outliers
from dashboard.decisions.measured.trust import doubtful
from loaders import LoadError, MissingHintError, facets, scan, suggesting
from loaders.collectives import POINT_TO_POINT
from loaders.hints import EXAMPLES, THEIRS


def info(args: argparse.Namespace) -> None:
    """Show what files hold, also where hints are lacking; Usage if a named file, or all of them, are of no use."""
    cubes: dict[str, dict[str, Any]] = {}
    examples: Mapping[str, str] = {}
    try:
        results = load(args)
        files = json.loads(results.attrs["sources"])
        files = _stored(results, files) if "stored" in results.attrs else files
        cubes = {name: coverage(node.to_dataset()) for name, node in results.children.items()}
    except LoadError as error:
        with loading() as progress:
            files = scan(args.paths, args.format, progress=progress, **hints_of(args))
        if not any(file["error"] for file in files):
            say(f"note: {error}")
        examples = error.examples if isinstance(error, MissingHintError) else {}
    args.first = next((name for name in cubes if name != POINT_TO_POINT), None)
    files = [file_report(file) for file in files]
    if args.first is None:
        _suggest(args, files, examples)
    answer: dict[str, Any] = {"files": files, "facets": facets.values(files), "collectives": cubes}
    if args.outliers and cubes:
        answer["outliers"] = {name: _outliers(node.to_dataset()) for name, node in results.children.items()}
    if args.between_sizes and cubes:
        answer["between_sizes"] = {name: _between(node.to_dataset()) for name, node in results.children.items()}
    show(args, answer, lambda: info_lines(answer))
    faults = [file for file in files if file["error"]]
    named = {str(Path(path)) for path in args.paths}
    for file in faults:
        if file["path"] in named or len(faults) == len(files):
            raise Usage(file["error"])


def _suggest(args: argparse.Namespace, files: Sequence[Mapping[str, Any]], examples: Mapping[str, str]) -> None:
    """Prepare the next command: a pattern over the names, what an error suggests, or examples of what is lacking."""
    lacking = dict.fromkeys(need for file in files for need in file["needs"] if need in EXAMPLES)
    # What tells all that is needed is not to be passed over for what does not.
    first = bool(examples) and any(map(_is_complete, files))
    pattern = None if args.pattern or first else suggesting.pattern_of(files)
    if pattern is not None:
        examples = {name: EXAMPLES[name] for name in suggesting.left(pattern, lacking)}
        args.pattern = pattern
    elif not first:
        examples = {name: EXAMPLES[name] for name in lacking} or examples
    collective = suggesting.collective_of([str(file["path"]) for file in files if "collective" in file["needs"]])
    if collective and "collective" in examples:
        examples = {**examples, "collective": collective}
    if collective == "barrier":
        # It has no messages.
        examples = {name: value for name, value in examples.items() if name != "message_size"}
    if pattern or examples:
        if any("message_size" in file["needs"] and file["format"] == "table" for file in files):
            examples = {name: THEIRS if name == "message_size" else value for name, value in examples.items()}
        _take_examples(args, examples)


def _is_complete(file: Mapping[str, Any]) -> bool:
    """Whether a file tells all that is needed of a collective."""
    return not file["needs"] and not file["error"] and bool({*file["collectives"]} - {POINT_TO_POINT})


def _take_examples(args: argparse.Namespace, examples: Mapping[str, str]) -> None:
    """Put what is lacking into the arguments that the next command is made of."""
    args.suggested = examples
    for name, value in examples.items():
        if value == THEIRS:
            args.columns = [*(args.columns or ()), (name, value)]
            continue
        held = HELD.get(name, name)
        before = getattr(args, held, None)
        setattr(args, held, f"{before},{value}" if before and name == "select" else value)


def coverage(cube: xr.Dataset) -> dict[str, Any]:
    """How complete and how noisy the results of one collective are.

    Returns
    -------
    dict
        ``methods`` (each with ``method, measured, cells``), the axes, ``measured`` of ``cells``, ``statistic`` and
        ``noise``: median and 90 % quantile of ``time_std / time`` in percent, None where no spread is known;
        ``doubtful`` times with the reason; ``doubles`` as `dashboard.decisions.measured.doubles.difference` has them.
    """
    there = cube["time"].notnull()
    others = [dim for dim in there.dims if dim != "method"]
    counts = there.sum(others).values.tolist()
    each = math.prod(cube.sizes[dim] for dim in others)
    noise: dict[str, float | None] = {"median": None, "p90": None}
    if "time_std" in cube:
        spread = (100 * cube["time_std"] / cube["time"]).values
        spread = spread[np.isfinite(spread)]
        if spread.size:
            noise = {"median": float(np.median(spread)), "p90": float(np.quantile(spread, 0.9))}
    axes = {name: cube[name].values.tolist() for name in ("comm_size", "message_size", "ppn") if name in cube.dims}
    return {
        "methods": [
            {"method": str(label), "measured": count, "cells": each}
            for label, count in zip(cube["method"].values, counts, strict=True)
        ],
        **axes,
        "measured": sum(counts),
        "cells": each * len(counts),
        "statistic": cube.attrs.get("statistic"),
        "statistic_kind": cube.attrs.get("statistic_kind"),
        "noise": noise,
        "doubles": difference(cube),
        "doubtful": _doubtful(cube),
    }


def _doubtful(cube: xr.Dataset) -> list[dict[str, Any]]:
    """Times that cannot be trusted, with the reason."""
    return records(doubtful(cube).drop(columns=["kind", "repetition"], errors="ignore"))


def _between(cube: xr.Dataset) -> dict[str, list[dict[str, Any]]]:
    """How far times interpolated between measured sizes are off, along each axis."""
    frames = {"message_size": interpolation_error(cube), "comm_size": interpolation_error(cube, "comm_size")}
    return {along: records(frame) for along, frame in frames.items()}


def _outliers(cube: xr.Dataset) -> list[dict[str, Any]]:
    """Times that do not fit those around them."""
    return records(outliers(cube))


def _stored(results: xr.DataTree, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The file of saved results in place of those that it was made of, which it tells as its own sources."""
    path = Path(results.attrs["stored"])
    made_of = [file for file in files if file["path"] != str(path)]
    return [
        {
            "path": str(path),
            "format": "zarr" if path.is_dir() else "netcdf",
            "rows": sum(int(node["time"].notnull().sum()) for node in results.children.values()),
            "collectives": list(results.children),
            "notes": json.loads(results.attrs["notes_when_made"]),
            "made_of": made_of,
        }
    ]
