"""What this process may use of its machine, which a job, a container or a service holds to less than there is."""

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from loaders import disk

#: Control groups of this process, and where those of all are.
_OWN, _ALL = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def processors() -> int:
    """Processors that this process may run on, or as many as its control groups leave it the time of."""
    split = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    times = [
        _words(group / "cpu.max") or [*_words(group / split[0]), *_words(group / split[1])] for group in _groups("cpu")
    ]
    held = [math.ceil(int(time[0]) / int(time[1])) for time in times if len(time) == 2 and time[0].isdecimal()]
    # Other systems than Linux have no affinity.
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([bound, *held]))


def memory() -> int | None:
    """Bytes that this process's control groups leave it of the machine's memory; None: not known."""
    limits = [_words(group / name) for group in _groups("memory") for name in ("memory.max", "memory.limit_in_bytes")]
    held = [int(limit[0]) for limit in limits if limit and limit[0].isdecimal()]
    with suppress(ValueError, OSError):
        held.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(held, default=None)


def _groups(controller: str) -> Iterator[Path]:
    """Folders of this process's control groups and of those around them: of the one tree, or of a controller's own."""
    for line in _lines(_OWN):
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers or controller in controllers.split(","):
            own = _ALL / (controllers and controller) / path.lstrip("/")
            yield from (group for group in (own, *own.parents) if group.is_relative_to(_ALL))


def _words(file: Path) -> list[str]:
    return " ".join(_lines(file)).split()


def _lines(file: Path) -> list[str]:
    try:
        return disk.read_text(file).splitlines()
    except (OSError, ValueError):
        return []
