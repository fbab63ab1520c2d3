"""What the log is kept free of: secrets (tokens of sessions, codes of a log-in, passwords), and closed tabs."""

import logging
import re
from traceback import walk_tb

from bokeh.protocol.exceptions import ProtocolError
from bokeh.server.connection import ServerConnection
from tornado.websocket import WebSocketClosedError

_SECRET = re.compile(
    r"(?i)\b(bokeh-token|bokeh-session-id|code|state|access_token|id_token|password|_xsrf)=[^&\s)'\"]+"
)
#: Loggers that write down addresses and what was asked for.
_MESSAGES = "bokeh.server.views.ws"
#: Where a message that came whole is taken apart and handled.
_HANDLED = "bokeh.server.protocol_handler"
_LOGGERS = ("tornado.access", "tornado.general", "tornado.application", _MESSAGES, _HANDLED, "panel.auth")
_OWN = ("dashboard.", "loaders.")
_TAKEN_APART = "bokeh.core.serialization"
#: Where Bokeh takes a message apart, with what bounds it.
_BOKEH = ("bokeh.", "dashboard.server.patches.unpacking")
#: Through which every message goes from Bokeh 3.10 and Panel 1.10 on, whoever is at fault.
_ON_THE_WAY = ("dashboard.server.patches.own_thread", "panel.io.document")
#: Who says that a browser has gone, once for each message that was on its way.
_SENDERS = (_MESSAGES, "panel.io.document")
_GONE = "Failed sending message as connection was closed"


class WithoutSecrets(logging.Filter):
    """Lets every record pass, with the values of secrets left out."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave them out."""
        message = record.getMessage()
        if (cleaned := _SECRET.sub(r"\1=…", message)) != message:
            record.msg, record.args = cleaned, ()
        return True


class WithoutClosedTabs(logging.Filter):
    """Lets every record pass but that a message was still on its way to or from a browser that had gone.

    Bokeh does not wait for its messages, so nobody is there to hear of it: asyncio writes each down as a fault, or
    Bokeh and Panel as a warning, dozens for each tab that is closed while its page is built. What the tab had sent
    before finds a connection without a session.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is something else."""
        if record.name in _SENDERS and record.msg == _GONE:
            return False
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, AssertionError):
            *_, last = walk_tb(error.__traceback__)
            return last[0].f_code.co_qualname != ServerConnection.session.fget.__qualname__
        return not isinstance(error, WebSocketClosedError)


class WithoutMalformed(logging.Filter):
    """Lets every record pass; of a message that breaks Bokeh's own code it says in one line what, without traceback.

    Who sends such messages is no browser. Where a function of this package is at fault the traceback stays, and where a
    message was taken apart and what follows it failed.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave the traceback and most of the message out."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or not _is_malformed(record.name, error):
            return True
        record.msg, record.args = "a message that no browser sends: %s: %.200s", (type(error).__name__, error)
        record.exc_info = record.exc_text = None
        return True


def _is_malformed(logger: str, error: BaseException) -> bool:
    named = (str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__))
    modules = [module for module in named if module not in _ON_THE_WAY]
    if logger == _HANDLED and not isinstance(error, ProtocolError):
        return _TAKEN_APART in modules or all(module.startswith(_BOKEH) for module in modules)
    refused = logger == _MESSAGES or isinstance(error, ProtocolError)
    return refused and not any(module.startswith(_OWN) for module in modules)


def keep_quiet() -> None:
    """Leave all three out of the server's log from now on; may be called again."""
    for name in _LOGGERS:
        _add(name, WithoutSecrets())
    for name in ("asyncio", _HANDLED, *_SENDERS):
        _add(name, WithoutClosedTabs())
    for name in (_MESSAGES, _HANDLED, "tornado.application"):
        _add(name, WithoutMalformed())


def _add(name: str, wanted: logging.Filter) -> None:
    logger = logging.getLogger(name)
    if not any(isinstance(each, type(wanted)) for each in logger.filters):
        logger.addFilter(wanted)
