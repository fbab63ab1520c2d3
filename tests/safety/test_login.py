"""Others reach the page: nobody comes in without a log-in, and nobody into another one's session."""

import json
import platform
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dashboard.server import attempts, login
from dashboard.server.login import LoginError, fits, hashed, read_passwords
from tests.safety.addresses import HOSTS, LOGIN, OPENED, REFUSED, statuses
from tests.safety.client import Visitor
from tests.serving import Served

PASSWORDS = {"alice": "wonderland-1865", "bob": "builder-1999"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file of names and passwords: alice's in line 2, bob's in line 3."""
    file = tmp_path_factory.mktemp("passwords") / "passwords.json"
    file.write_text(json.dumps({"alice": hashed(PASSWORDS["alice"]), "bob": PASSWORDS["bob"]}, indent=1))
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def served(file: Path, serve_others: Callable[..., Served]) -> Served:
    # A page without results is made at once.
    (file.parent / "nothing").mkdir()
    return serve_others(["-m", "dashboard.cli"], str(file.parent / "nothing"), "--basic-auth", str(file))


def _known(base: str, name: str) -> Visitor:
    visitor = Visitor(base)
    assert visitor.log_in(name, PASSWORDS[name]).code == 302
    return visitor


@pytest.mark.slow
def test_without_logging_in_there_is_no_page_and_no_session(base: str) -> None:
    visitor = Visitor(base)
    answer, token = visitor.page()
    assert answer.code == 302
    assert "/login" in answer.headers["Location"]
    assert not token
    _, token = _known(base, "alice").page()
    assert not visitor.connects(token)


@pytest.mark.parametrize("name", ["alice", "nobody", "", "guest"])
def test_a_wrong_name_or_password_is_refused_alike(base: str, name: str) -> None:
    answer = Visitor(base).log_in(name, "wrong")
    assert answer.code == 403
    assert "The name or the password is wrong." in answer.text


def test_who_logs_in_sees_the_page_and_own_session(base: str) -> None:
    visitor = _known(base, "alice")
    answer, token = visitor.page()
    assert answer.code == 200
    assert visitor.connects(token)
    assert visitor.connects(token, "https://dashboard.example.org:443")
    # As browsers say it, through a proxy that asks by this machine's name.
    assert visitor.connects(token, "https://dashboard.example.org")
    assert not visitor.connects(token, "http://dashboard.example.org")
    # Through a tunnel from another port.
    assert visitor.connects(token, "http://localhost:8080", "localhost:8080")


def test_a_session_of_another_user_is_refused(base: str) -> None:
    alice, bob = _known(base, "alice"), _known(base, "bob")
    _, token = alice.page()
    assert alice.connects(token)
    assert not bob.connects(token)
    assert bob.ask(f"/dashboard?bokeh-token={token}").code == 403


def test_a_session_cannot_be_asked_for_by_its_number(base: str) -> None:
    alice = _known(base, "alice")
    assert alice.ask("/dashboard?bokeh-session-id=abc").code == 403
    assert alice.ask("/dashboard", headers={"Bokeh-Session-Id": "abc"}).code == 403


def test_a_changed_cookie_is_nobodys(base: str) -> None:
    visitor = _known(base, "bob")
    # The name in the cookie, as base64: bob becomes another, the signature stays.
    visitor.cookies["user"] = visitor.cookies["user"].replace("Ym9i", "YWxp")
    answer, _ = visitor.page()
    assert answer.code == 302
    assert "/login" in answer.headers["Location"]


def test_a_forged_origin_is_refused_also_to_who_has_logged_in(base: str) -> None:
    visitor = _known(base, "alice")
    _, token = visitor.page()
    for origin in ("http://evil.example", "null", "http://[", base.replace("localhost", "localhost.evil.example")):
        assert not visitor.connects(token, origin)
    # A name of theirs that leads to this machine: origin and host are equal.
    rebound = base.replace("localhost", "evil.example")
    assert not visitor.connects(token, rebound, rebound.removeprefix("http://"))
    assert visitor.connects(token, "https://dashboard.example.org", "dashboard.example.org")


def test_a_proxy_asks_by_the_machines_own_name_and_takes_the_beginning_of_the_path_away(base: str) -> None:
    visitor = Visitor(base)
    assert visitor.ask("/login", {"Host": f"{platform.node()}:5006"}).code == 200
    # What leads on is relative, as the form is, which is sent to where it came from.
    assert visitor.ask("/dashboard").headers["Location"].startswith("./login")
    assert "action=" not in visitor.ask("/login").text
    assert visitor.log_in("alice", PASSWORDS["alice"]).headers["Location"] == "./dashboard"


def test_a_form_of_another_site_does_not_log_in(base: str) -> None:
    visitor = Visitor(base)
    assert visitor.log_in("alice", PASSWORDS["alice"], forged=True).code == 403
    assert "user" not in visitor.cookies


def test_logging_in_leads_to_no_other_site() -> None:
    for address in ("//evil.example/", "https://evil.example/", "/\\evil"):
        assert login._path_of(address) == ""


def test_the_cookie_is_hidden_from_scripts_and_other_sites(base: str) -> None:
    answer = Visitor(base).log_in("alice", PASSWORDS["alice"])
    line = next(line for line in answer.headers.get_all("Set-Cookie") if line.startswith("user="))
    assert "HttpOnly" in line
    assert "SameSite=Lax" in line


def test_the_answers_carry_their_headers(base: str) -> None:
    answer, _ = _known(base, "alice").page()
    assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_large_request_is_refused(base: str) -> None:
    visitor = Visitor(base)
    visitor.ask("/login")
    try:
        refused = visitor.ask("/login", method="POST", body="x" * (8 << 20)).code == 400
    except ConnectionError:
        refused = True
    assert refused


def test_the_log_tells_no_password_and_no_token(served: Served, base: str) -> None:
    bob = _known(base, "bob")
    _, token = _known(base, "alice").page()
    bob.ask(f"/dashboard?bokeh-token={token}")
    bob.ask("/dashboard?bokeh-session-id=abc")
    log = "".join(served.output)
    assert "403 GET /dashboard?bokeh-token=…" in log
    assert token not in log
    assert not [secret for secret in PASSWORDS.values() if secret in log]


@pytest.mark.parametrize(
    ("name", "sound", "damaged", "line"), [("alice", "scrypt$", "scrypt$ab", 2), ("bob", "builder", "b\udcffilder", 3)]
)
def test_a_file_damaged_while_it_serves_lets_nobody_in_and_the_log_names_the_line(
    served: Served, base: str, file: Path, name: str, sound: str, damaged: str, line: int
) -> None:
    content, before = file.read_text(), len(served.output)
    try:
        file.write_bytes(content.replace(sound, damaged, 1).encode(errors="surrogateescape"))
        answer = Visitor(base).log_in(name, PASSWORDS[name])
    finally:
        file.write_text(content)
    assert answer.code == 403
    assert "The name or the password is wrong." in answer.text
    log = "".join(served.output[before:])
    assert f"nobody can log in: {file}, line {line}:" in log
    assert "Traceback" not in log
    assert "scrypt$ab" not in log


def _cookies(visitor: Visitor) -> bytes:
    return f"Cookie: {'; '.join(f'{name}={value}' for name, value in visitor.cookies.items())}\r\n".encode()


@pytest.mark.soak
def test_no_address_is_an_error_of_the_server(base: str) -> None:
    assert set(statuses(base, OPENED, _cookies(_known(base, "alice"))).values()) == {200}
    codes = statuses(base, [*REFUSED, *LOGIN])
    assert {address: status for address, status in codes.items() if status >= 500} == {}


@pytest.mark.slow
def test_no_name_of_the_server_is_an_error_of_its_own(base: str) -> None:
    cookies = _cookies(_known(base, "alice"))
    codes = {host: statuses(base, [b"/dashboard"], cookies, host)[b"/dashboard"] for host in HOSTS}
    assert codes == HOSTS


def test_who_guesses_is_slowed_down_and_another_address_is_not(base: str) -> None:
    right = PASSWORDS["alice"]
    with ThreadPoolExecutor(attempts.MOST_FAILURES) as many:
        tries = 2 * attempts.MOST_FAILURES
        codes = list(many.map(lambda _: Visitor(base, "127.0.0.8").log_in("alice", "guess").code, range(tries)))
    assert (codes.count(403), codes.count(429)) == (attempts.MOST_FAILURES, attempts.MOST_FAILURES)
    assert Visitor(base, "127.0.0.8").log_in("alice", right).code == 429
    assert Visitor(base, "127.0.0.9").log_in("alice", right).code == 302


def test_a_hash_stands_for_its_password_alone() -> None:
    kept = hashed("wonder")
    assert "wonder" not in kept
    assert fits("wonder", kept)
    assert not fits("wander", kept)
    assert kept != hashed("wonder")
    assert fits("plain", "plain")
    assert not fits("plain", "plein")
    assert not any(
        fits("wonder", each) for each in (kept[:-1], kept[:-20], kept + "0", kept.replace("$", "", 1), "scrypt$")
    )


@pytest.mark.parametrize(
    ("content", "mode", "message"),
    [
        ('{"alice": "wonder"}', 0o644, "chmod 600"),
        ('{"alice": "wonder"}', 0o640, "chmod 600"),
        ("[1]", 0o600, "JSON object"),
        ("{}", 0o600, "JSON object"),
        ('{"alice": ""}', 0o600, "JSON object"),
        ('{"guest": "x"}', 0o600, "stand for nobody"),
        ("alice", 0o600, "line 1: cannot be read"),
        ('{"bob": "x",\n\n "alice": "scrypt$00$wonder"}', 0o600, "line 3: the hash of a password is cut"),
        ('{"scrypt$": "wonder",\n "b\\"\\n": "scrypt$"}', 0o600, "line 2: the hash"),
        ('{"alice":\n "\\ud800"}', 0o600, "line 2: this password has half a character"),
        pytest.param("[" * 100_000, 0o600, "JSON object", id="nested without end"),
    ],
)
def test_a_file_of_passwords_must_be_private_and_sound(tmp_path: Path, content: str, mode: int, message: str) -> None:
    file = tmp_path / "passwords.json"
    file.write_text(content)
    file.chmod(mode)
    with pytest.raises(LoginError, match=message) as raised:
        read_passwords(file)
    assert "wonder" not in str(raised.value)
    assert stat.S_IMODE(file.stat().st_mode) == mode
