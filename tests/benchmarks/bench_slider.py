"""Slider to pixels: from the input event of a slider to the canvas of a map having changed, in headless Chromium.

Aims: 60 ms median at 64 × 64 cells, 120 ms at 512 × 512 with the regions of a tree of 10,000 leaves. The whole
dashboard is served, in a process of its own. The peer is a bare page: the same slider, and a figure of one image of
8 × 8 cells that is replaced, which is what this machine takes for the way to the server and back. With ``--toured``
all pages are visited before the slider is moved.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xarray as xr
from playwright.sync_api import Browser, sync_playwright

from dashboard.decisions import QuadtreeBuilder, decision_map
from dashboard.session.state import PAGES
from loaders import save_results
from tests.benchmarks.bench_tour import HEAR, go
from tests.conftest import ROOT, find_chromium
from tests.cubes import synthetic_cube
from tests.serving import Served

MOVES = 24
WARM_UP = 4
#: Milliseconds between moves: what follows the maps (statistics, sweeps) has come to rest by then.
PAUSE = 1500
#: side, noise of the times, depth, first of the thresholds that are stepped through, in percent
CASES = ((64, 0.1, 6, 60), (512, 0.1, 7, 75))

_BARE = """
import holoviews as hv, numpy as np, panel as pn
from dashboard.pages.parts.widgets import LiveFloatSlider
from dashboard.plots.live import LiveSources
hv.extension("bokeh")
live, slider = LiveSources(), LiveFloatSlider(start=0, end=1, step=0.01, value=0.5)
image = live.attach("image", hv.Image(np.zeros((8, 8))).opts(clim=(0, 1), width=400, height=400))
canvas = {"plot.output_backend": "canvas"}
slider.param.watch(lambda event: live.update("image", {"image": [np.full((8, 8), event.new)]}), "value")
pn.Column(slider, image.opts(backend_opts=canvas)).servable()
"""

# Elements of the page lie in shadow roots. A canvas has changed when its pixels have; they are read back after the
# callbacks of each frame, in which Bokeh paints, which costs a millisecond or two of what is measured. Moves begin
# anywhere between two frames.
_MEASURE = """
async ([slider, canvas, moves, positions, pause]) => {
    const all = (selector) => {
        const elements = []
        const walk = (root) => {
            elements.push(...root.querySelectorAll(selector))
            for (const each of root.querySelectorAll('*')) if (each.shadowRoot) walk(each.shadowRoot)
        }
        walk(document)
        return elements
    }
    const input = all('input[type=range]')[slider]
    const map = all('canvas').filter((each) => each.width > 200)[canvas]
    const digest = () => {
        const { data } = map.getContext('2d').getImageData(0, 0, map.width, map.height)
        const words = new Uint32Array(data.buffer)
        let sum = 0
        for (let at = 0; at < words.length; at += 1) sum = (sum * 31 + words[at]) | 0
        return sum
    }
    const frame = () => new Promise((next) => requestAnimationFrame(() => setTimeout(next)))
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const times = []
    for (let move = 0; move < moves; move += 1) {
        const before = digest()
        const start = performance.now()
        set.call(input, String(positions[move % positions.length]))
        input.dispatchEvent(new Event('change', { bubbles: true }))
        let waited = 0
        while (digest() === before && waited < 2000) { await frame(); waited = performance.now() - start }
        times.push(waited)
        await new Promise((next) => setTimeout(next, pause + Math.random() * 50))
    }
    return times
}
"""


def moved(
    browser: Browser, arguments: list[str], query: str, slider: int, canvas: int, first: int, pages: Sequence[str] = ()
) -> list[float]:
    """Serve a page and move its slider; milliseconds until the canvas had changed, of the moves that change it."""
    command = [sys.executable, "-m", "panel", "serve", "--address", "127.0.0.1", "--port", "0", *arguments]
    positions = [(first + step) / 100 for step in range(20)]
    with Served(command, ROOT) as served, browser.new_page(viewport={"width": 1280, "height": 900}) as page:
        page.add_init_script(HEAR)
        page.goto(served.url + query)
        page.locator("canvas").nth(canvas).wait_for(timeout=60_000)
        page.wait_for_timeout(5000)
        for each in pages:
            go(page, each)
        page.wait_for_timeout(5000)
        times: list[float] = page.evaluate(_MEASURE, [slider, canvas, MOVES, positions, PAUSE])
    return [each for each in times[WARM_UP:] if each < 2000]


def line(name: str, times: list[float]) -> str:
    """Write one line of figures."""
    worst = statistics.quantiles(times, n=10)[-1]
    return f"{name:44} median {statistics.median(times):6.1f} ms, p90 {worst:6.1f} ms ({len(times)} moves)"


def bare(browser: Browser, folder: Path) -> list[float]:
    """Measure the bare page."""
    script = folder / "bare.py"
    script.write_text(_BARE, encoding="utf-8")
    return moved(browser, [str(script)], "", slider=0, canvas=0, first=20)


def dashboard(
    browser: Browser, folder: Path, case: tuple[int, float, int, int], pages: Sequence[str]
) -> tuple[str, list[float]]:
    """Measure the dashboard with a map of one size; what was drawn, and the times."""
    side, noise, depth, first = case
    cube = synthetic_cube(side, side, 20, seed=1, noise=noise)
    file = save_results(xr.DataTree.from_dict({"bcast": cube}), folder / f"{side}.nc")
    builder = QuadtreeBuilder(decision_map(cube))
    leaves = [builder.build(max_depth=depth, threshold=(first + step) / 100).leaves for step in (0, 19)]
    query = f"?depth={depth}&threshold={first / 100}"
    # The second slider is the threshold, the third canvas the tree's map (each figure has two).
    times = moved(browser, ["dashboard", "--args", str(file)], query, slider=1, canvas=2, first=first, pages=pages)
    return f"{side:4d} × {side:<4d} {leaves[0]:6,} to {leaves[1]:6,} leaves", times


def main() -> None:
    """Measure all sizes, and the bare page before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toured", action="store_true", help="visit all pages before")
    pages = (*PAGES, "Decisions") if parser.parse_args().toured else ()
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as name:
        options: dict[str, Any] = {"executable_path": find_chromium(), "args": ["--no-sandbox"]}
        browser = driver.chromium.launch(**options)
        print(line("bare page", bare(browser, Path(name))))
        for case in CASES:
            print(line(*dashboard(browser, Path(name), case, pages)))
        print(line("bare page", bare(browser, Path(name))))
        browser.close()


if __name__ == "__main__":
    main()
