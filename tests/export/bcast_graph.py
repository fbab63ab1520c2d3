"""Runs under mpiexec: who sends how many messages in calls of collectives, as the library's monitoring counts them.

Arguments: ``collective:communicator size:bytes`` each. Rank 0 prints one line of JSON: for each argument for each rank
``{receiver: messages}``.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path

from mpi4py import MPI

_SIZE_CLASS = 2


class Counter:
    """Reads the performance variable ``pml_monitoring_messages_count`` of the world."""

    def __init__(self) -> None:
        maps = Path("/proc/self/maps").read_text()
        path = next(line.split()[-1] for line in maps.splitlines() if "/libmpi.so" in line)
        self._mpi = ctypes.CDLL(path)
        index, provided = ctypes.c_int(), ctypes.c_int()
        self._session, self._handle, count = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        self._do("MPI_T_init_thread", 0, ctypes.byref(provided))
        self._do("MPI_T_pvar_get_index", b"pml_monitoring_messages_count", _SIZE_CLASS, ctypes.byref(index))
        self._do("MPI_T_pvar_session_create", ctypes.byref(self._session))
        world = ctypes.c_void_p(MPI._addressof(MPI.COMM_WORLD))
        self._do(
            "MPI_T_pvar_handle_alloc", self._session, index, world, ctypes.byref(self._handle), ctypes.byref(count)
        )
        self._do("MPI_T_pvar_start", self._session, self._handle)
        self._counts = (ctypes.c_size_t * count.value)()

    def read(self) -> list[int]:
        self._do("MPI_T_pvar_read", self._session, self._handle, self._counts)
        return list(self._counts)

    def _do(self, name: str, *arguments: object) -> None:
        status = getattr(self._mpi, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: {status}")


def call(comm: MPI.Comm, collective: str, size: int) -> None:
    if collective == "bcast":
        comm.Bcast(bytearray(size))
    else:
        comm.Allgather(bytearray(size), bytearray(size * comm.size))


def main() -> None:
    world = MPI.COMM_WORLD
    counter = Counter()
    found = []
    for argument in sys.argv[1:]:
        collective, processes, size = argument.split(":")
        comm = world.Split(0 if world.rank < int(processes) else MPI.UNDEFINED, world.rank)
        sent: dict[int, int] = {}
        if comm != MPI.COMM_NULL:
            before = counter.read()
            call(comm, collective, int(size))
            after = counter.read()
            sent = {rank: b - a for rank, (a, b) in enumerate(zip(before, after, strict=True)) if b > a}
            comm.Free()
        found.append(world.gather(sent))
    if world.rank == 0:
        sys.stdout.write(json.dumps(found) + "\n")


main()
