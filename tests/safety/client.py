"""A browser's cookies and sessions without the browser, so that every header can be forged."""

import re
import socket
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

TOKEN = re.compile(r'"token":"([^"]+)"')
_XSRF = re.compile(r'name="_xsrf" value="([^"]+)"')
SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    code: int
    headers: Message
    text: str


class Visitor:
    """Somebody with cookies of their own, at an address of this machine that is `source`, such as ``127.0.0.9``."""

    def __init__(self, base: str, source: str = "") -> None:
        self.base = base
        self._source = (source, 0) if source else None
        self.cookies: dict[str, str] = {}
        self._at = urlsplit(base)

    def ask(
        self, path: str, headers: dict[str, str] | None = None, *, method: str = "GET", body: str | None = None
    ) -> Answer:
        """Send a request as it is; redirects are not followed."""
        typed = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        connection = HTTPConnection(self._at.hostname, self._at.port, timeout=SECONDS, source_address=self._source)
        try:
            connection.request(method, path, body, {**self._cookie(), **typed, **(headers or {})})
            response = connection.getresponse()
            answer = Answer(response.status, response.msg, response.read().decode(errors="replace"))
        finally:
            connection.close()
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        return answer

    def log_in(self, name: str, password: str, *, forged: bool = False) -> Answer:
        """Fill in and send the form; `forged`: without the token that is in it, as another site would."""
        form = self.ask("/login?next=%2Fdashboard").text
        fields = {"username": name, "password": password}
        if not forged:
            fields["_xsrf"] = _XSRF.search(form)[1]
        return self.ask("/login?next=%2Fdashboard", method="POST", body=urlencode(fields))

    def page(self) -> tuple[Answer, str]:
        """Ask for the page: the answer, and the token of the session that was opened (empty: none)."""
        answer = self.ask("/dashboard")
        match = TOKEN.search(answer.text)
        return answer, match[1] if match else ""

    def connects(self, token: str, origin: str | None = None, host: str | None = None) -> bool:
        """Whether the session of a token can be talked to: the server accepts the websocket and greets."""
        headers = {
            "Host": host or self._at.netloc,
            "Origin": self.base if origin is None else origin,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Protocol": f"bokeh, {token}",
            **self._cookie(),
        }
        asked = "GET /dashboard/ws HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        reply = b""
        with socket.create_connection((self._at.hostname, self._at.port), timeout=SECONDS) as stream:
            stream.sendall(f"{asked}\r\n".encode())
            while b"ACK" not in reply and (more := stream.recv(4096)):
                reply += more
                if not reply.startswith(b"HTTP/1.1 101"[: len(reply)]):
                    return False
        return b"ACK" in reply

    def _cookie(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
