"""Messages counted by a function of our own, where Open MPI hides what its monitoring layer counts (4.1).

That layer calls ``mca_common_monitoring_record_pml`` at each message, point-to-point messages inside of collectives
too. A preloaded library (`SOURCE`) answers that call first. Nothing here imports mpi4py.
"""

import ctypes
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries import preload
from dashboard.benchmarks.libraries.methods import Library
from dashboard.benchmarks.libraries.mpicc import build
from dashboard.benchmarks.ranks.handles import address
from dashboard.benchmarks.ranks.mpit import PeerCounters, ToolInterface, ToolInterfaceError

#: The function, and how its library is called.
SOURCE, FILE = Path(__file__).with_name("counter.c"), "libcolltune_counter.so"
_NAMES = ("colltune_messages", "colltune_bytes")
#: What a process sends to others: to whom, how many messages, bytes in all.
Sent = list[tuple[int, int, int]]


def hidden(library: Library) -> bool:
    """Whether a library counts messages and does not let its counters be read."""
    return bool(library.graph_counters) and library.version.startswith("4.")


def compiled(folder: Path) -> Path | None:
    """What counts messages, compiled into a folder that all nodes see; None where there is no C compiler that can."""
    # Not by mpicc, which would have every program that it is preloaded into load MPI as well.
    compiler = next((path for name in ("cc", "gcc") if (path := shutil.which(name))), None)
    try:
        return build(Path(compiler), SOURCE, folder.resolve() / FILE) if compiler else None
    except BenchError:
        return None


@contextmanager
def preloaded(folder: Path, *, needed: bool) -> Iterator[dict[str, str]]:
    """Variable that preloads it, as `preload.preloaded` does; nothing where it is not needed or cannot be compiled."""
    counter = compiled(folder) if needed else None
    if counter is None:
        yield {}
        return
    with preload.preloaded(counter) as value:
        yield {preload.VARIABLE: value}


class OwnCounters:
    """What `PeerCounters` is, of the preloaded library: messages and bytes for each process of ``MPI_COMM_WORLD``.

    Raises
    ------
    ToolInterfaceError
        When the library is not preloaded.
    """

    def __init__(self, peers: int) -> None:
        here = ctypes.CDLL(None)
        try:
            self._numbers = [(ctypes.c_size_t * peers).in_dll(here, name) for name in _NAMES]
            self._counts = ctypes.c_int.in_dll(here, "colltune_counts")
        except ValueError:
            raise ToolInterfaceError(
                f"{FILE} is not preloaded, which would count in its place: it needs a C compiler, and a folder whose "
                "path has no space and no colon"
            ) from None

    def start(self) -> None:
        """Count from now on."""
        self._counts.value = 1

    def stop(self) -> None:
        """Count no further."""
        self._counts.value = 0

    def read(self) -> list[list[int]]:
        """Messages, and bytes, one for each process."""
        return [list(each) for each in self._numbers]


Counters = PeerCounters | OwnCounters


def counted(counters: Counters, call: Callable[[], None]) -> Sent:
    """What this process sends to each other one, by its rank in the whole job, while something is called."""
    counters.start()
    before = counters.read()
    try:
        call()
    finally:
        messages, sizes = np.subtract(counters.read(), before).tolist()
        counters.stop()
    return [(to, count, sizes[to]) for to, count in enumerate(messages) if count]


def counters_of(tools: ToolInterface, names: Sequence[str], mpi: Any) -> Counters:
    """The library's own counters of all processes, else the preloaded library's; errors as of `PeerCounters`.

    All processes make theirs together.
    """
    peers = int(mpi.COMM_WORLD.Get_size())
    try:
        return PeerCounters(tools, names, address(mpi, mpi.COMM_WORLD), peers)
    except ToolInterfaceError as hidden:
        try:
            own = OwnCounters(peers)
            _try_out(own, mpi.COMM_WORLD)
        except ToolInterfaceError as lacking:
            raise ToolInterfaceError(f"{hidden}; {lacking}") from None
        return own


def _try_out(counters: OwnCounters, world: Any) -> None:
    """Send a byte around; ToolInterfaceError where the library does not say so, as wheels of 4.1 without monitoring."""
    rank, peers = world.Get_rank(), world.Get_size()
    around = {"dest": (rank + 1) % peers, "source": (rank - 1) % peers}
    sent = counted(counters, lambda: world.Sendrecv(bytearray(1), recvbuf=bytearray(1), **around))
    if peers > 1 and not sent:
        raise ToolInterfaceError("this library was built without the layer that counts messages (pml monitoring)")
