"""How long a process had to wait for its core while it measured, by the scheduler's own count; no MPI.

A process that shares its core with another one is put aside for some milliseconds at a time. Where that lasts for a
while only, the median of the repetitions looks as good as any. Linux counts how long each thread was ready to run and
did not (second number of ``/proc/thread-self/schedstat``, ns); elsewhere nothing is told.
"""

import functools
import os
import platform
from collections.abc import Sequence
from typing import Any

#: Repetitions are stolen when a process waited for more than this share of the time that they took. Processes that
#: have their cores for themselves wait for some thousandths of it, those that share one for a third and more.
SHARE = 0.1
_COUNTED = "/proc/thread-self/schedstat"
_DIGITS = 7


def waited() -> float:
    """Seconds that this thread has waited for a core so far, in about a microsecond; NaN where nobody counts."""
    counted = _counted()
    return float("nan") if counted is None else int(os.pread(counted, 96, 0).split()[1]) * 1e-9


@functools.cache
def _counted() -> int | None:
    """What is read again and again: the count of the thread that asks first, which is the one that measures."""
    try:
        return os.open(_COUNTED, os.O_RDONLY)
    except OSError:
        return None


def longest(comm: Any, members: Sequence[int], times: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """Find the process that waited for the largest share of its time; collective over `comm`.

    Parameters
    ----------
    comm
        Of the processes that measured.
    members
        Their ranks in the whole job.
    times
        For each method the seconds that this process waited, and those that it measured.

    Returns
    -------
    list of dict
        For each method ``seconds`` waited ``of`` those measured, ``rank`` and ``node``; empty where nobody counts.
    """
    answers = comm.allgather((platform.node(), times))
    return [
        max(
            (
                {
                    "seconds": round(waits[at][0], _DIGITS),
                    "of": round(waits[at][1], _DIGITS),
                    "rank": rank,
                    "node": node,
                }
                for rank, (node, waits) in zip(members, answers, strict=True)
                if waits[at][0] >= 0 and waits[at][1] > 0
            ),
            key=lambda wait: wait["seconds"] / wait["of"],
            default={},
        )
        for at in range(len(times))
    ]
