"""What the benchmarks share: repeated timing and peak memory of a fresh process."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """Seconds of several runs."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the runs."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        return f"{self.median:8.3f} s  ({min(self.seconds):.3f} – {max(self.seconds):.3f}, {len(self.seconds)} runs)"


def timed(work: Callable[[], object], runs: int = 5) -> Timing:
    """Time a function after one run that does not count."""
    work()
    return Timing(tuple(timed_once(work) for _ in range(runs)))


def in_turn(first: Callable[[], object], second: Callable[[], object], runs: int = 5) -> tuple[Timing, Timing]:
    """Time two functions in turn, so that a drift of the machine meets both."""
    first()
    second()
    pairs = [(timed_once(first), timed_once(second)) for _ in range(runs)]
    return Timing(tuple(a for a, _ in pairs)), Timing(tuple(b for _, b in pairs))


def timed_once(work: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_memory(code: str, *arguments: str) -> dict[str, Any]:
    """Run Python code in a fresh process; it prints one JSON object, to which peak memory in bytes is added.

    ``baseline`` is the peak after ``setup()``, which the code may define for its imports.
    """
    program = (
        "import json, re, sys\n"
        "def peak():\n    status = open('/proc/self/status').read()\n"
        "    return int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) * 1024\n"
        f"{code}\n"
        "setup()\nbaseline = peak()\nresult = work(*sys.argv[1:])\n"
        "print(json.dumps({**result, 'baseline': baseline, 'peak': peak()}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
    parsed: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return parsed
