"""Websockets that send the parts of a message as they come.

Bokeh writes a message in three parts and two more for each array. Left to itself, TCP sends the first one and keeps the
others until the browser has acknowledged it: up to 40 ms later on one machine, and the way there and back on a network.
"""

from bokeh.server.urls import per_app_patterns
from panel.io.server import WSHandler

_PATH = "/ws"


class PromptSocket(WSHandler):
    """Panel's websocket without that wait."""

    def open(self) -> None:
        """Begin a session."""
        super().open()
        if self.ws_connection is not None:
            self.set_nodelay(True)


def install() -> None:
    """Have every server that this process makes from now on talk so."""
    place = [path for path, _ in per_app_patterns].index(_PATH)
    if per_app_patterns[place][1] not in (WSHandler, PromptSocket):
        raise TypeError(f"{_PATH} is served by {per_app_patterns[place][1].__name__}")
    per_app_patterns[place] = _PATH, PromptSocket
