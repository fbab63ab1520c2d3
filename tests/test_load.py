"""Several sessions at once: each has its own view, all are answered, and nothing is said in the server's log."""

import asyncio
import re
import sys

import pytest

from tests.conftest import ROOT
from tests.serving import Served
from tests.sessions import Session

SESSIONS, MOVES = 5, 2
SLIDER = "Accuracy threshold"


@pytest.mark.soak
def test_sessions_are_served_at_once() -> None:
    with Served([sys.executable, "-m", "dashboard.cli", "serve", "--no-browser", "--port", "0"], ROOT) as served:
        asyncio.run(_use(served.url + "?tree=quadtree"))
    said = "".join(served.output)
    assert not re.search(r"ERROR|Traceback|Exception", said), said


async def _use(url: str) -> None:
    opened = await asyncio.gather(*(Session.open(url) for _ in range(SESSIONS)))
    await asyncio.gather(*(_move(session, number) for number, session in enumerate(opened)))
    # A later one begins where each began: nobody's choices are another one's.
    fresh = await Session.open(url)
    assert (await fresh.widget(SLIDER))["attributes"]["value"] == 1.0
    await fresh.rest()
    for session in (*opened, fresh):
        session.close()


async def _move(session: Session, number: int) -> None:
    for move in range(MOVES):
        await session.set(SLIDER, (50 + 5 * move + number) / 100)
        await session.picture()
    # A tab that closes while it is being sent to is Panel's to report.
    await session.rest()
