"""The native executor: a small C interpreter of schedules, built with the site's ``mpicc`` where there is one.

What it is given are mpi4py's communicators, types and operations; mpi4py is not imported here.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.errors import BenchError
from dashboard.schedules import Program

SOURCE = Path(__file__).with_name("interpreter.c")
_SECONDS = 120
_LARGEST = 2**31 - 1


def compiler(mpiexec: Path) -> Path | None:
    """The ``mpicc`` of a library by its start command: beside it, else on the PATH; None without one."""
    beside = mpiexec.parent / "mpicc"
    found = str(beside) if beside.exists() else shutil.which("mpicc")
    return Path(found) if found else None


def build(mpicc: Path, folder: Path) -> Path:
    """Compile the interpreter; the library that `Native` loads.

    Raises
    ------
    BenchError
        When it cannot be compiled; the message has the compiler's first words.
    """
    library = folder / "libcolltune_schedules.so"
    command = [str(mpicc), "-std=c99", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BenchError(f"{mpicc} cannot be run: {error}") from error
    if done.returncode:
        told = (done.stderr.strip().splitlines() or ["no word of why"])[0]
        raise BenchError(f"{mpicc} cannot compile {SOURCE.name}: {told[:200]}")
    return library


class Native:
    """The interpreter, loaded into a rank.

    Parameters
    ----------
    library
        What `build` made, with the compiler of the library that mpi4py runs.
    address
        mpi4py's ``MPI._addressof``: the address of a handle.
    """

    def __init__(self, library: Path, address: Any) -> None:
        self._library, self._address = ctypes.CDLL(str(library)), address
        self._request_size = int(self._library.colltune_request_size())

    def bind(
        self, comm: Any, program: Program, memory: tuple[npt.NDArray[Any], npt.NDArray[Any]], element: Any, op: Any
    ) -> NativeBound:
        """Bind a program to its buffers, as `dashboard.schedules.over_mpi.Bound` does; `op` is mpi4py's operation.

        Raises
        ------
        BenchError
            When a message is longer than MPI's counts reach.
        """
        return NativeBound(self, comm, program, memory, element, op)


class NativeBound:
    """A program with its buffers on a communicator, which is called as often as wanted; see `Native.bind`."""

    def __init__(
        self,
        native: Native,
        comm: Any,
        program: Program,
        memory: tuple[npt.NDArray[Any], npt.NDArray[Any]],
        element: Any,
        op: Any,
    ) -> None:
        rows = np.ascontiguousarray(program.rows)
        if len(rows) and int(rows[:, 5].max()) > _LARGEST:
            raise BenchError(f"a message of {int(rows[:, 5].max())} elements; MPI counts to {_LARGEST}")
        source, target = memory
        extent = int(target.dtype.itemsize * np.prod(target.shape[1:], dtype=np.int64))
        scratch = np.empty(program.scratch * extent, np.uint8)
        requests = np.zeros(max(len(rows), 1) * native._request_size, np.uint8)  # noqa: SLF001 - one thing in two classes
        buffers = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in (source, target, scratch)))
        handles = [ctypes.c_void_p(native._address(each)) for each in (comm, element, op)]  # noqa: SLF001 - likewise
        #: What the addresses point to lives as long as this.
        self._kept = (rows, source, target, scratch, requests, buffers, comm, element, op)
        self._run = native._library.colltune_run  # noqa: SLF001 - likewise
        self._arguments = (
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_int64(len(rows)),
            buffers,
            ctypes.c_int64(extent),
            *handles,
            ctypes.c_void_p(requests.ctypes.data),
        )

    def __call__(self) -> None:
        """Run it once; `BenchError` with MPI's code when a call fails."""
        if code := self._run(*self._arguments):
            raise BenchError(f"a call of MPI gave {code} in a schedule")
