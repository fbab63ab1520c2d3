"""The symbols of the dissertation's chapter 4, and the functions that its formulas are written with."""

from functools import partial, reduce
from typing import Any

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.models.formula import written as mathematics
from dashboard.models.formula.expressions import PRODUCT, Expression, Scope, composed, expression
from dashboard.models.formula.units import BYTES, NONE, TIME, TIME_PER_BYTE, Unit, same
from dashboard.models.formula.written import Written, fenced, fraction, joined, name, number, scripts, sign, words


def symbol(text: str, written: Written, unit: Unit, *, silent: bool = False) -> Expression:
    """Make a quantity that `Scope.values` has by the name `text`."""
    return Expression(lambda scope: scope.values[text], written, lambda: unit, silent=silent)


P = symbol("P", name("P"), NONE)
m = symbol("m", name("m"), BYTES)
m_s = symbol("m_s", name("m", "s"), BYTES)
n_s = symbol("n_s", name("n", "s"), NONE)
half_n_s = symbol("half_n_s", fenced("⌈", fraction(n_s.written, number(2))), NONE)
"""Segments of each half of the message; `n_s` is even where halves are cut."""
k = symbol("k", name("k"), NONE)

alpha = symbol("alpha", name("α"), TIME)
beta = symbol("beta", name("β"), TIME_PER_BYTE)
gamma = symbol("gamma", name("γ"), TIME_PER_BYTE)
delta = symbol("delta", name("δ"), TIME_PER_BYTE)
L = symbol("L", name("L"), TIME)
o = symbol("o", name("o"), TIME)
g = symbol("g", name("g"), TIME)
G = symbol("G", name("G"), TIME_PER_BYTE)

one_byte = symbol("one_byte", number(1), BYTES, silent=True)
"""The byte that LogGP's ``(m - 1) G`` leaves out: the first one travels within L."""
no_bytes = symbol("no_bytes", number(0), BYTES)
"""Size of a message that only tells that it comes."""


def _of_bytes(function: str, called: Written, size: Expression) -> Expression:
    """Time of a message size, by one of `Scope.functions`."""
    written = called + fenced("(", size.written)

    def unit() -> Unit:
        same(written.latex, size.unit(), BYTES)
        return TIME

    return Expression(lambda scope: scope.functions[function](scope.of(size)), written, unit)


def gap(size: Expression) -> Expression:
    """PLogP's gap g(m)."""
    return _of_bytes("gap", name("g"), size)


def send(size: Expression) -> Expression:
    """PLogP's sender overhead o_s(m)."""
    return _of_bytes("send_overhead", name("o", "s"), size)


def receive(size: Expression) -> Expression:
    """PLogP's receiver overhead o_r(m)."""
    return _of_bytes("receive_overhead", name("o", "r"), size)


def ceil(part: Expression) -> Expression:
    """Round up; bytes to whole bytes."""
    return composed(np.ceil, fenced("⌈", part.written), lambda unit: unit, part)


def floor(part: Expression) -> Expression:
    """Round down."""
    return composed(np.floor, fenced("⌊", part.written), lambda unit: unit, part)


def log2(part: Expression) -> Expression:
    """Binary logarithm, exact for powers of two."""
    written = scripts(name("log"), number(2)) + fenced("(", part.written)
    return composed(exact_log2, written, partial(same, written.latex, NONE), part)


def two_to(part: Expression) -> Expression:
    """Power of two."""
    written = scripts(number(2), above=part.written)
    return composed(np.exp2, written, partial(same, written.latex, NONE), part)


def root(part: Expression) -> Expression:
    """Square root; `UnitError` where that has no unit."""
    written = mathematics.root(part.written)
    return composed(np.sqrt, written, lambda unit: unit.root(written.latex), part)


def largest(*parts: Expression) -> Expression:
    """The largest of several."""
    return _extreme("max", np.maximum, parts)


def smallest(*parts: Expression) -> Expression:
    """The smallest of several."""
    return _extreme("min", np.minimum, parts)


def _extreme(called: str, pick: np.ufunc, parts: tuple[Expression, ...]) -> Expression:
    written = name(called) + fenced("{", joined([part.written for part in parts], ","))
    return composed(lambda *values: reduce(pick, values), written, partial(same, written.latex), *parts)


def series(low: int, high: Expression | float, body: Expression) -> Expression:
    """Sum of `body` over ``k`` from `low` to `high`, both included; empty where high < low."""
    last = expression(high)
    written = mathematics.total(k.written + sign("=") + number(low), last.written, body.within(PRODUCT))

    def value(scope: Scope) -> Any:
        ends = scope.of(last)
        added: Any = 0.0
        for index in range(low, int(np.max(ends, initial=0)) + 1):
            added = added + np.where(ends >= index, body.value(scope.inside("k", float(index))), 0.0)
        return added

    def unit() -> Unit:
        same(written.latex, last.unit(), NONE)
        return body.unit()

    return Expression(value, written, unit, PRODUCT)


def less(left: Expression, right: Expression) -> Expression:
    """Whether one part is smaller than another."""
    written = left.written + sign("<") + right.written
    return composed(np.less, written, partial(same, written.latex), left, right)


def power_of_two(count: Expression) -> Expression:
    """Whether a count is a power of two."""
    written = count.written + sign("=") + scripts(number(2), above=name("k"))
    return composed(is_power_of_two, written, partial(same, written.latex, NONE), count)


def cases(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """One part where a condition holds, another elsewhere."""
    where = then.written, words("if ") + condition.written
    written = mathematics.cases(where, (otherwise.written, words("otherwise")))
    return composed(np.where, written, lambda _, *units: same("cases", *units), condition, then, otherwise)


def exact_log2(count: Any) -> FloatArray:
    """Binary logarithm that is whole for every power of two, whatever the mathematical library rounds."""
    mantissa, exponent = np.frexp(count)
    result: FloatArray = np.where(mantissa == 0.5, exponent - 1.0, np.log2(count))
    return result


def is_power_of_two(count: Any) -> Any:
    """Whether whole numbers from 1 on are powers of two."""
    return np.frexp(count)[0] == 0.5


log2_p = log2(P)
steps = ceil(log2_p)
"""Rounds of an algorithm that doubles what a process knows: ⌈log2 P⌉."""
whole_steps = floor(log2_p)
"""Rounds among the largest power of two of processes: ⌊log2 P⌋."""
levels = ceil(log2(P + 1))
"""Levels of a balanced binary tree, the root's included: ⌈log2(P + 1)⌉."""
