"""Which user of this machine is at the other end of a connection over the loopback.

On the login node of a cluster everybody can connect to everybody's 127.0.0.1. Linux tells whose socket it is.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ROOT = 0


def is_stranger(request: Any, tables: tuple[Path, ...] = _TABLES) -> bool:
    """Whether a request was made by another user of this machine; False where that cannot be known.

    Parameters
    ----------
    request
        Tornado's (or Bokeh's proxy of it), while its connection is open.
    tables
        Connections of this machine, as Linux lists them.
    """
    found = owner(_other_end(request), tables)
    return found is not None and found not in (_ROOT, os.getuid())


def is_remote(request: Any) -> bool:
    """Whether a request came over another way than the loopback, or its way is unknown."""
    end = _other_end(request)
    return end is None or not ipaddress.ip_address(end[0]).is_loopback


def owner(end: tuple[str, int] | None, tables: tuple[Path, ...] = _TABLES) -> int | None:
    """User id that owns the socket at this address and port of the loopback; None if it is not there."""
    if end is None or not ipaddress.ip_address(end[0]).is_loopback:
        return None
    return next((uid for table in tables for at, uid in _sockets(table) if at == end), None)


def _other_end(request: Any) -> tuple[str, int] | None:
    address = getattr(getattr(getattr(request, "connection", None), "context", None), "address", None)
    if not isinstance(address, tuple) or len(address) < 2:
        return None
    host = ipaddress.ip_address(str(address[0]).partition("%")[0])
    return str(getattr(host, "ipv4_mapped", None) or host), int(address[1])


def _sockets(table: Path) -> Iterator[tuple[tuple[str, int], int]]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        field = line.split()
        address, _, port = field[1].partition(":")
        yield (_decoded(address), int(port, 16)), int(field[7])


def _decoded(address: str) -> str:
    """Address from the kernel's notation: words of four bytes, each in the processor's order."""
    words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
    host = ipaddress.ip_address(b"".join(words))
    return str(getattr(host, "ipv4_mapped", None) or host)
