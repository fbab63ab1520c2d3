"""A tree in figures, and where they are bad or thin: the tiles of the page *Decisions*, the captions of pictures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from dashboard.domain.units import format_bytes, format_count, format_percent, format_share
from dashboard.plots.ties import VEILS
from dashboard.plots.tiles import Tile
from dashboard.session.choice import Choice
from dashboard.session.prepared import Decided
from dashboard.session.view import DEFAULT, View

#: Fewer cells for each rule are too few to decide on, and larger penalties (percent) too large to be taken.
CELLS_PER_RULE, MOST_MEAN, MOST_WORST = 3, 10.0, 100.0
#: Percent of the cells that are most of them.
MOST_CELLS = 50.0
#: Probability from which on a method is surely the fastest: where maps begin to fade.
SURE = VEILS[0][0]
AGAINST_DEFAULT = "Against the library's default"


def answer(view: View) -> list[Tile]:
    """The tree on show in figures; nothing where there is none."""
    return list(_tiles(view))


def _tiles(view: View) -> Iterator[Tile]:
    decided = view.decided()
    if decided is None or decided.penalty is None:
        return
    penalties, mean = decided.penalty, decided.statistics["penalty"]["mean"]
    rules = decided.decision.simplified().leaves
    cells = sum(int((each["best"] >= 0).sum()) for each in decided.penalties)
    thin = f"{format_count(rules, 'rule')} on {format_count(cells, 'cell')}: too few to decide on"
    yield Tile("Rules", f"{rules:,}", f"for {cells:,} measured cells", thin if rules * CELLS_PER_RULE > cells else "")
    yield _mean(view, mean)
    if mean is not None:
        yield _worst(decided)
    yield _against_default(view, penalties)
    yield from _certain(view, penalties)


def _certain(view: View, penalties: xr.Dataset) -> Iterator[Tile]:
    """How sure the best methods are; where maps show it, by the same probabilities as they are faded by."""
    measured, unsure = int((penalties["best"] >= 0).sum()), "on most cells other methods may be as fast"
    sureness, tied = view.sureness(), view.tied()
    if sureness is not None and np.isfinite(sureness).any():
        sure = 100 * float(np.mean(sureness[np.isfinite(sureness)] >= SURE))
        note = f"of the cells: fastest with a probability of {SURE:.0%} or more"
        yield Tile("Certain", format_share(sure / 100), note, unsure if sure < MOST_CELLS else "")
    elif tied is not None and tied[0].size:
        alone = 100 * (1 - int(tied[0].sum()) / max(measured, 1))
        note = "of the cells have one fastest method as measured; how sure that is: Show uncertainty"
        yield Tile("Not tied", format_share(alone / 100), note, unsure if alone < MOST_CELLS else "")


def _mean(view: View, mean: float | None) -> Tile:
    if mean is None:
        return Tile("Lost on average", "–", alarm="what it takes was measured nowhere")
    held = None if view.shown is None else view.known_heldout(view.shown)
    note = "in sample; Statistics judges it at sizes left out"
    alarm = "much: the page Frontier shows what loses less" if mean > MOST_MEAN else ""
    if held is not None:
        note = f"in sample, {format_percent(held.figures.mean)} at sizes left out"
        alarm = note if max(held.figures.mean, mean) > MOST_MEAN else ""
    return Tile("Lost on average", format_percent(mean), note, alarm)


def _worst(decided: Decided) -> Tile:
    """The largest penalty of all that the tree decides; with a workload, of what it calls."""
    tables = [each["penalty"].where(each["weight"] > 0 if "weight" in each else True) for each in decided.penalties]
    number = int(np.argmax([-np.inf if np.isnan(most) else most for most in (float(each.max()) for each in tables)]))
    at = tables[number].isel(tables[number].argmax(...))
    worst, called = float(at), " of the calls" if "weight" in decided.penalties[number] else ""
    if worst == 0:
        return Tile("Lost at worst", format_percent(worst), f"the fastest measured method is chosen everywhere{called}")
    given = decided.prepared.problem.slices[number].given if len(tables) > 1 else {}
    place = f"at {int(at['comm_size']):,} processes, {format_bytes(int(at['message_size']))}{called}"
    place += "".join(f", {name} {value}" for name, value in given.items())
    return Tile("Lost at worst", format_percent(worst), place, place if worst > MOST_WORST else "")


def _against_default(view: View, penalties: xr.Dataset) -> Tile:
    default = view.penalty(Choice.of(DEFAULT)) if DEFAULT in view.given().values() else None
    if default is None:
        return Tile(AGAINST_DEFAULT, "–", "its own decision was not measured here")
    before, after = default["chosen_time"].values, penalties["chosen_time"].values
    known = np.isfinite(before) & np.isfinite(after)
    if not known.any():
        return Tile(AGAINST_DEFAULT, "–", "no cell has both")
    weights = penalties["weight"].values[known] if "weight" in penalties else None
    if weights is not None and not weights.any():
        return Tile(AGAINST_DEFAULT, "–", "no call is at a cell that has both")
    gain = 100 * float(np.average(1 - after[known] / before[known], weights=weights))
    slower = f"{int((after > before)[known].sum()):,} of {int(known.sum()):,} cells slower"
    return Tile(
        AGAINST_DEFAULT, f"{abs(gain):.1f} % {'less' if gain >= 0 else 'more'} time", slower, slower if gain < 0 else ""
    )
