"""What every program of the ranks begins with: MPI in a process that mpiexec started, and words into the job's log."""

import os
import sys
from collections.abc import Iterable
from typing import Any

#: Exit status of ranks that cannot do what they were started for.
FAILED = 3
_SAID = "colltune worker: "
#: Set by Open MPI's and by Hydra's mpiexec for each of their ranks.
_BY_MPIEXEC = ("OMPI_COMM_WORLD_SIZE", "MPI_LOCALRANKID")


def mpi_of(ranks: int, *, exactly: bool = False) -> Any:
    """The module ``mpi4py.MPI`` in a job of so many ranks, or of more; imported here, since that starts the library.

    Raises
    ------
    SystemExit
        There are fewer ranks, or others where they must be `exactly` as many: mpiexec may be of another library.
    """
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    size = MPI.COMM_WORLD.Get_size()
    if size < ranks or (exactly and size > ranks):
        version = MPI.Get_library_version()
        why = why_few(version) if size < ranks else f"mpi4py runs {' '.join(version.split())[:60]}"
        sys.stderr.write(f"Error: {size} of {ranks} ranks: {why}\n")
        raise SystemExit(FAILED)
    return MPI


def why_few(version: str) -> str:
    """Why there may be fewer ranks than were started, and what helps; with the version of the MPI library."""
    if "SLURM_STEP_ID" in os.environ and not any(name in os.environ for name in _BY_MPIEXEC):
        return (
            "srun started each of them alone: it needs an option such as --mpi=pmix (--start-option; 'srun --mpi=list' "
            "names what this Slurm has)"
        )
    return f"is mpiexec that of the MPI library that mpi4py found ({' '.join(version.split())[:60]})?"


def say(text: str) -> None:
    """Write a line that `said` finds in the log."""
    sys.stderr.write(f"{_SAID}{text}\n")
    sys.stderr.flush()


def said(lines: Iterable[str]) -> list[str]:
    """What ranks said of themselves in the lines of a log."""
    return [line.partition(_SAID)[2] for line in lines if _SAID in line]
