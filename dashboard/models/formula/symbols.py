"""The symbols of the dissertation's chapter 4, and the functions that its formulas are written with."""

from functools import partial

import numpy as np

from dashboard.models.formula.expressions import (
    Applied,
    Call,
    Expression,
    Extreme,
    Series,
    Symbol,
    exact_log2,
    expression,
)
from dashboard.models.formula.units import BYTES, NONE, TIME, TIME_PER_BYTE
from dashboard.models.formula.written import fenced, fraction, name, number, scripts

P = Symbol("P", name("P"), NONE)
m = Symbol("m", name("m"), BYTES)
m_s = Symbol("m_s", name("m", "s"), BYTES)
n_s = Symbol("n_s", name("n", "s"), NONE)
half_n_s = Symbol("half_n_s", fenced("⌈", fraction(n_s.written(), number(2))), NONE)
"""Segments of each half of the message; `n_s` is even where halves are cut."""
k = Symbol("k", name("k"), NONE)

alpha = Symbol("alpha", name("α"), TIME)
beta = Symbol("beta", name("β"), TIME_PER_BYTE)
gamma = Symbol("gamma", name("γ"), TIME_PER_BYTE)
delta = Symbol("delta", name("δ"), TIME_PER_BYTE)
L = Symbol("L", name("L"), TIME)
o = Symbol("o", name("o"), TIME)
g = Symbol("g", name("g"), TIME)
G = Symbol("G", name("G"), TIME_PER_BYTE)

one_byte = Symbol("one_byte", number(1), BYTES, silent=True)
"""The byte that LogGP's ``(m - 1) G`` leaves out: the first one travels within L."""
no_bytes = Symbol("no_bytes", number(0), BYTES)
"""Size of a message that only tells that it comes."""


def gap(size: Expression) -> Expression:
    """PLogP's gap g(m)."""
    return Call("gap", name("g"), size, BYTES, TIME)


def send(size: Expression) -> Expression:
    """PLogP's sender overhead o_s(m)."""
    return Call("send_overhead", name("o", "s"), size, BYTES, TIME)


def receive(size: Expression) -> Expression:
    """PLogP's receiver overhead o_r(m)."""
    return Call("receive_overhead", name("o", "r"), size, BYTES, TIME)


def ceil(part: Expression) -> Expression:
    """Round up; bytes to whole bytes."""
    return Applied(part, np.ceil, partial(fenced, "⌈"), keeps_unit=True)


def floor(part: Expression) -> Expression:
    """Round down."""
    return Applied(part, np.floor, partial(fenced, "⌊"), keeps_unit=True)


def log2(part: Expression) -> Expression:
    """Binary logarithm, exact for powers of two."""
    return Applied(part, exact_log2, lambda inside: scripts(name("log"), number(2)) + fenced("(", inside))


def two_to(part: Expression) -> Expression:
    """Power of two."""
    return Applied(part, np.exp2, lambda power: scripts(number(2), above=power))


def largest(*parts: Expression) -> Expression:
    """The largest of several."""
    return Extreme("max", *parts)


def smallest(*parts: Expression) -> Expression:
    """The smallest of several."""
    return Extreme("min", *parts)


def series(low: int, high: Expression | float, body: Expression) -> Expression:
    """Sum of `body` over ``k`` from `low` to `high`."""
    return Series(k, low, expression(high), body)


log2_p = log2(P)
steps = ceil(log2_p)
"""Rounds of an algorithm that doubles what a process knows: ⌈log2 P⌉."""
whole_steps = floor(log2_p)
"""Rounds among the largest power of two of processes: ⌊log2 P⌋."""
levels = ceil(log2(P + 1))
"""Levels of a balanced binary tree, the root's included: ⌈log2(P + 1)⌉."""
