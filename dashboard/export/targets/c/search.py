"""C99 that finds the interval of a value without a branch: how many of a few constant cuts are below it.

Three ways, the first that fits:

- small numbers, such as most communicator sizes: a table by the value itself;
- cuts that lie apart, such as most message sizes: the value's octave, or a part of it, holds one cut at
  most, so that one comparison is left. The exponent and first digits of the value as floating-point number say which;
- others: a binary search of a fixed number of steps.
"""

import textwrap

import numpy as np

from dashboard.decisions.function.attributes import ATTRIBUTES
from dashboard.domain.arrays import IntArray
from dashboard.export.targets.c.text import INT_MAX, LLONG_MAX, integer

MOST_DIRECT = 1 << 12
"""Values below this are looked up in a table by themselves."""
MOST_DIGITS = 4
"""Octaves are parted in up to 2 ** MOST_DIGITS."""
EXACT = 1 << 53
"""Whole numbers below this are floating-point numbers, whatever the rounding."""

OCTAVE = """\
#if FLT_RADIX != 2 || DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "double is not that of IEEE 754: take the export with nested ifs"
#endif

/* Which part of which octave a value is in, counted from 0; an octave has 1 << digits parts. */
static inline unsigned colltune_octave(long long value, unsigned digits)
{
    union { double number; unsigned long long bits; } as;

    /* The mask makes 0 of negative values; for a question mark some compilers write a branch. */
    as.number = (double)(value & -(long long)(value > 0)) + 1.0;
    return (unsigned)(as.bits >> (52u - digits)) - (1023u << digits);
}"""


def largest(name: str) -> int:
    """The largest value of an attribute's C type; the smallest is -largest - 1."""
    return LLONG_MAX if ATTRIBUTES[name].wide else INT_MAX


def search(axis: str, prefix: str, cuts: IntArray) -> tuple[list[str], list[str]]:
    """Find the interval of an attribute.

    Parameters
    ----------
    axis
        The attribute; a C variable of this name has its value.
    prefix
        Of the names of tables.
    cuts
        Ascending, at least one, each below `largest`.

    Returns
    -------
    definitions, statements
        Lines: the tables, and (indented) what computes ``unsigned {axis}_at``, the number of cuts below the value.
    """
    if cuts[0] >= 0 and cuts[-1] + 1 < MOST_DIRECT:
        return _direct(axis, prefix, cuts)
    digits = _digits(cuts)
    return _binary(axis, prefix, cuts) if digits is None else _octaves(axis, prefix, cuts, digits)


def array(kind: str, name: str, values: IntArray) -> list[str]:
    """Define a constant table."""
    numbers = ", ".join(integer(int(value)) for value in values)
    body = textwrap.wrap(numbers, 100, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return [f"static const {kind} {name}[{values.size}] = {{", *body, "};"]


def count_type(most: int) -> str:
    """The narrowest C type of counts up to `most`."""
    return "unsigned char" if most < 1 << 8 else "unsigned short" if most < 1 << 16 else "unsigned"


def _direct(axis: str, prefix: str, cuts: IntArray) -> tuple[list[str], list[str]]:
    last = int(cuts[-1]) + 1
    name = f"{prefix}_by_{axis}"
    values = np.searchsorted(cuts, np.arange(last + 1))
    clamped = f"{axis} < 0 ? 0 : {axis} > {last} ? {last} : {axis}"
    return array(count_type(cuts.size), name, values), [f"    const unsigned {axis}_at = {name}[{clamped}];"]


def _octaves(axis: str, prefix: str, cuts: IntArray, digits: int) -> tuple[list[str], list[str]]:
    name = f"{prefix}_by_{axis}"
    parts = _octave(cuts, digits)
    there = np.arange(64 << digits)
    cut = np.full(there.size, largest(axis), dtype=np.int64)
    cut[parts] = cuts
    tables = [
        *array("long long" if ATTRIBUTES[axis].wide else "int", f"{name}_cut", cut),
        *array(count_type(cuts.size), f"{name}_before", np.searchsorted(parts, there)),
    ]
    return tables, [
        f"    const unsigned {axis}_part = colltune_octave({axis}, {digits});",
        f"    const unsigned {axis}_at = {name}_before[{axis}_part] + (unsigned)({name}_cut[{axis}_part] < {axis});",
    ]


def _binary(axis: str, prefix: str, cuts: IntArray) -> tuple[list[str], list[str]]:
    """Halve what is left with each step; filled up to one less than a power of two with what no value is above."""
    name = f"{prefix}_by_{axis}"
    steps = int(cuts.size).bit_length()
    filled = np.append(cuts, np.full((1 << steps) - 1 - cuts.size, largest(axis), dtype=np.int64))
    halves = [
        f"    {axis}_at += (unsigned)({name}[{axis}_at{f' + {(1 << step) - 1}' if step else ''}] < {axis}) << {step};"
        for step in range(steps - 1, -1, -1)
    ]
    kind = "long long" if ATTRIBUTES[axis].wide else "int"
    return array(kind, name, filled), [f"    unsigned {axis}_at = 0;", *halves]


def _digits(cuts: IntArray) -> int | None:
    """How finely octaves must be parted for one cut in a part; None where that takes too many parts."""
    if cuts[0] < 0 or cuts[-1] >= EXACT - 1:
        return None
    for digits in range(MOST_DIGITS + 1):
        if (np.diff(_octave(cuts, digits)) > 0).all():
            return digits
    return None


def _octave(values: IntArray, digits: int) -> IntArray:
    """What ``colltune_octave`` computes, for values from 0 to below `EXACT` - 1."""
    return ((values + 1).astype(np.float64).view(np.int64) >> (52 - digits)) - (1023 << digits)
