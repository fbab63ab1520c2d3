"""What a run file says of the cores of the processes: which of them had to wait for theirs while they measured."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from loaders.source import Source

#: What of a point is looked at.
KEYS = ("stolen", "waited", "crowded")


def stolen(record: Mapping[str, Any]) -> str:
    """Why the times of a point are not those of processes that had their cores; empty where they are.

    Parameters
    ----------
    record
        A point with samples, as `loaders.run` describes it.
    """
    number = _stolen(record)
    if not number or number < len(record["samples"]):
        return ""
    wait = _wait(record)
    seconds, of = wait.get("seconds"), wait.get("of")
    share = ""
    if isinstance(seconds, float) and isinstance(of, float) and of > 0:
        share = f" for {100 * seconds / of:.0f} % of the time, and"
    return f"{_who(wait)} waited for its core{share} in half of the repetitions or more"


def say(source: Source, records: Iterable[Mapping[str, Any]]) -> None:
    """Remark once on all points that lost repetitions, and on those for which there were too few cores."""
    crowded, lost = 0, 0
    waiting: Counter[str] = Counter()
    for record in records:
        crowded += record.get("crowded") is True
        if number := _stolen(record):
            lost += number
            waiting[_who(_wait(record))] += 1
    if lost:
        most, _ = waiting.most_common(1)[0]
        source.note(
            "repetitions left out or not trusted, since a process waited for its core: "
            f"{lost:,}, points with any: {waiting.total():,}, most often for {most}"
        )
    if crowded:
        source.note(f"points with more processes than cores, which wait for each other: {crowded:,}")


def _stolen(record: Mapping[str, Any]) -> int:
    number = record.get("stolen")
    return number if type(number) is int and number > 0 else 0


def _wait(record: Mapping[str, Any]) -> Mapping[str, Any]:
    wait = record.get("waited")
    return wait if isinstance(wait, dict) else {}


def _who(wait: Mapping[str, Any]) -> str:
    rank, node = wait.get("rank"), wait.get("node")
    return f"rank {rank} on {node}" if type(rank) is int and isinstance(node, str) else "a process"
