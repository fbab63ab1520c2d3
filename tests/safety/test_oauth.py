"""Logging in at a provider: one whole round, and what of it somebody else can use."""

import base64
import secrets
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from tests.safety.addresses import LOGIN, OPENED, REFUSED, statuses
from tests.safety.client import Answer, Visitor
from tests.safety.provider import CLIENT, SECRET, Provider
from tests.serving import Served


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def served(provider: Provider, serve_others: Callable[..., Served]) -> Served:
    """Give what ``colltune serve`` serves with these options, but for the page: that tells whether it may launch."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in provider.environment().items():
            environment.setenv(name, value)
        environment.setenv("PANEL_OAUTH_ENCRYPTION", base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
        return serve_others(["tests/safety/launching.py"], "--oauth-provider", "generic", "--launchers", "alice")


def _path(answer: Answer) -> str:
    """Where an answer sends to, on this server."""
    assert answer.code == 302
    at = urlsplit(urljoin("/login", answer.headers["Location"]))
    return f"{at.path or '/'}?{at.query}" if at.query else at.path


def _begin(visitor: Visitor) -> str:
    """Address at the provider that the log-in sends to."""
    page = visitor.ask("/dashboard")
    assert "/login" in page.headers["Location"]
    return str(visitor.ask(_path(page)).headers["Location"])


def _answer_of_provider(address: str, user: str) -> str:
    """Path on the server, with the code, to which the provider sends back a user who agrees."""
    at = urlsplit(address)
    return _path(Visitor(f"http://{at.netloc}").ask(f"{at.path}?{at.query}&user={user}"))


def _follow(visitor: Visitor, path: str) -> Answer:
    """Ask as a browser does: on to where the answers send, to the end."""
    answer = visitor.ask(path)
    for _ in range(5):
        if answer.code != 302 or not answer.headers["Location"].startswith((".", "/")):
            return answer
        answer = visitor.ask(_path(answer))
    raise AssertionError("sent around in a circle")


def _log_in(base: str, user: str) -> tuple[Visitor, Answer]:
    visitor = Visitor(base)
    return visitor, _follow(visitor, _answer_of_provider(_begin(visitor), user))


@pytest.mark.parametrize(("user", "may"), [("alice", True), ("bob", False)])
def test_who_logs_in_at_the_provider_sees_the_page_and_launches_only_when_named(
    base: str, user: str, *, may: bool
) -> None:
    visitor, answer = _log_in(base, user)
    assert answer.code == 200
    assert f"enter: True, launch: {may}." in answer.text
    _, token = visitor.page()
    assert visitor.connects(token)
    assert not visitor.connects(token, "http://evil.example")


def test_the_secret_is_told_to_the_provider_alone(base: str, provider: Provider, served: Served) -> None:
    visitor = Visitor(base)
    asked = parse_qs(urlsplit(_begin(visitor)).query)
    assert asked["client_id"] == [CLIENT]
    visitor, answer = _log_in(base, "alice")
    for secret in [SECRET, *provider.tokens, *provider.codes]:
        assert secret not in answer.text
        assert secret not in "".join(visitor.cookies.values())
        assert secret not in "".join(served.output)


def test_a_session_of_another_user_is_refused(base: str) -> None:
    (alice, _), (bob, _) = _log_in(base, "alice"), _log_in(base, "bob")
    _, token = alice.page()
    assert alice.connects(token)
    assert not bob.connects(token)
    assert not Visitor(base).connects(token)


def test_whom_the_provider_refuses_does_not_come_in(base: str) -> None:
    visitor, answer = _log_in(base, "mallory")
    assert answer.code == 401
    assert "user" not in visitor.cookies
    assert visitor.page()[0].code == 302


@pytest.mark.parametrize("forge", ["another's", "none", "blank"])
def test_a_code_of_somebody_else_logs_nobody_in(base: str, forge: str) -> None:
    sent = _answer_of_provider(_begin(Visitor(base)), "bob")
    code = parse_qs(urlsplit(sent).query)["code"][0]
    # Another site sends this browser, which may have begun to log in or not, to the code of another user.
    for visitor in (Visitor(base), begun := Visitor(base)):
        if visitor is begun:
            _begin(begun)
        path = {"another's": sent, "none": f"/login?code={code}", "blank": f"/login?code={code}&state="}[forge]
        assert _follow(visitor, path).code == 401
        assert visitor.cookies.get("user", "") in {"", '""'}
        assert visitor.page()[0].code == 302


def test_a_code_is_not_good_twice(base: str) -> None:
    visitor = Visitor(base)
    sent = _answer_of_provider(_begin(visitor), "alice")
    kept = dict(visitor.cookies)
    assert _follow(visitor, sent).code == 200
    again = Visitor(base)
    again.cookies = kept
    assert _follow(again, sent).code == 401


def test_what_is_told_of_an_error_is_text(base: str) -> None:
    answer = Visitor(base).ask("/login?error=%3Cscript%3Ealert(1)%3C/script%3E&error_description=%3Cimg%20onerror=x%3E")
    assert answer.code == 401
    assert "<script>alert" not in answer.text
    assert "onerror" not in answer.text.replace("&lt;img onerror", "")


def test_no_address_is_an_error_of_the_server(base: str) -> None:
    codes = statuses(base, [*OPENED, *REFUSED, *LOGIN])
    assert {address: status for address, status in codes.items() if status >= 500} == {}
