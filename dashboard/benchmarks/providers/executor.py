"""What runs a schedule on a communicator: the native interpreter where it could be built, else mpi4py."""

import ctypes
from functools import partial
from pathlib import Path
from typing import Any

from dashboard.benchmarks.ranks.native import NativeBound
from dashboard.domain.arrays import Array
from dashboard.schedules import Program
from dashboard.schedules.over_mpi import Bound

NATIVE, MPI4PY = "native", "mpi4py"


class Executor:
    """Binds programs to buffers; the same on all ranks.

    Parameters
    ----------
    library
        `dashboard.benchmarks.ranks.native.SOURCE`, built; None without a compiler.

    Attributes
    ----------
    name
        `NATIVE` or `MPI4PY`.
    in_place
        mpi4py's ``MPI.IN_PLACE``.
    """

    def __init__(self, mpi: Any, library: Path | None) -> None:
        self._mpi, self.in_place = mpi, mpi.IN_PLACE
        self._native = None if library is None else ctypes.CDLL(str(library))
        self.name = MPI4PY if self._native is None else NATIVE

    def bind(
        self,
        comm: Any,
        program: Program,
        memory: tuple[Array, Array],
        element: Any,
        op: Any,
        *,
        traced: bool = False,
    ) -> NativeBound | Bound:
        """Bind a program: what is called to run it once.

        Parameters
        ----------
        memory
            Input and output, an element each along the first axis.
        element, op
            MPI's type of an element, and its operation of a reduction.
        traced
            Whether its ``traced`` will be called instead.
        """
        if self._native is not None:
            return NativeBound(self._native, self._mpi, comm, program, memory, element, op)
        combine = partial(_combine, element, op)
        return Bound(comm, program, memory, element, combine, persistent=not traced, apart=traced)


def _combine(element: Any, op: Any, lower: Array, into: Array) -> None:
    op.Reduce_local([lower, len(lower), element], [into, len(into), element])


def loaded(mpi: Any, comm: Any, library: Path | None) -> Executor:
    """The native executor where every process can load it, else mpi4py's on all of them; collective."""
    try:
        made = Executor(mpi, library)
    except OSError:
        made = Executor(mpi, None)
    return made if len(set(comm.allgather(made.name))) == 1 else Executor(mpi, None)
