"""The page after every page was visited: what stands in the document, and what a step and a switch then cost.

Makes the tour of all pages and tabs three times (what one has not drawn yet comes in the next) in headless Chromium and
prints, fresh and after each, the elements and `<style>` elements of the document with all shadow roots, the listeners
and the memory, and the browser's own figures (Chrome DevTools Protocol, ``Performance.getMetrics``) of going from
Decisions to Data and back, and of a step of a slider; then the first paint, and how long clicks and keys took until the
next one (INP), with the slowest by name. Durations of the table are the main thread's processor time, which others on
the machine do not change much; times until a paint are the clock's.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import CDPSession, Page, sync_playwright

from dashboard.session.state import PAGES
from tests.conftest import ROOT, find_chromium
from tests.serving import Served

#: Tours; switches and steps that are measured after each; and what the tours may leave in the document.
TOURS, TIMES, STEPS = 3, 3, 12
MOST_ELEMENTS, MOST_STYLES = 6_000, 1_500
#: Milliseconds without a change on the page that count as rest, and the most that is waited for it.
QUIET, PATIENCE = 700, 30_000

COUNT = """() => {
    const counts = {elements: 0, styles: 0, links: 0, roots: 0, canvases: 0}
    const walk = (root) => {
        for (const each of root.querySelectorAll('*')) {
            counts.elements += 1
            counts.styles += each.tagName === 'STYLE'
            counts.links += each.tagName === 'LINK'
            counts.canvases += each.tagName === 'CANVAS'
            if (each.shadowRoot) { counts.roots += 1; walk(each.shadowRoot) }
        }
    }
    walk(document)
    return counts
}"""
#: What a page asked for may still be computed when nothing has come for a while: so long nothing comes after it.
DONE = 8_000
#: Milliseconds in which a server that works on nothing uses so many hundredths of a second at most.
IDLE, IDLE_TICKS = 500, 5
#: Bokeh forgets what is gone half a minute after the last change.
FORGOTTEN = 35_000
#: A page is at rest when no message has come for a while and Bokeh has nothing to draw. To ask for the latter goes
#: through all that was ever made, which is not to be measured: it is asked when all seems to be at rest.
_REST = """async ([quiet, patience]) => {
    const begun = performance.now(), heard = () => window.colltune_messages || 0
    let last = heard(), since = performance.now()
    while (performance.now() - begun < patience) {
        await new Promise((next) => setTimeout(next, 50))
        if (heard() !== last) { last = heard(); since = performance.now() }
        if (performance.now() - since < quiet) continue
        if (Bokeh.documents.every((each) => each.is_idle)) return
        since = performance.now()
    }
}"""
#: Counts the messages from the server.
HEAR = """
const Plain = window.WebSocket
window.WebSocket = class extends Plain {
    constructor(...options) {
        super(...options)
        this.addEventListener('message', () => { window.colltune_messages = (window.colltune_messages || 0) + 1 })
    }
}
"""
#: Keeps how long each click and key took until the next paint, as the browser counts it for INP. What takes less than
#: 16 ms it does not report.
_FEEL = """
window.colltune_felt = {}
window.colltune_deeds = 0
for (const kind of ['pointerup', 'keydown']) addEventListener(kind, (event) => {
    window.colltune_deeds += 1
    window.colltune_last = event.key || event.composedPath()[0].textContent?.trim().slice(0, 30)
}, true)
new PerformanceObserver((list) => {
    for (const {interactionId, duration, startTime, processingStart, processingEnd} of list.getEntries())
        if (interactionId && duration > (window.colltune_felt[interactionId]?.[0] || 0))
            window.colltune_felt[interactionId] = [
                duration, processingStart - startTime, processingEnd - processingStart, `${window.colltune_last}`]
}).observe({type: 'event', durationThreshold: 16, buffered: true})
"""
#: Milliseconds that 95 of 100 interactions may take until the next paint.
MOST_TO_PAINT = 200
#: Of the slowest this many are named.
SLOWEST = 8
FIGURES = ("TaskDuration", "ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "RecalcStyleCount", "LayoutCount")


def rest(page: Page, quiet: int = QUIET) -> None:
    """Wait until nothing has changed for so many milliseconds."""
    page.evaluate(_REST, [quiet, PATIENCE])


def settle(page: Page, served: Served) -> None:
    """Wait until nothing comes any more, and the server works on nothing that will."""
    stat = Path(f"/proc/{served.process.pid}/stat")
    while True:
        rest(page)
        before = _ticks(stat)
        page.wait_for_timeout(IDLE)
        if _ticks(stat) - before <= IDLE_TICKS:
            return


def _ticks(stat: Path) -> int:
    """Hundredths of seconds of processor time that a process has used, as proc(5) counts them."""
    return sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13]))


def go(page: Page, name: str) -> None:
    """Open one of the pages and wait for it to come to rest."""
    page.get_by_role("button", name=name, exact=True).click()
    rest(page)


def metrics(session: CDPSession) -> dict[str, float]:
    """Read the browser's own figures."""
    return {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}


def tour(page: Page, served: Served, names: Sequence[str] = (*PAGES, *reversed(PAGES))) -> None:
    """Visit all pages with all their tabs, wait until each has all that it shows, and come back to the first."""
    for name in names:
        go(page, name)
        settle(page, served)
        tabs = page.get_by_role("tab")
        for at in range(tabs.count()):
            if tabs.nth(at).is_visible() and tabs.nth(at).is_enabled():
                tabs.nth(at).click()
                settle(page, served)
        if tabs.count() and tabs.first.is_visible():
            tabs.first.click()
            rest(page)
    go(page, "Decisions")
    # The same tab as at the start: another one holds other figures.
    page.get_by_role("tab").first.click()
    page.wait_for_timeout(FORGOTTEN)
    rest(page)


def cost(page: Page, session: CDPSession, work: Any, times: int) -> dict[str, float]:
    """What the main thread does for some work, each time it is done, from the second on."""
    work()
    before = metrics(session)
    for _ in range(times):
        work()
    after = metrics(session)
    return {name: (after[name] - before[name]) / times for name in FIGURES}


def kept(session: CDPSession) -> dict[str, float]:
    """What the tab keeps in memory once what it no longer needs is collected."""
    # The page's own registries of what is gone are cleared between two of them.
    for _ in range(2):
        session.send("HeapProfiler.collectGarbage")
    own = metrics(session)
    return {"nodes kept": own["Nodes"], "listeners": own["JSEventListeners"], "MB": own["JSHeapUsedSize"] / 1e6}


def measured(page: Page, session: CDPSession) -> dict[str, dict[str, float]]:
    """Count what stands in the document, and measure a switch and a slider's step."""
    slider = page.get_by_role("slider", name="Accuracy threshold")
    keys = iter(["ArrowLeft", "ArrowRight"] * (STEPS + 1))

    def switch() -> None:
        go(page, "Data")
        go(page, "Decisions")

    def step() -> None:
        slider.press(next(keys))
        rest(page)

    return {
        "document": page.evaluate(COUNT) | kept(session),
        "slider step": cost(page, session, step, STEPS),
        "Decisions-Data-Decisions": cost(page, session, switch, TIMES),
    }


def felt(page: Page) -> str:
    """Write the first paint, and how long clicks and keys of the tour took until the next one."""
    first, known, deeds = page.evaluate(
        "() => [performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN,"
        " Object.values(window.colltune_felt), window.colltune_deeds]"
    )
    # Those that are not reported took less than 16 ms.
    times = np.array([*(each[0] for each in known), *[8.0] * max(0, deeds - len(known))])
    middle, high = np.quantile(times, [0.5, 0.95])
    inside = "yes" if high <= MOST_TO_PAINT else "NO"
    slowest = "".join(
        f"\n  {took:5.0f} ms: {waited:.0f} before it is heard, {handled:.0f} handled: {what}"
        for took, waited, handled, what in sorted(known, reverse=True)[:SLOWEST]
    )
    return (
        f"first paint {first:.0f} ms; to the next paint of {times.size} clicks and keys: median {middle:.0f}, 95 % "
        f"{high:.0f}, largest {times.max():.0f} ms\nat most {MOST_TO_PAINT} ms of 95 %: {inside}{slowest}"
    )


def table(*looks: dict[str, dict[str, float]]) -> str:
    """Write a table of figures: fresh, after each tour, and the ratio of the last two."""
    heads = ["fresh", *(f"tour {at}" for at in range(1, len(looks)))]
    lines = [f"{'':52} {' '.join(f'{head:>10}' for head in heads)}  ratio"]
    for what, figures in looks[0].items():
        for name in figures:
            milli, unit = (1000, " [ms]") if name.endswith("Duration") else (1, "")
            values = [look[what][name] for look in looks]
            ratio = f"{values[-1] / values[-2]:6.2f}" if values[-2] else ""
            cells = " ".join(f"{value * milli:10,.1f}" for value in values)
            lines.append(f"{f'{what}: {name}{unit}':52} {cells} {ratio}")
    return "\n".join(lines)


def main() -> None:
    """Make the tour, and tell."""
    command = [sys.executable, "-m", "panel", "serve", "dashboard", "--address", "127.0.0.1", "--port", "0"]
    with Served(command, ROOT) as served, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(HEAR + _FEEL)
        session = page.context.new_cdp_session(page)
        # Of the processor, not of the clock: others use the machine too.
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(served.url + "?tree=quadtree")
        page.get_by_role("table", name="Statistics").wait_for(timeout=120_000)
        rest(page, DONE)
        # Both pages of the switch are there before it is measured.
        go(page, "Data")
        go(page, "Decisions")
        rest(page, DONE)
        looks = [measured(page, session)]
        for _ in range(TOURS):
            tour(page, served)
            looks.append(measured(page, session))
        print(table(*looks))
        document = looks[-1]["document"]
        inside = document["elements"] <= MOST_ELEMENTS and document["styles"] <= MOST_STYLES
        print(f"at most {MOST_ELEMENTS:,} elements and {MOST_STYLES:,} styles: {'yes' if inside else 'NO'}")
        print(felt(page))
        browser.close()


if __name__ == "__main__":
    main()
