"""A page as a view in a cell of JupyterLab: a real server, a real kernel, a browser."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.maps import settled_pixels, wait_for_other_pixels, wait_until_drawn
from tests.conftest import FAST_ETHERNET_PATTERN, WatchedPage, need
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.soak]

TOKEN = "loopback"  # noqa: S105 (of a server that lives as long as the test, on loopback)
EXACT, TREE = "Exact decision map", "Decision of the tree"
CURVES = "Model and measurement"
_EXTENSION = "import panel as pn\n\npn.extension('tabulator', inline=True)"
_RESULTS = f"""
from dashboard.session.samples import sample_data
from loaders import open_results

results = open_results(sorted(sample_data().glob("bcast__*.sko")), pattern="{FAST_ETHERNET_PATTERN}")
"""
_DECISIONS = """
from dashboard.pages.decisions.page import DecisionsPage

page = DecisionsPage(results)
page
"""
NOTEBOOKS = {
    "decisions": (_EXTENSION, _RESULTS, _DECISIONS, "page.state.max_depth = 1"),
    "models": (_EXTENSION, _RESULTS, "from dashboard.pages.models.page import ModelsPage\n\nModelsPage(results)"),
}
# An empty page or one that is not connected stays so: what is waited for comes within seconds, or on a machine with
# much else to do within a minute or two.
PATIENCE = 120.0


@pytest.fixture
def jupyterlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """JupyterLab in a folder with the `NOTEBOOKS`, with settings of nobody."""
    need(importlib.util.find_spec("jupyterlab"), "no JupyterLab: pip install '.[test]'")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name, cells in NOTEBOOKS.items():
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.strip()) for source in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / f"{name}.ipynb")
    server = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    options = [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    with Served([*server, *options], folder, re.compile(r"(http://127\.0\.0\.1:\d+)/lab")) as served:
        yield served


def run_cell(page: Page, at: int) -> None:
    """Run a cell of the notebook and wait until it has run."""
    cell = page.locator(".jp-Notebook .jp-Cell").nth(at)
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Shift+Enter")
    prompt = cell.locator(".jp-InputPrompt").get_by_text(re.compile(r"\[\d+\]"))
    prompt.wait_for(timeout=PATIENCE * 1000)


@pytest.fixture
def run(jupyterlab: Served, watched_page: WatchedPage) -> Callable[[str, int], Page]:
    """Open one of the `NOTEBOOKS`, and run so many of its cells."""

    def opened(name: str, cells: int) -> Page:
        page = watched_page.page
        page.goto(f"{jupyterlab.url}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
        # Before its kernel is connected, JupyterLab runs nothing, and does not say so.
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=PATIENCE * 1000)
        for at in range(cells):
            run_cell(page, at)
        return page

    return opened


def test_the_maps_follow_the_slider_in_a_cell_and_a_choice_made_in_another_one(
    run: Callable[[str, int], Page], watched_page: WatchedPage
) -> None:
    page = run("decisions", 3)
    for title in (EXACT, TREE):
        wait_until_drawn(page, title, PATIENCE)
    slider = page.get_by_role("slider", name="Maximum depth")
    drawn = settled_pixels(page, TREE)

    slider.press("ArrowLeft")
    at_two = wait_for_other_pixels(page, TREE, drawn, PATIENCE)
    slider.press("ArrowRight")
    at_three = wait_for_other_pixels(page, TREE, at_two, PATIENCE)

    run_cell(page, 3)
    wait_for_other_pixels(page, TREE, at_three, PATIENCE)
    page.wait_for_function("(slider) => slider.value === '1'", arg=slider.element_handle())
    # BokehJS comes from the installed packages; another one from the net would take the place of that one.
    assert [url for url in watched_page.foreign if url.split("?")[0].endswith(".js")] == []


def test_the_models_follow_their_parameters_in_a_cell(run: Callable[[str, int], Page]) -> None:
    page = run("models", 3)
    wait_until_drawn(page, CURVES, PATIENCE)
    drawn = settled_pixels(page, CURVES)
    page.get_by_role("slider", name=re.compile("^α, latency")).press("ArrowRight")
    wait_for_other_pixels(page, CURVES, drawn, PATIENCE)
