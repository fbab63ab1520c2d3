"""A compiler for the tests of exports."""

from pathlib import Path

import pytest

from tests.export.compiling import Compiler


@pytest.fixture
def compiler(gcc: str, tmp_path: Path) -> Compiler:
    return Compiler(gcc, tmp_path)
