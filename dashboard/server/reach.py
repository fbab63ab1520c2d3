"""From where the server of this process can be reached, and whether who reaches it must log in."""

import ipaddress
import os
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bokeh.settings import settings
from panel import config, state

#: Where the system lists the open files of this process.
_DESCRIPTORS = (Path("/proc/self/fd"), Path("/dev/fd"))
#: Names by which a browser on this machine, or at the other end of an SSH tunnel, asks for a page.
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
#: Headers by which a proxy tells for whom it asks.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
#: Signs of an option that is cut short, its hyphens among them; fewer fit too many.
_SHORTEST = 4
#: Who is let in without a name.
_NOBODY = "guest"


def is_loopback(address: str) -> bool:
    """Whether an address to listen on can be reached from this machine only."""
    if address == "localhost":
        return True
    try:
        given = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(given, "ipv4_mapped", None)
    return bool((mapped or given).is_loopback)


def own_names() -> frozenset[str]:
    """Names of this machine on its network, in lower case: by these a proxy on another one asks."""
    name = socket.gethostname().lower()
    return frozenset((name, name.partition(".")[0]))


def listening() -> list[str] | None:
    """Addresses on which this process listens, of every server in it; a Unix socket by its path.

    The sockets themselves are asked, since a server can be started in many ways.

    Returns
    -------
    list of str or None
        None where the system does not tell.
    """
    folder = next((each for each in _DESCRIPTORS if each.is_dir()), None)
    return None if folder is None else sorted(set(_addresses(folder)))


def _addresses(folder: Path) -> Iterator[str]:
    for entry in folder.iterdir():
        try:
            number = int(entry.name)
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            copy = os.dup(number)
        except (OSError, ValueError):
            continue
        with socket.socket(fileno=copy) as listener:
            try:
                if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    at = listener.getsockname()
                    yield str(at[0] if isinstance(at, tuple) else at)
            except OSError:
                continue


def open_addresses() -> list[str]:
    """Those addresses of `listening` that can be reached from elsewhere, or `["unknown"]`."""
    addresses = listening()
    return ["unknown"] if addresses is None else [address for address in addresses if not is_loopback(address)]


def any_origin() -> bool:
    """Whether the pages of any site may talk to the server."""
    return any("*" in each for each in [*_option("--allow-websocket-origin"), *(settings.allowed_ws_origin() or ())])


def address_named() -> bool:
    """Whether somebody said where to listen; `panel serve` alone listens everywhere."""
    return bool(_option("--address")) or not _option("serve")


def _option(name: str) -> list[str]:
    """What follows an option on this process's own command line, each time it is there, also where it is cut short."""
    values = []
    for word, after in zip(sys.orig_argv, [*sys.orig_argv[1:], None], strict=True):
        said, equals, value = word.partition("=")
        # Panel takes --allow-w for --allow-websocket-origin.
        if said == name or (len(said) >= _SHORTEST and said.startswith("--") and name.startswith(said)):
            values += [value] if equals else [] if after is None else [after]
    return values


def passed_on(headers: Mapping[str, Any]) -> bool:
    """Whether a request came through a proxy, or asks by a name that is not this machine's own loopback.

    A server that listens on the loopback alone is as open as the proxy before it.
    """
    given = {str(name).title(): str(value) for name, value in headers.items()}
    if any(name in given for name in _FORWARDED):
        return True
    host = given.get("Host", "localhost")
    name = host.partition("]")[0].strip("[") if host.startswith("[") else host.rpartition(":")[0] or host
    return name not in LOCAL_NAMES


def authenticates() -> bool:
    """Whether this process lets in nobody who has not logged in."""
    return _provided() and not config.oauth_optional and not config.oauth_guest_endpoints


def names_users() -> bool:
    """Whether logging in tells who somebody is: one password for all does not."""
    if config.oauth_provider:
        return authenticates()
    given = _basic_auth()
    return authenticates() and bool(given and (isinstance(given, dict) or Path(given).is_file()))


def user() -> str | None:
    """Name of who opened this session; None for somebody who has not logged in."""
    name = state.user
    return None if not name or name == _NOBODY else str(name)


def _provided() -> bool:
    return bool(config.oauth_provider or _basic_auth())


def _basic_auth() -> Any:
    # Panel keeps it by server where one was started from Python.
    kept = [each["basic_auth"] for each in state._server_config.values() if each.get("basic_auth")]  # noqa: SLF001
    return kept[0] if kept else config.basic_auth
