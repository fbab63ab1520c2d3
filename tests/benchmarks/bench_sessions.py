"""Many sessions: memory over 50 that come and go and over an hour of slider moves, and how fast pictures follow.

Aims: memory flat within 5 % after the warm-up, no error in the server's log, and with 8 sessions active on two cores
95 of 100 pictures within 150 ms of the slider's event. Seven of the eight are websockets that move their slider once
and again; what comes to the screen is measured in the eighth, a real browser, as `bench_slider` does. A server of one
process and one of two (``--num-procs 2``) are measured.
"""

import argparse
import asyncio
import re
import statistics
import sys
import time
from functools import cache

import psutil
from playwright.async_api import async_playwright

from dashboard.decisions import QuadtreeBuilder, decision_map
from loaders import open_results
from tests.benchmarks.bench_slider import _MEASURE
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN, ROOT, find_chromium
from tests.serving import Served
from tests.sessions import Session

ACTIVE = 8
ROUND = 10
#: Seconds after which the server has forgotten a session that was closed: Bokeh looks each 17 s for those unused 15 s.
FORGOTTEN = 40.0
SLIDER = "Accuracy threshold"
#: Seconds between the moves of a slider that is in use, in the browser, too: someone looks at what has come.
STEP = 1.0
#: Milliseconds after which a move counts as one that changes nothing, or that was never answered.
GIVEN_UP = 2000
_FAULT = re.compile(r"ERROR|Traceback|Exception")


def megabytes(served: Served) -> float:
    """Memory of the server's process."""
    return psutil.Process(served.process.pid).memory_info().rss / 1e6


async def used(session: Session, moves: int, pause: float = 0.0) -> list[float]:
    """Move a slider so often; seconds until the figures of each picture had come."""
    times = []
    thresholds = positions()
    for move in range(moves):
        start = time.perf_counter()
        await session.set(SLIDER, thresholds[move % len(thresholds)])
        times.append(await session.picture() - start)
        await asyncio.sleep(pause)
    return times


async def come_and_go(served: Served, sessions: int, moves: int) -> list[float]:
    """Open sessions at once, use and close them; seconds of all moves."""
    opened = await asyncio.gather(*(Session.open(served.url + "?tree=quadtree") for _ in range(sessions)))
    await asyncio.gather(*(session.rest() for session in opened))
    times = await asyncio.gather(*(used(session, moves) for session in opened))
    await asyncio.gather(*(session.rest() for session in opened))
    for session in opened:
        session.close()
    return [each for per_session in times for each in per_session]


async def many(served: Served, sessions: int, warm: int, at_once: int) -> None:
    """Memory over sessions that are opened and closed, compared with that after the first `warm`."""
    first = 0.0
    for done in range(at_once, sessions + 1, at_once):
        await come_and_go(served, at_once, 2)
        if done < warm or (done - warm) % warm:
            continue
        await asyncio.sleep(FORGOTTEN)
        now = megabytes(served)
        first = first or now
        print(f"after {done:3d} sessions: {now:.0f} MB ({100 * now / first - 100:+.1f} %)", flush=True)


async def soak(served: Served, sessions: int, hour: int) -> None:
    """Memory over sessions that come and go, then over as many moves as an hour has seconds."""
    await come_and_go(served, ROUND, 20)
    await asyncio.sleep(FORGOTTEN)
    warm = megabytes(served)
    print(f"memory after the warm-up: {warm:.0f} MB")
    for done in range(ROUND, sessions + 1, ROUND):
        await come_and_go(served, ROUND, 20)
        await asyncio.sleep(FORGOTTEN)
        now = megabytes(served)
        print(f"after {done:3d} sessions opened, used and closed: {now:.0f} MB ({100 * now / warm - 100:+.1f} %)")
    times = await come_and_go(served, ACTIVE, hour // ACTIVE)
    await asyncio.sleep(FORGOTTEN)
    now = megabytes(served)
    print(f"after {len(times)} moves more: {now:.0f} MB ({100 * now / warm - 100:+.1f} %)")


@cache
def positions() -> list[float]:
    """Thresholds each of which gives another map of the sample data than the one before, round and round."""
    cube = open_results(sorted(FAST_ETHERNET.glob("*.sko")), pattern=FAST_ETHERNET_PATTERN)["bcast"].to_dataset()
    builder = QuadtreeBuilder(dmap := decision_map(cube))
    sizes = dmap["comm_size"].values[:, None], dmap["message_size"].values[None, :]
    drawn = {step / 100: builder.build(max_depth=3, threshold=step / 100).predict(*sizes) for step in range(5, 100)}
    thresholds = [next(iter(drawn))]
    for at, map_ in drawn.items():
        if (map_ != drawn[thresholds[-1]]).any():
            thresholds.append(at)
    return thresholds


async def pictures(served: Served, moves: int) -> None:
    """Slider to pixels in a browser while the other sessions move theirs."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        await page.goto(f"{served.url}?threshold=0.6")
        await page.locator("canvas").nth(2).wait_for()
        await page.wait_for_timeout(5000)
        for others in (0, ACTIVE - 1):
            opened = [await Session.open(served.url + "?tree=quadtree") for _ in range(others)]
            await asyncio.gather(*(session.rest() for session in opened))
            busy = [asyncio.ensure_future(used(session, 10**6, STEP)) for session in opened]
            times = await page.evaluate(_MEASURE, [1, 2, moves, positions(), 1000 * STEP])
            for task, session in zip(busy, opened, strict=True):
                task.cancel()
                session.close()
            print(f"slider to pixels beside {others} active sessions: {figures(times)}")
        await browser.close()


def figures(times: list[float]) -> str:
    """Write figures of moves, in milliseconds; those given up are counted."""
    seen = sorted(each for each in times if each < GIVEN_UP)
    count = f"{len(seen)} of {len(times)} moves changed the map within {GIVEN_UP} ms"
    if len(seen) < 2:
        return count
    return f"median {statistics.median(seen):.0f} ms, p95 {statistics.quantiles(seen, n=20)[-1]:.0f} ms ({count})"


def main() -> None:
    """Measure, and count what went wrong in the server's log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--moves", type=int, default=3600, help="of the soak; as many as an hour has seconds")
    parser.add_argument("--pictures", type=int, default=200, help="moves measured in the browser")
    parser.add_argument(
        "--many", type=int, metavar="N", help="only open and close so many sessions, and compare with the first 50"
    )
    args = parser.parse_args()
    for processes in (1,) if args.many else (2, 1):
        print(f"server of {processes} processes" if processes > 1 else "server of one process")
        command = [sys.executable, "-m", "dashboard.cli", "serve", "--no-browser", "--port", "0"]
        with Served([*command, "--num-procs", str(processes)], ROOT) as served:
            if args.many:
                asyncio.run(many(served, args.many, 50, ROUND))
            else:
                asyncio.run(pictures(served, args.pictures))
                if processes == 1 and args.sessions:
                    asyncio.run(soak(served, args.sessions, args.moves))
        faults = [line for line in served.output if _FAULT.search(line)]
        print(f"{len(faults)} errors in the log", *faults[:10], sep="\n")


if __name__ == "__main__":
    main()
