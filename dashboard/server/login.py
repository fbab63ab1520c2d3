"""Logging in where others than the user of this machine reach the page: names and passwords from a file, or OAuth.

Panel provides both. What is added here: a session belongs to who opened it, forms carry a token against forgery,
passwords are compared in constant time and may be kept as hashes, and guessing is slowed down.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import stat
import time
import zlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from bokeh.util.token import get_token_payload
from jinja2 import Environment
from panel import config
from panel.auth import BasicAuthProvider, BasicLoginHandler, OAuthProvider
from tornado.web import HTTPError, decode_signed_value

#: Attempts of all together, under way or failed, within `_WINDOW_SECONDS` before nobody can try for a while.
MOST_FAILURES = 20
_WINDOW_SECONDS = 60.0
_FAILURE_SECONDS = 1.0
_SCRYPT = "scrypt$"
_COST = {"n": 2**14, "r": 8, "p": 1}

_FORM = Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>colltune: log in</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; }
form { display: grid; gap: 12px; width: 18rem; }
input, button { font: inherit; padding: 8px; width: 100%; box-sizing: border-box; }
</style></head><body><form method="post" action="{{ action }}">
<h1>colltune</h1>
{% if error %}<p role="alert">{{ error }}</p>{% endif %}
<input type="hidden" name="_xsrf" value="{{ token }}">
<label>Name <input name="username" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form></body></html>""")


class LoginError(ValueError):
    """A file of names and passwords cannot be used; the message says why."""


def read_passwords(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read names with their passwords, or with what `hashed` makes of these: a JSON object.

    Raises
    ------
    LoginError
        There is no such file, others can read it, or it holds something else.
    """
    file = Path(path)
    try:
        mode = file.stat().st_mode
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoginError(f"{file}: cannot be read as a file of names and passwords: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise LoginError(f"{file}: others on this machine can open the passwords; chmod 600 {file}")
    if not isinstance(told, dict) or not told or not all(isinstance(each, str) and each for each in told.values()):
        raise LoginError(f'{file}: must be a JSON object of names and passwords, such as {{"alice": "…"}}')
    if "" in told or "guest" in told:
        raise LoginError(f"{file}: the names '' and 'guest' stand for nobody; give other ones")
    return told


def hashed(password: str) -> str:
    """What can be kept instead of a password."""
    salt = os.urandom(16)
    return f"{_SCRYPT}{salt.hex()}${_digest(password, salt).hex()}"


def fits(password: str, kept: str) -> bool:
    """Whether a password is the one that is kept, as it is or `hashed`."""
    if not kept.startswith(_SCRYPT):
        return hmac.compare_digest(password.encode(), kept.encode())
    _, salt, digest = kept.split("$")
    return hmac.compare_digest(_digest(password, bytes.fromhex(salt)), bytes.fromhex(digest))


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, **_COST)


class LoginHandler(BasicLoginHandler):
    """Panel's, with the additions named above."""

    _failures: ClassVar[deque[float]] = deque()

    def get(self) -> None:
        """Show the form."""
        self._show("")

    async def post(self) -> None:
        """Let in who gives the right password."""
        if self._blocked():
            self.set_status(429)
            self._show("Too many attempts failed. Try again in a minute.")
            return
        name, password = self.get_body_argument("username", ""), self.get_body_argument("password", "")
        # Counted before it is looked at: of many at once, none would have failed yet.
        attempt = time.monotonic()
        self._failures.append(attempt)
        if await asyncio.to_thread(self._validate, name, password):
            with suppress(ValueError):
                self._failures.remove(attempt)
            self.set_current_user(name)
            self.redirect(_path_of(self.get_query_argument("next", "")) or f"{self.application.prefix}/")
            return
        await asyncio.sleep(_FAILURE_SECONDS)
        self.set_status(403)
        self._show("The name or the password is wrong.")

    def set_current_user(self, user: str) -> None:
        """Write who it is into a signed cookie that scripts do not see and other sites' forms do not send."""
        secure = self.request.protocol == "https"
        self.clear_cookie("is_guest")
        self.set_signed_cookie(
            "user",
            user,
            expires_days=config.oauth_expiry,
            httponly=True,
            samesite="Lax",
            secure=secure,
            path=config.cookie_path,
        )

    def _validate(self, username: str, password: str) -> bool:
        # A name that is not there takes as long as one that is.
        known = read_passwords(config.basic_auth)
        return fits(password, known.get(username, _NOBODY)) and username in known

    def _blocked(self) -> bool:
        while self._failures and time.monotonic() - self._failures[0] > _WINDOW_SECONDS:
            self._failures.popleft()
        return len(self._failures) >= MOST_FAILURES

    def _show(self, error: str) -> None:
        self.set_header("Cache-Control", "no-store")
        self.write(_FORM.render(action=self.request.uri, error=error, token=self.xsrf_token.decode()))


_NOBODY = hashed("nobody")


def _path_of(address: str) -> str:
    """Path on this server to go to after logging in; empty for the address of another one."""
    return address if address.startswith("/") and not address.startswith(("//", "/\\")) else ""


def check_owner(handler: Any, user: str | None) -> str | None:
    """Who asks, where the session that is asked for is theirs.

    Raises
    ------
    HTTPError
        403: the session was opened by somebody else, or may have been.
    """
    asked = handler.request
    if "Bokeh-Session-Id" in asked.headers or "bokeh-session-id" in asked.arguments:
        # The server would make a token for it, with the name of who asks.
        raise HTTPError(403, "sessions are not asked for by their number")
    tokens = [token.decode("ascii", "replace") for token in asked.arguments.get("bokeh-token", ())]
    offered = asked.headers.get("Sec-WebSocket-Protocol", "").split(",")
    for token in [*tokens, *offered[1:]]:
        if user is not None and _opened_by(token.strip()) != user:
            raise HTTPError(403, "this session was opened by somebody else")
    return user


def _opened_by(token: str) -> str | None:
    try:
        cookies: Mapping[str, str] = get_token_payload(token).get("cookies", {})
        kept = decode_signed_value(config.cookie_secret, "user", cookies.get("user", ""))
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error):
        return None
    return None if kept is None else kept.decode()


class OwnSessions(BasicAuthProvider):
    """Names and passwords; each session is its opener's alone."""

    @property
    def get_user(self) -> None:
        """Nobody: who asks is told by `get_user_async`, which is asked before a websocket opens."""
        return

    @property
    def get_user_async(self) -> Callable[[Any], Awaitable[str | None]]:
        """Gives the name of who asks; None: must log in."""
        ask = super().get_user

        async def get_user(handler: Any) -> str | None:
            return check_owner(handler, ask(handler))

        return get_user

    @property
    def login_handler(self) -> type[LoginHandler]:
        """Shows and takes the form."""
        LoginHandler._login_endpoint = self._login_endpoint  # noqa: SLF001 - as Panel's own provider does
        return LoginHandler


class OwnOAuthSessions(OAuthProvider):
    """OAuth; each session is its opener's alone."""

    @property
    def get_user_async(self) -> Callable[[Any], Awaitable[str | None]]:
        """As `OwnSessions.get_user_async`."""
        ask = super().get_user_async

        async def get_user(handler: Any) -> str | None:
            return check_owner(handler, await ask(handler))

        return get_user
