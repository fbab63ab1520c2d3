"""The compiler of an MPI library: where it is, and the shared libraries that are built with it."""

import shutil
import subprocess
from pathlib import Path

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries.library import program_beside
from dashboard.export.usage import BUILD
from loaders import disk

_SECONDS = 120


def compiler(mpiexec: Path) -> Path | None:
    """The ``mpicc`` of a library by its start command; None without one."""
    return program_beside(mpiexec, "mpicc")


def beside(mpiexec: Path, source: Path, library: Path) -> Path | None:
    """Compile with the ``mpicc`` of a library; None without one.

    Raises
    ------
    BenchError
        As `build` does.
    """
    mpicc = compiler(mpiexec)
    return None if mpicc is None else build(mpicc, source, library)


def build(mpicc: Path, source: Path, library: Path) -> Path:
    """Compile a C source into a shared library, as `dashboard.export.usage.BUILD` tells users to.

    Returns
    -------
    Path
        `library`.

    Raises
    ------
    BenchError
        There is no such compiler, or it fails; the message has its first words.
    """
    if shutil.which(str(mpicc)) is None:
        raise BenchError(f"{mpicc}: there is no such compiler; name the mpicc of the programs' MPI")
    with disk.aside(library) as partial:
        names = {"mpicc": str(mpicc), "{library}": str(partial), "{source}": str(source)}
        command = [names.get(word, word) for word in BUILD.split()]
        try:
            done = subprocess.run(command, capture_output=True, errors="replace", timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BenchError(f"{mpicc} cannot be run: {error}") from error
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no word of why"])[0]
            raise BenchError(f"{mpicc} cannot compile {source}: {reason[:200]}")
    return library
