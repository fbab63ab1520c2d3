"""Serving the dashboard from the command line and from Python."""

import os
import platform
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from bokeh.server.server import Server
from panel.io.server import get_server
from tornado.ioloop import PeriodicCallback
from tornado.process import task_id

from dashboard.app import TITLE, create_app, read_ahead
from dashboard.server import patches, reach
from dashboard.server.access import Access, AccessError
from dashboard.server.quiet import keep_quiet
from dashboard.server.warming import warm_up
from dashboard.session import spool
from dashboard.session.samples import start_with

#: As `panel serve dashboard` has it.
PAGE = "dashboard"
#: Largest request; uploads come by the websocket, whose messages have a bound of their own.
_BODY_BYTES = 1 << 20
_MESSAGE_BYTES = 16 << 20
_PARENT_MILLISECONDS = 1000
#: What Python takes in a terminal without a display: nothing of the page would be seen, and the terminal be lost.
_OF_TEXT = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})


def serve(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    access: Access | None = None,
    port: int = 5006,
    show: bool = False,
    num_procs: int = 1,
    **hints: Any,
) -> None:
    """Serve the dashboard until it is stopped.

    Parameters
    ----------
    paths
        Files and folders to open; without any, those in ``$COLLTUNE_DATA``, else the sample data.
    access
        Who may reach it; default: this machine alone.
    port
        To listen on; 0 takes a free one.
    num_procs
        Processes that serve; 0: as many as there are processors.
    **hints
        What the files do not say, as for `loaders.open_results`.

    Raises
    ------
    AccessError, LoginError
        It would be open to everybody, or what is needed for logging in is missing.
    OSError
        The address or port cannot be used.
    """
    start = start_with(paths, {name: value for name, value in hints.items() if value is not None})
    access = access or Access()
    options = access.server_options()
    keep_quiet()
    if any(patch.guards for patch in patches.install()) and not reach.is_loopback(access.address):
        raise AccessError(patches.UNGUARDED)
    port = _port(access.address, port)
    if not reach.is_loopback(access.address) and access.ssl_certfile is None:
        _say("warning: without --ssl-certfile passwords can be read on their way, unless a proxy in front speaks HTTPS")
    parent = os.getpid()
    if num_procs != 1:
        spool.share()
    server = get_server(
        {PAGE: lambda: create_app(start)},
        port=port,
        address=access.address,
        websocket_origin=[*own_origins(port), *access.origins],
        title={PAGE: TITLE},
        start=False,
        show=False,
        num_procs=num_procs,
        websocket_max_message_size=_MESSAGE_BYTES,
        http_server_kwargs={"max_body_size": _BODY_BYTES},
        **options,
    )
    # With several processes each of them is here; the first one speaks.
    warm_up(partial(read_ahead, start))
    if task_id() is not None:
        PeriodicCallback(lambda: os.getppid() == parent or server.io_loop.stop(), _PARENT_MILLISECONDS).start()
    if not task_id():
        _announce(access, port, show=show)
    _run(server)


def _announce(access: Access, port: int, *, show: bool) -> None:
    """Say where the page is, also for who came by SSH, and open it if asked."""
    scheme = "https" if access.ssl_certfile else "http"
    url = f"{scheme}://{_shown(access.address)}:{port}/{PAGE}"
    _say(f"dashboard available at {url} (stop it with Ctrl-C)")
    if "SSH_CONNECTION" in os.environ and reach.is_loopback(access.address):
        jump = "-J LOGIN-NODE " if "SLURM_JOB_ID" in os.environ else ""
        _say(f"from where you sit: ssh {jump}-L {port}:localhost:{port} {platform.node()}, then that address")
    if hub := os.environ.get("JUPYTERHUB_SERVICE_PREFIX"):
        _say(
            f"with jupyter-server-proxy also at {hub}proxy/{port}/{PAGE} of the hub, if started with "
            "--allow-websocket-origin HUB:443"
        )
    if show:
        _open(url)


def _open(url: str) -> None:
    """Open a browser if there is one that has windows; apart from the server, which it might hold up."""
    with suppress(webbrowser.Error):
        browser = webbrowser.get()
        if getattr(browser, "name", "") not in _OF_TEXT:
            threading.Thread(target=browser.open, args=(url,), daemon=True).start()


def _run(server: Server) -> None:
    """Serve until the process is told to stop."""
    # Bokeh's own prints first: with nobody to read it, that is an error, and the server goes on.
    server._sigterm = server.io_loop.stop  # noqa: SLF001 - there is no other way to it
    try:
        server.run_until_shutdown()
    except (KeyboardInterrupt, BrokenPipeError):
        server.stop()


def own_origins(port: int) -> list[str]:
    """``host:port`` of the pages whose websockets are always accepted: this machine's own."""
    return [f"{host}:{port}" for host in ("localhost", "127.0.0.1")]


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
