"""Memory that closed sessions leave, given back to the system where it is glibc that keeps it."""

import ctypes
from contextlib import suppress

from tornado.ioloop import IOLoop

#: Of malloc.h; each thread that computes would else fill memory of its own, which no other one uses.
_M_ARENA_MAX, _ARENAS = -8, 2
#: Seconds after the first of the sessions that ended: Bokeh forgets them in batches, and Panel tidies up after them.
_LATER = 10.0
_waiting = False


def share() -> None:
    """Have the threads of this process, begun from now on, share memory."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS)


def give_back_later() -> None:
    """Give back what the sessions that end about now have left; on the server's thread."""
    global _waiting  # noqa: PLW0603 - of the process, as its memory is
    if not _waiting:
        _waiting = True
        IOLoop.current().call_later(_LATER, _give_back)


def _give_back() -> None:
    global _waiting  # noqa: PLW0603 - as above
    _waiting = False
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
