"""What the server runs when it starts: a browser is still on its way while the first results are read.

The name is Bokeh's: a served directory may hold these hooks beside its ``main.py``.
"""

import sys
from typing import Any

from tornado.process import task_id

from dashboard.server import patches, reach
from dashboard.server.permission import Permission, at_start
from dashboard.server.quiet import keep_quiet
from dashboard.server.warming import warm_up
from dashboard.session.samples import start_with

_START = start_with(sys.argv[1:])
_USAGE = 2
# The server is made after this is read, and before any of the hooks is called.
_LOST = patches.install()


def _read_ahead() -> None:
    from dashboard.app import read_ahead  # noqa: PLC0415 - importing it is most of the work

    read_ahead(_START)


def on_server_loaded(server_context: Any) -> None:
    """Read ahead what the first session will show; a server that is open to all ends instead.

    Raises
    ------
    SystemExit
        The server was told to listen where others reach it, and nobody need log in, or a guard does not fit.
    """
    start = at_start()
    if start and any(patch.guards for patch in _LOST) and reach.open_addresses():
        start = Permission(allowed=False, reason=patches.UNGUARDED)
    if start.reason:
        sys.stderr.write(f"colltune: {'warning' if start else 'error'}: {start.reason}\n")
    if not start:
        # Of several processes each that fails would be started anew.
        raise SystemExit(_USAGE if task_id() is None else 0)
    keep_quiet()
    warm_up(_read_ahead)
