"""Serving the dashboard from the command line and from Python."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Any

from panel.io.server import get_server

from dashboard.app import TITLE, create_app, warm_up
from dashboard.samples import start_with

#: As `panel serve dashboard` has it.
PAGE = "dashboard"


def serve(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    address: str = "127.0.0.1",
    port: int = 5006,
    show: bool = False,
    origins: Sequence[str] = (),
    **hints: Any,
) -> None:
    """Serve the dashboard until it is stopped.

    Parameters
    ----------
    paths
        Files and folders to open; without any, those in ``$COLLTUNE_DATA``, else the sample data.
    address
        To listen on. Others than the loopback are announced with a warning: whoever reaches them sees the
        data, since nobody has to log in.
    port
        To listen on; 0 takes a free one.
    show
        Whether to open a browser.
    origins
        Further ``host:port`` at which browsers reach the server, such as a proxy's.
    **hints
        What the files do not say, as for `loaders.open_results`.

    Raises
    ------
    OSError
        The address or port cannot be used.
    """
    start = start_with(paths, {name: value for name, value in hints.items() if value is not None})
    port = _port(address, port)
    if not is_loopback(address):
        _say(
            f"warning: listening on {address}, which other machines can reach; everyone who does sees the data and "
            "can upload files, without logging in. On a shared machine keep to 127.0.0.1 and use an SSH tunnel."
        )
    server = get_server(
        {PAGE: lambda: create_app(start)},
        port=port,
        address=address,
        websocket_origin=[*allowed_origins(address, port), *origins],
        title={PAGE: TITLE},
        start=False,
        show=False,
    )
    threading.Thread(target=warm_up, args=(start,), name="colltune-warm-up", daemon=True).start()
    url = f"http://{_shown(address)}:{port}/{PAGE}"
    _say(f"dashboard available at {url} (stop it with Ctrl-C)")
    if show:
        server.io_loop.add_callback(lambda: server.show(f"/{PAGE}"))
    try:
        server.run_until_shutdown()
    except KeyboardInterrupt:
        server.stop()


def is_loopback(address: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def allowed_origins(address: str, port: int) -> list[str]:
    """``host:port`` of the pages whose websockets are accepted: this machine's own names, no wildcard."""
    hosts = ["localhost", "127.0.0.1"]
    if not is_loopback(address):
        hosts += sorted({socket.gethostname(), socket.getfqdn()} - set(hosts))
        # Bokeh's list knows no IPv6 addresses: over IPv6 the machine is reached by its name.
        if address != "0.0.0.0" and ":" not in address:  # noqa: S104 - recognised, not bound
            hosts.append(address)
    return [f"{host}:{port}" for host in hosts]


def _shown(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _port(address: str, port: int) -> int:
    """Port that can be listened on: the one asked for, or for 0 a free one; OSError if there is none.

    The websocket's origins must be known before the server chooses a port itself, and it is later than here
    that Bokeh finds a port taken, and then leaves its socket open.
    """
    with socket.create_server((address, port), family=socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        return int(probe.getsockname()[1])


def _say(text: str) -> None:
    sys.stderr.write(f"colltune: {text}\n")
    sys.stderr.flush()
