"""A communicator whose own exchanges are messages between pairs only; mpi4py's is given, it is not imported here."""

from __future__ import annotations

from typing import Any


class Plain:
    """What a worker speaks by where a method is forced on the whole process.

    The library's collectives then take the method too, and one that is for two processes only, or gives wrong results,
    must end in a record of that, not in a worker that cannot go on. All else is the communicator's own.
    """

    def __init__(self, comm: Any) -> None:
        self._comm = comm

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    def bcast(self, value: Any, root: int = 0) -> Any:
        """Give all processes the object of one."""
        if self._comm.Get_rank() != root:
            return self._comm.recv(source=root)
        for other in range(self._comm.Get_size()):
            if other != root:
                self._comm.send(value, other)
        return value

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """Give one process the objects of all, by rank; the others None."""
        if self._comm.Get_rank() != root:
            self._comm.send(value, root)
            return None
        others = range(self._comm.Get_size())
        return [value if other == root else self._comm.recv(source=other) for other in others]

    def allgather(self, value: Any) -> list[Any]:
        """Give all processes the objects of all, by rank."""
        gathered: list[Any] = self.bcast(self.gather(value))
        return gathered

    def Split(self, color: int, key: int = 0) -> Plain | None:  # noqa: N802 - mpi4py's name
        """Make communicators of the processes with the same colour, by rank; None with a negative one (UNDEFINED)."""
        del key
        colors = self.allgather(color)
        if color < 0:
            return None
        same = [rank for rank, other in enumerate(colors) if other == color]
        # Unlike the library's own split, this is collective over the new communicator's processes only.
        return Plain(self._comm.Create_group(self._comm.Get_group().Incl(same)))
