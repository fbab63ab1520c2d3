"""Logging in where others than the user of this machine reach the page: names and passwords from a file, or OAuth.

Panel provides both. What is added here: a session belongs to who opened it, forms carry a token against forgery,
passwords are compared in constant time and may be kept as hashes, and who guesses is slowed down.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import os
import re
import stat
import zlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from bokeh.util.token import get_token_payload
from jinja2 import Environment
from panel import config
from panel.auth import BasicAuthProvider, BasicLoginHandler, OAuthProvider
from tornado.web import HTTPError, decode_signed_value

from dashboard.server.attempts import Attempts, limits_of
from loaders import disk

_LOG = logging.getLogger(__name__)
_FAILURE_SECONDS = 1.0
_SCRYPT = "scrypt$"
_COST = {"n": 2**14, "r": 8, "p": 1}
#: What `hashed` makes: 16 bytes of salt and 64 of digest.
_HASH = re.compile(r"scrypt\$([0-9a-fA-F]{32})\$([0-9a-fA-F]{128})")
#: A text of a JSON file, as it is written there.
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')

_FORM = Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>colltune: log in</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; }
form { display: grid; gap: 12px; width: 18rem; }
input, button { font: inherit; padding: 8px; width: 100%; box-sizing: border-box; }
</style></head><body><form method="post">
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
        There is no such file, others can read it, or it holds something else; where in it, by its line.
    """
    file = Path(path)
    try:
        mode = file.stat().st_mode
        content = disk.read_bytes(file)
    except OSError as error:
        raise LoginError(f"{file}: cannot be read as a file of names and passwords: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise LoginError(f"{file}: others on this machine can open the passwords; chmod 600 {file}")
    passwords = _parsed(file, content)
    words = passwords.values() if isinstance(passwords, dict) else ()
    if not words or not all(isinstance(word, str) and word for word in words):
        raise LoginError(f'{file}: must be a JSON object of names and passwords, such as {{"alice": "…"}}')
    if "" in passwords or "guest" in passwords:
        raise LoginError(f"{file}: the names '' and 'guest' stand for nobody; give other ones")
    _check(file, content.decode())
    return passwords


def _parsed(file: Path, content: bytes) -> Any:
    try:
        return json.loads(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LoginError(f"{file}, line {line}: is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise LoginError(f"{file}, line {error.lineno}: cannot be read as JSON: {error.msg}") from None
    except RecursionError:
        raise LoginError(f'{file}: must be a JSON object of names and passwords, such as {{"alice": "…"}}') from None


def _check(file: Path, text: str) -> None:
    """Refuse what no password can fit; neither it nor its name is told."""
    # In an object of texts alone, every second one is a password.
    for match in list(_TEXT.finditer(text))[1::2]:
        kept = json.loads(match[0])
        line = text.count("\n", 0, match.start()) + 1
        if kept.startswith(_SCRYPT) and not _HASH.fullmatch(kept):
            raise LoginError(
                f"{file}, line {line}: the hash of a password is cut or garbled: it must be as 'colltune serve "
                "--hash-password' prints it, scrypt$ with 32 and, after another $, 128 hexadecimal digits"
            )
        if any("\ud800" <= sign <= "\udfff" for sign in kept):
            raise LoginError(f"{file}, line {line}: this password has half a character (\\ud800 to \\udfff)")


def hashed(password: str) -> str:
    """What can be kept instead of a password."""
    salt = os.urandom(16)
    return f"{_SCRYPT}{salt.hex()}${_digest(password, salt).hex()}"


def fits(password: str, kept: str) -> bool:
    """Whether a password is the one that is kept, as it is or `hashed`; none fits what is cut or garbled."""
    if not kept.startswith(_SCRYPT):
        return hmac.compare_digest(password.encode(), kept.encode())
    match = _HASH.fullmatch(kept)
    if match is None:
        return False
    return hmac.compare_digest(_digest(password, bytes.fromhex(match[1])), bytes.fromhex(match[2]))


def _digest(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, **_COST)


class LoginHandler(BasicLoginHandler):
    """Panel's, with the additions named above."""

    _attempts: ClassVar[Attempts] = Attempts()

    def get(self) -> None:
        """Show the form."""
        self._show("")

    async def post(self) -> None:
        """Let in who gives the right password."""
        attempt = self._attempts.begin(limits_of(self.request))
        if attempt is None:
            self.set_status(429)
            self._show("Too many attempts failed. Try again in a minute.")
            return
        name, password = self.get_body_argument("username", ""), self.get_body_argument("password", "")
        if await asyncio.to_thread(self._validate, name, password):
            self._attempts.take_back(attempt)
            self.set_current_user(name)
            # Relative: a proxy may have taken the beginning of the path away, as those of JupyterHub do.
            path = _path_of(self.get_query_argument("next", "")).removeprefix(self.application.prefix)
            self.redirect(f".{path or '/'}")
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
        try:
            known = read_passwords(config.basic_auth)
        except LoginError as error:
            # It was sound at the start.
            _LOG.error("nobody can log in: %s", error)
            return False
        # A name that is not there takes as long as one that is.
        return fits(password, known.get(username, _NOBODY)) and username in known

    def _show(self, error: str) -> None:
        self.set_header("Cache-Control", "no-store")
        self.write(_FORM.render(error=error, token=self.xsrf_token.decode()))


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


class _WithState:
    """What stands before Panel's login by OAuth."""

    def prepare(self) -> None:
        """Refuse a blank state: Panel finds it equal to that of a browser without one.

        Another site could log such a browser in as somebody else.
        """
        if not all(self.get_arguments("state")):
            raise HTTPError(401, "the log-in was not begun here; begin anew", reason="state mismatch")


class OwnOAuthSessions(OAuthProvider):
    """OAuth; each session is its opener's alone."""

    @property
    def login_handler(self) -> type:
        """Sends to the provider and takes its answer."""
        given = super().login_handler
        return type(given.__name__, (_WithState, given), {})

    @property
    def get_user_async(self) -> Callable[[Any], Awaitable[str | None]]:
        """As `OwnSessions.get_user_async`."""
        ask = super().get_user_async

        async def get_user(handler: Any) -> str | None:
            return check_owner(handler, await ask(handler))

        return get_user
