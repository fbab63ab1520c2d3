"""Bytes that this process has sent through each of its TCP connections, as Linux counts them.

A library that counts no messages itself can be made to send everything through TCP; then the kernel's counters
(``TCP_INFO``) tell exactly how much went to whom.
"""

import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

#: ``tcpi_bytes_sent`` and, behind it, ``tcpi_bytes_retrans`` in ``struct tcp_info`` (linux/tcp.h, since 4.19), and the
#: room for all of it. What a busy machine sends twice counts once.
_BYTES_SENT, _ROOM = 200, 256
_BOTH = struct.Struct("QQ")
Address = tuple[str, int]
Connection = tuple[Address, Address]


def bytes_sent() -> dict[Connection, int]:
    """Bytes sent so far, by own and other address of each connection."""
    return {ends: sent for descriptor in _descriptors() for ends, sent in _counted(descriptor)}


def _descriptors() -> Iterator[int]:
    for entry in Path("/proc/self/fd").iterdir():
        try:
            if str(entry.readlink()).startswith("socket:"):
                yield int(entry.name)
        except OSError:
            continue


def _counted(descriptor: int) -> Iterator[tuple[Connection, int]]:
    try:
        duplicate = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return
    try:
        info = duplicate.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ROOM)
        if len(info) >= _BYTES_SENT + _BOTH.size:
            sent, again = _BOTH.unpack_from(info, _BYTES_SENT)
            yield (duplicate.getsockname()[:2], duplicate.getpeername()[:2]), sent - again
    except OSError:  # one that is of no TCP, that listens, or is closed already
        return
    finally:
        duplicate.close()
