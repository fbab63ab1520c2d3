"""What is done to measurements before deciding, where the user chose it, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import xarray as xr

from dashboard.decisions import trust
from dashboard.decisions.folds import with_cubes
from dashboard.decisions.interpolate import interpolated
from dashboard.decisions.outliers import outliers as find_outliers
from dashboard.decisions.outliers import without_outliers
from dashboard.decisions.problem import Problem
from dashboard.decisions.selection import WITHOUT
from dashboard.decisions.simplest import simplest
from dashboard.export.unsafe import LEFT_OUT as UNSAFE
from dashboard.export.unsafe import without_unsafe

LEFT_OUT, FILLED = "left_out_note", "interpolation"


def outliers_of(cube: xr.Dataset) -> pd.DataFrame:
    """Repetitions and cells that do not belong, as `outliers` finds them by itself, after those that are doubtful."""
    doubtful, others = trust.doubtful(cube), find_outliers(trust.without_doubtful(cube))
    if not len(doubtful):
        return others
    every = pd.concat([doubtful, others], ignore_index=True) if len(others) else doubtful
    every = every.drop_duplicates([name for name in every if name not in ("expected", "ratio", "reason", "time")])
    every.attrs["note"] = f"{doubtful.attrs['note']}; {others.attrs['note']}"
    return every.reset_index(drop=True)


def treated(cube: xr.Dataset, *, without: Sequence[str] = (), outliers: bool, interpolate: bool) -> xr.Dataset:
    """Leave out methods and outliers, then fill in missing cells, where chosen.

    Parameters
    ----------
    cube
        As loaded.
    without
        Methods to leave out (`decisions.selection`).
    outliers
        Whether to leave outliers out.
    interpolate
        Whether to interpolate missing times between measured sizes.
    """
    cube = trust.without_doubtful(without_unsafe(cube, without))
    if outliers:
        found = find_outliers(cube)
        cube = without_outliers(cube, found).assign_attrs({LEFT_OUT: left_out_words(found)})
    return interpolated(cube) if interpolate else cube


def learnt(problem: Problem, *, interpolate: bool, tolerance: float | None) -> Problem:
    """What trees learn of measurements: with cells filled in, and the simplest labels.

    Parameters
    ----------
    problem
        The measurements, or a part of them.
    interpolate
        Whether to interpolate missing times between measured sizes.
    tolerance
        Percent within which the simplest label is taken; None: the fastest.
    """
    if interpolate:
        problem = with_cubes(problem, [interpolated(part.cube) for part in problem.slices])
    return problem if tolerance is None else simplest(problem, tolerance)


def left_out_words(found: pd.DataFrame) -> str:
    """Say what is left out."""
    single, cells = (int((found["kind"] == kind).sum()) for kind in ("repetition", "cell"))
    if not single + cells:
        return "No outlier was found: nothing is left out."
    parts = [
        f"{count:,} {what}{'' if count == 1 else 's'}"
        for count, what in ((single, "repetition"), (cells, "cell"))
        if count
    ]
    return f"Outliers are left out: {' and '.join(parts)} of single methods, listed under Noise."


def remarks(cube: xr.Dataset, problem: Problem) -> list[str]:
    """What was done to measurements and labels, in words."""
    told = [f"Methods are left out: {cube.attrs[WITHOUT]}."] if WITHOUT in cube.attrs else []
    told += [f"Unsafe methods are {cube.attrs[UNSAFE]}."] if UNSAFE in cube.attrs else []
    told += [f"Left out for deciding: {cube.attrs[trust.LEFT_OUT]}."] if trust.LEFT_OUT in cube.attrs else []
    told += [str(cube.attrs[name]) for name in (LEFT_OUT,) if cube.attrs.get(name)]
    if cube.attrs.get(FILLED):
        told.append(f"Missing times are interpolated for deciding, not for judging: {cube.attrs[FILLED]}.")
    simplest, workload = (problem.provenance.get(name) for name in ("simplest", "workload"))
    if simplest is not None:
        told.append(
            f"Trees learn the simplest of the methods within {simplest['tolerance']:g} % of the best: "
            f"{simplest['relabelled']:,} cells have another than the fastest."
        )
    if workload is not None:
        told.append(
            f"Sizes are weighed by {workload['calls']:,.0f} calls of a workload: {workload['exact']:,.0f} at "
            f"measured sizes, {workload['moved']:,.0f} between and {workload['beyond']:,.0f} beyond them."
        )
    return told
