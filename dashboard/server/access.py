"""Who may reach a server, as it is told at its start; what does not go together is refused before it listens."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bokeh.settings import settings
from panel import config, state
from panel.auth import AUTH_PROVIDERS

from dashboard.server import login, reach
from dashboard.server.permission import ANY_ORIGIN, LAUNCHERS_VARIABLE

#: Cookies that a session is told of: those of the log-in. Others of this machine's name are not the dashboard's.
_BASIC_COOKIES = ["user"]
_OAUTH_COOKIES = ["user", "access_token", "id_token", "refresh_token", "oauth_expiry"]
#: What OAuth needs, by Panel's own names: on a command line everybody on the machine could read it.
_OAUTH_VARIABLES = {
    "PANEL_OAUTH_KEY": "oauth_key",
    "PANEL_OAUTH_SECRET": "oauth_secret",
    "PANEL_OAUTH_ENCRYPTION": "oauth_encryption_key",
}
#: Where to find a provider that Panel does not know by name; without `PANEL_OAUTH_USER_URL` the token names the user.
_OAUTH_PLACES = ("PANEL_OAUTH_AUTHORIZE_URL", "PANEL_OAUTH_TOKEN_URL")
_UNKNOWN_PLACES = ("generic", "auth_code")
#: Their forms are Panel's own, which lack the token against forgery, so that nobody could log in.
_OWN_FORMS = ("pam", "password")


class AccessError(ValueError):
    """A server is not started as it was asked for; the message says why and what would do."""


@dataclass(frozen=True)
class Access:
    """Who reaches a server."""

    #: To listen on.
    address: str = "127.0.0.1"
    #: ``host:port`` of the page for those who reach it by another name than this machine's own.
    origins: Sequence[str] = ()
    #: File of names and passwords (`login.read_passwords`); None: no such log-in.
    basic_auth: str | os.PathLike[str] | None = None
    #: A name in Panel's ``AUTH_PROVIDERS``; what it needs is in the environment. None: no OAuth.
    oauth_provider: str | None = None
    #: Names of those who may start jobs from the page where somebody else reaches it.
    launchers: Sequence[str] = ()
    #: For HTTPS; None: HTTP, which is for the loopback and behind a proxy.
    ssl_certfile: str | None = None
    ssl_keyfile: str | None = None

    @property
    def authenticated(self) -> bool:
        """Whether everybody logs in."""
        return bool(self.basic_auth or self.oauth_provider)

    def check(self) -> None:
        """Refuse what would let in everybody.

        Raises
        ------
        AccessError
            The address is no loopback and there is no log-in or no origin, an origin is none, or both log-ins are
            named.
        """
        if any("*" in origin for origin in self.origins):
            raise AccessError(ANY_ORIGIN)
        for origin in self.origins:
            if not origin or "/" in origin:
                right = urlsplit(origin).netloc or "dashboard.example.org:443"
                raise AccessError(f"{origin!r} is not host:port; such as --allow-websocket-origin {right}")
        if self.basic_auth and self.oauth_provider:
            raise AccessError("either --basic-auth or --oauth-provider, not both")
        if self.launchers and not self.authenticated:
            raise AccessError("--launchers names people, who must log in: add --basic-auth FILE or --oauth-provider")
        if reach.is_loopback(self.address):
            return
        if not self.authenticated:
            raise AccessError(
                f"{self.address} can be reached from other machines: add --basic-auth FILE or --oauth-provider, or "
                "keep to 127.0.0.1 and use an SSH tunnel"
            )
        if not self.origins:
            raise AccessError(
                f"{self.address} can be reached from other machines: name the page's origin with "
                "--allow-websocket-origin HOST:PORT, as it stands in the browser's address line"
            )

    def server_options(self) -> dict[str, Any]:
        """Set up Panel's log-in, and give what the server is made with.

        Raises
        ------
        AccessError, LoginError
            What a log-in needs is missing.
        """
        self.check()
        os.environ[LAUNCHERS_VARIABLE] = ",".join([*self.launchers, os.environ.get(LAUNCHERS_VARIABLE, "")])
        options: dict[str, Any] = {
            # Who has not asked this server for a page cannot open a session.
            "sign_sessions": True,
            "secret_key": settings.secret_key_bytes() or secrets.token_bytes(32),
            "include_headers": ["Host"],
            "include_cookies": [],
            "ssl_certfile": self.ssl_certfile,
            "ssl_keyfile": self.ssl_keyfile,
        }
        if not self.authenticated:
            return options
        options |= {
            "cookie_secret": config.cookie_secret or settings.cookie_secret() or secrets.token_urlsafe(32),
            "xsrf_cookies": True,
            "xsrf_cookie_kwargs": {"httponly": True, "samesite": "Strict", "secure": bool(self.ssl_certfile)},
        }
        if self.basic_auth:
            login.read_passwords(self.basic_auth)
            config.basic_auth = os.fspath(self.basic_auth)
            return options | {"auth_provider": login.OwnSessions(), "include_cookies": _BASIC_COOKIES}
        self._set_up_oauth()
        return options | {"auth_provider": login.OwnOAuthSessions(), "include_cookies": _OAUTH_COOKIES}

    def _set_up_oauth(self) -> None:
        possible = sorted(set(AUTH_PROVIDERS) - set(_OWN_FORMS))
        if self.oauth_provider not in possible:
            raise AccessError(f"--oauth-provider {self.oauth_provider}: possible are {', '.join(possible)}")
        lacking = [variable for variable, name in _OAUTH_VARIABLES.items() if not getattr(config, name)]
        if self.oauth_provider in _UNKNOWN_PLACES:
            given = {f"PANEL_OAUTH_{name}" for name in config.oauth_extra_params} | set(os.environ)
            lacking += [variable for variable in _OAUTH_PLACES if variable not in given]
        if lacking:
            raise AccessError(f"--oauth-provider needs {', '.join(lacking)} in the environment")
        try:
            from cryptography.fernet import Fernet  # noqa: PLC0415 - needed for this alone
        except ImportError:
            raise AccessError(
                "--oauth-provider needs the package cryptography: pip install '.[oauth]' in the folder of colltune"
            ) from None
        try:
            state.encryption = Fernet(config.oauth_encryption_key)
        except ValueError as error:
            raise AccessError(f"PANEL_OAUTH_ENCRYPTION: {error}; 'panel oauth-secret' makes one") from None
        config.oauth_provider = self.oauth_provider
