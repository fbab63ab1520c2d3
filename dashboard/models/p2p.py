"""Point-to-point models: Hockney, LogP / LogGP and PLogP, with what computing and copying a byte costs.

All times are in seconds and all sizes in bytes; `of_microseconds` takes the µs of the publications.
Source: dissertation, sections 4.2.1 and 4.2.2.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from dashboard.domain.arrays import FloatArray
from dashboard.domain.models import ModelName
from dashboard.domain.units import format_bytes
from dashboard.models.errors import ParameterError

LONGEST = 0.5
SLOWEST = 1e-3
FAR = 2.0**62


@dataclass(frozen=True)
class Range:
    """What a parameter may be."""

    #: As in the formulas.
    symbol: str
    #: ``s`` or ``s/B``.
    unit: Literal["s", "s/B"]
    #: Whether 0 is allowed.
    zero: bool
    #: Largest value that is believed: above it, the unit was most likely mistaken.
    high: float

    def check(self, name: str, value: float) -> None:
        """Raise `ParameterError` when a value is no number, negative or absurd."""
        if not math.isfinite(value) or value < 0 or (value == 0 and not self.zero):
            allowed = "0 or more" if self.zero else "more than 0"
            raise ParameterError(f"{name} is {value:g} {self.unit}; expected a number of {self.unit} that is {allowed}")
        if value > self.high:
            raise ParameterError(
                f"{name} is {value:g} {self.unit}; expected at most {self.high:g} {self.unit}: were microseconds meant?"
            )


#: Gaps and overheads of PLogP hold whole messages, which may be huge.
WHOLE_MESSAGE = Range("", "s", zero=False, high=86400.0)


def _parameter(symbol: str, *, per_byte: bool = False, zero: bool = False, **options: Any) -> Any:
    unit: Literal["s", "s/B"] = "s/B" if per_byte else "s"
    allowed = Range(symbol, unit, zero, SLOWEST if per_byte else LONGEST)
    return field(metadata={"range": allowed}, **options)


class PointToPoint(ABC):
    """What the three models have in common: one set of parameters of one network."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    name: ClassVar[ModelName]
    gamma: float
    delta: float

    def __post_init__(self) -> None:
        for name, allowed in self.ranges().items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise ParameterError(f"{name} is {value!r}; expected a number")
            allowed.check(name, float(value))
            object.__setattr__(self, name, float(value))

    @abstractmethod
    def message_time(self, size: npt.ArrayLike) -> FloatArray:
        """Seconds from the start of a send to the end of the receive of `size` bytes."""

    def values(self) -> dict[str, float]:
        """Parameters that are numbers, by the symbols of the formulas (SI units)."""
        return {allowed.symbol: getattr(self, name) for name, allowed in self.ranges().items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {"model": self.name, **{key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}}

    @classmethod
    def ranges(cls) -> dict[str, Range]:
        """What each parameter may be, by name."""
        return {each.name: each.metadata["range"] for each in fields(cls) if "range" in each.metadata}

    @classmethod
    def of_microseconds(cls, **parameters: Any) -> Self:
        """Make it of parameters in µs and µs per byte, as the publications print them."""
        scaled: dict[str, Any] = {
            key: value if key == "sizes" else (np.asarray(value, dtype=float) / 1e6).tolist()
            for key, value in parameters.items()
        }
        return cls(**scaled)


@dataclass(frozen=True)
class Hockney(PointToPoint):
    """A message takes ``alpha + beta m`` (equation 4.1), and its sender is busy as long.

    Attributes
    ----------
    alpha
        Latency, s.
    beta
        Transfer time per byte, s/B.
    gamma, delta
        Computing and copying a byte, s/B.
    """

    name: ClassVar[ModelName] = "hockney"
    alpha: float = _parameter("alpha")
    beta: float = _parameter("beta", per_byte=True)
    gamma: float = _parameter("gamma", per_byte=True, zero=True, default=0.0)
    delta: float = _parameter("delta", per_byte=True, zero=True, default=0.0)

    def message_time(self, size: npt.ArrayLike) -> FloatArray:
        """Equation 4.1."""
        return self.alpha + self.beta * np.asarray(size, dtype=float)


@dataclass(frozen=True)
class LogGP(PointToPoint):
    """A message takes ``L + 2 o + (m - 1) G`` (equation 4.3); with G = 0 this is LogP (equation 4.2).

    Attributes
    ----------
    latency
        L, s.
    overhead
        o, time a processor spends on sending or receiving, s.
    gap
        g, least time between two messages of one processor, s.
    gap_per_byte
        G, s/B; 0 = LogP.
    gamma, delta
        Computing and copying a byte, s/B.
    """

    name: ClassVar[ModelName] = "loggp"
    latency: float = _parameter("L")
    overhead: float = _parameter("o")
    gap: float = _parameter("g")
    gap_per_byte: float = _parameter("G", per_byte=True, zero=True, default=0.0)
    gamma: float = _parameter("gamma", per_byte=True, zero=True, default=0.0)
    delta: float = _parameter("delta", per_byte=True, zero=True, default=0.0)

    def message_time(self, size: npt.ArrayLike) -> FloatArray:
        """Equation 4.3; a message of no bytes takes L + 2 o."""
        rest = np.maximum(np.asarray(size, dtype=float) - 1.0, 0.0)
        return np.asarray(self.latency + 2 * self.overhead + rest * self.gap_per_byte)

    def to_hockney(self) -> Hockney:
        """The same message time in Hockney's terms: alpha = L + 2 o - G, beta = G."""
        if self.gap_per_byte == 0:
            raise ParameterError("LogP has no time per byte (G = 0); Hockney's β must be more than 0")
        alpha = self.latency + 2 * self.overhead - self.gap_per_byte
        return Hockney(alpha, self.gap_per_byte, self.gamma, self.delta)

    def to_plogp(self, sizes: Sequence[float] = (0.0, 1.0, 1048576.0)) -> PLogP:
        """Table 4.1 read backwards: g(m) = g + (m - 1) G, o_s = o_r = o, L = L + 2 o - g.

        PLogP's gap covers both overheads (4.2.1), LogGP's may be less than o. Up to the size at which the gap reaches
        o, o_s and o_r are therefore the gap; from there on they are o.

        Parameters
        ----------
        sizes
            Message sizes of the samples, B; that size, and a longer one, are added where the gap begins below o.
        """
        at = np.asarray(sizes, dtype=float)
        if 0 < self.overhead - self.gap < self.gap_per_byte * FAR / 4:
            reached = 1.0 + (self.overhead - self.gap) / self.gap_per_byte
            at = np.union1d(at, [reached, 2 * reached])
        gaps = self.gap + np.maximum(at - 1.0, 0.0) * self.gap_per_byte
        overheads = np.minimum(self.overhead, gaps)
        latency = self.latency + 2 * self.overhead - self.gap
        return PLogP(
            latency, tuple(at), tuple(gaps), tuple(overheads), tuple(overheads), gamma=self.gamma, delta=self.delta
        )


@dataclass(frozen=True)
class PLogP(PointToPoint):
    """A message takes ``L + g(m)`` (equation 4.4); gap and overheads are measured at some sizes."""

    name: ClassVar[ModelName] = "plogp"
    #: L, s.
    latency: float = field(metadata={"range": Range("L", "s", zero=False, high=LONGEST)})
    #: Message sizes of the measurements, B, ascending.
    sizes: tuple[float, ...]
    #: g, o_s and o_r at these sizes, s, and lines between them; below the first size they stay, above the last they go
    #: on as between the last two.
    gap: tuple[float, ...]
    send_overhead: tuple[float, ...]
    receive_overhead: tuple[float, ...]
    #: Computing and copying a byte, s/B.
    gamma: float = _parameter("gamma", per_byte=True, zero=True, default=0.0)
    delta: float = _parameter("delta", per_byte=True, zero=True, default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = _sizes(self.sizes)
        object.__setattr__(self, "sizes", tuple(sizes.tolist()))
        for name in ("gap", "send_overhead", "receive_overhead"):
            times = _times(name, getattr(self, name), sizes)
            object.__setattr__(self, name, tuple(times.tolist()))
            object.__setattr__(self, f"_{name}", _continued(sizes, times))
        for name in ("send_overhead", "receive_overhead"):
            above = np.asarray(getattr(self, name)) > np.asarray(self.gap) * (1 + 1e-9)
            if above.any():
                size = format_bytes(sizes[np.argmax(above)])
                raise ParameterError(
                    f"{name} at {size} is more than the gap there; PLogP's gap covers both overheads (4.2.1)"
                )

    def gap_at(self, size: Any) -> FloatArray:
        """g(m) in seconds."""
        return _interpolate(size, *self.__dict__["_gap"])

    def send_overhead_at(self, size: Any) -> FloatArray:
        """o_s(m) in seconds."""
        return _interpolate(size, *self.__dict__["_send_overhead"])

    def receive_overhead_at(self, size: Any) -> FloatArray:
        """o_r(m) in seconds."""
        return _interpolate(size, *self.__dict__["_receive_overhead"])

    def message_time(self, size: npt.ArrayLike) -> FloatArray:
        """Equation 4.4."""
        return np.asarray(self.latency + self.gap_at(size))

    @property
    def gap_per_byte(self) -> float:
        """Limit of g(m) / m for large m: the slope beyond the last measured size, s/B."""
        sizes, times = self.sizes[-2:], self.gap[-2:]
        return max((times[1] - times[0]) / (sizes[1] - sizes[0]), 0.0)

    def to_loggp(self) -> LogGP:
        """Table 4.1."""
        send, receive, gap = (float(f(1.0)) for f in (self.send_overhead_at, self.receive_overhead_at, self.gap_at))
        latency = self.latency + gap - send - receive
        if latency <= 0:
            raise ParameterError(
                f"Table 4.1 gives a latency of {latency:g} s: the overheads at 1 B are longer than L + g(1)"
            )
        return LogGP(latency, (send + receive) / 2, gap, self.gap_per_byte, self.gamma, self.delta)

    def to_hockney(self) -> Hockney:
        """By way of Table 4.1."""
        return self.to_loggp().to_hockney()


def _sizes(given: Any) -> FloatArray:
    sizes = np.asarray(given, dtype=float)
    if sizes.ndim != 1 or sizes.size < 2 or not np.isfinite(sizes).all() or sizes[0] < 0 or (np.diff(sizes) <= 0).any():
        raise ParameterError(
            f"sizes are {given!r}; expected two or more message sizes in bytes, ascending from 0 or more"
        )
    if sizes[-1] >= FAR:
        raise ParameterError(f"the largest size is {format_bytes(sizes[-1])}; expected less than {format_bytes(FAR)}")
    return sizes


def _times(name: str, given: Any, sizes: FloatArray) -> FloatArray:
    times = np.asarray(given, dtype=float)
    if times.shape != sizes.shape:
        raise ParameterError(f"{name} has {times.size} values for {sizes.size} sizes; expected one for each size")
    for size, time in zip(sizes, times, strict=True):
        WHOLE_MESSAGE.check(f"{name} at {format_bytes(size)}", float(time))
    return times


def _continued(sizes: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add a far point on the line through the last two; a falling line is not continued below its last value."""
    slope = max(float((times[-1] - times[-2]) / (sizes[-1] - sizes[-2])), 0.0)
    return np.append(sizes, FAR), np.append(times, times[-1] + slope * (FAR - sizes[-1]))


def _interpolate(size: Any, sizes: FloatArray, times: FloatArray) -> FloatArray:
    return np.asarray(np.interp(size, sizes, times))


PointToPointModel = Hockney | LogGP | PLogP
CLASSES: Mapping[ModelName, type[Hockney | LogGP | PLogP]] = {"hockney": Hockney, "loggp": LogGP, "plogp": PLogP}


def of_dict(known: Mapping[str, Any]) -> PointToPointModel:
    """Read what `to_dict` wrote.

    Raises
    ------
    ParameterError
        When the model or a parameter is unknown or missing.
    """
    rest = {key: value for key, value in known.items() if key != "model"}
    name = known.get("model")
    model_class = next((made for model, made in CLASSES.items() if model == name), None)
    if model_class is None:
        raise ParameterError(f"model is {name!r}; expected one of {', '.join(CLASSES)}")
    wanted = [each.name for each in fields(model_class)]
    if unknown := sorted(set(rest) - set(wanted)):
        raise ParameterError(f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(wanted)}")
    try:
        return model_class(**rest)
    except TypeError as error:
        raise ParameterError(f"{name} needs {', '.join(wanted[:-2])}; found {', '.join(rest) or 'none'}") from error
