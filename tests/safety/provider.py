"""An OAuth provider of the tests' own, on the loopback: authorization, token and user endpoints (RFC 6749, 4.1)."""

import asyncio
import secrets
import threading
from urllib.parse import urlencode

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

CLIENT, SECRET = "colltune-client", "colltune-client-secret"


class Provider:
    """Runs until `stop`; logs in whom ``user=`` beside the authorization request names, and refuses `mallory`."""

    def __init__(self) -> None:
        self.codes: dict[str, tuple[str, str]] = {}
        self.tokens: dict[str, str] = {}
        handlers = [("/authorize", _Authorize), ("/token", _Token), ("/user", _User)]
        self._application = Application([(path, handler, {"provider": self}) for path, handler in handlers])
        self._sockets = bind_sockets(0, "127.0.0.1")
        self.base = f"http://127.0.0.1:{self._sockets[0].getsockname()[1]}"
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._ready.wait()

    def environment(self) -> dict[str, str]:
        """What a server must be told to log people in here, by Panel's own names."""
        return {
            "PANEL_OAUTH_KEY": CLIENT,
            "PANEL_OAUTH_SECRET": SECRET,
            "PANEL_OAUTH_AUTHORIZE_URL": f"{self.base}/authorize",
            "PANEL_OAUTH_TOKEN_URL": f"{self.base}/token",
            "PANEL_OAUTH_USER_URL": f"{self.base}/user",
            "PANEL_USER_KEY": "login",
        }

    def stop(self) -> None:
        """End it."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = HTTPServer(self._application)
        server.add_sockets(self._sockets)
        self._ready.set()
        await self._end.wait()
        server.stop()
        await server.close_all_connections()


class _Handler(RequestHandler):
    def initialize(self, provider: Provider) -> None:
        self.provider = provider

    def check_xsrf_cookie(self) -> None:
        pass

    def refuse(self, error: str) -> None:
        self.set_status(400)
        self.finish({"error": error})


class _Authorize(_Handler):
    def get(self) -> None:
        back, user = self.get_argument("redirect_uri"), self.get_argument("user")
        if self.get_argument("client_id") != CLIENT or self.get_argument("response_type") != "code":
            self.refuse("unauthorized_client")
            return
        query = {"state": self.get_argument("state")}
        if user == "mallory":
            query["error"] = "access_denied"
        else:
            query["code"] = secrets.token_urlsafe()
            self.provider.codes[query["code"]] = user, back
        self.redirect(f"{back}?{urlencode(query)}")


class _Token(_Handler):
    def post(self) -> None:
        if (self.get_argument("client_id"), self.get_argument("client_secret")) != (CLIENT, SECRET):
            self.refuse("invalid_client")
            return
        # A code is good once, and for the address that it was sent to.
        user, back = self.provider.codes.pop(self.get_argument("code"), ("", ""))
        if not user or back != self.get_argument("redirect_uri"):
            self.refuse("invalid_grant")
            return
        token = secrets.token_urlsafe()
        self.provider.tokens[token] = user
        self.finish({"access_token": token, "token_type": "bearer", "expires_in": 3600})


class _User(_Handler):
    def get(self) -> None:
        user = self.provider.tokens.get(self.request.headers.get("Authorization", "").removeprefix("Bearer "))
        if user is None:
            self.refuse("invalid_token")
            return
        self.finish({"login": user})
