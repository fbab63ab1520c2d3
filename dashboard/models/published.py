"""Runtime functions as they are printed for three machines, put together of pieces and sums.

Source: Kühnemann, Rauber, Rünger, Optimizing MPI Collective Communication by Orthogonal Structures, Tables 1 to 5.
Coefficients are in µs/B, times that bytes do not count in (τ1) in s; a KB is 1000 B.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from dashboard.domain.units import format_bytes, format_count
from dashboard.models.errors import ModelError
from dashboard.models.runtime_functions import Form, of_p

_MICRO = 1e-6
_KB = 1000


class Runtime(Protocol):
    """Time of a collective."""

    def seconds(self, comm_size: int, message_size: float) -> float:
        """Of so many processes (2 or more) and bytes, of the vector or of each block; `ModelError` where not known."""


@dataclass(frozen=True)
class Printed:
    """``startup + (base + growth f(p)) b``, as printed."""

    #: What it is of; said when a coefficient is missing.
    name: str
    #: f.
    form: Form
    #: τ and t_c, µs/B; None where it is not printed.
    base: float | None
    growth: float | None
    #: τ1, s.
    startup: float = 0.0

    def seconds(self, comm_size: int, message_size: float) -> float:
        """As `Runtime`."""
        if self.base is None or self.growth is None:
            lost = "tau" if self.base is None else "t_c"
            raise ModelError(f"{lost} of {self.name} is not printed, so its time is not known")
        per_byte = self.base + self.growth * float(of_p(self.form, comm_size))
        return self.startup + per_byte * _MICRO * message_size


@dataclass(frozen=True)
class Pieces:
    """One function after the other: the first whose limits hold."""

    #: As ``(holds, function)``; ``holds(comm_size, total)`` is told processes and what all blocks come to, bytes.
    pieces: tuple[tuple[Callable[[int, float], bool], Runtime], ...]
    #: Processes of the last piece.
    most: float = math.inf

    def seconds(self, comm_size: int, message_size: float) -> float:
        """As `Runtime`."""
        total = comm_size * message_size
        for holds, function in self.pieces:
            if holds(comm_size, total):
                return function.seconds(comm_size, message_size)
        raise ModelError(
            f"there is no runtime function of {comm_size} processes and {format_bytes(message_size)}: it is printed "
            f"for at most {self.most} processes"
        )


@dataclass(frozen=True)
class Sum:
    """Collectives one after the other, as a library makes one of others."""

    #: As ``(function, blocks)``: `blocks` whether its bytes are those of all processes' blocks together.
    parts: tuple[tuple[Runtime, bool], ...]

    def seconds(self, comm_size: int, message_size: float) -> float:
        """As `Runtime`."""
        return sum(function.seconds(*call) for function, call in self.calls(comm_size, message_size))

    def calls(self, comm_size: int, message_size: float) -> Iterator[tuple[Runtime, tuple[int, float]]]:
        """Each function with the processes and bytes that it is called for."""
        for function, blocks in self.parts:
            yield function, (comm_size, comm_size * message_size if blocks else message_size)


def up_to(limit: int, below: Runtime, above: Runtime) -> Pieces:
    """One function up to so many processes, another one above."""
    return Pieces(((lambda p, _: p <= limit, below), (lambda p, _: True, above)))


def composed(single: Mapping[str, Runtime]) -> dict[str, Runtime]:
    """With allreduce and allgather as LAM-MPI makes them: reduce and broadcast, gather and broadcast."""
    made = dict(single)
    if {"reduce", "bcast"} <= set(single):
        made.setdefault("allreduce", Sum(((single["reduce"], False), (single["bcast"], False))))
    if {"gather", "bcast"} <= set(single):
        made.setdefault("allgather", Sum(((single["gather"], False), (single["bcast"], True))))
    return made


#: Published machines by name: runtime functions by collective.
MACHINES: Mapping[str, Mapping[str, Runtime]] = {
    "clic-lam": composed(
        {
            "bcast": up_to(
                4,
                Printed("CLiC bcast up to 4 processes", "linear", -0.085, 0.092),
                Printed("CLiC bcast above 4 processes", "logarithmic", 0.038, 0.474),
            ),
            "reduce": up_to(
                4,
                Printed("CLiC reduce up to 4 processes", "linear", -0.103, None),
                Printed("CLiC reduce above 4 processes", "floor_logarithmic", 0.141, 0.101),
            ),
            "gather": Printed("CLiC gather", "linear", -0.0825, 0.0929, 0.009),
            "scatter": Printed("CLiC scatter", "linear", -0.0730, 0.0897),
        }
    ),
    "xeon-scampi": composed(
        {
            "bcast": Printed("Xeon bcast", "logarithmic", -0.0005, 0.0042),
            "reduce": Printed("Xeon reduce", "floor_logarithmic", 0.0116, 0.0002),
            "gather": Printed("Xeon gather", "linear", -0.0056, 0.0040),
            "scatter": Printed("Xeon scatter", "linear", -0.0032, 0.0039),
        }
    ),
    "t3e": {
        "gather": Pieces(
            (
                # The column of processes is damaged in print; read so, the model gives the gains of Figure 12.
                (lambda p, total: p <= 16 or total <= 8448 * _KB, Printed("T3E gather", "linear", -0.00134, 0.00308)),
                (lambda p, _: p <= 32, Printed("T3E gather", "linear", 0.0157, 0.00505, -0.020)),
                (lambda p, _: p <= 128, Printed("T3E gather", "linear", 0.0265, 0.00617, -0.036)),
            ),
            128,
        ),
        "scatter": Printed("T3E scatter", "linear", 0.0002453, 0.00297),
    },
}
TITLES: Mapping[str, str] = {
    "clic-lam": "CLiC, LAM-MPI 6.3b2 (528 × Pentium III, Fast Ethernet)",
    "xeon-scampi": "Xeon cluster, ScaMPI 4.0.0 (16 × 2, SCI torus)",
    "t3e": "Cray T3E-1200",
}


#: Processes of the machines, of the T3E those of the last printed piece; and bytes that functions were fitted over.
PROCESSES: Mapping[str, int] = {"clic-lam": 528, "xeon-scampi": 32, "t3e": 128}
MESSAGES = 10 * _KB, 500 * _KB


@dataclass(frozen=True)
class Published:
    """The function of a collective on a published machine, and what it was fitted to."""

    machine: str
    function: Runtime

    def seconds(self, comm_size: int, message_size: float) -> float:
        """As `Runtime`."""
        return self.function.seconds(comm_size, message_size)

    def unfitted(self, comm_size: int, message_size: float) -> dict[str, str]:
        """As of `dashboard.models.fitted_runtime.Fitted`, of a call itself, not of the phases that it is made of."""
        most, (low, high) = PROCESSES[self.machine], MESSAGES
        words = {}
        if comm_size > most:
            words[format_count(comm_size, "process", "processes")] = f"at most {most} processes"
        if not low <= message_size <= high:
            words[f"{message_size:,.0f} B"] = f"messages of {low:,} to {high:,} B"
        return words


def machine_named(word: str) -> str | None:
    """Name of the published machine that a word means: its name or the beginning of it, whatever its capitals."""
    plain = word.casefold().replace("/", "-")
    meant = [name for name in MACHINES if name == plain or name.startswith(f"{plain}-")]
    return meant[0] if meant else None


def machine(name: str, collective: str) -> Published:
    """Runtime function of a collective on a published machine.

    Raises
    ------
    ModelError
        When there is no such machine, or nothing is printed of the collective there; the message lists what there is.
    """
    if name not in MACHINES:
        raise ModelError(f"there is no machine {name!r}, known are {', '.join(MACHINES)}")
    if collective not in MACHINES[name]:
        raise ModelError(f"{name} has no runtime function of {collective}, it has {', '.join(MACHINES[name])}")
    return Published(name, MACHINES[name][collective])


def improvement(original: float, other: float) -> float:
    """Percent that another time is shorter than the original one (K 3)."""
    return 100 * (original - other) / original if math.isfinite(original) and original else math.nan
