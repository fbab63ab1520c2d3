"""What a decision is made from: one table of sizes, or several that a tree is to decide together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import xarray as xr

from dashboard.decisions.function.attributes import COMM_SIZE, MESSAGE_SIZE, SIZES, attribute, compute, required
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.flat import FlatTree
from dashboard.decisions.function.nodes import Method, Node
from dashboard.decisions.grown.quadtree import provenance
from dashboard.decisions.judged.penalty import (
    PenaltySummary,
    checked_weights,
    chosen_methods,
    penalty_of,
    summarise_all,
)
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.map import decision_map, methods_of, select_ppn
from dashboard.decisions.measured.selection import WITHOUT
from dashboard.decisions.measured.slice import Slice
from dashboard.domain.arrays import BoolArray, IntArray
from dashboard.domain.errors import DecisionError, NothingMeasuredError, OptionError

#: Attributes that do not follow from the sizes, by which tables are told apart: in words, and how one is chosen: the
#: commands' option, and the control of the page that joins them.
APART = {
    "ppn": ("processes per node", "--ppn N", "One tree for all of them"),
    "collective": ("collectives", "-c NAME", "Decided together with"),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Measurements to decide on, with what a workload says of them.

    Attributes
    ----------
    collective
        The collective; several are joined by ``+``.
    methods
        Methods of all slices, each label once, in the order of their first appearance.
    slices
        One table for each collective and number of processes per node.
    categories
        For attributes of named values, the names by position.
    provenance
        What decision functions remember of the measurements.
    """

    collective: str
    methods: tuple[Method, ...]
    slices: tuple[Slice, ...]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def decided(
        self, root: Node | FlatTree, kind: str, options: Mapping[str, Any] | None = None, **facts: Any
    ) -> DecisionFunction:
        """A tree over the methods as a decision function; `facts` are added to what it remembers."""
        known: dict[str, Any] = {"categories": self.categories, "provenance": {**self.provenance, **facts}}
        return DecisionFunction(self.collective, self.methods, root, kind=kind, options=options, **known)

    @classmethod
    def of(
        cls,
        cubes: xr.Dataset | Mapping[str, xr.Dataset],
        *,
        ppn: int | Literal["all"] | None = None,
        weights: Any = None,
        dmap: xr.Dataset | None = None,
    ) -> Problem:
        """Set up a problem.

        Parameters
        ----------
        cubes
            Results of one collective, or of several by name for one tree that decides them all.
        ppn
            Processes per node, as for `select_ppn`; ``"all"`` takes each number as a slice of its own.
        weights
            Workload of one collective, ``(comm_size, message_size)``; of several by name.
        dmap
            The decision map, if it is there already; for one slice only.

        Raises
        ------
        OptionError
            When the results have no such ppn.
        NothingMeasuredError
            When no cell of any slice is measured.
        DecisionError
            When a cube is none, or `weights` or `dmap` do not fit.
        """
        several = not isinstance(cubes, xr.Dataset)
        named: dict[str, xr.Dataset] = (
            {str(cubes.attrs.get("collective", "unknown")): cubes} if isinstance(cubes, xr.Dataset) else dict(cubes)
        )
        if not named:
            raise NothingMeasuredError("no collective to decide on")
        weighed = _weights_by_name(weights if several else {next(iter(named)): weights}, named)
        parts = [
            (cube, {**given, **({"collective": name} if several else {})}, weighed.get(name))
            for name, full_cube in named.items()
            for cube, given in _each_ppn(full_cube.assign_attrs(collective=name) if several else full_cube, ppn)
        ]
        maps, measured = _maps_of([cube for cube, _, _ in parts], dmap)
        methods = _joined(methods_of(cube) for cube, _, _ in parts)
        slices = tuple(
            Slice(
                cube,
                decisions,
                given,
                None if weight is None else checked_weights(weight, cube),
                places_of(cube, methods),
            )
            for (cube, given, weight), decisions, count in zip(parts, maps, measured, strict=True)
            if count
        )
        if all(part.weights is not None and not part.weights.any() for part in slices):
            raise DecisionError("the weights of all that is measured are 0: this workload never calls it")
        return cls(
            "+".join(named),
            methods,
            slices,
            {"collective": tuple(named)} if several else {},
            _provenance(slices, measured),
        )

    @property
    def measured(self) -> Problem:
        """Without what is predicted between the measured sizes (`Slice.measured`)."""
        return replace(self, slices=tuple(part.measured or part for part in self.slices))

    def single(self, what: str) -> Slice:
        """The only slice; `OptionError` that names `what` where there are several."""
        if len(self.slices) == 1:
            return self.slices[0]
        raise OptionError(self.refusal(what))

    @property
    def differing(self) -> tuple[str, ...]:
        """What the tables differ in, of `APART`."""
        return tuple(name for name in APART if len({part.given.get(name) for part in self.slices}) > 1)

    @property
    def tables(self) -> str:
        """The tables by what they differ in, in words."""
        values = {name: dict.fromkeys(str(part.given.get(name)) for part in self.slices) for name in self.differing}
        return "; ".join(f"{APART[name][0]}: {', '.join(each)}" for name, each in values.items())

    def refusal(self, what: str) -> str:
        """Why `what` decides over sizes only, and so not over several tables, in words."""
        options, controls = (" and ".join(APART[name][way] for name in self.differing) for way in (1, 2))
        return (
            f"{what} decides over communicator and message size only, but there are {len(self.slices)} tables "
            f"({self.tables}); choose one ({options}; page Decisions: without {controls})"
        )

    def cases(self, attributes: Sequence[str] = SIZES) -> Cases:
        """Lay the measured cells out as training cases.

        Parameters
        ----------
        attributes
            What may be tested; `dashboard.decisions.function.attributes.ATTRIBUTES` lists them.

        Raises
        ------
        DecisionError
            When an attribute is unknown, or neither given with a slice nor following from the sizes.
        """
        names = tuple(attributes)
        parts = list(self._cases(names))
        values, best, times, weights, where = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Cases(names, values, best, times, weights, where, self.methods, dict(self.categories))

    def counts(
        self, decision: DecisionFunction, wrong: Sequence[BoolArray] | None = None
    ) -> dict[int, tuple[int, int]]:
        """Cases that each leaf of a decision covers, and how many are wrong; by node, as `to_text` has it.

        `wrong` are these of each slice, ``(comm_size, message_size)``; default: those with another label.
        """
        cases = self.cases(decision.attributes)
        nodes = decision.tree.walk(cases.values.T)
        errors = decision.tree.codes[nodes] != cases.best
        if wrong is not None:
            errors = np.array([wrong[number][row, column] for number, row, column in cases.where], dtype=np.bool_)
        return {int(node): (int((nodes == node).sum()), int(errors[nodes == node].sum())) for node in np.unique(nodes)}

    def _cases(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for number, part in enumerate(self.slices):
            rows, columns = np.nonzero(part.labels >= 0)
            times = np.full((rows.size, len(self.methods)), np.nan)
            times[:, part.methods] = part.counted()[:, rows, columns].T
            weights = np.ones(rows.size) if part.weights is None else part.weights[rows, columns]
            where = np.stack([np.full(rows.size, number), rows, columns], axis=1)
            sizes = part.cube[COMM_SIZE].values[rows], part.cube[MESSAGE_SIZE].values[columns]
            values = [self._value(name, part, sizes) for name in names]
            table = np.stack(values, axis=1) if values else np.empty((rows.size, 0), dtype=np.int64)
            yield table, part.labels[rows, columns], times, weights, where

    def _value(self, name: str, part: Slice, sizes: tuple[IntArray, IntArray]) -> IntArray:
        known = dict(zip(SIZES, sizes, strict=True))
        for key, value in part.given.items():
            code = self.categories[key].index(value) if key in self.categories else int(value)
            known[key] = np.full(sizes[0].size, code, dtype=np.int64)
        lacking = [base for base in required([name]) if base not in known]
        if lacking:
            raise DecisionError(
                f"attribute {name} ({attribute(name).title}) is not known of these results; "
                + ("several collectives must be decided together" if name == "collective" else "they do not say it")
            )
        return compute(name, known)

    def chosen(self, decision: DecisionFunction) -> list[IntArray]:
        """What a decision takes in each cell, for each slice as `chosen_methods` gives it."""
        return [chosen_methods(part.cube, decision, part.dmap) for part in self.slices]

    def penalties(self, decision: DecisionFunction) -> list[xr.Dataset]:
        """What a decision costs, for each slice as `penalty` gives it, weighted where there is a workload."""
        return self.costs(self.chosen(decision))

    def costs(self, chosen: Sequence[IntArray]) -> list[xr.Dataset]:
        """What methods cost that are taken in each cell, as `chosen` gives them: as `penalties`."""
        tables = [
            penalty_of(part.cube, taken, part.dmap, part.known) for part, taken in zip(self.slices, chosen, strict=True)
        ]
        # Weighted here, since a slice may have no weight at all where others have.
        return [
            table if part.weights is None else table.assign(weight=(SIZES, part.weights))
            for part, table in zip(self.slices, tables, strict=True)
        ]

    def summary(self, decision: DecisionFunction) -> PenaltySummary:
        """Sum up the penalties over all slices."""
        return summarise_all(self.penalties(decision))

    def relabelled(self, best: Sequence[npt.ArrayLike]) -> Problem:
        """The same measurements with other labels for trees to learn.

        Parameters
        ----------
        best
            For each slice ``(comm_size, message_size)`` indices into its cube's methods, -1 where nothing
            is measured. Penalties stay relative to the fastest method.
        """
        if len(best) != len(self.slices):
            raise DecisionError(f"labels for {len(best)} slices, expected {len(self.slices)}")
        slices = []
        for part, labels in zip(self.slices, best, strict=True):
            values = np.asarray(labels, dtype=np.int64)
            old = np.asarray(part.dmap["best"].transpose(*SIZES).values)
            if (
                values.shape != old.shape
                or not np.array_equal(values < 0, old < 0)
                or values.max() >= part.methods.size
            ):
                raise DecisionError(
                    f"labels of shape {values.shape} do not fit {old.shape} cells and {part.methods.size} methods"
                )
            slices.append(replace(part, dmap=part.dmap.assign(best=(SIZES, values))))
        return replace(self, slices=tuple(slices))


def _each_ppn(cube: xr.Dataset, ppn: int | Literal["all"] | None) -> Iterator[tuple[xr.Dataset, dict[str, Any]]]:
    present = [int(value) for value in cube["ppn"].values] if "ppn" in cube.dims else []
    wanted = present if ppn == "all" and present else [None if ppn == "all" else ppn]
    for number in wanted:
        flat, known = select_ppn(cube, number)
        yield flat, {} if known is None else {"ppn": known}


def places_of(cube: xr.Dataset, methods: Sequence[Method]) -> IntArray:
    """For each method of a cube its position among methods that hold it, by label."""
    place = {method.label: position for position, method in enumerate(methods)}
    return np.array([place[method.label] for method in methods_of(cube)], dtype=np.int64)


def _joined(tables: Iterator[tuple[Method, ...]]) -> tuple[Method, ...]:
    """Methods of several cubes by label, without the parameters that differ (such as the library's number)."""
    joined: dict[str, Method] = {}
    for method in (method for table in tables for method in table):
        known = joined.get(method.label, method)
        common = {k: v for k, v in known.parameters.items() if method.parameters.get(k) == v}
        joined[method.label] = replace(known, parameters=common) if common != known.parameters else known
    return tuple(joined.values())


def _weights_by_name(weights: Any, named: Mapping[str, xr.Dataset]) -> dict[str, Any]:
    """The weights of each collective; one that a workload does not name it does not call."""
    given = {name: value for name, value in (weights or {}).items() if value is not None}
    strangers = [name for name in given if name not in named]
    if strangers:
        raise DecisionError(f"weights of {', '.join(strangers)}, but the results are of {', '.join(named)}")
    return {name: given.get(name, 0.0) for name in named} if given else {}


def _maps_of(cubes: Sequence[xr.Dataset], dmap: xr.Dataset | None) -> tuple[list[xr.Dataset], list[int]]:
    """The decision map of each table, and how many cells of it are measured."""
    if dmap is not None and len(cubes) > 1:
        raise DecisionError(f"one decision map is given for {len(cubes)} tables")
    maps = [decision_map(cube) if dmap is None else dmap for cube in cubes]
    measured = [int((each["best"].values >= 0).sum()) for each in maps]
    if not any(measured):
        untrusted = any(trust.LEFT_OUT in cube.attrs for cube in cubes)
        missing = "nothing is measured: every time is missing, or every method is left out"
        raise NothingMeasuredError("no time can be trusted" if untrusted else missing)
    for each in maps:
        _check_times(each)
    return maps, measured


def _check_times(dmap: xr.Dataset) -> None:
    times = np.asarray(dmap["best_time"].values)
    wrong = (times <= 0) | np.isinf(times)
    if wrong.any():
        row, column = (int(places[0]) for places in np.nonzero(wrong))
        where = ", ".join(f"{name} {int(dmap[name][place])}" for name, place in zip(SIZES, (row, column), strict=True))
        raise DecisionError(
            f"the shortest time at {where} is {times[row, column]:g} s; times must be above 0 s and finite"
        )


def _provenance(slices: Sequence[Slice], measured: Sequence[int]) -> dict[str, Any]:
    first = provenance(slices[0].dmap)
    if len(slices) == 1:
        return first
    for part in slices[1:]:
        other = provenance(part.dmap)
        for name in SIZES:
            first[name] = [min(first[name][0], other[name][0]), max(first[name][1], other[name][1])]
        first = {key: value for key, value in first.items() if key in SIZES or other.get(key) == value}
    given = {name: [part.given.get(name) for part in slices] for name in ("ppn", "collective")}
    devices = [str(part.dmap.attrs.get("device", "")) for part in slices]
    first |= {"device": "; ".join(dict.fromkeys(devices))} if all(devices) else {}
    # What one of them lacks, the penalty of all is not against.
    gone = dict.fromkeys(name for part in slices for name in part.dmap.attrs.get(WITHOUT, "").split(", ") if name)
    first |= {WITHOUT: ", ".join(gone)} if gone else {}
    several = {f"{name}s": list(dict.fromkeys(values)) for name, values in given.items() if None not in values}
    return {**first, **several, "cells": int(sum(measured))}
