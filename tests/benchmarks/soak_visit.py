"""A quarter of an hour on the page: all pages and tabs, round after round, each as quick as the first.

Serves the dashboard (or visits the address that is named) and prints of each round the clicks that open a page until
the next paint, the steps of a slider, the elements of the document and what the tab keeps in memory; at the end what
the console and the page's own scripts complained of, and which pages or tabs showed nothing or a failure::

    python -m tests.benchmarks.soak_visit [--minutes 15] [--dark] [ADDRESS]
"""

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
from playwright.sync_api import Locator, Page, sync_playwright

from dashboard.session.state import PAGES
from tests.benchmarks.bench_tour import COUNT, kept
from tests.conftest import ROOT, find_chromium
from tests.serving import Served

#: Milliseconds that are stayed on a page and on each of its tabs, the first time and later.
FIRST, LATER, TAB = 6_000, 1_500, 700
#: Milliseconds after which what shows nothing by then is looked at once more.
LATE = 5_000
STEPS = 6
_PAINTED = "() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)))"


def until_paint(page: Page, work: Locator, key: str = "") -> float:
    """Seconds until the paint after a click, or a key."""
    begun = time.perf_counter()
    work.press(key) if key else work.click()
    page.evaluate(_PAINTED)
    return time.perf_counter() - begun


def lacking(page: Page, name: str) -> Iterator[str]:
    """What is wrong with what a page or tab shows: no chart, table or field, a warning or an error."""
    content = page.locator("canvas, table, input, select, textarea").filter(visible=True)
    if not content.count():
        page.wait_for_timeout(LATE)
        yield f"{name} shows no chart, table or field{', for a while' if content.count() else ''}"
    for alert in page.get_by_role("alert").filter(visible=True).all():
        if re.search("MuiAlert-color(Warning|Error)", alert.get_attribute("class") or ""):
            yield f"{name} says: {alert.inner_text()}"


def visit(page: Page, stay: int, complaints: list[str]) -> dict[str, float]:
    """Open every page and each of its tabs once; how long each page's click took."""
    took = {}
    for name in PAGES:
        took[name] = until_paint(page, page.get_by_role("button", name=name, exact=True).first)
        page.wait_for_timeout(stay)
        complaints += lacking(page, name)
        # Held by their elements: what is counted from the document's start is another tab once one is added above.
        tabs = [each for each in page.get_by_role("tab").element_handles() if each.is_visible() and each.is_enabled()]
        for tab in (*tabs, *tabs[:1]):
            tab.click()
            page.wait_for_timeout(TAB)
            complaints += lacking(page, f"{name} > {tab.inner_text()}")
    return took


def round_of(page: Page, stay: int, complaints: list[str]) -> str:
    """One round; what is said of it."""
    took = visit(page, stay, complaints)
    page.get_by_role("button", name="Decisions", exact=True).click()
    page.wait_for_timeout(LATER)
    slider = page.get_by_role("slider").first
    steps = [until_paint(page, slider, key) for key in ("ArrowLeft", "ArrowRight") * (STEPS // 2)]
    slowest = max(took, key=lambda name: took[name])
    return (
        f"clicks median {np.median([*took.values()]):.2f}, slowest {took[slowest]:.2f} s ({slowest}); "
        f"slider {np.median(steps):.2f} s; {page.evaluate(COUNT)['elements']:,} elements"
    )


def main() -> int:
    """Visit until the time is up; 0 when nothing was complained of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", nargs="?", default="")
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    command = [sys.executable, "-m", "panel", "serve", "dashboard", "--address", "127.0.0.1", "--port", "0"]
    complaints: list[str] = []
    with ExitStack() as stack, sync_playwright() as driver:
        address = args.address or stack.enter_context(Served(command, ROOT)).url
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        scheme = "dark" if args.dark else "light"
        page = browser.new_page(viewport={"width": 1920, "height": 1080}, color_scheme=scheme)
        page.set_default_timeout(120_000)
        page.on("console", lambda said: said.type in {"error", "warning"} and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.get_by_role("button", name="Decisions", exact=True).wait_for()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        begun, number = time.monotonic(), 0
        while time.monotonic() - begun < 60 * args.minutes:
            said = round_of(page, LATER if number else FIRST, complaints)
            number += 1
            memory = "{MB:.0f} MB and {nodes kept:,.0f} nodes kept".format_map(kept(session))
            print(f"round {number}, {(time.monotonic() - begun) / 60:.1f} min: {said}; {memory}", flush=True)
        browser.close()
    for complaint, times in Counter(complaints).items():
        print(f"complaint, {times} times: {complaint[:300]}")
    print(f"{len(complaints)} complaints")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
