"""Names that files bring with them are shown as they are: none of them becomes script or markup on any page."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from dashboard.pages.parts.tables import table
from dashboard.session.state import PAGES
from tests.conftest import ROOT, WatchedPage
from tests.serving import Served

#: Sets a mark where a browser takes it for markup, in texts, in attributes and in what is between script tags.
ATTACK = """'"></title></script><script>window.attacked=1</script><img src=x onerror="window.attacked='{}'">"""
#: Goes through all that is on the page and leaves where it was: (elements with such an image, is it marked).
FIND = """() => {
    const inside = (root) => [...root.querySelectorAll('*')].reduce(
        (sum, e) => sum + (e.matches('img[src=x]') ? 1 : 0) + (e.shadowRoot ? inside(e.shadowRoot) : 0), 0)
    return [inside(document), window.attacked === undefined]
}"""


def attack(where: str) -> str:
    return ATTACK.format(where)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("attack")
    rows = [
        {
            "collective": collective,
            "algorithm": f"{attack('method')}{index}",
            "segment_size": 0,
            "comm_size": p,
            "message_size": m,
            "time": 1e-6 * (1 + (index * 7 + p + m) % 5) if (p, m) != (4, 64) else -1,
            "system": attack("system"),
        }
        for collective in ("bcast",)
        for index in range(3)
        for p in (2, 4, 8)
        for m in (1, 64, 4096)
    ]
    name = f"{attack('file')}.csv".replace("/", "\N{DIVISION SLASH}")
    pd.DataFrame(rows).to_csv(made / name, index=False)
    (made / "note\n<img src=x onerror=window.attacked='name'>.txt").write_text(attack("content") * 3)
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    command = [sys.executable, "-m", "dashboard.cli", "serve", str(folder), "--no-browser", "--port", "0"]
    with Served(command, ROOT) as served:
        yield served


# Bokeh 3.9 makes the sources of tables with a keyword that pandas 3.1 deprecates.
@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")
def test_texts_of_a_table_are_text() -> None:
    shown = table(pd.DataFrame({attack("title"): [attack("cell")], "n": [1.5], "none": [None]}))
    assert "<img" not in str(shown.value.iloc[0, 0])
    assert "<img" not in str(list(shown.titles.values()))
    assert shown.value["n"].tolist() == [1.5]


@pytest.mark.slow
@pytest.mark.browser
def test_script_in_names_runs_on_no_page(server: Served, watched_page: WatchedPage) -> None:
    page = watched_page.page
    page.set_default_timeout(180_000)
    page.goto(f"{server.url}?page=Data&tree=quadtree")
    for section in ("Files", "Coverage", "Spread", "Skipped rows"):
        page.get_by_role("button", name=section, exact=True).click()
        page.locator(".tabulator-cell:not(.tabulator-frozen)").first.wait_for()
        for cell in page.locator(".tabulator-cell:not(.tabulator-frozen)").all()[:7]:
            if cell.is_visible():
                cell.hover()
        assert page.evaluate(FIND) == [0, True], section
    for name in sorted(PAGES):
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_load_state("networkidle")
        # Whatever lies under the pointer tells of itself.
        box = page.viewport_size
        for down in range(200, box["height"], 200):
            page.mouse.move(60, down)
            page.mouse.move(box["width"] - 60, down, steps=6)
        assert page.evaluate(FIND) == [0, True], name
    assert watched_page.foreign == []


@pytest.mark.slow
@pytest.mark.browser
def test_what_is_typed_stays_text(server: Served, watched_page: WatchedPage) -> None:
    page = watched_page.page
    page.set_default_timeout(180_000)
    page.goto(f"{server.url}?page=Data&c=<img src=x onerror=window.attacked=2>&pin={attack('pin')}&tree={attack('t')}")
    page.get_by_label("Pattern of the file names").fill(attack("pattern"))
    page.get_by_role("button", name="Load", exact=False).last.click()
    page.get_by_role("alert").first.wait_for()
    assert page.evaluate(FIND) == [0, True]
