"""Formulas as data: written once, they are evaluated over arrays, shown as mathematics and checked for units.

A formula is a tree of `Expression`. Operators build it from the symbols of `dashboard.models.formula.symbols`,
so that a module reads like the table that it implements.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.models.errors import UnitError
from dashboard.models.formula.units import NONE, Unit, same
from dashboard.models.formula.written import Written, fenced, fraction, joined, name, number, root, sign, total

Value = float | FloatArray
Function = Callable[[Any], FloatArray]

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

    def __init__(self, values: Mapping[str, Value], functions: Mapping[str, Function] | None = None) -> None:
        self.values = dict(values)
        self.functions = dict(functions or {})
        self._known: dict[int, Any] = {}

    def of(self, expression: Expression | Condition) -> Any:
        """Value of a part, computed once however often it stands in the formula."""
        key = id(expression)
        if key not in self._known:
            self._known[key] = expression.value(self)
        return self._known[key]

    def inside(self, name: str, value: float) -> Scope:
        """Return a scope with one more symbol, such as the index of a sum."""
        return Scope({**self.values, name: value}, self.functions)


class Expression(ABC):
    """A part of a formula."""

    rank = ATOM

    @abstractmethod
    def value(self, scope: Scope) -> Value:
        """Evaluate over the arrays of `scope`."""

    @abstractmethod
    def written(self) -> Written:
        """Write it as mathematics."""

    def latex(self) -> str:
        """Write it as LaTeX mathematics."""
        return self.written().latex

    @abstractmethod
    def unit(self) -> Unit:
        """Unit of its value; `UnitError` where unlike quantities are added or compared."""

    def within(self, rank: int) -> Written:
        """Write it as part of something that binds as strongly as `rank`."""
        return self.written() if self.rank >= rank else fenced("(", self.written())

    def __add__(self, other: Expression | float) -> Expression:
        return Sum(self, expression(other), "+")

    def __radd__(self, other: float) -> Expression:
        return Sum(expression(other), self, "+")

    def __sub__(self, other: Expression | float) -> Expression:
        return Sum(self, expression(other), "-")

    def __rsub__(self, other: float) -> Expression:
        return Sum(expression(other), self, "-")

    def __mul__(self, other: Expression | float) -> Expression:
        return Product(self, expression(other))

    def __rmul__(self, other: float) -> Expression:
        return Product(expression(other), self)

    def __truediv__(self, other: Expression | float) -> Expression:
        return Quotient(self, expression(other))

    def __rtruediv__(self, other: float) -> Expression:
        return Quotient(expression(other), self)


class Number(Expression):
    """A number without unit."""

    def __init__(self, value: float) -> None:
        self.number = float(value)

    def value(self, scope: Scope) -> Value:
        return self.number

    def written(self) -> Written:
        return number(self.number)

    def unit(self) -> Unit:
        return NONE


class Symbol(Expression):
    """A named quantity.

    Parameters
    ----------
    name
        By which `Scope.values` has it.
    written
        How it is written.
    silent
        Whether it is left out of products: the one byte of LogGP's ``(m - 1) G``.
    """

    def __init__(self, name: str, written: Written, unit: Unit, *, silent: bool = False) -> None:
        self.name, self.silent = name, silent
        self._written, self._unit = written, unit

    def value(self, scope: Scope) -> Value:
        return scope.values[self.name]

    def written(self) -> Written:
        return self._written

    def unit(self) -> Unit:
        return self._unit


class Sum(Expression):
    """Two parts added, or one taken from the other."""

    rank = SUM

    def __init__(self, left: Expression, right: Expression, sign: str) -> None:
        self.left, self.right, self.sign = left, right, sign

    def value(self, scope: Scope) -> Value:
        left, right = scope.of(self.left), scope.of(self.right)
        result: Value = left + right if self.sign == "+" else left - right
        return result

    def written(self) -> Written:
        return self.left.written() + sign(self.sign) + self.right.within(SUM if self.sign == "+" else PRODUCT)

    def unit(self) -> Unit:
        return same(self.latex(), self.left.unit(), self.right.unit())


class Product(Expression):
    """Two parts multiplied."""

    rank = PRODUCT

    def __init__(self, left: Expression, right: Expression) -> None:
        self.left, self.right = left, right

    def value(self, scope: Scope) -> Value:
        result: Value = scope.of(self.left) * scope.of(self.right)
        return result

    def written(self) -> Written:
        factors = [part for part in (self.left, self.right) if not (isinstance(part, Symbol) and part.silent)]
        return joined([part.within(PRODUCT) for part in factors], "⋅")

    def unit(self) -> Unit:
        return self.left.unit().times(self.right.unit())


class Quotient(Expression):
    """One part divided by another."""

    def __init__(self, above: Expression, below: Expression) -> None:
        self.above, self.below = above, below

    def value(self, scope: Scope) -> Value:
        result: Value = scope.of(self.above) / scope.of(self.below)
        return result

    def written(self) -> Written:
        return fraction(self.above.written(), self.below.written())

    def unit(self) -> Unit:
        return self.above.unit().per(self.below.unit())


class Applied(Expression):
    """A numeric function of one part.

    Parameters
    ----------
    write
        Writes it, given the part.
    keeps_unit
        Whether the result has the unit of the part (rounding); otherwise part and result are plain numbers.
    """

    def __init__(
        self,
        of: Expression,
        compute: Callable[[Any], FloatArray],
        write: Callable[[Written], Written],
        *,
        keeps_unit: bool = False,
    ) -> None:
        self.of, self.compute, self.write, self.keeps_unit = of, compute, write, keeps_unit

    def value(self, scope: Scope) -> Value:
        return self.compute(scope.of(self.of))

    def written(self) -> Written:
        return self.write(self.of.written())

    def unit(self) -> Unit:
        return self.of.unit() if self.keeps_unit else same(self.latex(), self.of.unit(), NONE)


class Root(Expression):
    """Square root."""

    def __init__(self, of: Expression) -> None:
        self.of = of

    def value(self, scope: Scope) -> Value:
        side: FloatArray = np.sqrt(scope.of(self.of))
        return side

    def written(self) -> Written:
        return root(self.of.written())

    def unit(self) -> Unit:
        square = self.of.unit()
        if square.time % 2 or square.size % 2:
            raise UnitError(f"{self.latex()}: the square root of {square} has no unit")
        return Unit(square.time // 2, square.size // 2)


class Extreme(Expression):
    """The largest or smallest of several parts."""

    def __init__(self, name: str, *parts: Expression) -> None:
        self.name, self.parts = name, parts

    def value(self, scope: Scope) -> Value:
        pick = np.maximum if self.name == "max" else np.minimum
        result = scope.of(self.parts[0])
        for part in self.parts[1:]:
            result = pick(result, scope.of(part))
        kept: Value = result
        return kept

    def written(self) -> Written:
        return name(self.name) + fenced("{", joined([part.written() for part in self.parts], ","))

    def unit(self) -> Unit:
        return same(self.latex(), *(part.unit() for part in self.parts))


class Call(Expression):
    """A function of a message size, such as PLogP's gap."""

    def __init__(self, name: str, written: Written, of: Expression, takes: Unit, gives: Unit) -> None:
        self.name, self.of, self.takes, self.gives = name, of, takes, gives
        self._written = written

    def value(self, scope: Scope) -> Value:
        return scope.functions[self.name](scope.of(self.of))

    def written(self) -> Written:
        return self._written + fenced("(", self.of.written())

    def unit(self) -> Unit:
        same(self.latex(), self.of.unit(), self.takes)
        return self.gives


class Series(Expression):
    """A sum over ``k`` from `low` to `high`, both included; empty where high < low."""

    rank = PRODUCT

    def __init__(self, index: Symbol, low: int, high: Expression, body: Expression) -> None:
        self.index, self.low, self.high, self.body = index, low, high, body

    def value(self, scope: Scope) -> Value:
        high = scope.of(self.high)
        added: Any = np.zeros(np.shape(high))
        for k in range(self.low, int(np.max(high, initial=0)) + 1):
            body = self.body.value(scope.inside(self.index.name, float(k)))
            added = added + np.where(high >= k, body, 0.0)
        result: Value = added
        return result

    def written(self) -> Written:
        low = self.index.written() + sign("=") + number(self.low)
        return total(low, self.high.written(), self.body.within(PRODUCT))

    def unit(self) -> Unit:
        same(self.latex(), self.high.unit(), NONE)
        return self.body.unit()


class Condition(ABC):
    """A test that chooses between cases."""

    @abstractmethod
    def value(self, scope: Scope) -> Any:
        """Truth over the arrays of `scope`."""

    @abstractmethod
    def written(self) -> Written:
        """Write it as mathematics."""

    @abstractmethod
    def check(self) -> None:
        """Check its units; `UnitError` where unlike quantities are compared."""


def expression(part: Expression | float) -> Expression:
    """Take a number for an expression."""
    return part if isinstance(part, Expression) else Number(part)


def exact_log2(count: Any) -> FloatArray:
    """Binary logarithm that is whole for every power of two, whatever the mathematical library rounds."""
    mantissa, exponent = np.frexp(count)
    result: FloatArray = np.where(mantissa == 0.5, exponent - 1.0, np.log2(count))
    return result
