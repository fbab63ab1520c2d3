"""Draws the screenshots of the documentation anew: ``python -m tests.screenshots [PAGE …|film|every [STATE …]]``.

Every page in light and in dark, 1280 and 1920 pixels wide, on the sample data; needs Chromium. The page Measure shows
a small campaign on this machine, where there is an MPI. ``film`` is the moving picture of the README: leaves are added
to the best tree, a leaf is clicked, the page turns dark. ``every`` are pictures to be looked at, not kept: of each tab,
of the sample, and of the pages with nothing to show (``empty``), with damaged files (``bad``) and with a table of
200 × 181 cells and 120 methods (``large``).
"""

import io
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import xarray as xr
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from dashboard.measuring.kept import ROOT_VARIABLE
from dashboard.session.state import PAGES
from loaders import save_results
from tests.conftest import find_chromium
from tests.cubes import synthetic_cube
from tests.serving import Served

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "dashboard" / "docs" / "screenshots"
WIDTHS = {1280: 900, 1920: 1080}
#: The moving picture: its name in the command, its file, milliseconds of each of its pictures, and the leaves shown.
FILM, FILM_FILE, FILM_MS = "film", ROOT / ".readme" / "decisions.gif", 1100
FILM_LEAVES = (1, 2, 3, 5, 8, 12, 15)
THEMES = ("light", "dark")
#: Views that show more than a page's first one.
VIEWS = {
    "Decisions": {"tree": "optimal", "options": "leaves:15", "collective": "bcast"},
    "Compare": {"tree": "optimal", "options": "leaves:15", "other": "quadtree?max_depth:3"},
    "Models": {"collective": "bcast", "models": "collective:bcast;p:16;m:65536"},
    "Export": {"tree": "optimal", "options": "leaves:15"},
    "Measure": {"campaign": "bcast"},
}
#: Buttons that are pressed, so that a page shows what comes of it.
PRESSED = {"Frontier": "Compute", "Models": "Fit to the measurements"}
#: Where the pictures are put that are only looked at, and the buttons that show more of a page as tabs do.
EVERY, SAMPLE, LOOKED_AT = "every", "sample", ROOT / "build" / "screenshots"
SWITCHES = defaultdict(tuple, Data=("Coverage", "Spread", "Skipped rows", "Upload"), Compare=("Two campaigns",))
#: What the page Measure shows: half a minute of measuring.
CAMPAIGN = ("-c", "bcast", "--ranks", "2", "--message-sizes", "8-32KiB:x8", "--segment-sizes", "0")
#: Nothing is under way: no bar of progress is seen, and all that is to be drawn is.
_STILL = """() => {
    const all = (root) =>
        [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
    const running = '[role=progressbar]:not([aria-valuenow="100"])'
    const bars = all(document).filter((e) => e.matches(running) && e.offsetParent !== null)
    return bars.length === 0 && Bokeh.documents.every((d) => d.is_idle)
}"""
#: Milliseconds between two pictures of a page; it is at rest when so many in a row are the same.
SETTLE_MS, SAME, MOST_PICTURES = 2500, 3, 40


def shoot(page: Page, address: str, name: str, theme: str) -> bytes:
    """Open a page, wait for it to come to rest, and take its picture."""
    query = {"page": name, **VIEWS.get(name, {})}
    page.goto(f"{address}?{urlencode(query)}")
    page.get_by_role("button", name=name, exact=True).wait_for()
    if theme == "dark":
        page.get_by_role("button", name="Toggle theme").click()
        # Away from the button, whose help would be in the picture.
        page.mouse.move(0, 0)
    if name in PRESSED:
        page.wait_for_function(_STILL, timeout=180_000, polling=250)
        page.get_by_role("button", name=PRESSED[name], exact=True).click()
        page.mouse.move(0, 0)
    return at_rest(page)


def at_rest(page: Page, settle_ms: int = SETTLE_MS, same: int = SAME) -> bytes:
    """Take pictures until one is what those before it were, on a slow machine as on a quick one."""
    taken: list[bytes] = []
    while len(taken) < MOST_PICTURES:
        page.wait_for_function(_STILL, timeout=180_000, polling=250)
        taken.append(page.screenshot())
        if taken[-same:] == taken[-1:] * same:
            break
        page.wait_for_timeout(settle_ms)
    return taken[-1]


def small(picture: bytes) -> Image.Image:
    """The picture in as few colours as it has, near enough: a quarter of the bytes."""
    return Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def film(page: Page, address: str) -> None:
    """Play with the page *Decisions* and keep what is seen."""
    query = {"page": "Decisions", "tree": "optimal", "options": f"leaves:{FILM_LEAVES[0]}", "collective": "bcast"}
    page.goto(f"{address}?{urlencode(query)}")
    slider = page.get_by_role("slider", name="Most leaves").first
    slider.wait_for()
    pictures: list[Image.Image] = []
    for before, leaves in zip((FILM_LEAVES[0], *FILM_LEAVES), FILM_LEAVES, strict=False):
        for _ in range(leaves - before):
            slider.press("ArrowRight")
        pictures.append(small(at_rest(page)))
    page.locator("[data-leaf]").first.click()
    pictures.append(small(at_rest(page)))
    page.get_by_role("button", name="Toggle theme").click()
    page.mouse.move(0, 0)
    pictures.append(small(at_rest(page)))
    pictures[0].save(FILM_FILE, save_all=True, append_images=pictures[1:], duration=FILM_MS, loop=0, optimize=True)
    sys.stdout.write(f"{FILM_FILE.relative_to(ROOT)}\n")


def main(names: list[str]) -> None:
    """Take the pictures of these pages; of all without any."""
    if names[:1] == [EVERY]:
        every(names[1:])
        return
    if unknown := [name for name in names if name not in (*PAGES, FILM)]:
        raise SystemExit(f"{unknown[0]} is no page; there are {', '.join((*PAGES, FILM))}, {EVERY}\n\n{__doc__}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as root:
        os.environ[ROOT_VARIABLE] = root
        if not names or "Measure" in names:
            command = [sys.executable, "-m", "dashboard.cli", "bench", "run", f"{root}/bcast", *CAMPAIGN]
            # Without an MPI it fails and says so; the page then shows that there is none.
            subprocess.run(command, cwd=ROOT, check=False)
        with serving() as (browser, address):
            take(browser, address, names or [*PAGES, FILM])


@contextmanager
def serving(*data: str) -> Iterator[tuple[Browser, str]]:
    """Start a server on these files, and a browser; the sample data without any."""
    command = [sys.executable, "-m", "dashboard.cli", "serve", *data, "--no-browser", "--port", "0"]
    with Served(command, ROOT) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        yield browser, served.url
        browser.close()


def take(browser: Browser, address: str, names: list[str]) -> None:
    """Take the pictures of these pages."""
    if FILM in names:
        film(browser.new_page(viewport={"width": 1280, "height": 1000}, color_scheme="light"), address)
        names = [name for name in names if name != FILM]
    for width, height in WIDTHS.items():
        for theme in THEMES:
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light")
            page = context.new_page()
            for name in names:
                file = FOLDER / f"{name.lower()}-{theme}-{width}.png"
                small(shoot(page, address, name, theme)).save(file, optimize=True)
                sys.stdout.write(f"{file.relative_to(ROOT)}\n")
            context.close()


def every(states: list[str]) -> None:
    """Take pictures of every page and tab in these states; in all without any."""
    LOOKED_AT.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as root:
        os.environ[ROOT_VARIABLE] = f"{root}/campaigns"
        bad, large = Path(root, "bad"), Path(root, "large.nc")
        for folder in (bad, Path(root, "empty")):
            folder.mkdir()
        (bad / "noise.sko").write_bytes(bytes(range(256)))
        (bad / "half.csv").write_text("collective,algorithm,processes,bytes,time\nbcast,ring,4,1024,\n")
        save_results(xr.DataTree.from_dict({"/bcast": synthetic_cube(200, 181, 120, seed=1)}), large)
        shown = {SAMPLE: (), "empty": (f"{root}/empty",), "bad": (str(bad),), "large": (str(large),)}
        for state in states or shown:
            with serving(*shown[state]) as (browser, address):
                page = browser.new_page(color_scheme="light")
                for name in PAGES:
                    look(page, address, name, state)


def look(page: Page, address: str, name: str, state: str) -> None:
    """Take pictures of a page with each of its tabs and switches, in both widths and themes."""
    page.goto(f"{address}?{urlencode({'page': name, **(VIEWS.get(name, {}) if state == SAMPLE else {})})}")
    page.get_by_role("button", name=name, exact=True).wait_for()
    page.wait_for_function(_STILL, timeout=180_000, polling=250)
    # Where files cannot be loaded, the page is Data first.
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_function(_STILL, timeout=180_000, polling=250)
    tabs = page.get_by_role("tab").locator("visible=true").all()
    switches = [page.get_by_role("button", name=each, exact=True).locator("visible=true") for each in SWITCHES[name]]
    # There are none where there is nothing to switch.
    for place in [*tabs, *(each for each in switches if each.count())] or [None]:
        if place is not None:
            place.click()
        what = "-".join(filter(None, (name, state, place and place.inner_text()))).lower().replace(" ", "_")
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            if place is not None:
                place.evaluate("element => element.scrollIntoView({block: 'start'})")
            # The light one is the first and the last.
            for theme in THEMES if width == min(WIDTHS) else THEMES[::-1]:
                file = LOOKED_AT / f"{what}-{theme}-{width}.png"
                file.write_bytes(at_rest(page, settle_ms=600, same=2))
                sys.stdout.write(f"{file.relative_to(ROOT)}\n")
                if theme == (THEMES[0] if width == min(WIDTHS) else THEMES[-1]):
                    page.get_by_role("button", name="Toggle theme").click()
                    page.mouse.move(0, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
