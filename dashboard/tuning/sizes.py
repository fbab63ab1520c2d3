"""Sizes at which rules are compared with the library's own decision: some of each rule, as many as the time allows.

They are those of the grid, and the first and last ones that a rule decides between them: what it does there nobody has
measured.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from dashboard.benchmarks.campaigns.pace import Pace
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import Cell, Protocol
from dashboard.benchmarks.campaigns.ranges import levels
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.launchers.launch import cores_of
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.proof.regions import holds_for, messages_of
from dashboard.decisions.function.attributes import SIZES
from dashboard.decisions.function.decision import DecisionFunction
from dashboard.decisions.function.nodes import default_of
from dashboard.decisions.measured import trust
from dashboard.decisions.measured.map import methods_of, select_ppn
from dashboard.decisions.surfaces import Surfaces, folding_of
from dashboard.domain.campaign import DATATYPES
from dashboard.export.rules.over import fitted
from dashboard.tuning.rules import version_of
from dashboard.tuning.stages import Work
from loaders import open_results
from loaders.collectives import REDUCING

#: Seconds of a point at most, and at least.
_POINT_S, _LEAST_POINT_S = 1.0, 0.05
#: Part of the time that a rule is taken to save where nothing more is expected.
_LEAST = 0.02
#: Of the elements of reductions.
_DATATYPE = "float32"
#: Of a cell both methods are measured.
_BOTH = (0, 1)


class _Candidate(NamedTuple):
    """A cell that could be compared."""

    #: What its rule is expected to save at all the cells that it decides, for each one of them that is compared then,
    #: over the root of its seconds: so strata are sampled that cost unequally (Neyman's allocation).
    worth: float
    seconds: float
    cell: Cell


def plan_of(
    work: Work, decisions: Mapping[str, DecisionFunction], given: Installation, *, everywhere: bool = False
) -> Plan:
    """Plan a comparison: sizes of each rule, by whose times it is kept or dropped as a whole.

    More of rules that are expected to save much, and of what takes little time; of each rule first what programs call.

    Parameters
    ----------
    given
        The library with the rules.
    everywhere
        Whether sizes that the rules leave to the library are compared, too.
    """
    asked = work.asked
    ends = {(name, size): _ends(each, size, asked.columns) for name, each in decisions.items() for size in asked.rows}
    wish = Wish(
        ranks=asked.ranks,
        collectives=tuple(decisions),
        comm_sizes=asked.rows,
        message_sizes=tuple(sorted({*asked.columns}.union(*ends.values()))),
        datatype=_DATATYPE,
        protocol=Protocol(min_repetitions=9, max_repetitions=45, relative_error=0.02, seconds=_POINT_S),
        launches=asked.launches,
        checked=False,
    )
    plan = make_plan(wish, given)
    cells = _affordable(_candidates(work, plan, decisions, ends, everywhere=everywhere), asked.comparing)
    only = {
        name: tuple((cell.comm_size, cell.message_size, _BOTH) for cell in cells if cell.collective == name)
        for name in decisions
        if name != "barrier"
    }
    plan = replace(plan, only=only)
    # However much times scatter, it keeps to its time.
    longest = min(max(asked.comparing / sum(1 for _ in plan.points()), _LEAST_POINT_S), _POINT_S)
    return replace(plan, protocol=replace(plan.protocol, seconds=round(longest, 3)))


def _affordable(candidates: Mapping[str, Sequence[_Candidate]], seconds: float) -> list[Cell]:
    """Cells to compare in so many seconds: the first one of each collective, then what is worth most."""
    worth = attrgetter("worth")
    first = [max(each, key=worth) for each in candidates.values() if each]
    others = (candidate for each in candidates.values() for candidate in each if candidate not in first)
    chosen = [*first, *sorted(others, key=worth, reverse=True)]
    spent = np.cumsum([candidate.seconds for candidate in chosen])
    count = max(len(first), int(np.searchsorted(spent, seconds, side="right")))
    return [candidate.cell for candidate in chosen[:count]]


def element_of(collective: str) -> int:
    """Bytes of an element of the messages that are compared; 0: there are none."""
    return DATATYPES[_DATATYPE] if collective in REDUCING else int(collective != "barrier")


def _ends(decision: DecisionFunction, comm_size: int, grid: Sequence[int]) -> set[int]:
    """Message sizes of whole elements, within a grid, at which the rules for a communicator size begin and end."""
    element, ends = element_of(decision.collective), set[int]()
    for rule in decision.rules() if element else ():
        if default_of([decision.methods[rule.method]]) == 0 or not holds_for(rule.bounds, comm_size):
            continue
        low, high = messages_of(rule.bounds, comm_size)
        first = element * math.ceil(max(low, min(grid)) / element)
        last = element * math.floor(min(high, max(grid)) / element)
        ends |= {first, last} if first <= last else set()
    return ends


def _candidates(
    work: Work,
    plan: Plan,
    decisions: Mapping[str, DecisionFunction],
    ends: Mapping[tuple[str, int], Collection[int]],
    *,
    everywhere: bool,
) -> dict[str, list[_Candidate]]:
    """By collective the cells of its rules; where these decide none of the grid, those that the library decides."""
    seconds, saved, calls = _seconds(work, plan), _saved(work, decisions, plan.message_sizes), work.asked.calls()
    # A barrier has no messages.
    grid = {0, *work.asked.columns}

    def worth(cell: Cell) -> float:
        """What its rule is expected to save there, as often as programs call it."""
        place = cell.collective, cell.comm_size, cell.message_size
        return saved.get(place, _LEAST) * (calls.get(place, 0.0) if calls else 1.0)

    candidates = {}
    for name, decision in decisions.items():
        cells = [
            cell
            for cell in seconds
            if cell.collective == name and cell.message_size in grid.union(ends[name, cell.comm_size])
        ]
        cells.sort(key=lambda cell: (cell.comm_size, cell.message_size))
        leaves = decision.leaf_places([cell.comm_size for cell in cells], [cell.message_size for cell in cells])
        rules: defaultdict[int, list[Cell]] = defaultdict(list)
        left: list[Cell] = []
        for cell, leaf in zip(cells, leaves.tolist(), strict=True):
            method = decision.methods[int(decision.tree.codes[leaf])]
            (left if default_of([method]) == 0 else rules[leaf]).append(cell)
        weighed = [
            # The grid has as many sizes of a rule as it has of messages; how many ends a rule has says nothing.
            (sum(worth(cell) for cell in each if cell.message_size in grid), each)
            for each in rules.values()
        ]
        if left and (everywhere or not weighed):
            # All that is left to the library counts as one rule more: it only must not be slower.
            weighed.append((sum(weight for weight, _ in weighed) / max(1, len(weighed)) or 1.0, left))
        candidates[name] = [
            _Candidate(weight / number / math.sqrt(seconds[cell]), seconds[cell], cell)
            for weight, each in weighed
            for number, cell in enumerate(sorted(_spread(each), key=lambda cell: not worth(cell)), 1)
        ]
    return candidates


def _saved(
    work: Work, decisions: Mapping[str, DecisionFunction], message_sizes: Sequence[int]
) -> dict[tuple[str, int, int], float]:
    """Part of the library's own time that rules are expected to save, by collective and sizes.

    By the times that surfaces predict from what was measured; at least `_LEAST`. What they do not know is not there.
    """
    rows, columns = np.array(work.asked.rows), np.array(message_sizes)
    results = open_results(work.folder.results)
    saved = {}
    for name, decision in decisions.items():
        if name not in results.children or name == "barrier":
            continue
        cube = select_ppn(trust.without_doubtful(results[name].to_dataset()))[0]
        methods, times = methods_of(cube), cube["time"].transpose("method", *SIZES).values
        folding = folding_of(name, cube["algorithm"].values)
        surfaces = Surfaces(times, cube["comm_size"].values, cube["message_size"].values, folding=folding)
        logs = surfaces.at(rows, columns).log_time
        places = {method.label: place for place, method in enumerate(methods)}
        own, known = default_of(methods), fitted(decision, cube, version_of(work))
        codes = known.predict(rows[:, None], columns[None, :])
        for row, column in np.ndindex(codes.shape) if own is not None else ():
            place = places.get(known.methods[codes[row, column]].label)
            part = np.nan if place is None else -np.expm1(logs[place, row, column] - logs[own, row, column])
            if np.isfinite(part):
                saved[name, int(rows[row]), int(columns[column])] = max(float(part), _LEAST)
    return saved


def _spread(cells: Sequence[Cell]) -> Iterator[Cell]:
    """The middle one of some cells first, then their ends, then what is between."""
    middle = len(cells) // 2
    yield cells[middle]
    depths = levels(len(cells))
    for place in sorted(range(len(cells)), key=lambda place: (depths[place], place)):
        if place != middle:
            yield cells[place]


def _seconds(work: Work, plan: Plan) -> dict[Cell, float]:
    """What comparing each cell takes, all launches together, by what such points took when methods were measured.

    There many methods shared what is done around each cell, here two do: no cell takes less than the shortest one did.
    """
    took = work.folder.campaign.done().seconds
    measured: defaultdict[tuple[str, int, int], float] = defaultdict(float)
    for (name, _, comm_size, message_size, *_), seconds in took.items():
        measured[name, comm_size, message_size] += seconds
    pace, least = Pace(plan.protocol, cores_of(work.launcher), took), min(measured.values(), default=0.0)
    return {
        cell: plan.launches * max(len(_BOTH) * pace.point(cell), least) for cell in plan.cells() if cell.launch == 1
    }
