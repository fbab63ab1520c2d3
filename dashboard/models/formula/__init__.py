"""Formulas that can be evaluated, shown and checked for units."""

from dashboard.models.formula.conditions import Cases, IsPowerOfTwo, Less
from dashboard.models.formula.expressions import Condition, Expression, Scope
from dashboard.models.formula.units import BYTES, NONE, TIME, TIME_PER_BYTE, Unit
from dashboard.models.formula.written import Written

__all__ = [
    "BYTES",
    "NONE",
    "TIME",
    "TIME_PER_BYTE",
    "Cases",
    "Condition",
    "Expression",
    "IsPowerOfTwo",
    "Less",
    "Scope",
    "Unit",
    "Written",
]
