"""Formulas of scenarios: times as text over message size and processes, without anything that runs."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dashboard.online.errors import OnlineError

_LONGEST = 500
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "ceil": (1, np.ceil),
    "floor": (1, np.floor),
    "log2": (1, np.log2),
    "sqrt": (1, np.sqrt),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
}


def evaluate(text: str, values: Mapping[str, Any]) -> Any:
    """Value of a formula such as ``2*L*ceil(log2(P)) + B*m``.

    Parameters
    ----------
    text
        Numbers, names, ``+ - * /``, brackets and ceil, floor, log2, sqrt, min, max.
    values
        By name; numbers or arrays.

    Raises
    ------
    OnlineError
        It is no such formula; the message quotes what cannot be understood.
    """
    try:
        if len(text) > _LONGEST:
            raise OnlineError(f"a formula has {len(text)} signs; at most {_LONGEST} are read")
        return _value(ast.parse(text, mode="eval").body, values)
    except (SyntaxError, RecursionError, ValueError, TypeError, ArithmeticError) as error:
        raise OnlineError(f"the formula {text!r} cannot be read: {error}") from None


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.operand, values))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        count, function = _FUNCTIONS.get(node.func.id, (-1, None))
        if function is not None and len(node.args) == count:
            return function(*(_value(argument, values) for argument in node.args))
    known = ", ".join([*values, *_FUNCTIONS])
    raise OnlineError(f"{ast.unparse(node)!r} is no number, and none of {known}")
