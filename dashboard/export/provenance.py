"""Where an exported decision function comes from, in lines of text that every target's comments use."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from typing import TYPE_CHECKING, Any

from dashboard.domain.unmeasured import unmeasured as unmeasured_words
from loaders.collectives import plain_name, size_meaning

if TYPE_CHECKING:
    from dashboard.decisions import DecisionFunction


def version() -> str:
    """Version of colltune, or a word that says that it is not installed."""
    try:
        return metadata.version("colltune")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def today() -> str:
    """Date for the header: that of ``SOURCE_DATE_EPOCH`` if set (reproducible builds), else today's in UTC."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()


def generator(provenance: Mapping[str, Any] | None = None) -> str:
    """``colltune 0.1.0, 2026-11-20``; `provenance` may set ``version`` and ``date``."""
    given = provenance or {}
    return f"colltune {given.get('version') or version()}, {given.get('date') or today()}"


def how_to_ask(name: str) -> str:
    """How a written function is called, and what it answers."""
    return (
        f"{name}(comm_size, message_size) returns the index of the method to use, {name}_methods[index] is its "
        "name. comm_size is the number of processes, message_size is in bytes; what it counts is said at each "
        "function. Sizes beyond the measured ones take the decision of the nearest measured size."
    )


def describe(decision: DecisionFunction, provenance: Mapping[str, Any] | None = None) -> list[str]:
    """Describe a decision function, its quality and its data, one fact a line.

    Parameters
    ----------
    decision
        The decision function; its own ``provenance`` tells of the data.
    provenance
        What it does not know itself: ``statistics``, the result of `dashboard.decisions.function.statistics` or
        a mapping from collectives to such results; ``sources``, the files or their number, likewise; and any
        further facts of the data, which go before its own.

    Returns
    -------
    list of str
        Without line ends; not yet escaped for any language.
    """
    given = dict(provenance or {})
    written = given.pop("as_written", {}).get(decision.collective)
    holds = given.pop("unsaid", {}).get(decision.collective)
    statistics = _statistics_of(decision, given.pop("statistics", None))
    facts = {**decision.provenance, **{k: v for k, v in given.items() if k not in ("date", "version")}}
    return [
        f"Message size: {_size(decision.collective)}.",
        f"Decision: {_tree(decision)}.",
        *_quality(statistics),
        *([f"Less than decided can be said here: {written}."] if written else []),
        *([f"{holds[0].upper()}{holds[1:]}."] if holds else []),
        *_data(decision.collective, facts),
    ]


def _size(collective: str) -> str:
    return "always 0, a barrier carries no data" if plain_name(collective) == "barrier" else size_meaning(collective)


def _statistics_of(decision: DecisionFunction, statistics: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if statistics is None:
        return {}
    if "penalty" in statistics:
        return statistics
    together = statistics.get(str(decision.provenance.get("part_of")))
    chosen: Mapping[str, Any] = statistics.get(decision.collective) or together or {}
    return chosen


def _tree(decision: DecisionFunction) -> str:
    options = ", ".join(f"{name} {_value(value)}" for name, value in decision.options.items())
    return f"{decision.kind} ({options})" if options else decision.kind


def _quality(statistics: Mapping[str, Any]) -> list[str]:
    lines = []
    if depth := statistics.get("depth"):
        words = [f"{name} {_value(depth[name])}" for name in ("max", "min", "mean", "expected") if name in depth]
        sizes = [f"{statistics[name]} {name}" for name in ("leaves", "nodes") if name in statistics]
        lines.append(f"Before merging: {', '.join(sizes)}; depth {', '.join(words)}.")
    if penalty := statistics.get("penalty"):
        words = [f"{name} {_value(penalty.get(name))} %" for name in ("mean", "median", "min", "max")]
        unmeasured = penalty.get("unmeasured")
        rest = f"; {unmeasured_words(unmeasured)}" if unmeasured else ""
        lines.append(f"Performance penalty against the best measured: {', '.join(words)}{rest}.")
    return lines


def _data(collective: str, facts: Mapping[str, Any]) -> list[str]:
    origin = [f"digest {facts['digest']}"] if facts.get("digest") else []
    count = _sources(collective, facts.get("sources"))
    if count is not None:
        origin.append(f"{count} source{'' if count == 1 else 's'}")
    if facts.get("cells") is not None:
        origin.append(f"{facts['cells']} measured cells")
    for name, unit in (("comm_size", "processes"), ("message_size", "bytes")):
        measured = facts.get(name)
        if isinstance(measured, list | tuple) and len(measured) == 2:
            origin.append(f"{measured[0]} to {measured[1]} {unit}")
    lines = [f"Data: {', '.join(origin)}."] if origin else []
    if isinstance(facts.get("ppns"), list | tuple):
        lines.append(f"Processes per node: {', '.join(map(str, facts['ppns']))}.")
    if facts.get("part_of"):
        lines.append(f"Decided together: {facts['part_of']}; figures of quality and data are of all of them.")
    stated_names = {"part_of", "ppn_note", "collective", "digest", "sources", "cells", "comm_size", "message_size"}
    for name, value in facts.items():
        if name not in stated_names and isinstance(value, str | int | float) and str(value):
            title = "Processes per node" if name == "ppn" else name.replace("_", " ").capitalize()
            lines.append(f"{title}: {_value(value)}.")
    return lines


def _sources(collective: str, sources: object) -> int | None:
    """How many files: given as number, as list, as the JSON list of a cube, or as one of these for each collective."""
    if isinstance(sources, Mapping):
        sources = sources.get(collective)
    if isinstance(sources, str):
        sources = json.loads(sources)
    if isinstance(sources, list | tuple):
        return len(sources)
    return sources if isinstance(sources, int) else None


def _value(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value).rstrip(".")
