"""Tables 4.2 to 4.11 as they are printed (printed.txt), typed once more as plain arithmetic on numbers.

a b c d are alpha, beta, gamma, delta; ``gap`` is LogGP's g, and g, os, or_ PLogP's functions; up and dn round;
``pow2`` tells whether P is a power of two; ``total(low, high, f)`` adds f(k).
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Text of each formula by collective, algorithm and model.
PRINTED: dict[tuple[str, str, str], str] = {}
for _line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
    _name, _, _text = _line.partition(" | ")
    _collective, _algorithm, _model = _name.split()
    PRINTED[_collective, _algorithm, _model] = _text

#: In microseconds and microseconds per byte.
NUMBERS: dict[str, Any] = {
    "a": 47.6,
    "b": 0.0151,
    "c": 0.0017,
    "d": 0.0009,
    "L": 30.4,
    "o": 8.15,
    "gap": 8.683,
    "G": 0.015,
}


def _total(low: int, high: float, term: Callable[[int], float]) -> float:
    return sum(term(k) for k in range(low, int(high) + 1))


def evaluate(text: str, sizes: dict[str, float], functions: dict[str, Callable[[float], float]]) -> float:
    """Evaluate a printed formula in microseconds."""
    known = {"up": math.ceil, "dn": math.floor, "log2": math.log2, "max": max, "total": _total, **functions}
    processes = int(sizes["P"])
    known["pow2"] = processes & (processes - 1) == 0
    return float(eval(text, {"__builtins__": {}, **NUMBERS, **known, **sizes}))  # noqa: S307 - our own text above
