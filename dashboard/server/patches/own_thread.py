"""What sessions do is done on the server's own thread, one piece after another, as it was before Bokeh 3.10.

Bokeh 3.10 makes pages, handles events and writes what comes of them on the threads of a pool: for two sessions at a
time. HoloViews, which draws for all of them, keeps what it draws with for the whole process; and what follows an event
here takes its turn without locks (`dashboard.pages.parts.later`) and sets timers of the thread that it runs on.
"""

from collections.abc import Callable
from typing import Any

from bokeh.server import session
from bokeh.server.contexts import ApplicationContext


async def _here(work: Callable[..., Any], *given: Any, **named: Any) -> Any:
    return work(*given, **named)


def install() -> None:
    """Have every server of this process do so."""
    # What Bokeh 3.9 locks a session with, which does so by itself.
    if hasattr(session, "locks"):
        return
    ours = {
        (session, "_run_in_executor"): _here,
        (session.ServerSession, "_run_in_executor"): lambda _session, work, *given: _here(work, *given),
        (ApplicationContext, "_can_initialize_document_in_worker"): lambda _context: False,
    }
    for (owner, name), way in ours.items():
        if not callable(getattr(owner, name)):
            raise TypeError(name)
        setattr(owner, name, way)
