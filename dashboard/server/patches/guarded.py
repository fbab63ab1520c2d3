"""Bokeh's application with what it lacks in front of strangers: headers, and a refusal of requests that break it.

Panel and Bokeh trust a request where they take it apart: a second ``?``, a token cut short or a NUL in a path end as an
error of the server's own (500), with a traceback in its log.
"""

import logging
import re
import time
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import bokeh.server.server
from bokeh.server.tornado import BokehTornado
from bokeh.settings import settings
from bokeh.util.token import check_token_signature, get_session_id, get_token_payload
from tornado.web import ErrorHandler

from dashboard.server import reach
from dashboard.server.headers import SafeHeaders, SmallStatic

_LOG = logging.getLogger(__name__)
#: Arguments that are taken apart as addresses.
_ADDRESSES = ("next", "bokeh-absolute-url")
#: Headers that are.
_ORIGINS = ("Origin", "Sec-WebSocket-Origin")
#: What a token may tell of a request; each is names with values.
_TOLD = ("headers", "cookies", "arguments")
#: Tornado takes these for spaces.
_CONTROL = re.compile(r"[\x00-\x1f]")
_MOST_DIGITS = 1000
_OWN_HOST = "[::1]"
_BAD, _FORBIDDEN = 400, 403


def install() -> None:
    """Have every server that this process makes from now on guarded: it takes no class for its application."""
    if not issubclass(bokeh.server.server.BokehTornado, Guarded):
        bokeh.server.server.BokehTornado = Guarded


class Guarded(BokehTornado):
    """Bokeh's application; what is asked for can be taken apart.

    Each answer has `SafeHeaders`, and static files are packed and kept (`SmallStatic`).
    """

    def __init__(self, applications: Any, **options: Any) -> None:
        super().__init__(applications, **{"transforms": [SafeHeaders, SmallStatic], **options})

    def find_handler(self, request: Any, **kwargs: Any) -> Any:
        """Refuse the request, or set it right, before a handler sees it."""
        if refused := self._refused(request):
            return self.get_handler_delegate(request, ErrorHandler, {"status_code": refused})
        path, mark, query = request.uri.partition("?")
        request.uri = f"{path}{mark}{query.replace('?', '%3F').replace('#', '%23')}"
        if request.host.startswith(_OWN_HOST):
            request.host = request.host.replace(_OWN_HOST, "localhost", 1)
        self._complete_origin(request.headers)
        return super().find_handler(request, **kwargs)

    def _refused(self, request: Any) -> int:
        """Status of the refusal; 0: none."""
        sessions = [*_values(request, "bokeh-session-id"), *request.headers.get_list("Bokeh-Session-Id")]
        if (
            b"\0" in unquote_to_bytes(request.path)
            or b".." in unquote_to_bytes(request.path).split(b"/")
            or request.host.removeprefix(_OWN_HOST).count(":") > 1
            or not all(each.strip() for each in sessions)
            # Panel makes a number of what is digits, and Python refuses one of so many.
            or any(_is_endless(value) for values in request.arguments.values() for value in values)
            or not all(_is_address(each) for name in _ADDRESSES for each in _values(request, name))
            or not all(_is_address(each) for name in _ORIGINS for each in request.headers.get_list(name))
        ):
            return _BAD
        if not self._is_known(request.host):
            _LOG.warning("asked for as %r; if a proxy calls it so: --allow-websocket-origin HOST:PORT", request.host)
            return _FORBIDDEN
        offered = _offered(request)
        for token in [*_values(request, "bokeh-token"), *offered]:
            try:
                # Of a stranger's token nothing is unpacked.
                if not check_token_signature(token, secret_key=self.secret_key, signed=self.sign_sessions):
                    return _FORBIDDEN
                payload = get_token_payload(token)
                fits = _is_session(get_session_id(token)) and _is_told(payload)
                if token in offered and payload["session_expiry"] <= time.time():
                    return _FORBIDDEN
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError, zlib.error):
                fits = False
            if not fits:
                return _BAD
        return 0

    def _is_known(self, host: str) -> bool:
        """Whether a request asks by a name of this machine's own or by one that was stated as an origin.

        A page whose own name leads here (DNS rebinding) has that name as origin and as host: two that are equal.
        """
        name = _name_of(host)
        return reach.is_loopback(name) or name in map(_name_of, self._stated()) or name in reach.own_names()

    def _complete_origin(self, headers: Any) -> None:
        """Write the port of HTTPS that browsers leave out, where it was stated: Bokeh takes 80 for it."""
        origin = headers.get("Origin", "").lower()
        if origin.startswith("https://") and f"{origin.removeprefix('https://')}:443" in self._stated():
            headers["Origin"] = f"{origin}:443"

    def _stated(self) -> list[str]:
        return [*self.websocket_origins, *(settings.allowed_ws_origin() or ())]


def _is_endless(value: bytes) -> bool:
    return len(value) > _MOST_DIGITS and value.decode("utf-8", "replace").strip().isdigit()


def _name_of(host: str) -> str:
    """Name without the port, in lower case."""
    end = host.rfind("]") + 1
    name = host[:end] if host.startswith("[") and end else host.partition(":")[0]
    return name.strip("[]").lower()


def _values(request: Any, name: str) -> Iterator[str]:
    """Values of an argument as a handler will read them."""
    for value in request.arguments.get(name, ()):
        yield _CONTROL.sub(" ", value.decode("utf-8", "replace")).strip()


def _offered(request: Any) -> list[str]:
    """Tokens of a websocket, which come as names of protocols; those of a page that a former server made, too."""
    name, *tokens = request.headers.get("Sec-WebSocket-Protocol", "").split(",")
    return [token.strip() for token in tokens] if name.strip() == "bokeh" else []


def _is_address(text: str) -> bool:
    try:
        return bool(urlsplit(text).geturl())
    except ValueError:
        return False


def _is_session(name: Any) -> bool:
    return isinstance(name, str) and bool(name.strip())


def _is_told(payload: dict[str, Any]) -> bool:
    return all(isinstance(payload.get(name, {}), dict) for name in _TOLD)
