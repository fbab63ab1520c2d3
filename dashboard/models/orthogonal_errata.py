"""What is wrong in print of the orthogonal structures (Kühnemann, Rauber, Rünger)."""

from __future__ import annotations

from dashboard.models.erratum import Erratum
from dashboard.models.formula.conditions import listed, row
from dashboard.models.formula.expressions import Expression, Symbol, expression
from dashboard.models.formula.symbols import k, log2
from dashboard.models.formula.units import NONE
from dashboard.models.formula.written import MINUS, Written, fenced, name, number, scripts, sign, words

_PAPER = "Orthogonal structures"

b, n, p, p_1, p_2 = (Symbol(text, name(*text.split("_")), NONE) for text in ("b", "n", "p", "p_1", "p_2"))
micro = Symbol("micro", scripts(number(10), above=MINUS + number(6)), NONE)
PER_BYTE = 0.474 * micro * log2(p)
STEP = scripts(name("t"), (k + 1).written()) + sign("-") + name("t", "k")


def _gathering(processes: Expression, size: Expression) -> Written:
    return name("T", "mb") + fenced("(", listed(processes, size))


ERRATA = (
    Erratum(
        f"{_PAPER}, section 4, broadcast on CLiC",
        row((0.0383 + PER_BYTE) * b),
        row((0.0383 * micro + PER_BYTE) * b),
        "Both terms are times per byte; with 0.0383 s/B a broadcast of 100 KB would take more than an hour.",
    ),
    Erratum(
        f"{_PAPER}, Table 2",
        words("0.038 s"),
        words("0.038 µs"),
        "The table's coefficients are in µs per byte; the same number as in the running text.",
    ),
    Erratum(
        f"{_PAPER}, Table 1",
        row(name("t", "sc"), words(" of gather, "), name("t", "ga"), words(" of scatter")),
        row(name("t", "ga"), words(" of gather, "), name("t", "sc"), words(" of scatter")),
        "The names of the two lines are swapped; the text uses them the other way round.",
    ),
    Erratum(
        f"{_PAPER}, equation (4)",
        row(_gathering(p_1, n / p), sign("+"), _gathering(p_2, n * p_1 / p)),
        row(_gathering(p_2, n / p), sign("+"), _gathering(p_1, n * p_2 / p)),
        "By section 2.1 the rows, of p2 processes, come first; what they gathered is p2 blocks, which the columns of "
        "p1 processes exchange.",
    ),
    Erratum(
        f"{_PAPER}, layouts of three phases for 32 processors",
        row(expression(2) * 8 * 4),
        row(expression(2) * 8 * 2),
        "The layouts are listed for 32 processors, but 2 · 8 · 4 is 64; 2 · 8 · 2 is 32.",
    ),
    Erratum(
        f"{_PAPER}, section 5.2, step size",
        row(name("h"), sign("="), MINUS, fenced("(", STEP)),
        row(name("h"), sign("="), STEP),
        "A step goes forward in time; the sign is reversed in print.",
    ),
)
