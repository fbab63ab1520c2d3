"""What names a method: light, since every rank of a benchmark imports it."""

from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True)
class MethodKey:
    """What makes a method: its algorithm and parameters. `parameters` are sorted ``(name, value)``."""

    algorithm: str
    segment_size: int
    parameters: tuple[tuple[str, Hashable], ...] = ()


def method_label(key: MethodKey) -> str:
    """Text of a method: ``binomial``, ``pipeline 8KiB``, ``chain 8KiB fanout=4``."""
    parts = [key.algorithm]
    if key.segment_size:
        parts.append(format_segment(key.segment_size))
    parts += [f"{name}={value}" for name, value in key.parameters]
    return " ".join(parts)


def format_segment(size: int) -> str:
    """Segment size in the largest binary unit that divides it: ``8KiB``, ``1000B``."""
    for unit, step in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % step == 0:
            return f"{size // step}{unit}"
    return f"{size}B"
