"""A shared library that programs load first: the variable ``LD_PRELOAD``, which ld.so splits at spaces and colons."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries.own_settings import allocated_nodes

VARIABLE = "LD_PRELOAD"


def splits(path: Path) -> bool:
    """Whether ld.so takes a path for several."""
    return any(sign in str(path) for sign in " :")


@contextmanager
def preloaded(library: Path) -> Iterator[str]:
    """Value of `VARIABLE` with a library before what is preloaded anyway.

    A path that ld.so would split is replaced by a link, which lasts as long as the context: in the nearest folder above
    it, which other nodes see as well, else among the temporary files, if all processes run here.

    Parameters
    ----------
    library
        Its absolute path.

    Raises
    ------
    BenchError
        There is no place for the link.
    """
    anyway = os.environ.get(VARIABLE)
    if not splits(library):
        yield ":".join(filter(None, (str(library), anyway)))
        return
    with tempfile.TemporaryDirectory(prefix=".colltune-", dir=_place(library)) as name:
        link = Path(name) / library.name
        link.symlink_to(library)
        yield ":".join(filter(None, (str(link), anyway)))


def _place(library: Path) -> Path:
    """Where a link to a library may stand."""
    here = [Path(tempfile.gettempdir())] if allocated_nodes() == 1 else []
    for folder in (*library.parents[:-1], *here):
        if not splits(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BenchError(
        f"{library}: {VARIABLE} takes no path with a space or a colon, and no folder above it can take a link; "
        "move its folder to a path without them"
    )
