"""Which MPI is there to measure with, and what to install when none is."""

import importlib.util
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard.benchmarks.errors import NoMpiError
from dashboard.benchmarks.libraries import intelmpi, mpich, openmpi
from dashboard.benchmarks.libraries.methods import Fixed, Library

_INSTALL = (
    "install one in the folder of colltune with: pip install -c .ci/constraints.txt '.[mpi]' (mpi4py and an Open MPI); "
    "on a cluster load the site's MPI module"
)
_SECONDS = 60
#: As both a start command and ``ompi_info`` say it, but for what follows in names of pre-releases.
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Installation:
    """An MPI found on this machine: how it is started, and what it offers."""

    mpiexec: Path
    library: Library


def find() -> Installation:
    """Find the MPI that belongs to this Python: beside it, else on the PATH.

    Raises
    ------
    NoMpiError
        When there is no ``mpiexec`` or no mpi4py; the message says what to install.
    """
    own = Path(sys.executable).parent / "mpiexec"
    mpiexec = str(own) if own.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        raise NoMpiError(f"no MPI: mpiexec is neither beside {sys.executable} nor on the PATH; {_INSTALL}")
    if importlib.util.find_spec("mpi4py") is None:
        raise NoMpiError(f"mpi4py is not installed in {sys.prefix}; install it with: pip install mpi4py")
    return Installation(Path(mpiexec), library_of(Path(mpiexec)))


def at(mpiexec: str | None) -> Installation:
    """The MPI of a start command that somebody named; None: as `find`.

    Raises
    ------
    NoMpiError
        When there is no such program, or no MPI.
    """
    if mpiexec is None:
        return find()
    if (path := shutil.which(mpiexec)) is None:
        raise NoMpiError(f"--mpiexec {mpiexec}: no such program")
    # Of ./mpiexec a path keeps the name alone, which is looked for on the PATH.
    program = Path(path).absolute()
    return Installation(program, library_of(program))


def library_of(mpiexec: Path) -> Library:
    """Tell which library a start command belongs to, and ask it what it offers."""
    ask = [str(mpiexec), "--version"]
    try:
        done = subprocess.run(ask, capture_output=True, errors="replace", timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoMpiError(f"{mpiexec} cannot be run: {error}; {_INSTALL}") from error
    text = done.stdout + done.stderr
    if "Open MPI" in text or "OpenRTE" in text or "Open RTE" in text:
        path = program_beside(mpiexec, "ompi_info") or mpiexec.parent / "ompi_info"
        library = openmpi.read(path)
        if (release := _RELEASE.search(text)) and not library.version.startswith(release[0]):
            differing = f"{mpiexec} is of Open MPI {release[0]}, but {path} of {library.version}"
            raise NoMpiError(f"{differing}: put the folder of the right ompi_info first on the PATH")
        return library
    if (intel := intelmpi.parse(text)) is not None:
        return replace(intel, presets=intelmpi.presets_of(mpiexec))
    version = re.search(r"(?i)\bversion:?\s+(\d[\w.]*)", text)
    name = (text.strip().splitlines() or ["unknown"])[0][:60]
    why = f"methods of {name} cannot be switched by this version of colltune: only its own decision is measured"
    if "hydra" in text.lower():
        if (mpivars := program_beside(mpiexec, "mpivars")) is not None:
            return mpich.read(mpivars, version[1] if version else "")
        name, lacking = mpich.NAME, mpiexec.parent / "mpivars"
        why = f"{lacking}, which lists the methods of an {name}, is not there: only its own decision is measured"
    return Fixed(name, version[1] if version else "", why)


def program_beside(mpiexec: Path, name: str) -> Path | None:
    """A program of a start command's library: beside it, or beside what it is a link to, else on the PATH."""
    for folder in (mpiexec.parent, mpiexec.resolve().parent):
        if (program := folder / name).exists():
            return program
    path = shutil.which(name)
    return Path(path) if path else None
