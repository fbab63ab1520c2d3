"""Slider to pixels: from the input event of a slider to the canvas of a map having changed, in headless Chromium.

Aims: 60 ms median at 64 × 64 cells, 120 ms at 512 × 512 with the regions of a tree of 10,000 leaves. The whole
dashboard is served, in a process of its own.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import xarray as xr
from playwright.sync_api import Page, sync_playwright

from dashboard.decisions import QuadtreeBuilder, decision_map
from loaders import save_results
from tests.conftest import find_chromium
from tests.cubes import synthetic_cube
from tests.serving import Served

ROOT = Path(__file__).resolve().parents[2]
MOVES = 40
#: side, noise of the times, depth, first of the thresholds that are stepped through in percent
CASES = ((64, 0.1, 6, 60), (512, 0.1, 7, 75))

# Elements of the page lie in shadow roots. A canvas has changed when its pixels have; they are read back in each
# frame, which costs a millisecond or two of what is measured.
_MEASURE = """
async ([slider, moves, first]) => {
    const all = (selector) => {
        const found = []
        const walk = (root) => {
            found.push(...root.querySelectorAll(selector))
            for (const each of root.querySelectorAll('*')) if (each.shadowRoot) walk(each.shadowRoot)
        }
        walk(document)
        return found
    }
    const input = all('input[type=range]')[slider]
    const canvases = all('canvas').filter((canvas) => canvas.width > 200)
    const tree = canvases[2], penalty = canvases[4]
    const digest = (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        const words = new Uint32Array(data.buffer)
        let sum = 0
        for (let at = 0; at < words.length; at += 1) sum = (sum * 31 + words[at]) | 0
        return sum
    }
    const frame = () => new Promise((next) => requestAnimationFrame(next))
    const rest = (ms) => new Promise((next) => setTimeout(next, ms))
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const times = []
    for (let move = 0; move < moves; move += 1) {
        const before = digest(tree)
        const start = performance.now()
        set.call(input, String((first + (move % 20)) / 100))
        input.dispatchEvent(new Event('change', { bubbles: true }))
        let waited = 0
        while (digest(tree) === before && waited < 2000) { await frame(); waited = performance.now() - start }
        times.push(waited)
        await rest(450)
    }
    return times
}
"""


def results_of(side: int, noise: float, path: Path) -> xr.Dataset:
    """Write results of `side` × `side` cells to a file, and give their decision map."""
    cube = synthetic_cube(side, side, 20, seed=1, noise=noise)
    save_results(xr.DataTree.from_dict({"bcast": cube}), path)
    return decision_map(cube)


def moved(page: Page, first: int) -> list[float]:
    """Move the threshold slider; milliseconds until the tree's map had changed, of the moves that change it."""
    times: list[float] = page.evaluate(_MEASURE, [1, MOVES, first])
    return [each for each in times[3:] if each < 2000]


def measure(browser: Any, side: int, noise: float, depth: int, first: int) -> None:
    """Print one line for one size of map."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.nc"
        builder = QuadtreeBuilder(results_of(side, noise, file))
        leaves = [builder.build(max_depth=depth, threshold=(first + step) / 100).leaves for step in (0, 19)]
        command = [sys.executable, "-m", "panel", "serve", "dashboard", "--address", "127.0.0.1", "--port", "0"]
        served = Served([*command, "--args", str(file)], ROOT)
        try:
            served.wait_until_ready()
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(f"{served.url}?depth={depth}&threshold={first / 100}")
            page.locator("canvas").nth(5).wait_for(timeout=60_000)
            page.wait_for_timeout(5000)
            times = moved(page, first)
            page.close()
        finally:
            served.stop()
    worst = statistics.quantiles(times, n=10)[-1]
    print(
        f"{side:4d} × {side:<4d} {leaves[0]:6,} – {leaves[1]:6,} leaves: median {statistics.median(times):6.1f} ms, "
        f"p90 {worst:6.1f} ms ({len(times)} moves)"
    )


def main() -> None:
    """Measure all sizes."""
    with sync_playwright() as driver:
        quiet = ["--no-sandbox", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=find_chromium(), args=quiet)
        for case in CASES:
            measure(browser, *case)
        browser.close()


if __name__ == "__main__":
    main()
