"""Parameters of models, measured: ``mpiexec -n 2 python -m mpi4py -m dashboard.benchmarks.ranks.parameters``.

Rank 0 exchanges messages with one other process: with the first one on another node where the job has several, else
with rank 1. The table that is written is the one that `dashboard.models.pingpong.read_logp_table` reads: half round
trips, the gap g(m) from the slope of two trains of back-to-back messages, the overheads o_s(m) and o_r(m) as the time
inside MPI_Send and inside MPI_Recv of a message that is there already, and a timed reduction and copy of so many bytes
for gamma and delta. Source: T. Kielmann, H. Bal, K. Verstoep, "Fast Measurement of LogP Parameters for Message Passing
Platforms", 2000, for what is measured; the trains are those of LogGP's own benchmarks.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard.benchmarks.ranks import surroundings
from dashboard.benchmarks.ranks.subset import subset
from dashboard.benchmarks.ranks.world import FAILED, say, why_few
from dashboard.domain.units import format_count
from loaders import disk

Bytes = npt.NDArray[np.uint8]
COLUMNS = (
    "bytes",
    "halfrtt_min_us",
    "halfrtt_median_us",
    "halfrtt_p90_us",
    "pingpongs",
    "gap_us",
    "gap_min_us",
    "gap_train",
    "os_us",
    "or_us",
    "o_reps",
    "reduce_local_us",
    "copy_local_us",
)
DEFAULT_SIZES = "0,1-1MiB:x2"
#: Round trips of each size in a round, and rounds over all sizes.
REPETITIONS, ROUNDS = 100, 3
#: Lengths of the two trains whose difference is the gap, and how often each is sent.
TRAINS, TRAIN_REPETITIONS = (10, 60), 7
OVERHEAD_REPETITIONS = 15
#: Seconds that a sender or receiver stays idle before its overhead is timed, and how many half round trips at least.
_IDLE_S, _IDLE_TRIPS = 2e-5, 4
#: A local operation is repeated until so much time is gone, and the fastest of several such loops counts.
_LOCAL_S, _LOCAL_LOOPS = 2e-4, 5
_WARM_UP = 10
_ONE_BYTE = 1
_US = 1e6
_ELEMENT, _LEAST_S = 4, 1e-9
_TIMES = tuple(name for name in COLUMNS if name.endswith("_us"))


@dataclass(frozen=True)
class Pair:
    """Two processes that exchange messages."""

    #: A communicator of both, mpi4py's.
    comm: Any
    #: Whether this process is the one that begins.
    first: bool
    #: MPI_PROC_NULL.
    nobody: int

    @property
    def other(self) -> int:
        """Rank of the other one."""
        return 1 if self.first else 0

    def send(self, data: Bytes) -> None:
        """Send to the other."""
        self.comm.Send(data, self.other)

    def receive(self, data: Bytes) -> None:
        """Receive from the other."""
        self.comm.Recv(data, self.other)

    def meet(self) -> None:
        """Wait until both are here."""
        token = np.zeros(_ONE_BYTE, np.uint8)
        if self.first:
            self.send(token)
            self.receive(token)
        else:
            self.receive(token)
            self.send(token)


def half_round_trips(pair: Pair, size: int, repetitions: int) -> list[float]:
    """Seconds of half a round trip, each of `repetitions`; those of the second process mean nothing."""
    data, trips = np.ones(size, np.uint8), []
    pair.meet()
    for turn in range(_WARM_UP + repetitions):
        start = time.perf_counter()
        if pair.first:
            pair.send(data)
            pair.receive(data)
        else:
            pair.receive(data)
            pair.send(data)
        if turn >= _WARM_UP:
            trips.append((time.perf_counter() - start) / 2)
    return trips


def gaps(pair: Pair, size: int) -> list[float]:
    """Seconds between back-to-back messages: from trains of two lengths, so that what each costs once drops out."""
    short, long = TRAINS
    return [
        (_train(pair, size, long) - _train(pair, size, short)) / (long - short) for _ in range(TRAIN_REPETITIONS + 1)
    ][1:]


def _train(pair: Pair, size: int, length: int) -> float:
    """Seconds from the first message to the answer that all have arrived."""
    data, token = np.ones(size, np.uint8), np.zeros(_ONE_BYTE, np.uint8)
    pair.meet()
    start = time.perf_counter()
    for _ in range(length):
        if pair.first:
            pair.send(data)
        else:
            pair.receive(data)
    if pair.first:
        pair.receive(token)
    else:
        pair.send(token)
    return time.perf_counter() - start


def overheads(pair: Pair, size: int, trip: float) -> tuple[float, float]:
    """Median seconds inside MPI_Send (first process) and inside MPI_Recv of a message that is there (second).

    What the way from Python into the library costs is taken off, as a call that sends to nobody shows it.

    Parameters
    ----------
    trip
        Half a round trip at this size: both stay idle much longer.
    """
    idle = max(_IDLE_S, _IDLE_TRIPS * trip)
    # The receiver waits inside MPI_Recv: who is elsewhere would keep a sender that needs its answer.
    sent = _calls(pair, size, idle if pair.first else 0.0)
    received = _calls(pair, size, 0.0 if pair.first else idle)
    return (sent, 0.0) if pair.first else (0.0, received)


def _calls(pair: Pair, size: int, idle: float) -> float:
    """Median seconds inside MPI_Send or MPI_Recv, after this process has been idle for so long."""
    data, durations = np.ones(size, np.uint8), []
    call = pair.send if pair.first else pair.receive
    for _ in range(OVERHEAD_REPETITIONS):
        pair.meet()
        _stay_idle(idle)
        start = time.perf_counter()
        call(data)
        durations.append(time.perf_counter() - start)
    return max(median(durations) - local(lambda: pair.comm.Send(data, pair.nobody)), _LEAST_S)


def _stay_idle(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def local(work: Callable[[], object]) -> float:
    """Seconds of an operation of one process: the fastest of several loops of it."""
    loops, took = 1, 0.0
    while took < _LOCAL_S and loops < 1 << 20:
        loops *= 2
        took = _loop(work, loops)
    return min(_loop(work, loops) for _ in range(_LOCAL_LOOPS)) / loops


def _loop(work: Callable[[], object], loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        work()
    return time.perf_counter() - start


def row(pair: Pair, mpi: Any, size: int, repetitions: int) -> dict[str, float]:
    """Measure one message size; collective over both, whole on the first.

    Returns
    -------
    dict
        Seconds by the columns whose names end in ``_us``.
    """
    trips = half_round_trips(pair, size, repetitions)
    between = gaps(pair, size)
    sent, received = overheads(pair, size, pair.comm.bcast(median(trips), 0))
    received = pair.comm.bcast(received, 1)
    elements = np.ones(-(-size // _ELEMENT), np.float32)
    source, reduced, copied = np.ones(size, np.uint8), np.ones_like(elements), np.ones(size, np.uint8)
    reduction = copy = 0.0
    pair.meet()
    if pair.first:
        reduction = local(lambda: mpi.SUM.Reduce_local(elements, reduced))
        copy = local(lambda: np.copyto(copied, source))
    pair.meet()
    # The slope of trains shorter than the noise may come out as nothing; a message takes its copy at least.
    gap = [max(seconds, copy, _LEAST_S) for seconds in (median(between), min(between))]
    trip = (min(trips), median(trips), float(np.quantile(trips, 0.9)))
    return dict(zip(_TIMES, (*trip, *gap, sent, received, reduction, copy), strict=True))


def quietest(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several rounds the least of each time, since what else runs on the machine only ever adds to it.

    Of the gap, which is a difference of two, it is the median.
    """
    return {name: (median if name == "gap_us" else min)([times[name] for times in rounds]) for name in rounds[0]}


def table(rows: Mapping[int, Mapping[str, float]], repetitions: int, about: Sequence[str]) -> str:
    """The file's text: remarks, head, one line for each size."""
    counts = {"pingpongs": repetitions, "gap_train": "/".join(map(str, TRAINS)), "o_reps": OVERHEAD_REPETITIONS}
    lines = [f"# {' '.join(text.split())}" for text in about] + [",".join(COLUMNS)]
    for size, seconds in sorted(rows.items()):
        said = {"bytes": size, **counts, **{name: f"{value * _US:.4f}" for name, value in seconds.items()}}
        lines.append(",".join(str(said[name]) for name in COLUMNS))
    return "\n".join(lines) + "\n"


def other_of(nodes: Sequence[str]) -> int:
    """Rank that rank 0 exchanges messages with: the first on another node, else its neighbour."""
    return next((rank for rank, node in enumerate(nodes) if node != nodes[0]), 1)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure all sizes and write the table; exit status 0 when it is there."""
    parser = argparse.ArgumentParser(
        prog="python -m mpi4py -m dashboard.benchmarks.ranks.parameters", description=__doc__
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", required=True)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    args = parser.parse_args(argv)
    from mpi4py import MPI  # noqa: PLC0415 - a process outside mpiexec must not start the library

    world = MPI.COMM_WORLD
    if world.Get_size() < 2:
        say(f"only 1 rank, a ping-pong needs 2: {why_few(MPI.Get_library_version())}")
        return FAILED
    nodes = world.allgather(platform.node())
    members = (0, other_of(nodes))
    with subset(MPI, world, member=world.Get_rank() in members) as comm:
        if comm is not None:
            pair = Pair(comm, comm.Get_rank() == 0, MPI.PROC_NULL)
            rows = _measured(pair, MPI, args)
            if pair.first:
                about = _about(MPI.Get_library_version(), [nodes[rank] for rank in members], args.rounds)
                disk.write_text(args.output, table(rows, args.repetitions, about))
    return 0


def _measured(pair: Pair, mpi: Any, args: argparse.Namespace) -> dict[int, dict[str, float]]:
    rounds: dict[int, list[dict[str, float]]] = {size: [] for size in args.sizes}
    for _ in range(args.rounds):
        for size, rows in rounds.items():
            rows.append(row(pair, mpi, size, args.repetitions))
    return {size: quietest(rows) for size, rows in rounds.items()}


def _about(version: str, nodes: Sequence[str], rounds: int) -> list[str]:
    """What holds for the whole table."""
    count = len(set(nodes))
    where = f"two processes of {nodes[0]}" if count == 1 else f"one process each of {nodes[0]} and {nodes[1]}"
    short, long = TRAINS
    trains = f"gap: slope of trains of {short} and {long} messages, the median of {format_count(rounds, 'round')}"
    return [
        f"Point-to-point parameters, {where}; bytes, and microseconds in the columns named _us",
        f"system: {surroundings.system()}; network: {surroundings.network(count)}; library: {version}",
        f"date: {surroundings.now()}; measured from Python (mpi4py), whose calls are in half round trips and gaps",
        f"{trains}; other times: the least of them; reduction: MPI_SUM of float32; copy: NumPy",
        f"settings: {surroundings.settings()}",
    ]


if __name__ == "__main__":
    sys.exit(main())
