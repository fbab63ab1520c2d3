"""Addresses that nobody means to ask for; none may end as an error of the server's own."""

import re
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from tests.safety.client import SECONDS

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")

#: Each opens the page as if what is odd were not there.
OPENED = [
    b"/dashboard?a=?b",
    b"/dashboard?depth=?",
    b"/dashboard/?other=?&?=?#?",
    b"/dashboard?a=%&b=%zz&depth=%00&page=%ff&%ff=\xff&pinned=1&threshold=nan&limit=[[[[&options=%7B",
    b"/dashboard?page=" + b"x" * 60_000,
    b"/dashboard?rows=a" + b"9" * 5_000,
    b"/dashboard?rows=size%3E" + b"9" * 5_000,
    b"/dashboard?rows=size%3E" + b"9" * 400,
    b"/dashboard/autoload.js?bokeh-autoload-element=?",
]
#: None is a page.
REFUSED = [
    b"/dashboard%00",
    b"/dashboard%ff?a=?",
    b"/dashboard?a=" + b"x" * 70_000,
    b"/dashboard?" + b"a=b&" * 5_000,
    b"/" + b"x" * 60_000,
    b"/dashboard?a=\x01",
    b"/dashboard?rows=" + b"9" * 5_000,
    b"/dashboard?rows=" + b"%D9%A3" * 5_000,
    b"/static/%00",
    b"/static/%ff",
    b"/static/js/" + b"x" * 5_000,
    b"/static/extensions/panel/%00",
    b"/dashboard/static/%00",
    b"/dashboard/static/../../../etc/passwd",
    b"/components/%00/%00/%00",
    b"/components/../../etc/passwd",
    b"/components/a/..%2f..%2f/etc/passwd",
    b"/dashboard?bokeh-session-id=%00",
    b"/dashboard?bokeh-session-id=%C2%A0",
    b"/dashboard?bokeh-token=?",
    b"/dashboard?bokeh-token=%00",
    b"/dashboard?bokeh-token=%ff",
    b"/dashboard?bokeh-token=%C3%A9.%C3%A9",
    b"/dashboard?bokeh-token=YQ.YQ",
    b"/dashboard?bokeh-token=W10",  # []
    b"/dashboard?bokeh-token=eyJzZXNzaW9uX2lkIjoxfQ",  # {"session_id":1}
    b"/dashboard?bokeh-token=eyJzZXNzaW9uX2lkIjoiYSIsImhlYWRlcnMiOjF9",  # {"session_id":"a","headers":1}
    b"/dashboard?bokeh-token=eyJzZXNzaW9uX2lkIjoiYSIsIl9fYmtfX3psaWJfIjoiYSJ9",  # {"session_id":"a","__bk__zlib_":"a"}
    b"/dashboard/autoload.js?bokeh-autoload-element=%00",
    b"/dashboard/autoload.js?bokeh-autoload-element=1&bokeh-absolute-url=http://[",
    b"/dashboard/ws?a=?b",
    b"http://[/dashboard",
    b"//[/dashboard",
    b"*",
    b"",
]
LOGIN = [
    b"/login?next=",
    b"/login?next=?",
    b"/login?next=%ff",
    b"/login?next=%00",
    b"/login?next=http://[",
    b"/login?next=//evil.example",
    b"/login?next=%0d%0aSet-Cookie:x",
    b"/login?error=%0d%0aSet-Cookie:x",
    b"/login?error=%C3%A9%E2%82%AC",
    b"/login?error=" + b"x" * 60_000,
    b"/login?code=?&state=%ff",
    b"/login?code=x&state=?",
    b"/login?code=x&state=",
    b"/login?code=x",
    b"/?code=x&state=%00",
    b"/logout?x=?",
]
#: What a server can be called in an address, and how that is answered.
HOSTS = {
    b"localhost": 200,
    b"[::1]:5006": 200,
    b"[::1]": 200,
    b"[fe80::1]:5006": 400,
    b"a:b:c": 400,
    b"localhost:x": 200,
    b"LOCALHOST:5006": 200,
    b"127.0.0.2": 200,
    b"evil.example": 403,
    b"evil.example:5006": 403,
    b"localhost.evil.example": 403,
    b"127.0.0.1.evil.example": 403,
    b"10.0.0.9": 403,
    b"::ffff:127.0.0.1": 400,
    b"\xff": 400,
}


def statuses(base: str, addresses: Sequence[bytes], headers: bytes = b"", host: bytes = b"") -> dict[bytes, int]:
    """Ask for each as it stands, which no client library would: with what status it is answered; 0: not at all."""
    at = urlsplit(base)
    given = headers + b"Host: " + (host or at.netloc.encode())
    return {address: _ask((at.hostname, at.port), address, given) for address in addresses}


def _ask(at: tuple[str, int], address: bytes, headers: bytes) -> int:
    with socket.create_connection(at, timeout=SECONDS) as stream:
        try:
            stream.sendall(b"GET " + address + b" HTTP/1.1\r\nConnection: close\r\n" + headers + b"\r\n\r\n")
            match = _STATUS.match(stream.recv(4096))
        except ConnectionError:
            match = None
    return int(match[1]) if match else 0
