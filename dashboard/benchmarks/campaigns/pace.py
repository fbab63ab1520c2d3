"""How long a point of a campaign takes: guessed at first, and then by what its own points took.

The guess knows neither the network nor the MPI library. On one machine it came within a factor of three of campaigns
with up to eight processes for each core; one over 100 Mbit/s took ten times as long.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dashboard.benchmarks.campaigns.protocol import Cell, PointKey, Protocol
from dashboard.domain.units import format_duration
from loaders.collectives import COLLECTIVES

#: What the guess takes for granted: seconds for a message, bytes per second of a process, seconds to make a
#: communicator and to agree on what comes next, and to make and verify a byte.
_LATENCY, _BANDWIDTH, _AROUND, _VERIFIED_BYTE = 2e-5, 1e9, 2e-2, 2e-8
#: Seconds to start a job, and those more that it takes to start Python on a core.
_JOB, _PYTHON = 1.0, 1.0

#: What is said beside an estimate before anything was measured.
GUESSED = "a guess that knows nothing of the network: a slow one may take ten times as long"
#: What is said of an estimate where methods are called in every way first.
ON_TOP = "the safety check comes on top"

#: Collective, communicator size, message size.
_Sizes = tuple[str, int, int]
#: Another collective is as far away as a size so many doublings off; what the guess itself weighs.
_OTHER, _GUESS = 4.0, 0.1


@dataclass(frozen=True)
class Estimate:
    """What a campaign will cost.

    Attributes
    ----------
    points
        That are missing.
    seconds, core_hours
        Likely ones.
    at_most
        Seconds that it cannot exceed by much.
    measured
        Points whose own times this is made from; 0: it is a guess.
    """

    points: int
    seconds: float
    at_most: float
    core_hours: float
    measured: int = 0


class Pace:
    """Seconds that points take.

    Parameters
    ----------
    cores
        Of the one machine that all processes run on; None: each has a core.
    took
        Seconds that points of this campaign took.
    """

    def __init__(self, protocol: Protocol, cores: int | None, took: Mapping[PointKey, float]) -> None:
        self._protocol, self._cores = protocol, cores
        durations: dict[_Sizes, list[float]] = {}
        for (collective, _, comm_size, message_size, *_), seconds in took.items():
            durations.setdefault((collective, comm_size, message_size), []).append(seconds)
        self._means = {sizes: math.fsum(each) / len(each) for sizes, each in durations.items()}
        self._axes = np.array([_place(sizes) for sizes in self._means]).T
        self._beside = np.array([seconds / self._guess(sizes) for sizes, seconds in self._means.items()])
        self._known: dict[_Sizes, float] = {}

    def start(self, ranks: int) -> float:
        """Seconds to start so many ranks."""
        return _JOB + _PYTHON * self._sharing(ranks)

    def point(self, cell: Cell) -> float:
        """Seconds that a point of a cell takes: those of its sizes, else by the nearest sizes that were measured."""
        sizes = (cell.collective, cell.comm_size, cell.message_size)
        if sizes not in self._known:
            self._known[sizes] = self._means.get(sizes) or min(self._by_others(sizes), self.most(cell))
        return self._known[sizes]

    def most(self, cell: Cell) -> float:
        """Seconds that a point of a cell can hardly exceed."""
        return self._around((cell.collective, cell.comm_size, cell.message_size)) + self._protocol.seconds

    def _by_others(self, sizes: _Sizes) -> float:
        """The guess, times what other sizes took beside theirs: a mean to which near ones give most.

        The arithmetic one: a few sizes that take long by noise make most of what a campaign takes.
        """
        if not self._means:
            return self._guess(sizes)
        name, comm_size, message_size = (axis - place for axis, place in zip(self._axes, _place(sizes), strict=True))
        weights = np.exp2(-(np.abs(comm_size) + np.abs(message_size) + _OTHER * (name != 0)) / 2)
        return self._guess(sizes) * float(((weights * self._beside).sum() + _GUESS) / (weights.sum() + _GUESS))

    def _guess(self, sizes: _Sizes) -> float:
        protocol = self._protocol
        # Most points end near the lower end where they take long, and near the upper one where they do not.
        repetitions = math.sqrt(protocol.min_repetitions * protocol.max_repetitions)
        # Before each repetition the processes come together, which takes about as long as a call.
        each = protocol.iterations if protocol.name == "occ" else 2
        calls = each * repetitions + protocol.warm_up + 1
        return self._around(sizes) + min(calls * self._call(sizes), protocol.seconds)

    def _call(self, sizes: _Sizes) -> float:
        """Seconds of one operation: one process sends to all others, or those that share a core move what they hold."""
        _, comm_size, message_size = sizes
        sharing = self._sharing(comm_size)
        moved = max(comm_size * message_size, _held(sizes) * sharing)
        return comm_size * sharing * _LATENCY + moved / _BANDWIDTH

    def _around(self, sizes: _Sizes) -> float:
        """Seconds of a point beside its repetitions."""
        return (_AROUND + _VERIFIED_BYTE * _held(sizes)) * self._sharing(sizes[1])

    def _sharing(self, processes: int) -> float:
        """Processes that take turns on a core."""
        return max(1.0, processes / self._cores) if self._cores else 1.0


def _held(sizes: _Sizes) -> int:
    """Bytes that one process sends or receives."""
    collective, comm_size, message_size = sizes
    return comm_size * message_size if COLLECTIVES[collective].by_block else message_size


def _place(sizes: _Sizes) -> tuple[int, float, float]:
    """Number of the collective, communicator and message size in doublings."""
    return list(COLLECTIVES).index(sizes[0]), math.log2(sizes[1]), math.log2(sizes[2] + 1)


def about(seconds: float) -> str:
    """How long something is estimated to take, in words: ``about 30 s``."""
    return f"about {_rough(seconds)}"


def most(seconds: float, limit: float | None = None, *, checked: bool = False) -> str:
    """How long a campaign takes at most, in words.

    Parameters
    ----------
    seconds
        By its estimate.
    limit
        Seconds after which its job is ended; None: not known yet.
    checked
        Whether its methods are called in every way first, which no estimate holds.
    """
    if limit is not None and limit < seconds:
        return "what the time limit allows"
    return f"{_rough(seconds)}{f' ({ON_TOP})' if checked else ''}"


def too_short(limit: float, seconds: float) -> str:
    """Why a time limit will hardly do; empty where it is no shorter than the estimate."""
    said = f"the time limit of {format_duration(limit)} is shorter than the estimate"
    return f"{said}: what is missing then is measured when the campaign is resumed" if limit < seconds else ""


def _rough(seconds: float) -> str:
    """A time with no more digits than an estimate deserves: of minutes, where it is written in these."""
    unit = 60.0 if 120 <= seconds < 7200 else 1.0
    return format_duration(unit * roughly(seconds / unit))


def roughly(value: float) -> float:
    """Round to as many digits as an estimate deserves: one, or two where the first is 1."""
    if value <= 0:
        return 0.0
    digits = -math.floor(math.log10(value))
    return round(value, digits + (value * 10.0**digits < 2))
