"""Handles of MPI as C takes them, of mpi4py's objects. Nothing here imports mpi4py."""

import ctypes
from typing import Any


def address(mpi: Any, thing: Any) -> int:
    """Where mpi4py keeps the handle of a communicator, a type, an operation."""
    return int(mpi._addressof(thing))  # noqa: SLF001 - mpi4py's own way to the handle


def handle(mpi: Any, thing: Any) -> Any:
    """A handle as a function of C is passed it: a pointer of Open MPI, a number of MPICH."""
    pointer = mpi._sizeof(thing) == ctypes.sizeof(ctypes.c_void_p)  # noqa: SLF001 - likewise
    return (ctypes.c_void_p if pointer else ctypes.c_int).from_address(address(mpi, thing))
