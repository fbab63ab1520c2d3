"""What is wrong in print: each place, what stands there, what is right, and why."""

from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES
from dashboard.models.formula.expressions import Expression, expression
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    ceil,
    delta,
    g,
    gap,
    k,
    less,
    levels,
    log2,
    log2_p,
    m,
    m_s,
    n_s,
    no_bytes,
    o,
    receive,
    root,
    send,
    series,
    steps,
    symbol,
    two_to,
    whole_steps,
)
from dashboard.models.formula.units import NONE
from dashboard.models.formula.written import MINUS, Written, fenced, joined, name, number, scripts, sign, words
from dashboard.models.registry import ALL, models_of
from dashboard.models.segments.closed import CLOSED

_PAPER = "Orthogonal structures"

b, n, p, p_1, p_2 = (symbol(text, name(*text.split("_")), NONE) for text in ("b", "n", "p", "p_1", "p_2"))
micro = symbol("micro", scripts(number(10), above=MINUS + number(6)), NONE)
PER_BYTE = 0.474 * micro * log2(p)
STEP = scripts(name("t"), (k + 1).written) + sign("-") + name("t", "k")


def row(*pieces: Expression | Written) -> Written:
    """Write pieces one behind the other, such as what is printed where no formula can be made of it."""
    first, *others = [each if isinstance(each, Written) else each.written for each in pieces]
    return sum(others, first)


def listed(*pieces: Expression | Written) -> Written:
    """Write pieces with commas between them."""
    return joined([row(each) for each in pieces], ",")


@dataclass(frozen=True)
class Erratum:
    """One mistake."""

    #: Table, equation or section, of the dissertation where no other publication is named.
    where: str
    #: As mathematics.
    printed: Written
    corrected: Written
    #: The proof.
    why: str
    #: Of a formula; empty otherwise.
    collective: str = ""
    algorithm: str = ""
    model: str = ""


def _gathering(processes: Expression, size: Expression) -> Written:
    return name("T", "mb") + fenced("(", listed(processes, size))


ORTHOGONAL = (
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


def _squared(text: str, below: str = "") -> Expression:
    return symbol(text, scripts(name(text), name(below) if below else None, number(2)), NONE)


def _exponential_root(less: int) -> Expression:
    return root(_squared("m") * _squared("b", "g") + 8 * m * b_g * (levels - less))


c, C, b_g = (symbol(text, name(*text.split("_")), NONE) for text in ("c", "C", "b_g"))
COMPLETE = scripts(name("P"), above=Written("*", "<mo>*</mo>"))
ROUNDS = log2_p - 1
DOTS = symbol("dots", Written(r"\dots", "<mo>…</mo>"), NONE)
POWERS = two_to(expression(0)) + two_to(expression(1)) + DOTS + two_to(ROUNDS)

OTHERS = (
    Erratum(
        "Section 4.1.2, Allreduce",
        row(steps + 2, words(" steps")),
        row(whole_steps + 2, words(" steps")),
        "As for the barrier: the loop runs over the largest power of two below P; Figure 4.10 shows 4 steps for P = 6.",
    ),
    Erratum(
        "Section 4.1.2, ring allreduce",
        row(2 * P - 1, words(" steps")),
        row(2 * (P - 1), words(" steps")),
        "Two rings of P - 1 steps each; Table 4.10 has 2 (P - 1).",
    ),
    Erratum(
        "Section 4.2.2",
        row(delta, words(" is the local memory bandwidth, "), delta, sign("≫"), G),
        row(delta, words(" is the time to copy a byte, "), delta, sign("≪"), G),
        "δ m is a time, so δ is a time per byte, the reciprocal of a bandwidth; a copy in memory is faster "
        "than the network.",
    ),
    Erratum(
        "Section 4.3.1",
        row(COMPLETE, sign("="), two_to(steps)),
        row(COMPLETE, sign("="), two_to(levels) - 1),
        "The complete binary tree that holds P processes has 2^k - 1 of them, as the paragraph itself begins.",
    ),
    Erratum(
        "Section 4.3.1, before equation 4.7",
        row((log2(P + 1) - 1) * 2 * (alpha + beta * m)),
        row((log2(P + 1) - 1) * 2 * (alpha + beta * m_s)),
        "It is the first segment that fills the pipeline; equation 4.7 has m_s.",
    ),
    Erratum(
        "Equation 4.14",
        row((P - 1) * (2 * L + gap(o) + gap(m_s))),
        row((P - 1) * (2 * L + gap(no_bytes) + gap(m_s)) + gap(m - m_s)),
        "g takes bytes, not the overhead o: the go-ahead has 0 bytes. And the last process's second segment is still "
        "to come, as in equation 4.13; Table 4.5 has both.",
        "gather",
        "linear_sync",
        "plogp",
    ),
    Erratum(
        "Section 4.3.3, before equation 4.15",
        row(POWERS * m),
        row(POWERS * beta * m),
        "Bytes are added to a time; equation 4.15 has β.",
    ),
    Erratum(
        "Section 4.3.3, before equations 4.16 and 4.17",
        listed((two_to(log2_p) * m - 1) * G, series(2, log2_p, two_to(k) * m), gap(two_to(log2_p) * m)),
        listed((two_to(ROUNDS) * m - 1) * G, series(0, ROUNDS, two_to(k) * m), gap(two_to(ROUNDS) * m)),
        "log2 P rounds send m, 2 m, …, P m / 2; their sum is (P - 1) m, as both equations have it.",
    ),
    Erratum(
        "Table 4.12, Grig (tcp)",
        row(1 / beta, sign("="), words("12.33 byte/µs")),
        row(1 / beta, sign("="), words("11.75 byte/µs")),
        "1 / 0.0851 = 11.75. Table 6.1's 10116 B follow from β = 0.0851 (10112 B), not from 1 / 12.33 (10358 B).",
    ),
    Erratum(
        "Section 4.4.2",
        listed(less(n_s * G + n_s * g, G + g), less(n_s * G + n_s * o, G + o)),
        listed(less(n_s * (g - G), g - G), less(n_s * (o - G), o - G)),
        "(m - n_s) G + n_s g < (m - 1) G + g: the terms in m cancel and G keeps its minus. The conclusion holds "
        "where a byte takes less than a message, G < g.",
    ),
    Erratum(
        "Theorem 5.1, proof",
        row(ceil(m_s / 2)),
        row(ceil(n_s / 2)),
        "Bytes among numbers; the next line has m / (2 m_s) = n_s / 2.",
    ),
    Erratum(
        "Theorem 5.2",
        row(P, sign(">"), expression(2)),
        row(P, sign(">"), expression(3)),
        "For P = 3 the denominator ⌈log2(P + 1)⌉ - 2 is 0: the derivative is negative everywhere.",
    ),
    Erratum(
        "Corollary 5.4",
        words("no optimum inside a linear interval"),
        row(
            *(m_s, sign("="), root(m * c / (2 * C * (levels - 2))), words(" where ")),
            *(gap(m), sign("="), C * m + c, sign("≥"), send(m) + receive(m)),
        ),
        "The proof puts g(m) = C m, though the corollary has g(m) = C m + c. With c the derivative is "
        "2 (⌈log2(P + 1)⌉ - 2) C - c m / m_s², which has a zero. Theorem 5.2 finds that zero: LogGP is PLogP with "
        "one line, C = G and c = g - G.",
    ),
    Erratum(
        "Corollary 5.5, equation 5.11",
        row((_exponential_root(1) - m * b_g) / (4 * (levels - 1))),
        row((_exponential_root(2) - m * b_g) / (4 * b_g * (levels - 2))),
        "The derivative that the proof sets to zero has ⌈log2(P + 1)⌉ - 2; the next line turns it into - 1. And the "
        "root of A m_s² + m b_g m_s - m = 0, A = 2 b_g (⌈log2(P + 1)⌉ - 2), is divided by 2 A: without b_g the "
        "result is a number and not bytes. (The model is convex, not concave.)",
    ),
    Erratum(
        "Theorem 5.6, proof",
        row(MINUS, (P - 1) * (m / m_s) * alpha, sign("="), expression(0)),
        row(MINUS, (P - 1) * (m / _squared("m", "s")) * alpha, sign("="), expression(0)),
        "The derivative of 1 / m_s; a derivative by bytes is a time per byte.",
    ),
    Erratum(
        "Table 6.1, LogP / LogGP",
        words("746, 309, 505 B"),
        words("7461, 3094, 5053 B"),
        "Theorem 5.2 with Table 4.13 gives 7438, 3125 and 5102 B; a last digit is lost. Both sizes of a network "
        "differ by the square root of 2 MB / 768 KB, 1.63, as 12185 / 7461 does.",
    ),
)


def errata(collective: str | None = None) -> tuple[Erratum, ...]:
    """Formulas of the collectives, optimal segment sizes, then the rest: all, or those of one collective and of none.

    Raises
    ------
    ModelError
        No model is of that collective.
    """
    every = (*_formulas(), *_segments(), *OTHERS, *ORTHOGONAL)
    if collective is None:
        return every
    models_of(collective)
    return tuple(each for each in every if each.collective in (collective, ""))


def _formulas() -> Iterator[Erratum]:
    for each in ALL:
        for model in MODEL_NAMES:
            formula = each.formula(model)
            if formula.printed is not None:
                yield Erratum(
                    f"Table {each.table}, {each.title}, {MODEL_TITLES[model]}",
                    formula.written("as_published"),
                    formula.written(),
                    formula.erratum,
                    each.collective,
                    each.algorithm,
                    model,
                )


def _segments() -> Iterator[Erratum]:
    for each in CLOSED:
        if each.printed is not None:
            yield Erratum(
                f"Table {each.table}, {each.collective} {each.algorithm}, {MODEL_TITLES[each.model]}",
                listed(*each.written(as_published=True)),
                listed(*(each.written() or [words("none")])),
                each.erratum,
                each.collective,
                each.algorithm,
                each.model,
            )
