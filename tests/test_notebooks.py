"""The notebooks: committed as they should be, and run from the first cell to the last."""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from dashboard.plots.notebook import use_notebook
from tests.conftest import need

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "notebooks").glob("*.ipynb"))
NEED_MPI = {"measuring"}
#: What is run at every commit; the others are too long for that.
AT_EVERY_COMMIT = {"first_steps", "models"}
#: Figures are pictures, or drawn by what the notebook holds: it is small, and nothing of it is asked of the network.
MOST_BYTES = 4_000_000
# The kernel's own shutdown warns about itself.
STRICT = "import warnings\nwarnings.simplefilter('error')\nwarnings.filterwarnings('ignore', module='ipykernel')"


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook in the current notebook format."""
    return nbformat.read(path, as_version=4)


def test_figures_are_drawn_in_a_notebook_alone() -> None:
    with pytest.raises(RuntimeError, match="this is none"):
        use_notebook()


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestNotebook:
    def test_is_committed_without_outputs(self, path: Path) -> None:
        cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
        assert [cell.source for cell in cells if cell.outputs or cell.execution_count is not None] == []

    def test_can_be_run_by_papermill(self, path: Path) -> None:
        notebook = read(path)
        nbformat.validate(notebook)
        assert notebook.metadata.kernelspec.name == "python3"
        assert notebook.metadata.language_info.name == "python"
        tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
        assert len(tagged) == 1


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow if path.stem in AT_EVERY_COMMIT else pytest.mark.soak, id=path.stem)
        for path in NOTEBOOKS
    ],
)
def test_runs_from_anywhere_with_warnings_as_errors(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if path.stem in NEED_MPI:
        need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    monkeypatch.setenv("PYTHONPATH", str(path.parent.parent))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = read(path)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()
    outputs = [json.dumps(cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(map(len, outputs)) < MOST_BYTES
    # The library itself names servers that it asks for maps and formulas.
    own = "".join(text for text in outputs if "BEGIN bokeh" not in text)
    assert re.findall(r"https?://[\w.]*(?:cdn|esm|unpkg)[\w.]*", own) == []
    assert ("data-root-id" in own) == any("use_notebook()" in cell.source for cell in notebook.cells)
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last.execution_count == sum(cell.cell_type == "code" for cell in notebook.cells)
