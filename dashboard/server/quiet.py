"""What the log is kept free of: secrets (tokens of sessions, codes of a log-in, passwords), and closed tabs."""

from __future__ import annotations

import logging
import re
from traceback import walk_tb

from bokeh.protocol.exceptions import ProtocolError
from tornado.websocket import WebSocketClosedError

_SECRET = re.compile(
    r"(?i)\b(bokeh-token|bokeh-session-id|code|state|access_token|id_token|password|_xsrf)=[^&\s)'\"]+"
)
#: Loggers that write down addresses and what was asked for.
_MESSAGES = "bokeh.server.views.ws"
_LOGGERS = ("tornado.access", "tornado.general", "tornado.application", _MESSAGES, "panel.auth")
_OWN = ("dashboard.", "loaders.")


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


class WithoutMalformed(logging.Filter):
    """Lets every record pass; of a message that breaks Bokeh's own code it says in one line what, without traceback.

    Who sends such messages is no browser. Where a function of this package is at fault the traceback stays.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave the traceback and most of the message out."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or (record.name != _MESSAGES and not isinstance(error, ProtocolError)):
            return True
        if not any(str(frame.f_globals.get("__name__")).startswith(_OWN) for frame, _ in walk_tb(error.__traceback__)):
            record.msg, record.args = "a message that no browser sends: %s: %.200s", (type(error).__name__, error)
            record.exc_info = record.exc_text = None
        return True


def keep_quiet() -> None:
    """Leave all three out of the server's log from now on; may be called again."""
    for name in _LOGGERS:
        _add(name, WithoutSecrets())
    _add("asyncio", WithoutClosedTabs())
    for name in (_MESSAGES, "tornado.application"):
        _add(name, WithoutMalformed())


def _add(name: str, wanted: logging.Filter) -> None:
    logger = logging.getLogger(name)
    if not any(isinstance(each, type(wanted)) for each in logger.filters):
        logger.addFilter(wanted)
