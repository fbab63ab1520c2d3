"""``panel serve dashboard``: its answers have the headers, and no address ends as an error of the server's own."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from dashboard.server.headers import HEADERS
from tests.safety.addresses import LOGIN, OPENED, REFUSED, statuses
from tests.safety.client import Visitor
from tests.serving import Served


@pytest.fixture
def base(serve_dashboard: Callable[..., Served]) -> str:
    # A page without results is made at once.
    return serve_dashboard("--args", "nothing-to-open").url.removesuffix("/dashboard")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    ["/", "/dashboard", "/dashboard?page=Data", "/static/js/bokeh.min.js", "/favicon.ico", "/nothing", "/static/%00"],
)
def test_every_answer_of_panel_serve_carries_the_headers(base: str, path: str) -> None:
    answer = Visitor(base).ask(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers["Server"] == "colltune"


@pytest.mark.parametrize("address", OPENED[:4])
def test_what_is_odd_in_an_address_does_not_keep_the_page_from_opening(base: str, address: bytes) -> None:
    path = address.decode("ascii", "ignore").replace("#", "")
    assert "<title>colltune</title>" in Visitor(base).ask(path).text


@pytest.mark.soak
def test_no_address_is_an_error_of_the_server(base: str) -> None:
    assert set(statuses(base, OPENED[4:]).values()) == {200}
    codes = statuses(base, [*REFUSED, *LOGIN])
    assert {address: status for address, status in codes.items() if status >= 500} == {}


def test_it_refuses_a_forged_origin(base: str) -> None:
    visitor = Visitor(base)
    _, token = visitor.page()
    assert visitor.connects(token)
    assert not visitor.connects(token, "http://evil.example")
    # A name of theirs that leads to this machine: origin and host are equal.
    rebound = f"evil.example:{urlsplit(base).port}"
    assert not visitor.connects(token, f"http://{rebound}", rebound)
    for path in ("/dashboard", "/", "/static/js/bokeh.min.js", "/nothing"):
        assert visitor.ask(path, {"Host": rebound}).code == 403
