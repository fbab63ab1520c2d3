"""A page in a cell of a real JupyterLab, with a real kernel: its sliders move the maps as on the dashboard."""

from __future__ import annotations

import importlib.util
import re
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from dashboard.decisions import decision_map, quadtree
from loaders import open_results
from tests.browser.maps import image_of, wait_until_drawn
from tests.conftest import FAST_ETHERNET, FAST_ETHERNET_PATTERN, ROOT, WatchedPage, need
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage

pytestmark = pytest.mark.browser

METHODS = ("linear__seg0", "binomial__seg0", "binary_tree__seg1024", "pipeline__seg1024", "split_binary_tree__seg1024")
FILES = [str(FAST_ETHERNET / f"bcast__{method}.sko") for method in METHODS]
TREE = "Decision of the tree"
TOKEN = secrets.token_hex()
CELL = f"""
import panel as pn
from dashboard.pages.decisions import DecisionsPage
from dashboard.state import State

pn.extension(inline=True)
state = State()
state.load({FILES!r}, pattern={FAST_ETHERNET_PATTERN!r})
state.max_depth = 2
DecisionsPage(state)
"""
#: Also inline, Panel asks there for styles and for what old browsers lack; without a network it does without them.
CDN = "https://cdn.holoviz.org/panel"
_READY = """() => {
    const shown = window.jupyterapp && jupyterapp.shell.currentWidget
    const session = shown && shown.sessionContext && shown.sessionContext.isReady && shown.sessionContext.session
    return Boolean(session && session.kernel && session.kernel.connectionStatus === 'connected')
}"""
# What its keys Shift+Enter run.
_RUN = "() => jupyterapp.commands.execute('notebook:run-cell-and-select-next')"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """JupyterLab on the notebook ``page.ipynb``, with no settings but its own and nothing asked of the network."""
    need(importlib.util.find_spec("jupyterlab"), "no JupyterLab: pip install '.[test]'")
    folder = tmp_path / "notebooks"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(CELL.strip()), nbformat.v4.new_code_cell("state.max_depth = 1")]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "page.ipynb")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": "0",
        "ServerApp.root_dir": str(folder),
        "IdentityProvider.token": TOKEN,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
        "LabApp.expose_app_in_browser": "True",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    served = Served([*command, *(f"--{name}={value}" for name, value in options.items())], ROOT)
    try:
        served.wait_until_ready()
        yield served
    finally:
        served.stop()


def test_the_slider_moves_the_map_in_a_cell(lab: Served, watched_page: WatchedPage) -> None:
    page, wrong = watched_page.page, watched_page.errors

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and CDN not in f"{message.location['url']} {message.text}":
            wrong.append(message.text)

    page.on("console", hear)
    # The log does not tell the token.
    page.goto(f"{lab.url.partition('?')[0]}/tree/page.ipynb?token={TOKEN}")
    page.wait_for_function(_READY, timeout=60_000)
    page.evaluate(_RUN)
    wait_until_drawn(page, TREE)
    dmap = decision_map(open_results(FILES, pattern=FAST_ETHERNET_PATTERN)["bcast"].to_dataset())
    statistics = page.get_by_role("table", name="Statistics")

    def shown(depth: int) -> list[float]:
        leaves = quadtree(dmap, max_depth=depth).leaves
        statistics.get_by_role("row", name=re.compile(rf"\bleaves {leaves}$")).wait_for()
        return image_of(page, TREE)

    slider = page.get_by_role("slider", name="Maximum depth")
    first = shown(2)
    slider.press("ArrowLeft")
    coarser = shown(1)
    assert coarser != first
    slider.press("ArrowRight")
    assert shown(2) == first
    # The next cell sets the depth to 1: the page follows what cells choose.
    page.evaluate(_RUN)
    assert shown(1) == coarser
    assert slider.input_value() == "1"

    assert wrong == []
    assert [url for url in watched_page.foreign if not url.startswith(CDN)] == []
    for kind in ("application/vnd.jupyter.stderr", "application/vnd.jupyter.error"):
        assert page.locator(f"[data-mime-type='{kind}']").all_inner_texts() == []
    assert [line for line in lab.output if re.search(r"^\[[EC] |\b(Error|Traceback)\b", line)] == []
