"""Which user of this machine is at the other end of a connection over the loopback.

On the login node of a cluster everybody can connect to everybody's 127.0.0.1. Linux tells whose socket it is.
"""

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0
#: Address and port.
_End = tuple[str, int]


def is_stranger(request: Any) -> bool:
    """Whether a request was made by another user of this machine; False where that cannot be known.

    Parameters
    ----------
    request
        Tornado's (or Bokeh's proxy of it), while its connection is open.
    """
    return bool(owners(_other_end(request)) - {_ROOT, os.getuid()})


def is_remote(request: Any) -> bool:
    """Whether a request came over another way than the loopback, or its way is unknown."""
    end = _other_end(request)
    return end is None or not ipaddress.ip_address(end[0]).is_loopback


def owners(end: _End | None, tables: tuple[Path, ...] = _TABLES) -> set[int]:
    """User ids that own the sockets at this address and port of the loopback; none if there is no such socket.

    From one port there can be connections to several servers, and one that has ended (TIME_WAIT) is listed as root's.
    So what counts is a socket that is connected to one of this user's own; where none is, all that are there count.
    """
    if end is None or not ipaddress.ip_address(end[0]).is_loopback:
        return set()
    sockets = [each for table in tables for each in _sockets(table)]
    own = {(here, there) for here, there, uid in sockets if uid == os.getuid()}
    owned = [(there, uid) for here, there, uid in sockets if here == end]
    return {uid for there, uid in owned if (there, end) in own} or {uid for _, uid in owned}


def _other_end(request: Any) -> _End | None:
    address = getattr(getattr(getattr(request, "connection", None), "context", None), "address", None)
    if not isinstance(address, tuple) or len(address) < 2:
        return None
    host = ipaddress.ip_address(str(address[0]).partition("%")[0])
    return str(getattr(host, "ipv4_mapped", None) or host), int(address[1])


def _sockets(table: Path) -> Iterator[tuple[_End, _End, int]]:
    """Both ends of each connection, this one's first, and the user id that owns it."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        field = line.split()
        yield _end(field[1]), _end(field[2]), int(field[7])


def _end(text: str) -> _End:
    address, _, port = text.partition(":")
    return _decoded(address), int(port, 16)


def _decoded(address: str) -> str:
    """Address from the kernel's notation: words of four bytes, each in the processor's order."""
    words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
    host = ipaddress.ip_address(b"".join(words))
    return str(getattr(host, "ipv4_mapped", None) or host)
