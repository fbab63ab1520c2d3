"""What a server does once it listens: a browser is still on its way while the first results are read."""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dashboard.server import memory
from loaders import apart


def warm_up(ahead: Callable[[], None]) -> threading.Thread:
    """Do ahead what the first session would wait for, beside the server's own thread.

    Parameters
    ----------
    ahead
        Imports the pages, and reads what that session will show; it finds this in the registry.
    """
    memory.share()
    # What a session reads must not stop those of others.
    apart.use()
    thread = threading.Thread(target=_warm, args=(ahead,), name="colltune-warm-up", daemon=True)
    thread.start()
    return thread


def _warm(ahead: Callable[[], None]) -> None:
    with uncollected():
        ahead()
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
