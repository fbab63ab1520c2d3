"""What stands for a document and its event loop."""

import threading
from collections.abc import Callable
from typing import Any

from panel.io.document import MockSessionContext


class Loop:
    """Keeps what was scheduled until it is told to run it; workers schedule at any time."""

    def __init__(self) -> None:
        self.session_context: Any = MockSessionContext(document=None)
        self.waiting: list[Callable[[], None]] = []
        self.delays: list[int] = []
        self.came = threading.Condition()

    def add_next_tick_callback(self, work: Callable[[], None]) -> Callable[[], None]:
        with self.came:
            self.waiting.append(work)
            self.came.notify()
        return work

    def add_timeout_callback(self, work: Callable[[], None], delay: int) -> Callable[[], None]:
        self.delays.append(delay)
        return self.add_next_tick_callback(work)

    def remove_timeout_callback(self, work: Callable[[], None]) -> None:
        self.waiting.remove(work)

    def run(self) -> None:
        """Run what waits now."""
        waiting, self.waiting = self.waiting, []
        for work in waiting:
            work()

    def step(self) -> None:
        """Run what comes next."""
        with self.came:
            assert self.came.wait_for(lambda: self.waiting, timeout=30)
            work = self.waiting.pop(0)
        work()

    def run_until(self, met: Callable[[], bool]) -> None:
        while not met():
            self.step()
