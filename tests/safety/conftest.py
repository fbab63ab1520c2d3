"""Servers that others reach, with a log-in."""

import contextlib
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.conftest import ROOT
from tests.serving import Served

EVERYWHERE = "0.0.0.0"  # noqa: S104 - for as long as the tests of a module run, with a log-in
ORIGIN = "dashboard.example.org:443"


@pytest.fixture(scope="module")
def serve_others() -> Iterator[Callable[..., Served]]:
    """Give ``serve_others(program, *arguments)``: what ``program`` (Python's arguments) serves to other machines."""
    options = ["--address", EVERYWHERE, "--allow-websocket-origin", ORIGIN, "--port", "0", "--no-browser"]
    with contextlib.ExitStack() as stack:

        def serve(program: list[str], *arguments: str) -> Served:
            return stack.enter_context(Served([sys.executable, *program, "serve", *arguments, *options], ROOT))

        yield serve


@pytest.fixture
def base(served: Served) -> str:
    """Address of the server of a module, as a browser on this machine has it."""
    return served.url.replace(EVERYWHERE, "localhost").removesuffix("/dashboard")
