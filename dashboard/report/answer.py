"""A tree in figures, and where they are bad or thin: the tiles of the page *Decisions*, the captions of pictures."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dashboard.decisions import DecisionFunction
from dashboard.decisions.measured.noise import UNTESTABLE
from dashboard.decisions.measured.selection import WITHOUT, yardstick
from dashboard.domain.units import format_bytes, format_count, format_gain, format_percent, format_share
from dashboard.plots.ties import VEILS
from dashboard.plots.tiles import Tile
from dashboard.session.prepared import Decided
from dashboard.session.view import View

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
    mean = decided.statistics["penalty"]["mean"]
    rules = decided.decision.simplified().leaves
    cells = sum(int((each["best"] >= 0).sum()) for each in decided.penalties)
    few, measured = rules * CELLS_PER_RULE > cells, format_count(cells, "measured cell")
    thin = f"{format_count(rules, 'rule')} on {format_count(cells, 'cell')}: too few to decide on" if few else ""
    yield Tile("Rules", f"{rules:,}", f"for {measured}", thin)
    yield _mean(view, decided, mean)
    if mean is not None:
        yield _worst(decided)
    yield _against_default(view, decided)
    yield from _certain(view, decided.penalty, among_others=len(decided.penalties) > 1)


def _certain(view: View, penalties: xr.Dataset, *, among_others: bool) -> Iterator[Tile]:
    """How sure the best methods of the map are; where it shows that, by the same probabilities as it is faded by."""
    cells = "of the cells of this map" if among_others else "of the cells"
    measured, unsure = int((penalties["best"] >= 0).sum()), "on most cells other methods may be as fast"
    sureness, (tied, _), tests = view.sureness(), view.needed().tied, view.needed().tests
    if sureness is not None and np.isfinite(sureness).any():
        sure = 100 * float(np.mean(sureness[np.isfinite(sureness)] >= SURE))
        note = f"{cells}: fastest with a probability of {SURE:.0%} or more"
        yield Tile("Certain", format_share(sure / 100), note, unsure if sure < MOST_CELLS else "")
    elif tests and not any(test.attrs["tested"] for test in tests):
        yield Tile("Not tied", "–", alarm=f"no cell can be tested: {UNTESTABLE}")
    elif tied.size:
        alone = 100 * (1 - int(tied.sum()) / max(measured, 1))
        note = f"{cells} have one fastest method as measured; how sure that is: Show uncertainty"
        yield Tile("Not tied", format_share(alone / 100), note, unsure if alone < MOST_CELLS else "")


def _mean(view: View, decided: Decided, mean: float | None) -> Tile:
    if mean is None:
        return Tile("Lost on average", "–", alarm="what it takes was measured nowhere")
    facts, in_sample = view.needed().problem.provenance, format_percent(mean)
    against = f"against the {yardstick(facts)}, " if facts.get(WITHOUT) else ""
    judged = left_out(view, decided.decision)
    figure, note, beside = in_sample, "in sample", "Statistics judges it at sizes left out"
    if judged is not None:
        figure, note, beside = judged.figure, f"{judged.where}; {in_sample} in sample", ""
    much = f"{against}{note}; the page Frontier shows what loses less"
    most = mean if judged is None else max(judged.mean, mean)
    return Tile("Lost on average", figure, f"{against}{note}", much if most > MOST_MEAN else "", beside)


@dataclass(frozen=True)
class LeftOut:
    """What a tree loses at sizes left out: the mean in percent, the same with its error in words, and of which."""

    mean: float
    figure: str
    where: str


def left_out(view: View, decision: DecisionFunction) -> LeftOut | None:
    """What a tree of a view loses at sizes left out, as judged there or as the recommendation expects it of itself."""
    held = None if view.shown is None else view.known_heldout(view.shown)
    if held is not None:
        return LeftOut(held.figures.mean, format_percent(held.figures.mean), "at sizes left out")
    tables = decision.provenance.get("recommended", [])
    judged = tables[0].get("left_out") if len(tables) == 1 else None
    return judged and LeftOut(judged["mean"], judged["figure"], "expected at sizes left out")


def _worst(decided: Decided) -> Tile:
    """The largest penalty of all that the tree decides; with a workload, of what it calls."""
    tables = [each["penalty"].where(each["weight"] > 0 if "weight" in each else True) for each in decided.penalties]
    number = int(np.argmax([-np.inf if np.isnan(most) else most for most in (float(each.max()) for each in tables)]))
    at = tables[number].isel(tables[number].argmax(...))
    worst, weighed = float(at), "weight" in decided.penalties[number]
    if worst == 0:
        fastest, where = yardstick(decided.prepared.problem.provenance), " that is called" if weighed else ""
        return Tile("Lost at worst", format_percent(worst), f"the {fastest} is chosen everywhere{where}")
    given = decided.prepared.problem.slices[number].given if len(tables) > 1 else {}
    place = f"at {int(at['comm_size']):,} processes, {format_bytes(int(at['message_size']))}"
    place += " of the calls" if weighed else ""
    place += "".join(f", {name} {value}" for name, value in given.items())
    return Tile("Lost at worst", format_percent(worst), place, place if worst > MOST_WORST else "")


def _against_default(view: View, decided: Decided) -> Tile:
    """Over all that the tree decides; with a workload, of what it calls."""
    gain = decided.gain
    if gain is None:
        return Tile(AGAINST_DEFAULT, "–", "its own decision was not measured here")
    if not gain.cells:
        return Tile(AGAINST_DEFAULT, "–", "no call is at a cell that has both" if gain.both else "no cell has both")
    cells = "cells" if view.treatment.workload is None else "called cells"
    held = None if view.shown is None else view.known_heldout(view.shown)
    outside = None if held is None or held.gain is None or not held.gain.cells else held.gain.mean
    sizes_left_out = "" if outside is None else f", {format_gain(outside)} at sizes left out"
    note = f"in sample{sizes_left_out}, mean of cells; {gain.slower:,} of {gain.cells:,} {cells} slower"
    loses = min(gain.mean, gain.mean if outside is None else outside) < 0
    return Tile(AGAINST_DEFAULT, format_gain(gain.mean), note, note if loses else "")
