"""How often a client may try to log in: each has its own count, so that who guesses locks out nobody else."""

import ipaddress
import time
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dashboard.server.reach import is_loopback

#: Attempts of one client, under way or failed, within `WINDOW_SECONDS` before it cannot try for a while.
MOST_FAILURES = 20
#: The same of all whom a proxy on this machine brings. Its word for whom it asks may be anybody's on this machine.
MOST_BY_PROXY = 400
WINDOW_SECONDS = 60.0
#: Clients that are told apart; further ones are counted as one until others have been quiet for `WINDOW_SECONDS`.
MOST_CLIENTS = 10_000
_FURTHER = "further clients"
#: Of an IPv6 address, what one customer of a provider has to itself.
_PREFIX = 64
#: Characters of a name that is no address.
_LONGEST = 64


@dataclass
class Attempts:
    """Attempts of the last `WINDOW_SECONDS` that are under way or failed, by client; success takes one back."""

    most_clients: int = MOST_CLIENTS
    _times: OrderedDict[str, deque[float]] = field(default_factory=OrderedDict)

    def begin(self, limits: dict[str, int]) -> list[tuple[str, float]] | None:
        """Count an attempt before its password is looked at: of many at once, none would have failed yet.

        Parameters
        ----------
        limits
            Names under which the attempt counts, with the most that each may have; see `limits_of`.

        Returns
        -------
        list or None
            For `take_back`; None: it must wait, and does not count.
        """
        now = time.monotonic()
        self._forget(now)
        counted = {self._counted(name): most for name, most in limits.items()}
        if any(self._recent(name, now) >= most for name, most in counted.items()):
            return None
        for name in counted:
            self._times.setdefault(name, deque()).append(now)
            self._times.move_to_end(name)
        return [(name, now) for name in counted]

    def take_back(self, attempt: list[tuple[str, float]]) -> None:
        """Forget an attempt that was right."""
        for name, when in attempt:
            with suppress(KeyError, ValueError):
                self._times[name].remove(when)

    def _counted(self, name: str) -> str:
        return name if name in self._times or len(self._times) < self.most_clients else _FURTHER

    def _recent(self, name: str, now: float) -> int:
        times = self._times.get(name, deque())
        while times and now - times[0] > WINDOW_SECONDS:
            times.popleft()
        return len(times)

    def _forget(self, now: float) -> None:
        # Who tried last stands last.
        while self._times and not self._recent(first := next(iter(self._times)), now):
            del self._times[first]


def limits_of(request: Any) -> dict[str, int]:
    """Names under which an attempt of a request counts, with the most of each.

    The address is the connection's own. Only a proxy on this machine is believed for whom it asks, and all those
    together have a bound, too.
    """
    name = _client(request.remote_ip)
    address = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    if not address or not is_loopback(request.remote_ip):
        return {name: MOST_FAILURES}
    return {f"{_client(address)} by {name}": MOST_FAILURES, f"all by {name}": MOST_BY_PROXY}


def _client(address: str) -> str:
    try:
        given = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:_LONGEST]
    given = getattr(given, "ipv4_mapped", None) or given
    return str(ipaddress.ip_network((given, _PREFIX), strict=False) if given.version == 6 else given)
