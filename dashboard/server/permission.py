"""What a session may do: be opened at all, and, which is a permission of its own, start jobs on this machine."""

import os
from dataclasses import dataclass
from typing import Any

import panel as pn

from dashboard.server import peer, reach

#: Environment variable with the names of those who may launch, separated by commas.
LAUNCHERS_VARIABLE = "COLLTUNE_LAUNCHERS"
REMEDY = (
    "listen on 127.0.0.1 (panel serve: --address 127.0.0.1) and use an SSH tunnel, "
    "or have it started with a log-in (--basic-auth FILE) and the page's origin"
)
ANY_ORIGIN = (
    "any page of the web may open this server's websockets; name the origins instead of *, "
    "such as --allow-websocket-origin dashboard.example.org:443"
)
#: Whether a session was ever served by this process.
_SERVED = False


@dataclass(frozen=True)
class Permission:
    """Whether something is allowed."""

    #: Also what the permission itself is true or false as.
    allowed: bool
    #: Why, in a sentence or two for the user, with the remedy where it is not allowed.
    reason: str

    def __bool__(self) -> bool:
        return self.allowed


def _allowed(reason: str = "") -> Permission:
    return Permission(allowed=True, reason=reason)


def _refused(reason: str) -> Permission:
    return Permission(allowed=False, reason=reason)


def may_enter() -> Permission:
    """Whether the session that is about to open may; ask before anything is loaded for it.

    However the server was started, who comes from elsewhere must have logged in. Over the loopback other users of this
    machine are turned away, too, unless they log in.
    """
    request = _request()
    if request is None or reach.authenticates():
        return _allowed()
    why = ANY_ORIGIN if reach.any_origin() else ""
    if not why and reach.open_addresses() and (peer.is_remote(request) or reach.passed_on(_headers(request))):
        why = f"this page can be reached from other machines, but nobody can log in: {REMEDY}"
    if not why and peer.is_stranger(request):
        why = "another user of this machine runs this dashboard; others come in only where it is started with a log-in"
    return _refused(why) if why else _allowed()


def at_start() -> Permission:
    """Whether the server of this process may run at all; it may where it opens its pages for this machine only."""
    if reach.any_origin():
        return _refused(ANY_ORIGIN)
    addresses = [] if reach.authenticates() else reach.open_addresses()
    if not addresses:
        return _allowed()
    if reach.address_named():
        return _refused(f"{', '.join(addresses)} can be reached without a log-in; {REMEDY}")
    return _allowed(f"it listens on {', '.join(addresses)} without a log-in and refuses other machines; {REMEDY}")


def launchers() -> frozenset[str]:
    """Names of those who may launch where others than the user of this machine reach the page."""
    return frozenset(filter(None, map(str.strip, os.environ.get(LAUNCHERS_VARIABLE, "").split(","))))


def may_launch() -> Permission:
    """Whether the session that asks may start jobs; ask on its own thread, before each launch anew.

    Outside of a server, in a notebook or a script, it may: whoever runs Python there can start anything. A server
    that only this machine can reach allows it, too. Elsewhere those may who have logged in by name and are among
    `launchers`.
    """
    request = _request()
    if request is None:
        if _SERVED:
            return _refused("This was asked outside of a session, so there is nobody to allow it to.")
        return _allowed("This Python session is your own.")
    if not reach.open_addresses() and not reach.passed_on(_headers(request)) and not reach.authenticates():
        return _allowed("The page can be reached from this machine only.")
    return _named()


def _named() -> Permission:
    name = reach.user()
    if not reach.authenticates() or name is None:
        way, remedy = "from other machines", REMEDY
        if not reach.open_addresses():
            way, remedy = "through a proxy", "have it started with a log-in (--basic-auth FILE)"
        return _refused(f"This page can be reached {way}, and you have not logged in: {remedy} and --launchers.")
    if not reach.names_users():
        return _refused(
            "All log in with one password here, which does not tell who you are. Have the server started with a file "
            "of names (--basic-auth FILE) and --launchers."
        )
    if name not in launchers():
        return _refused(
            f"{name} may not start jobs here. Who may is said when the server is started: --launchers {name}"
        )
    return _allowed(f"{name} may start jobs here.")


def _headers(request: Any) -> Any:
    # What Bokeh shows are the headers that a session's token tells of, and who signs no tokens can be told anything.
    return getattr(getattr(request, "_request", None), "headers", None) or request.headers


def _request() -> Any:
    """What opened the session that is asking; None outside of one."""
    global _SERVED  # noqa: PLW0603 - of the process, as its server is
    document = pn.state.curdoc
    context = None if document is None else document.session_context
    if context is None:
        return None
    _SERVED = True
    return context.request
