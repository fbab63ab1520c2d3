"""Formulas that can be evaluated, shown and checked for units."""

from dashboard.models.formula.expressions import Expression, Scope
from dashboard.models.formula.units import BYTES, TIME
from dashboard.models.formula.written import Written

__all__ = [
    "BYTES",
    "TIME",
    "Expression",
    "Scope",
    "Written",
]
