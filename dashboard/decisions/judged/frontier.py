"""The frontier: for all ways of deciding, what each size of tree costs, in sample and held out."""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.function.statistics import expected_depth
from dashboard.decisions.grown.families import FAMILIES
from dashboard.decisions.grown.families import family as family_named
from dashboard.decisions.grown.family import Family, Progress
from dashboard.decisions.judged.folds import folds_of
from dashboard.decisions.judged.heldout import LARGER, HeldOut, heldout_many, of_larger
from dashboard.decisions.judged.penalty import summarise_all
from dashboard.decisions.measured.problem import Problem
from dashboard.domain.arrays import BoolArray
from dashboard.domain.errors import DecisionError, OptionError
from dashboard.domain.held_out import CRITERION
from dashboard.domain.units import format_count
from dashboard.domain.unmeasured import RULE

MOST_SETTINGS = 32
"""Settings of one family that are tried; a longer path is thinned evenly, its ends kept."""

QUICK = ("exact", "quadtree", "default", "rules", "intervals")
"""Families that are tried first: what they give can be looked at while the others are grown."""

CRITERIA = CRITERION.choices
_Key = tuple[str, int]
_TIMED_CALLS = 256
_TIMED_TURNS = 5


@dataclass(frozen=True, eq=False)
class Frontier:
    """What each setting of each family gives."""

    #: One row for each setting, families one after another, each from small to large trees:
    #:
    #: ``family``; ``options`` (JSON of what differs from the defaults); ``leaves``, ``nodes``, ``depth``;
    #: ``expected_depth`` (levels passed to decide, mean over measured cells: it stands for the time to decide, which
    #: `time_to_decide` measures); ``penalty_mean``, ``penalty_median``, ``penalty_p95`` (what 95 % of the cells do not
    #: exceed), ``penalty_max`` in percent; ``cells`` that they are over; ``unmeasured`` (those whose chosen method was
    #: not measured there, which count by `dashboard.domain.unmeasured.RULE`); ``held_out_mean`` …
    #: ``held_out_unmeasured`` the same over cells that were not decided on (NaN and 0 without), ``held_out_error``
    #: (standard error of that mean, from its spread over the folds, in points), ``held_out_within`` (mean of those
    #: between sizes that were decided on), ``held_out_leaves`` (of the trees that were judged so, in the middle of the
    #: folds); ``dominated`` (`beaten` by `value`).
    table: pd.DataFrame
    #: The decision function of each row.
    decisions: tuple[DecisionFunction, ...]
    #: Name of the column that ``dominated`` and recommendations go by.
    value: str
    #: For families that do not suit the problem, why.
    skipped: dict[str, str] = field(default_factory=dict)
    #: What could not be held out, and what unmeasured cells count, for people.
    notes: tuple[str, ...] = ()
    #: What was held out; None when nothing was.
    scheme: str | None = None
    #: For each row all that is known of it held out; None where nothing was.
    held: tuple[HeldOut | None, ...] = ()
    #: Families that are still to be tried.
    missing: tuple[str, ...] = ()


def frontier(problem: Problem, **options: Any) -> Frontier:
    """Try every family over its options: the last one of `frontiers`, which has the same options."""
    *_, last = frontiers(problem, **options)
    return last


def frontiers(
    problem: Problem,
    *,
    families: Iterable[str] | None = None,
    further: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    held_out: str | None = None,
    folds: int = 5,
    prepare: Callable[[Problem], Problem] | None = None,
    criterion: str = "mean",
    progress: Progress | None = None,
) -> Iterator[Frontier]:
    """Try every family over its options, and give the frontier of those tried so far after each; quick ones come first.

    Parameters
    ----------
    problem
        The measurements, which all decisions are judged by.
    families
        Names of `FAMILIES`; None takes all that suit the problem, add something to the others and are quick.
    further
        Settings beside those of the families' own paths, such as the current choice or a rules file.
    held_out, folds
        As for `folds_of`; None judges by the measurements decided on only. Each setting is grown anew
        on each fold; its leaves are those of the tree grown on everything.
    prepare
        Made of the measurements before deciding, such as filling in missing cells; applied to each fold
        by itself, so that nothing held out is seen.
    criterion
        What ``dominated`` goes by: ``mean``, ``median``, ``p95`` or ``max``, held out if anything is.
    progress
        Told how far it is; may raise `Cancelled`.

    Raises
    ------
    OptionError
        When a family, an option or the criterion is unknown, or no family suits the problem.
    DecisionError
        When nothing can be held out.
    """
    CRITERION.checked(criterion)
    names = list(dict.fromkeys([*(_suitable(problem) if families is None else families), *(further or {})]))
    prepare = prepare or (lambda part: part)
    learnt = prepare(problem)
    paths, skipped = _paths(learnt, names, further or {})
    if families is None and len(problem.slices) > 1:
        skipped["search"] = "each tree takes seconds, all of them minutes; ask for it by name"
    turns = 1 if held_out is None else 1 + len(folds_of(problem, held_out, folds)[0])
    tries = _Tries(paths, turns, progress)
    points: dict[_Key, _Point] = {}
    value = f"penalty_{criterion}" if held_out is None else f"held_out_{criterion}"
    order = sorted(paths, key=lambda name: name not in QUICK)
    for number, name in enumerate(order):
        try:
            grown = tries.grow(name, learnt)
        except DecisionError as error:
            skipped[name] = str(error)
            continue
        judged: dict[_Key, HeldOut] = {}
        if held_out is not None:
            judged = heldout_many(problem, tries.on_parts(name, prepare), held_out, folds, grown=grown)
        for key, decision in grown.items():
            points[key] = _point(problem, name, paths[name][key[1]], decision, judged.get(key))
        if number + 1 < len(order):
            yield _frontier(points, value, skipped, held_out, order[number + 1 :])
    if not points:
        raise OptionError("; ".join(f"{name}: {reason}" for name, reason in skipped.items()) or "no family to try")
    yield _frontier({key: points[key] for name in paths for key in points if key[0] == name}, value, skipped, held_out)


class _Point(NamedTuple):
    """One setting of a family: its decision, what is known of it held out, and its row of the table."""

    decision: DecisionFunction
    held: HeldOut | None
    row: dict[str, Any]


def _point(
    problem: Problem, family: str, options: Mapping[str, Any], decision: DecisionFunction, held: HeldOut | None
) -> _Point:
    tried = {"family": family, "options": json.dumps(options, default=list)}
    return _Point(decision, held, {**tried, **figures_of(decision, problem.penalties(decision)), **_outside(held)})


def _frontier(
    points: Mapping[_Key, _Point],
    value: str,
    skipped: Mapping[str, str],
    scheme: str | None,
    missing: Sequence[str] = (),
) -> Frontier:
    table = pd.DataFrame([point.row for point in points.values()])
    table["dominated"] = beaten(table, value)
    decisions, held, _ = zip(*points.values(), strict=True)
    notes = dict.fromkeys(note for each in held if each is not None for note in each.notes)
    if table[["unmeasured", "held_out_unmeasured"]].to_numpy().any():
        notes[f"unmeasured: {RULE}"] = None
    if larger := of_larger(table["held_out_leaves"], table["leaves"]).sum():
        trees = format_count(larger, "tree")
        notes[f"not compared: {trees} whose folds grow trees of more than {LARGER:g} times the leaves"] = None
    return Frontier(table, decisions, value, dict(skipped), tuple(notes), scheme, held, tuple(missing))


def settings_of(family: Family, problem: Problem, further: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Settings that a frontier tries: a family's own path, thinned to `MOST_SETTINGS`, then further ones; each once.

    Returns
    -------
    list of dict
        Of each setting the options that differ from their defaults.
    """
    path = list(family.path(problem))
    kept = np.unique(np.linspace(0, len(path) - 1, min(MOST_SETTINGS, len(path))).round().astype(int))
    settings: dict[str, dict[str, Any]] = {}
    for options in (*(path[place] for place in kept), *further):
        checked = family.checked(options)
        short = {
            option.name: checked[option.name] for option in family.options if checked[option.name] != option.default
        }
        settings.setdefault(json.dumps(short, default=list), short)
    return list(settings.values())


def dominated(leaves: npt.ArrayLike, values: npt.ArrayLike) -> BoolArray:
    """Tell which points others beat: no more leaves and no higher value, and better in one; NaN is beaten."""
    size, value = np.asarray(leaves), np.asarray(values, dtype=np.float64)
    value = np.where(np.isnan(value), np.inf, value)
    # Of the points with fewer leaves the lowest value, and of those with as many.
    order = np.lexsort((value, size))
    lowest = np.minimum.accumulate(value[order])
    first = np.searchsorted(size[order], size, side="left")
    last = np.searchsorted(size[order], size, side="right") - 1
    below = np.where(first > 0, lowest[np.maximum(first - 1, 0)], np.inf)
    return np.asarray((below <= value) | (lowest[last] < value))


def beaten(table: pd.DataFrame, value: str) -> BoolArray:
    """Tell which settings are not on the frontier by a column of the `Frontier.table`.

    Another one has no more leaves and no higher `value`, and is better in one of both; or an earlier setting of the
    family gives as much; or it is not `comparable`.
    """
    alike = comparable(table, value)
    values = np.where(alike, table[value], np.nan)
    return np.asarray(dominated(table["leaves"], values) | table.duplicated(["family", "leaves", value]) | ~alike)


def listed(table: pd.DataFrame, value: str, recommended: int | None = None) -> npt.NDArray[np.intp]:
    """Rows of the `Frontier.table` that are on the frontier by a column, and the one that is recommended, by leaves."""
    shown = ~beaten(table, value)
    if recommended is not None:
        shown[recommended] = True
    order = np.argsort(table["leaves"].to_numpy(), kind="stable")
    return np.asarray(order[shown[order]])


def comparable(table: pd.DataFrame, value: str) -> BoolArray:
    """Which settings have a penalty in all cells that any has one in: not those of methods that the results lack.

    Nor, where `value` is held out, those whose held-out penalty is that of trees more than `LARGER` times as large.
    """
    alike = np.asarray(table["cells"] == table["cells"].max())
    return alike & ~of_larger(table["held_out_leaves"], table["leaves"]) if value.startswith("held_out") else alike


class _Tries:
    """Grows all settings of a family at once, on everything or on a part, and says how far it is."""

    def __init__(self, paths: Mapping[str, list[dict[str, Any]]], turns: int, progress: Progress | None) -> None:
        self._paths, self._turns, self._progress = paths, turns, progress
        self._all = max(1, sum(len(path) for path in paths.values()) * turns)
        self._done = self._turn = 0

    def grow(self, name: str, problem: Problem) -> dict[_Key, DecisionFunction]:
        """Decision functions of a family, by its name and the position in its path."""
        self._turn = 0
        try:
            return self._family(name, lambda: problem)
        except DecisionError:
            self._done += len(self._paths[name]) * (self._turns - 1)
            raise

    def on_parts(
        self, name: str, prepare: Callable[[Problem], Problem]
    ) -> Callable[[Problem], dict[_Key, DecisionFunction]]:
        """What does the same on one fold after another; it gives none where the family does not suit a fold."""

        def grow(part: Problem) -> dict[_Key, DecisionFunction]:
            self._turn += 1
            try:
                return self._family(name, lambda: prepare(part))
            except DecisionError:
                return {}

        return grow

    def _family(self, name: str, learnt: Callable[[], Problem]) -> dict[_Key, DecisionFunction]:
        family, settings = FAMILIES[name], self._paths[name]
        title = family.title + (f", fold {self._turn} of {self._turns - 1}" if self._turn else "")

        def say(share: float, _what: str = "") -> None:
            if self._progress is not None:
                self._progress(min(1.0, (self._done + share * len(settings)) / self._all), title)

        say(0.0)
        try:
            problem = learnt()
            if family.grow_many is not None:
                decisions = family.grow_many(problem, settings, progress=say)
            else:
                decisions = []
                for options in settings:
                    decisions.append(family.grow(problem, **options))
                    say(len(decisions) / len(settings))
        finally:
            self._done += len(settings)
        return {(name, number): decision for number, decision in enumerate(decisions)}


def _suitable(problem: Problem) -> list[str]:
    """All families that add something and are quick: over two sizes an octree is a quadtree, a search the best tree."""
    left = {"search", "rules"}
    if len(problem.slices) == 1:
        left.add("octree")
    if default_of(problem.methods) is None:
        left.add("default")
    return [name for name in FAMILIES if name not in left]


def _paths(
    problem: Problem, names: Iterable[str], further: Mapping[str, Sequence[Mapping[str, Any]]]
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str]]:
    """The settings of each family; and of those that do not suit the problem, why."""
    paths, skipped = {}, {}
    for family in map(family_named, names):
        wanted = [dict(options) for options in further.get(family.name, ())]
        try:
            paths[family.name] = settings_of(family, problem, wanted)
        except DecisionError as error:
            skipped[family.name] = str(error)
    return paths, skipped


def _outside(held: HeldOut | None) -> dict[str, Any]:
    if held is None:
        none = float("nan")
        names = (*CRITERIA, "error", "within", "leaves")
        return {**{f"held_out_{name}": none for name in names}, "held_out_unmeasured": 0, "held_out_cells": 0}
    figures = held.figures
    return {
        **{f"held_out_{name}": getattr(figures, name) for name in CRITERIA},
        "held_out_error": held.spread / math.sqrt(len(held.folds)),
        "held_out_within": held.within.mean,
        "held_out_leaves": held.fold_leaves,
        "held_out_unmeasured": figures.unmeasured,
        "held_out_cells": figures.cells,
    }


def figures_of(decision: DecisionFunction, tables: Sequence[xr.Dataset]) -> dict[str, Any]:
    """Size and penalty of a decision, as `Frontier.table` has them, over what `Problem.penalties` gave of it."""
    depth = expected_depth(decision, tables)
    figures = summarise_all(tables)
    return {
        "leaves": decision.leaves,
        "nodes": decision.nodes,
        "depth": decision.depth,
        "expected_depth": float("nan") if depth is None else depth,
        **{f"penalty_{name}": getattr(figures, name) for name in CRITERIA},
        "unmeasured": figures.unmeasured,
        "cells": figures.cells,
    }


def time_to_decide(problem: Problem, decision: DecisionFunction) -> float:
    """Measure one `predict_one` in seconds: calls spread over the measured cells, the fastest of several turns."""
    calls = []
    for part in problem.slices:
        given = {name: part.given[name] for name in part.given if name in decision.needs}
        rows, columns = np.nonzero(part.labels >= 0)
        sizes = part.cube[COMM_SIZE].values[rows].tolist(), part.cube[MESSAGE_SIZE].values[columns].tolist()
        calls += [(p, m, given) for p, m in zip(*sizes, strict=True)]
    calls = calls[:: max(1, len(calls) // _TIMED_CALLS)]
    best = math.inf
    for _ in range(_TIMED_TURNS):
        start = time.perf_counter()
        for comm_size, message_size, given in calls:
            decision.predict_one(comm_size, message_size, **given)
        best = min(best, (time.perf_counter() - start) / len(calls))
    return best
