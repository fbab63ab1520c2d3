"""What a server does once it listens: a browser is still on its way while the first results are read."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dashboard.session.samples import Start
from loaders import apart


def warm_up(start: Start) -> threading.Thread:
    """Import the pages and read what the first session will show, beside the server's own thread.

    A session finds what was read in the registry. Faults are left for the session to show.
    """
    # What a session reads must not stop those of others.
    apart.use()
    thread = threading.Thread(target=_warm, args=(start,), name="colltune-warm-up", daemon=True)
    thread.start()
    return thread


def _warm(start: Start) -> None:
    with uncollected():
        from dashboard.app import read_ahead  # noqa: PLC0415 - importing it is most of the work

        read_ahead(start)
    apart.prepare()


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold back the garbage collection, and leave out of later ones what was made meanwhile.

    Modules and first results stay for good. Walking over them again and again took an eighth of the time to the first
    map, and a part of each answer after it.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
