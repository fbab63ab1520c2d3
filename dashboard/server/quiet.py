"""What the log is kept free of: secrets (tokens of sessions, codes of a log-in, passwords), and closed tabs."""

from __future__ import annotations

import logging
import re

from tornado.websocket import WebSocketClosedError

_SECRET = re.compile(
    r"(?i)\b(bokeh-token|bokeh-session-id|code|state|access_token|id_token|password|_xsrf)=[^&\s)'\"]+"
)
#: Loggers that write down addresses and what was asked for.
_LOGGERS = ("tornado.access", "tornado.general", "tornado.application", "bokeh.server.views.ws", "panel.auth")


class WithoutSecrets(logging.Filter):
    """Lets every record pass, with the values of secrets left out."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave them out."""
        told = record.getMessage()
        if (cleaned := _SECRET.sub(r"\1=…", told)) != told:
            record.msg, record.args = cleaned, ()
        return True


class WithoutClosedTabs(logging.Filter):
    """Lets every record pass but that a message was still on its way to a browser that had gone.

    Bokeh does not wait for its messages, so nobody is there to hear of it, and asyncio writes it down as a fault.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is something else."""
        return record.exc_info is None or not isinstance(record.exc_info[1], WebSocketClosedError)


def keep_quiet() -> None:
    """Leave both out of the server's log from now on; may be called again."""
    for name in _LOGGERS:
        _add(name, WithoutSecrets())
    _add("asyncio", WithoutClosedTabs())


def _add(name: str, wanted: logging.Filter) -> None:
    logger = logging.getLogger(name)
    if not any(isinstance(each, type(wanted)) for each in logger.filters):
        logger.addFilter(wanted)
