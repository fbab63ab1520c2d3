"""Formulas by cases: conditions on sizes, and what is written in rows of such pieces."""

from typing import Any

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.models.formula.expressions import Condition, Expression, Scope, Value
from dashboard.models.formula.units import NONE, Unit, same
from dashboard.models.formula.written import Written, cases, joined, name, number, scripts, sign, words


class Less(Condition):
    """One part smaller than another."""

    def __init__(self, left: Expression, right: Expression) -> None:
        self.left, self.right = left, right

    def value(self, scope: Scope) -> Any:
        return scope.of(self.left) < scope.of(self.right)

    def written(self) -> Written:
        return self.left.written() + sign("<") + self.right.written()

    def check(self) -> None:
        same(self.written().latex, self.left.unit(), self.right.unit())


class IsPowerOfTwo(Condition):
    """Whether a count is a power of two."""

    def __init__(self, count: Expression) -> None:
        self.count = count

    def value(self, scope: Scope) -> Any:
        return is_power_of_two(scope.of(self.count))

    def written(self) -> Written:
        return self.count.written() + sign("=") + scripts(number(2), above=name("k"))

    def check(self) -> None:
        same(self.written().latex, self.count.unit(), NONE)


class Cases(Expression):
    """One part where a condition holds, another elsewhere."""

    def __init__(self, condition: Condition, then: Expression, otherwise: Expression) -> None:
        self.condition, self.then, self.otherwise = condition, then, otherwise

    def value(self, scope: Scope) -> Value:
        chosen: FloatArray = np.where(scope.of(self.condition), scope.of(self.then), scope.of(self.otherwise))
        return chosen

    def written(self) -> Written:
        where = self.then.written(), words("if ") + self.condition.written()
        return cases(where, (self.otherwise.written(), words("otherwise")))

    def unit(self) -> Unit:
        self.condition.check()
        return same("cases", self.then.unit(), self.otherwise.unit())


def row(*pieces: Expression | Condition | Written) -> Written:
    """Write pieces one behind the other, such as what is printed where no formula can be made of it."""
    first, *others = [each if isinstance(each, Written) else each.written() for each in pieces]
    return sum(others, first)


def listed(*pieces: Expression | Condition | Written) -> Written:
    """Write pieces with commas between them."""
    return joined([row(each) for each in pieces], ",")


def is_power_of_two(count: Any) -> Any:
    """Whether whole numbers from 1 on are powers of two."""
    return np.frexp(count)[0] == 0.5
