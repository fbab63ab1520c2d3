"""Formulas as data: written once, they are evaluated over arrays, shown as mathematics and checked for units.

Operators build a formula from the symbols of `dashboard.models.formula.symbols`, so that a module reads like the table
that it implements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dashboard.domain.arrays import FloatArray
from dashboard.models.formula.units import NONE, Unit, same
from dashboard.models.formula.written import Written, fenced, fraction, joined, number, sign

Value = float | FloatArray

SUM, PRODUCT, ATOM = 1, 2, 3


class Scope:
    """What the symbols and functions stand for while a formula is evaluated.

    Parameters
    ----------
    values
        Number or array of each symbol, by name; arrays broadcast against each other.
    functions
        Of message sizes, by name.
    """

    def __init__(
        self, values: Mapping[str, Value], functions: Mapping[str, Callable[[Any], FloatArray]] | None = None
    ) -> None:
        self.values = dict(values)
        self.functions = dict(functions or {})
        self._known: dict[int, Any] = {}

    def of(self, expression: Expression) -> Any:
        """Value of a part, computed once however often it stands in the formula."""
        key = id(expression)
        if key not in self._known:
            self._known[key] = expression.value(self)
        return self._known[key]

    def inside(self, name: str, value: float) -> Scope:
        """Return a scope with one more symbol, such as the index of a sum."""
        return Scope({**self.values, name: value}, self.functions)


@dataclass(frozen=True, eq=False)
class Expression:
    """A part of a formula."""

    #: Evaluates it over the arrays of a `Scope`: a number or an array, or truth of a condition.
    value: Callable[[Scope], Any]
    #: As mathematics.
    written: Written
    #: Gives the unit of its value, or of what a condition compares; `UnitError` where unlike quantities are added or
    #: compared.
    unit: Callable[[], Unit]
    #: How strongly it binds.
    rank: int = ATOM
    #: Whether products are written without it: the one byte of LogGP's ``(m - 1) G``.
    silent: bool = False

    def within(self, rank: int) -> Written:
        """Write it as part of something that binds as strongly as `rank`."""
        return self.written if self.rank >= rank else fenced("(", self.written)

    def __add__(self, other: Expression | float) -> Expression:
        return _sum(self, expression(other))

    def __radd__(self, other: float) -> Expression:
        return _sum(expression(other), self)

    def __sub__(self, other: Expression | float) -> Expression:
        return _difference(self, expression(other))

    def __mul__(self, other: Expression | float) -> Expression:
        return _product(self, expression(other))

    def __rmul__(self, other: float) -> Expression:
        return _product(expression(other), self)

    def __truediv__(self, other: Expression | float) -> Expression:
        return _quotient(self, expression(other))

    def __rtruediv__(self, other: float) -> Expression:
        return _quotient(expression(other), self)


def expression(part: Expression | float) -> Expression:
    """Take a number, which has no unit, for an expression."""
    if isinstance(part, Expression):
        return part
    return Expression(lambda _: float(part), number(float(part)), lambda: NONE)


def composed(
    work: Callable[..., Any], written: Written, unit: Callable[..., Unit], *parts: Expression, rank: int = ATOM
) -> Expression:
    """Make an expression of parts.

    Parameters
    ----------
    work, unit
        Give its value by those of the parts, and its unit by theirs.
    """
    return Expression(
        lambda scope: work(*map(scope.of, parts)), written, lambda: unit(*(part.unit() for part in parts)), rank
    )


def _sum(left: Expression, right: Expression) -> Expression:
    written = left.written + sign("+") + right.written
    return composed(operator.add, written, partial(same, written.latex), left, right, rank=SUM)


def _difference(left: Expression, right: Expression) -> Expression:
    written = left.written + sign("-") + right.within(PRODUCT)
    return composed(operator.sub, written, partial(same, written.latex), left, right, rank=SUM)


def _product(left: Expression, right: Expression) -> Expression:
    written = joined([part.within(PRODUCT) for part in (left, right) if not part.silent], "⋅")
    return composed(operator.mul, written, Unit.times, left, right, rank=PRODUCT)


def _quotient(above: Expression, below: Expression) -> Expression:
    return composed(operator.truediv, fraction(above.written, below.written), Unit.per, above, below)
