"""A page as a view in a cell of JupyterLab: a real server, a real kernel, a browser."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.maps import settled_pixels, wait_for_other_pixels, wait_until_drawn
from tests.conftest import FAST_ETHERNET_PATTERN, WatchedPage, need
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

TOKEN = "loopback"  # noqa: S105 (of a server that lives as long as the test, on loopback)
EXACT, TREE = "Exact decision map", "Decision of the tree"
CELLS = (
    "import panel as pn\n\npn.extension('tabulator', inline=True)",
    f"""
from dashboard.pages.decisions import DecisionsPage
from dashboard.samples import sample_data
from dashboard.state import State

state = State()
state.load(sorted(sample_data().glob("bcast__*.sko")), pattern="{FAST_ETHERNET_PATTERN}")
state.max_depth = 3
DecisionsPage(state)
""",
    "state.max_depth = 1",
)
# An empty page or one that is not connected stays so: what is waited for comes within seconds, or on a machine with
# much else to do within a minute or two.
PATIENCE = 120.0


@pytest.fixture
def jupyterlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """JupyterLab in a folder with the notebook ``page.ipynb``, with settings of nobody."""
    need(importlib.util.find_spec("jupyterlab"), "no JupyterLab: pip install '.[test]'")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.strip()) for source in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "page.ipynb")
    server = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    options = [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    served = Served([*server, *options], folder, re.compile(r"(http://127\.0\.0\.1:\d+)/lab"))
    try:
        served.wait_until_ready()
        yield served
    finally:
        served.stop()


def run_cell(page: Page, at: int) -> None:
    """Run a cell of the notebook and wait until it has run."""
    cell = page.locator(".jp-Notebook .jp-Cell").nth(at)
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Shift+Enter")
    prompt = cell.locator(".jp-InputPrompt").get_by_text(re.compile(r"\[\d+\]"))
    prompt.wait_for(timeout=PATIENCE * 1000)


def test_the_maps_follow_the_slider_in_a_cell_and_a_choice_made_in_another_one(
    jupyterlab: Served, watched_page: WatchedPage
) -> None:
    page = watched_page.page
    page.goto(f"{jupyterlab.url}/lab/tree/page.ipynb?token={TOKEN}&reset")
    # Before its kernel is connected, JupyterLab runs nothing, and does not say so.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=PATIENCE * 1000)
    run_cell(page, 0)
    run_cell(page, 1)
    for title in (EXACT, TREE):
        wait_until_drawn(page, title, PATIENCE)
    slider = page.get_by_role("slider", name="Maximum depth")
    drawn = settled_pixels(page, TREE)

    slider.press("ArrowLeft")
    at_two = wait_for_other_pixels(page, TREE, drawn, PATIENCE)
    slider.press("ArrowRight")
    at_three = wait_for_other_pixels(page, TREE, at_two, PATIENCE)

    run_cell(page, 2)
    wait_for_other_pixels(page, TREE, at_three, PATIENCE)
    page.wait_for_function("(slider) => slider.value === '1'", arg=slider.element_handle())
    # BokehJS comes from the installed packages; another one from the net would take the place of that one.
    assert [url for url in watched_page.foreign if url.split("?")[0].endswith(".js")] == []
