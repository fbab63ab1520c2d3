"""What must not be read in a log: tokens of sessions, codes of a log-in, passwords."""

from __future__ import annotations

import logging
import re

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


def keep_secrets() -> None:
    """Leave secrets out of the server's log from now on; may be called again."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(each, WithoutSecrets) for each in logger.filters):
            logger.addFilter(WithoutSecrets())
