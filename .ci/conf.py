"""The documentation: `sphinx-build -W -c .ci dashboard/docs build/docs`, offline, warnings as errors."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "colltune"
author = "the colltune developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# In the docstrings `name` is code, as in Markdown.
default_role = "literal"
napoleon_use_ivar = True
autodoc_member_order = "bysource"
# Shapes and units stand in the text; annotations would be searched for in other projects' inventories.
autodoc_typehints = "none"
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "Tuning of MPI collectives", "page_width": "1100px", "body_max_width": "none"}
html_copy_source = html_show_sourcelink = False


def rooms() -> Iterator[str]:
    """Yield lines of Markdown: each package with its modules and what the first line of each says."""
    doors = [file for top in ("loaders", "dashboard") for file in (ROOT / top).rglob("__init__.py")]
    for package in sorted(door.parent for door in doors):
        yield f"\n## {'.'.join(package.relative_to(ROOT).parts)}\n"
        for file in sorted(package.glob("*.py"), key=lambda file: (file.stem != "__init__", file.stem)):
            line = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]
            yield f"{line}\n" if file.stem == "__init__" else f"- **{file.stem}**: {line}"


def setup(app: Any) -> None:
    """Write the list of rooms where its page is read."""

    def read(_app: Any, name: str, source: list[str]) -> None:
        if name == "rooms":
            source[0] += "\n".join(rooms()) + "\n"

    app.connect("source-read", read)
