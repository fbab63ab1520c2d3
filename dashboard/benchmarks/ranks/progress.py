"""How far a job is, for whoever watches it."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import write_json


class Progress:
    """Points measured and still to measure; the first process writes them down.

    Parameters
    ----------
    file
        Of the campaign; None on all other processes.
    """

    def __init__(self, file: Path | None, attempt: int) -> None:
        self.done = self.points = 0
        #: Processes on each node.
        self.nodes: list[int] = []
        self._file, self._attempt = file, attempt
        self._started = self._cell_ended = time.monotonic()
        self._now = ""

    def begin(self) -> None:
        """Count the time of the next cell from here."""
        self._cell_ended = time.monotonic()

    def took(self, points: int) -> float:
        """Seconds for each of so many points since the last cell ended, all that was done between the two with it."""
        since = self._cell_ended
        self.begin()
        return round((self._cell_ended - since) / max(1, points), 6)

    def calling(self, point: Mapping[str, Any] | None) -> None:
        """Say which point is called."""
        self.say(self._now, calling=point)

    def say(self, now: str, ended: str = "", calling: Mapping[str, Any] | None = None) -> None:
        """Say what is done, and at the end how it ended."""
        self._now = now
        if self._file is None:
            return
        elapsed = round(time.monotonic() - self._started, 3)
        record = {"attempt": self._attempt, "done": self.done, "points": self.points, "now": now, "ended": ended}
        write_json(self._file, {**record, "nodes": self.nodes, "calling": calling, "elapsed": elapsed})
