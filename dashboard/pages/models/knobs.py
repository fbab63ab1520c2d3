"""The numbers that have a slider on the page *Models*: one for each parameter of each model."""

import math
from dataclasses import dataclass

from dashboard.domain.models import format_parameter, parameter_title
from dashboard.models import ModelName
from dashboard.models.p2p import CLASSES, Range

_TIMES, _PER_BYTE, _LOCAL = (-7.0, -2.0), (-11.0, -6.0), (-12.0, -7.0)


@dataclass(frozen=True)
class Knob:
    """One number."""

    #: Whose parameter.
    model: ModelName
    name: str
    #: What it may be.
    allowed: Range

    @property
    def ends(self) -> tuple[float, float]:
        """Of the slider, powers of ten of s and of s/B; the low end of what may be 0 stands for it."""
        return _LOCAL if self.name in ("gamma", "delta") else _PER_BYTE if self.allowed.unit == "s/B" else _TIMES

    @property
    def title(self) -> str:
        """Symbol and what it is."""
        return parameter_title(self.name)

    @property
    def help(self) -> str:
        """What it is and where it comes from."""
        return _LATENCY[self.model] if self.name == "latency" else _HELP[self.name]

    def position(self, value: float) -> float:
        """Where a value lies on the slider."""
        return min(max(math.log10(value), self.ends[0]), self.ends[1]) if value > 0 else self.ends[0]

    def value(self, position: float) -> float:
        """What a position of the slider stands for."""
        return 0.0 if self.allowed.zero and position <= self.ends[0] else float(f"{10**position:.4g}")

    def labels(self, value: float) -> dict[str, str]:
        """What the slider says, and to screen readers its thumb, which itself lies at a power of ten."""
        number = format_parameter(self.name, value)
        return {"label": f"{self.title}: {number}", "value_label": number}


KNOBS: tuple[Knob, ...] = tuple(
    Knob(model, name, allowed) for model, made in CLASSES.items() for name, allowed in made.ranges().items()
)
_HELP = {
    "alpha": "What a message costs however short it is. In Hockney's model m bytes take α + β m (Parallel Computing "
    "20, 1994).",
    "beta": "Time of each byte of a message, the inverse of the bandwidth. In Hockney's model m bytes take α + β m "
    "(Parallel Computing 20, 1994).",
    "overhead": "Time that the processor spends on sending or on receiving a message. It can do nothing else then "
    "(Culler et al., PPoPP 1993).",
    "gap": "Least time between two messages that a process sends, or receives. Its inverse is the rate of messages "
    "(Culler et al., PPoPP 1993).",
    "gap_per_byte": "Time of each further byte of a long message. Its inverse is the bandwidth (LogGP; Alexandrov et "
    "al., SPAA 1995).",
    "gamma": "Time that a reduction computes on each byte. The dissertation adds it to each model (chapter 4).",
    "delta": "Time to copy a byte within a process, such as Bruck's algorithm does. At the left end it is 0.",
}
_LATENCY: dict[str, str] = {
    "loggp": "Time that a message is on the wire, beside the overheads at both ends. It is the L of LogP (Culler et "
    "al., PPoPP 1993).",
    "plogp": "Time from end to end beside the gap: a message of m bytes takes L + g(m). Sending and receiving are part "
    "of it (PLogP; Kielmann et al., IPDPS 2000).",
}
