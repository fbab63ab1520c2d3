"""What the server runs when it starts: a browser is still on its way while the first results are read.

The name is Bokeh's: a served directory may hold these hooks beside its ``main.py``.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from dashboard.samples import start_with

_START = start_with(sys.argv[1:])


def on_server_loaded(server_context: Any) -> None:
    """Import the pages and read what the first session will show, beside the server's own thread."""
    threading.Thread(target=_warm, name="colltune-warm-up", daemon=True).start()


def _warm() -> None:
    from dashboard.app import warm_up  # noqa: PLC0415 - importing it is most of the work

    warm_up(_START)
