"""The MPI tool interface (MPI 5.0, chapter 15) through ctypes, on the library that this process has loaded.

mpi4py has no binding for it. Control variables are read and written by name; of the performance variables only
those are used that count per peer of a communicator. Nothing here imports mpi4py.
"""

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_OK = 0
_PVAR_CLASS_SIZE = 2
#: Pointers in more room than a communicator takes.
_ROOM = 512


class ToolInterfaceError(RuntimeError):
    """The library has no tool interface, or refuses a variable."""


def loaded_library(maps: str) -> str:
    """Path of the MPI library among the mapped files of a process.

    Parameters
    ----------
    maps
        Text of ``/proc/self/maps``.

    Raises
    ------
    ToolInterfaceError
        When no file named ``libmpi.so…`` is mapped.
    """
    for line in maps.splitlines():
        path = line.partition("/")[2]
        if path and Path(path).name.startswith(("libmpi.so", "libmpich.so", "libmpi.dylib")):
            return "/" + path
    raise ToolInterfaceError("no libmpi.so is loaded in this process, so its tool interface cannot be reached")


class ToolInterface:
    """Control variables, and messages counted by peer, of the MPI library in this process.

    Raises
    ------
    ToolInterfaceError
        When the library is not found or has no tool interface.
    """

    def __init__(self) -> None:
        self.path = loaded_library(Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace"))
        self._library = ctypes.CDLL(self.path)
        if not hasattr(self._library, "MPI_T_init_thread"):
            raise ToolInterfaceError(f"{self.path} has no MPI tool interface (MPI_T_init_thread)")
        self.call("MPI_T_init_thread", self._level(), ctypes.byref(ctypes.c_int()))
        self._handles: dict[str, ctypes.c_void_p] = {}
        self._first: dict[str, int] = {}

    def _level(self) -> int:
        """Level of threads to ask for: Open MPI takes the last one that it hears for all of MPI, even a lower one."""
        running, level = ctypes.c_int(), ctypes.c_int()
        self.call("MPI_Initialized", ctypes.byref(running))
        if running:
            self.call("MPI_Query_thread", ctypes.byref(level))
        return level.value

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of the interface; `ToolInterfaceError` when it does not succeed."""
        code = getattr(self._library, name)(*arguments)
        if code != _OK:
            raise ToolInterfaceError(f"{name} gave {code} in {self.path}")

    def read(self, name: str) -> int:
        """Value of a whole-number control variable."""
        value = ctypes.c_int()
        self.call("MPI_T_cvar_read", self._handle(name), ctypes.byref(value))
        return int(value.value)

    def write(self, values: Mapping[str, int]) -> None:
        """Set whole-number control variables, in the order given.

        Raises
        ------
        ToolInterfaceError
            When the library does not know one or does not let it be written; the message names it.
        """
        for name, value in values.items():
            if name not in self._first:
                self._first[name] = self.read(name)
            try:
                # A bool of Open MPI is one byte: the lowest of a little-endian int.
                self.call("MPI_T_cvar_write", self._handle(name), ctypes.byref(ctypes.c_int(value)))
            except ToolInterfaceError as error:
                if not self._stored(name, value):
                    raise ToolInterfaceError(f"{name} cannot be set to {value}: {error}") from None

    def _stored(self, name: str, value: int) -> bool:
        """Set a variable of Open MPI that its tool interface calls read-only, where the library itself reads it.

        Of 5.0 that is the algorithm of allgatherv; each new communicator takes it from there like those of the others.
        Whether it did is seen by the message graph.
        """
        where = getattr(self._library, "mca_base_var_get_value", None)
        index, place = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
        self.call("MPI_T_cvar_get_index", name.encode(), ctypes.byref(index))
        if where is None or where(index, ctypes.byref(place), None, None) != _OK or not place:
            return False
        if place[0] != self.read(name):
            return False
        place[0] = value
        return self.read(name) == value

    def restore(self, names: Iterable[str] | None = None) -> None:
        """Set what was written, or of it those named, back to what it was before."""
        self.write(self._first if names is None else {name: self._first[name] for name in names})

    def _handle(self, name: str) -> ctypes.c_void_p:
        if name not in self._handles:
            index, handle, count = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
            try:
                self.call("MPI_T_cvar_get_index", name.encode(), ctypes.byref(index))
                self.call("MPI_T_cvar_handle_alloc", index, None, ctypes.byref(handle), ctypes.byref(count))
            except ToolInterfaceError as error:
                raise ToolInterfaceError(f"{name!r} is no control variable of this library: {error}") from None
            self._handles[name] = handle
        return self._handles[name]

    def close(self) -> None:
        """Give the interface back; to be called before MPI is finalised."""
        for handle in self._handles.values():
            self._library.MPI_T_cvar_handle_free(ctypes.byref(handle))
        self._handles.clear()
        self._library.MPI_T_finalize()


class PeerCounters:
    """Counters that hold one number for each peer of a communicator, such as those of Open MPI's monitoring layer.

    Parameters
    ----------
    names
        Performance variables of class "size", bound to a communicator.
    comm_address
        Address of the ``MPI_Comm`` handle.
    peers
        Processes in that communicator.

    Raises
    ------
    ToolInterfaceError
        When the library has no such variable, or does not let it be bound or started.
    """

    def __init__(self, tools: ToolInterface, names: Sequence[str], comm_address: int, peers: int) -> None:
        self._tools, self._peers = tools, peers
        self._session = ctypes.c_void_p()
        tools.call("MPI_T_pvar_session_create", ctypes.byref(self._session))
        self._handles = [self._bind(name, comm_address) for name in names]

    def _bind(self, name: str, comm_address: int) -> ctypes.c_void_p:
        index, handle, count = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        call = self._tools.call
        try:
            call("MPI_T_pvar_get_index", name.encode(), _PVAR_CLASS_SIZE, ctypes.byref(index))
        except ToolInterfaceError as error:
            said = os.environ.get("OMPI_MCA_pml", "^")  # noqa: SIM112 - so it is called
            why = "as Open MPI 4.1" if said.startswith("^") else f"where OMPI_MCA_pml={said} leaves it out"
            raise ToolInterfaceError(f"this library has no counter {name}, {why} ({error})") from None
        # Open MPI 6.0.0a1 takes the handle's own place for the communicator, and refuses it by what stands behind it.
        comm = (ctypes.c_void_p * _ROOM)(ctypes.c_void_p.from_address(comm_address))
        call("MPI_T_pvar_handle_alloc", self._session, index, comm, ctypes.byref(handle), ctypes.byref(count))
        if count.value != self._peers:
            raise ToolInterfaceError(f"{name} holds {count.value} numbers for {self._peers} processes")
        return handle

    def start(self) -> None:
        """Count from now on; at other times counting costs nothing."""
        for handle in self._handles:
            self._tools.call("MPI_T_pvar_start", self._session, handle)

    def stop(self) -> None:
        """Count no further."""
        for handle in self._handles:
            self._tools.call("MPI_T_pvar_stop", self._session, handle)

    def read(self) -> list[list[int]]:
        """Numbers of each variable, one for each peer."""
        counts = []
        for handle in self._handles:
            values = (ctypes.c_size_t * self._peers)()
            self._tools.call("MPI_T_pvar_read", self._session, handle, values)
            counts.append(list(values))
        return counts
