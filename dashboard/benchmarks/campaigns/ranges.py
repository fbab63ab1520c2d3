"""Grids of sizes said in a few words: ``2-16``, ``1-1MiB:x4``, ``2-64:+2``, ``8B-1MiB:9``, ``1,2,4-8``."""

import itertools
import re

from dashboard.benchmarks.errors import PlanError
from dashboard.domain import units

_RANGE = re.compile(r"(?P<low>[^-:]+)-(?P<high>[^-:]+)(?::(?P<how>.+))?")
_FACTOR = re.compile(r"\d+(\.\d+)?")
_MOST = 4096
_FORMS = "LOW-HIGH (all), LOW-HIGH:xF (times F), LOW-HIGH:+S (steps of S), LOW-HIGH:N (N log-spaced) or a list"


def parse_size(text: str) -> int:
    """Bytes, or a plain number: as `dashboard.domain.units.parse_size`.

    Raises
    ------
    PlanError
        When the text is not a size.
    """
    try:
        return units.parse_size(text)
    except ValueError as error:
        raise PlanError(str(error)) from None


def parse_sizes(text: str) -> tuple[int, ...]:
    """Sizes of a grid, ascending and each once.

    Raises
    ------
    PlanError
        When a part is neither a size nor a range, or would give thousands of sizes.
    """
    sizes: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        sizes.update(_spread(part, match) if match else [parse_size(part)])
        if len(sizes) > _MOST:
            raise _many(text)
    return tuple(sorted(sizes))


def _spread(part: str, match: re.Match[str]) -> list[int]:
    low, high, how = parse_size(match["low"]), parse_size(match["high"]), (match["how"] or "+1").strip()
    if low > high:
        raise PlanError(f"{part!r}: the range ends at {high}, below its start {low}")
    if how[0] in "x*" and low >= 1:
        return _powers(part, low, high, how[1:])
    number = parse_size(how.lstrip("+")) if how.lstrip("+") else 0
    if how[0] == "+" and number >= 1:
        if (high - low) // number >= _MOST:
            raise _many(part)
        return list(range(low, high + 1, number))
    if how[0].isdigit() and 2 <= number <= _MOST and low >= 1:
        return [round(low * (high / low) ** (i / (number - 1))) for i in range(number)]
    raise PlanError(f"{part!r} is not a range; right would be {_FORMS}, from at least 1 where factors are taken")


def _many(text: str) -> PlanError:
    return PlanError(f"{text!r} gives more than {_MOST} sizes; use steps: {_FORMS}")


def _powers(part: str, low: int, high: int, text: str) -> list[int]:
    """The least size times each power of the factor, which need not be a whole number: 4, 6, 9, 14, … by 1.5."""
    factor = float(text) if _FACTOR.fullmatch(text.strip()) else 0.0
    if factor <= 1:
        raise PlanError(
            f"{part!r}: the factor is {text.strip() or 'missing'}; right is a number above 1, such as x2 or x1.5"
        )
    steps = list(itertools.takewhile(lambda size: size <= high, (low * factor**power for power in range(_MOST + 1))))
    if len(steps) > _MOST:
        raise _many(part)
    return [round(size) for size in steps]


def levels(count: int) -> list[int]:
    """Level of each place on an axis, so that each level halves the gaps that the ones before left.

    The ends have level 0, the middle 1, the quarters 2, and so on.
    """
    depths = [0] * count

    def halve(low: int, high: int, level: int) -> None:
        if high - low > 1:
            middle = (low + high) // 2
            depths[middle] = level
            halve(low, middle, level + 1)
            halve(middle, high, level + 1)

    halve(0, count - 1, 1)
    return depths
