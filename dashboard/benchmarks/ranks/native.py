"""The native executor: a small C interpreter of schedules, built with the site's ``mpicc`` where there is one.

What it is given are mpi4py's communicators, types and operations; mpi4py is not imported here.
"""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.ranks.handles import address
from dashboard.schedules import Program
from dashboard.schedules.datatypes import Elements, raw
from dashboard.schedules.over_mpi import scratch_of

#: The interpreter, and how its library is called.
SOURCE, FILE = Path(__file__).with_name("interpreter.c"), "libcolltune_schedules.so"
_LARGEST = 2**31 - 1


def _extent(memory: Any) -> int:
    """Bytes from an element to the next."""
    if isinstance(memory, Elements):
        return memory.datatype.extent
    return int(memory.dtype.itemsize * np.prod(memory.shape[1:], dtype=np.int64))


class NativeBound:
    """A program with its buffers on a communicator, as `dashboard.schedules.over_mpi.Bound` is.

    Parameters
    ----------
    interpreter
        `SOURCE`, built with the compiler of the library that mpi4py runs, and loaded.

    Raises
    ------
    BenchError
        When a message is longer than MPI's counts reach.
    """

    def __init__(
        self,
        interpreter: ctypes.CDLL,
        mpi: Any,
        comm: Any,
        program: Program,
        memory: Sequence[Any],
        element: Any,
        op: Any,
    ) -> None:
        rows = np.ascontiguousarray(program.rows)
        if len(rows) and int(rows[:, 5].max()) > _LARGEST:
            raise BenchError(f"a message of {int(rows[:, 5].max())} elements; MPI counts to {_LARGEST}")
        source, target, *given = memory
        scratch = given[0] if given else scratch_of(program, target)
        extent = _extent(target)
        requests = np.zeros(max(len(rows), 1) * interpreter.colltune_request_size(), np.uint8)
        buffers = (ctypes.c_void_p * 3)(*(raw(each).ctypes.data for each in (source, target, scratch)))
        handles = [ctypes.c_void_p(address(mpi, each)) for each in (comm, element, op)]
        #: What the addresses point to lives as long as this.
        self._kept = (rows, source, target, scratch, requests, buffers, comm, element, op)
        self._run = interpreter.colltune_run
        self._arguments = (
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_int64(len(rows)),
            buffers,
            ctypes.c_int64(extent),
            ctypes.c_int(isinstance(target, np.ndarray)),
            *handles,
            ctypes.c_void_p(requests.ctypes.data),
        )

    def __call__(self) -> None:
        """Run it once; `BenchError` with MPI's code when a call fails."""
        self._called(None)

    def traced(self) -> npt.NDArray[np.float64]:
        """Run it once; begin and end of each row, seconds of `time.perf_counter`."""
        times = np.zeros((len(self._kept[0]), 2))
        self._called(ctypes.c_void_p(times.ctypes.data))
        return times

    def free(self) -> None:
        """Give nothing back: its requests are MPI's own in each run."""

    def _called(self, times: ctypes.c_void_p | None) -> None:
        if code := self._run(*self._arguments, times):
            raise BenchError(f"a call of MPI gave {code} in a schedule")
