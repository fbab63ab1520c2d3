"""Who guesses passwords is slowed down, and nobody else."""

from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.server import attempts
from dashboard.server.attempts import MOST_BY_PROXY, MOST_FAILURES, WINDOW_SECONDS, Attempts, limits_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Time that stands still until ``now`` is set."""
    at = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(attempts, "time", SimpleNamespace(monotonic=lambda: at.now))
    return at


def _request(address: str, forwarded: str = "") -> Any:
    return SimpleNamespace(remote_ip=address, headers={"X-Forwarded-For": forwarded} if forwarded else {})


def _tries(counts: Attempts, number: int, address: str, forwarded: str = "") -> int:
    """How many of so many failing attempts are let through to the password."""
    return sum(counts.begin(limits_of(_request(address, forwarded))) is not None for _ in range(number))


def test_each_address_has_its_own_count_and_a_minute_later_a_new_one(clock: SimpleNamespace) -> None:
    counts = Attempts()
    assert _tries(counts, 50, "10.0.0.1") == MOST_FAILURES
    assert _tries(counts, 50, "10.0.0.2") == MOST_FAILURES
    clock.now += WINDOW_SECONDS - 1
    assert _tries(counts, 1, "10.0.0.1") == 0
    clock.now += 2
    assert _tries(counts, 50, "10.0.0.1") == MOST_FAILURES


def test_the_right_password_does_not_count(clock: SimpleNamespace) -> None:
    counts = Attempts()
    for _ in range(3 * MOST_FAILURES):
        attempt = counts.begin(limits_of(_request("10.0.0.1")))
        counts.take_back(attempt)
    assert _tries(counts, 50, "10.0.0.1") == MOST_FAILURES


def test_one_network_of_ipv6_is_one_client() -> None:
    counts = Attempts()
    assert sum(_tries(counts, 1, f"2001:db8::{number:x}") for number in range(50)) == MOST_FAILURES
    assert _tries(counts, 1, "2001:db8:0:1::1") == 1
    assert _tries(counts, 50, "::ffff:10.0.0.1") + _tries(counts, 50, "10.0.0.1") == MOST_FAILURES


def test_behind_a_proxy_clients_are_told_apart_by_what_it_added() -> None:
    counts = Attempts()
    # What a client forges stands before what the proxy adds.
    assert sum(_tries(counts, 1, "127.0.0.1", f"1.2.3.{number}, 10.0.0.1") for number in range(50)) == MOST_FAILURES
    assert _tries(counts, 50, "127.0.0.1", "10.0.0.2") == MOST_FAILURES


def test_who_forges_being_a_proxy_on_this_machine_is_slowed_down_all_the_same() -> None:
    counts = Attempts()
    assert sum(_tries(counts, 1, "127.0.0.1", f"name {number}") for number in range(1000)) == MOST_BY_PROXY
    assert _tries(counts, 1, "127.0.0.1") == 1


def test_from_elsewhere_nobody_is_believed_to_be_a_proxy() -> None:
    counts = Attempts()
    assert sum(_tries(counts, 1, "10.0.0.1", f"1.2.3.{number}") for number in range(50)) == MOST_FAILURES


def test_many_addresses_fill_no_memory_and_lock_out_nobody_who_is_known(clock: SimpleNamespace) -> None:
    counts = Attempts(most_clients=10)
    assert _tries(counts, 1, "10.0.0.1") == 1
    tried = sum(_tries(counts, 1, f"10.0.1.{number}") for number in range(200))
    assert tried == 9 + MOST_FAILURES
    assert len(counts._times) == 11
    assert _tries(counts, 50, "10.0.0.1") == MOST_FAILURES - 1
    clock.now += WINDOW_SECONDS + 1
    assert _tries(counts, 50, "10.0.9.9") == MOST_FAILURES
    assert len(counts._times) == 1
