"""Names of the communication models."""

from collections.abc import Mapping
from typing import Literal

from dashboard.domain.units import format_time

ModelName = Literal["hockney", "loggp", "plogp"]
MODEL_NAMES: tuple[ModelName, ...] = ("hockney", "loggp", "plogp")
MODEL_TITLES: Mapping[ModelName, str] = {"hockney": "Hockney", "loggp": "LogP / LogGP", "plogp": "PLogP"}
#: By the name of a parameter, its symbol in the publications and what it is.
_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "alpha": ("α", "latency"),
    "beta": ("β", "time per byte"),
    "latency": ("L", "latency"),
    "overhead": ("o", "overhead"),
    "send_overhead": ("o_s", "overhead of sending"),
    "receive_overhead": ("o_r", "overhead of receiving"),
    "gap": ("g", "gap"),
    "gap_per_byte": ("G", "gap per byte"),
    "gamma": ("γ", "computing"),
    "delta": ("δ", "copying"),
}

_PER_BYTE = ("beta", "gap_per_byte", "gamma", "delta")


def parameter_symbol(name: str) -> str:
    """Symbol of a parameter for people; its name where it has none, such as ``gap at 1024 B``."""
    return _PARAMETERS.get(name, (name,))[0]


def parameter_title(name: str) -> str:
    """Symbol of a parameter and what it is, for people; its name where it has no symbol."""
    return ", ".join(_PARAMETERS.get(name, (name,)))


def format_parameter(name: str, value: float) -> str:
    """Write the value of a parameter, s or s/B, for people."""
    return f"{value * 1e9:.4g} ns/B" if name in _PER_BYTE else format_time(value)
