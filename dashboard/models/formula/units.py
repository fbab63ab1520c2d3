"""Units of what stands in a formula: powers of time and of bytes."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.models.errors import UnitError


class Unit(NamedTuple):
    """Powers of the two base units; a plain number has none of both."""

    time: int = 0
    size: int = 0

    def __str__(self) -> str:
        parts = [
            name if power == 1 else f"{name}^{power}" for name, power in (("s", self.time), ("B", self.size)) if power
        ]
        return "·".join(parts) or "1"

    def times(self, other: Unit) -> Unit:
        """Unit of a product."""
        return Unit(self.time + other.time, self.size + other.size)

    def per(self, other: Unit) -> Unit:
        """Unit of a quotient."""
        return Unit(self.time - other.time, self.size - other.size)

    def root(self, where: str) -> Unit:
        """Unit of a square root; `UnitError` where there is none."""
        if self.time % 2 or self.size % 2:
            raise UnitError(f"{where}: the square root of {self} has no unit")
        return Unit(self.time // 2, self.size // 2)


NONE = Unit()
TIME = Unit(1, 0)
BYTES = Unit(0, 1)
TIME_PER_BYTE = Unit(1, -1)


def same(where: str, *units: Unit) -> Unit:
    """Return the one unit of what is added or compared.

    Raises
    ------
    UnitError
        When there are several.
    """
    if len(set(units)) != 1:
        raise UnitError(f"{where}: {' and '.join(map(str, units))} cannot be added or compared")
    return units[0]
