"""A proof as people read it."""

import math
from collections.abc import Callable, Mapping

from dashboard.benchmarks.proof.verdict import STATES, Proof, State, Verdict
from dashboard.domain.units import format_bytes, format_count, format_range

_HEAD = ("collective", "processes", "sizes", "asked", "verdict", "")
_TAKEN = {
    "yes": "the library takes the file",
    "no": "THE LIBRARY DOES NOT TAKE THE FILE: at all sizes watched it decides as it does without",
    "no difference": "whether the library takes the file cannot be seen: it asks for nothing else than the library "
    "does by itself at the sizes watched",
    "unknown": "whether the library takes the file is not known: no region could be watched",
}
_NAMES = {"message_size": "", "total_size": " in total", "even": "even", "power_of_two": "power of two"}


def lines_of(proof: Proof) -> list[str]:
    """Give the report as plain text."""
    rows = [_HEAD, *_rows(proof)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD) - 1)]
    table = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    return [*_head(proof), "", *(line.rstrip() for line in table), *_too_large(proof), "", _summary(proof)]


def markdown(proof: Proof) -> str:
    """Give the report as Markdown."""
    rows = [(*_HEAD[:-1], "reason"), ("---",) * len(_HEAD), *_rows(proof)]
    table = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    head, left = ([f"- {line}" for line in lines] for lines in (_head(proof), _too_large(proof)))
    return "\n".join(["# Proof of a rules file", "", *head, "", *table, "", *left, "", _summary(proof)]) + "\n"


def _rows(proof: Proof) -> list[tuple[str, ...]]:
    """One row for each region, without those of larger communicators than were allowed."""
    return [_row(verdict, _word(proof, verdict.state)) for verdict in proof.verdicts if not verdict.region.needs]


def _too_large(proof: Proof) -> list[str]:
    """How many regions of each collective need more processes, and how many."""
    needs: dict[str, list[int]] = {}
    for verdict in proof.verdicts:
        if verdict.region.needs:
            needs.setdefault(verdict.region.collective, []).append(verdict.region.needs)
    return [
        f"{name}: {format_count(len(each), 'region')} not run: {format_range(min(each), max(each))} processes or more "
        f"needed, {proof.ranks} allowed (--ranks)"
        for name, each in needs.items()
    ]


def _head(proof: Proof) -> list[str]:
    where = f"{proof.nodes} nodes" if proof.nodes > 1 else "one node"
    return [
        f"{proof.rules}: {proof.format}",
        f"{proof.library}, up to {proof.ranks} processes on {where}, {proof.seconds:.0f} s",
        f"evidence: {proof.how}",
        _TAKEN[proof.taken],
        *(f"note: {note}" for note in proof.notes),
        *(f"UNSAFE: {finding}" for finding in proof.unsafe),
    ]


def _summary(proof: Proof) -> str:
    counts = ", ".join(f"{count} {_word(proof, state)}" for state in STATES if (count := proof.count(state)))
    verdict = proof.outcome.upper()
    verdict += " WHERE RUN" if proof.holds and proof.count("not run") else ""
    verdict += f", {len(proof.unsafe)} unsafe" if proof.unsafe else ""
    verdict += f", {format_count(proof.errors, 'error')} in the file" if proof.errors else ""
    return f"{verdict}: {format_count(len(proof.verdicts), 'region')}: {counts or 'none'}"


def _word(proof: Proof, state: State) -> str:
    """State of a region in words: a file that changes nothing that could be seen is not what made it run."""
    return "as without rules" if state == "proven" and proof.taken == "no difference" else state


def _row(verdict: Verdict, word: str) -> tuple[str, ...]:
    bounds = verdict.region.bounds
    others = [
        _NAMES[name] if low >= 0 else f"not {_NAMES[name]}" for name, (low, _) in bounds.items() if name in _FLAGS
    ]
    processes = " ".join([_range(bounds.get("comm_size", _OPEN), str), *others])
    return (
        verdict.region.collective,
        processes,
        _sizes(verdict.region.collective, bounds),
        verdict.region.method.label,
        word,
        _reason(verdict),
    )


_OPEN = (-math.inf, math.inf)
_FLAGS = ("even", "power_of_two")


def _sizes(collective: str, bounds: Mapping[str, tuple[float, float]]) -> str:
    if collective == "barrier":
        return "-"
    ranges = [
        _range(bounds[name], format_bytes) + _NAMES[name] for name in ("message_size", "total_size") if name in bounds
    ]
    return " and ".join(ranges) or "all"


def _range(bounds: tuple[float, float], text: Callable[[int], str]) -> str:
    """Whole numbers of a range as people write it."""
    if not math.isfinite(bounds[1]):
        return f"{text(int(bounds[0]) + 1)} and more" if math.isfinite(bounds[0]) else "all"
    high = int(bounds[1])
    if not math.isfinite(bounds[0]):
        return f"up to {text(high)}"
    return format_range(int(bounds[0]) + 1, high, text)


def _reason(verdict: Verdict) -> str:
    comm_sizes = ", ".join(map(str, sorted({int(point["comm_size"]) for point in verdict.points})))
    at = f"{format_count(len(verdict.points), 'size')} of {comm_sizes} processes"
    extra = f"; {verdict.why}" if verdict.why else ""
    if verdict.state == "proven":
        return f"seen at {at}{extra}"
    if verdict.state == "same graph":
        like = f"; same graph as {', '.join(verdict.like)}, not told apart" if verdict.like else ""
        return f"seen at {at}{like}{extra}"
    if verdict.state == "other":
        return f"seen: {verdict.seen}, {verdict.why}"
    return verdict.why
