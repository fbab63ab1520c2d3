"""What the page *Export* is to write: the choices of the session, as an order that can be worked on beside it."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

from dashboard.decisions import DecisionError, DecisionFunction
from dashboard.decisions.function.cutting import as_nearest_beyond
from dashboard.decisions.function.statistics import statistics_of
from dashboard.decisions.grown.family import Progress
from dashboard.export.parts import per_collective
from dashboard.export.target import ExportError
from dashboard.export.writing import Order, Written, write
from dashboard.session.registry import COMPUTED
from dashboard.session.state import State
from dashboard.session.view import View, still

Made = Written | str
"""What was written, or why nothing could be."""


def collectives_of(state: State) -> tuple[str, ...]:
    """Collectives that are to be written: those that one tree decides, else the chosen ones, else the one on show."""
    if state.together:
        return (str(state.collective), *state.together)
    return state.exported or ((state.collective,) if state.collective is not None else ())


def order_key(state: State, base: str | None) -> tuple[Any, ...]:
    """What tells one file from another."""
    digest = None if base is None else hashlib.sha256(base.encode()).hexdigest()[:16]
    wanted = collectives_of(state), state.target, state.version, state.most_rules
    return "export", state.view.data_key, state.choice(), *wanted, digest


def order_job(state: State, base: str | None) -> Callable[[Progress | None], Made]:
    """What writes the file that is chosen now.

    Raises
    ------
    OptionError
        Where there is nothing to decide on. The function raises `DecisionError` where a tree cannot be grown.
    """
    names, key = collectives_of(state), order_key(state, base)
    views = {name: state.view.beside(name) for name in names}
    joint = state.view.job(state.choice()) if state.together else None
    given = {
        "target": state.target,
        "version": state.version,
        "most_rules": state.most_rules or None,
        "base": base,
    }

    def make(progress: Progress | None) -> Made:
        """Grow the trees, write them and read them back."""
        say = progress or (lambda _share, _text: None)
        grown: dict[str, DecisionFunction] = {}
        if joint is not None:
            say(0.0, "the tree of several collectives")
            grown = {part.collective: part for part in per_collective(joint(None))}
        for number, (name, view) in enumerate(views.items()):
            say(number / (len(views) + 1), name)
            if name not in grown:
                grown[name] = view.job(view.choice)(partial(still, say, number / (len(views) + 1), name))
        say(len(views) / (len(views) + 1), "writing and reading back")
        try:
            return write(_order(views, [as_nearest_beyond(grown[name]) for name in names], given))
        except ExportError as error:
            return str(error)

    return lambda progress: COMPUTED.once(key, lambda: make(progress))


def _order(views: dict[str, View], grown: list[DecisionFunction], given: dict[str, Any]) -> Order:
    parts, statistics = [], {}
    for decision in grown:
        problem = views[decision.collective].problem()
        if problem is None:
            raise DecisionError(f"nothing is measured of {decision.collective}")
        parts += problem.slices
        statistics[decision.collective] = statistics_of(decision, problem.penalties(decision))
    return Order.of(decisions=grown, parts=parts, provenance={"statistics": statistics}, **given)
