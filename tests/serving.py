"""Run a server as a child process, for tests that look at it from outside."""

import os
import queue
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

READY = re.compile(r"(?:running at|Serving on|available at):? +(http://\S+)")
START_SECONDS = 120.0


class Served:
    """A server in a process of its own, which can be asked within ``with``, and has ended after it.

    It imports the packages of the working tree of this test run, and prints once it can be asked what matches `ready`,
    with its address as the first group.
    """

    def __init__(self, command: list[str], cwd: Path, ready: re.Pattern[str] = READY) -> None:
        root = Path(__file__).resolve().parent.parent
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(root)}
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.output: list[str] = []
        self.url = ""
        self._ready = ready
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait_until_ready(self) -> None:
        """Return once the server has printed its address; `RuntimeError` with what it printed if it does not."""
        deadline = time.perf_counter() + START_SECONDS
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.perf_counter(), 0))
            except queue.Empty:
                line = None
            if line is None:
                message = "the server did not start; it wrote:\n" + "".join(self.output)
                raise RuntimeError(message)
            if match := self._ready.search(line):
                self.url = match[1]
                return

    def stop(self) -> None:
        """End the server and wait for it."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(timeout=10)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _drain(self) -> None:
        # All of it, to the end: a server whose pipe is full stops.
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line)
            self._lines.put(line)
        self._lines.put(None)
