"""What is wrong in print: each place, what stands there, what is right, and why."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.domain.models import MODEL_NAMES, MODEL_TITLES
from dashboard.models.erratum import Erratum
from dashboard.models.orthogonal_errata import ERRATA as ORTHOGONAL
from dashboard.models.registry import ALL
from dashboard.models.segments.closed import CLOSED

OTHERS = (
    Erratum(
        "Section 4.1.2, Allreduce",
        r"\lceil \log_2(P) \rceil + 2 \text{ steps}",
        r"\lfloor \log_2(P) \rfloor + 2 \text{ steps}",
        "As for the barrier: the loop runs over the largest power of two below P; Figure 4.10 shows 4 steps for P = 6.",
    ),
    Erratum(
        "Section 4.1.2, ring allreduce",
        r"2 \cdot P - 1 \text{ steps}",
        r"2 \cdot (P - 1) \text{ steps}",
        "Two rings of P - 1 steps each; Table 4.10 has 2 (P - 1).",
    ),
    Erratum(
        "Section 4.2.2",
        r"\delta \text{ is the local memory bandwidth, } \delta \gg G",
        r"\delta \text{ is the time to copy a byte, } \delta \ll G",
        "delta m is a time, so delta is a time per byte, the reciprocal of a bandwidth; a copy in memory is faster "
        "than the network.",
    ),
    Erratum(
        "Section 4.3.1",
        r"P^* = 2^{\lceil \log_2(P) \rceil}",
        r"P^* = 2^{\lceil \log_2(P + 1) \rceil} - 1",
        "The complete binary tree that holds P processes has 2^k - 1 of them, as the paragraph itself begins.",
    ),
    Erratum(
        "Section 4.3.1, before equation 4.7",
        r"(\log_2(P + 1) - 1) \cdot 2 \cdot (\alpha + \beta \cdot m)",
        r"(\log_2(P + 1) - 1) \cdot 2 \cdot (\alpha + \beta \cdot m_s)",
        "It is the first segment that fills the pipeline; equation 4.7 has m_s.",
    ),
    Erratum(
        "Equation 4.14",
        r"(P - 1) \cdot (2 \cdot L + g(o) + g(m_s))",
        r"(P - 1) \cdot (2 \cdot L + g(0) + g(m_s)) + g(m - m_s)",
        "g takes bytes, not the overhead o: the go-ahead has 0 bytes. And the last process's second segment is still "
        "to come, as in equation 4.13; Table 4.5 has both.",
        "gather",
        "linear_sync",
        "plogp",
    ),
    Erratum(
        "Section 4.3.3, before equation 4.15",
        r"(2^0 + 2^1 + \dots + 2^{\log_2(P) - 1}) \cdot m",
        r"(2^0 + 2^1 + \dots + 2^{\log_2(P) - 1}) \cdot \beta \cdot m",
        "Bytes are added to a time; equation 4.15 has beta.",
    ),
    Erratum(
        "Section 4.3.3, before equations 4.16 and 4.17",
        r"(2^{\log_2(P)} \cdot m - 1) \cdot G, \; \sum_{k=2}^{\log_2(P)} 2^k \cdot m, \; g(2^{\log_2(P)} \cdot m)",
        r"(2^{\log_2(P) - 1} \cdot m - 1) \cdot G, \; \sum_{k=0}^{\log_2(P) - 1} 2^k \cdot m, \; "
        r"g(2^{\log_2(P) - 1} \cdot m)",
        "log2 P rounds send m, 2 m, …, P m / 2; their sum is (P - 1) m, as both equations have it.",
    ),
    Erratum(
        "Table 4.12, Grig (tcp)",
        r"1 / \beta = 12.33 \, \mathrm{byte} / \mu\mathrm{s}",
        r"1 / \beta = 11.75 \, \mathrm{byte} / \mu\mathrm{s}",
        "1 / 0.0851 = 11.75. Table 6.1's 10116 B follow from beta = 0.0851 (10112 B), not from 1 / 12.33 (10358 B).",
    ),
    Erratum(
        "Section 4.4.2",
        r"n_s \cdot G + n_s \cdot g < G + g, \; n_s \cdot G + n_s \cdot o < G + o",
        r"n_s \cdot (g - G) < g - G, \; n_s \cdot (o - G) < o - G",
        "(m - n_s) G + n_s g < (m - 1) G + g: the terms in m cancel and G keeps its minus. The conclusion holds "
        "where a byte takes less than a message, G < g.",
    ),
    Erratum(
        "Theorem 5.1, proof",
        r"\left\lceil \frac{m_s}{2} \right\rceil",
        r"\left\lceil \frac{n_s}{2} \right\rceil",
        "Bytes among numbers; the next line has m / (2 m_s) = n_s / 2.",
    ),
    Erratum(
        "Theorem 5.2",
        r"P > 2",
        r"P > 3",
        "For P = 3 the denominator ⌈log2(P + 1)⌉ - 2 is 0: the derivative is negative everywhere.",
    ),
    Erratum(
        "Corollary 5.4",
        r"\text{no optimum inside a linear interval}",
        r"m_s = \sqrt{\frac{m \cdot c}{2 \cdot C \cdot (\lceil \log_2(P + 1) \rceil - 2)}} \text{ where } "
        r"g(m) = C \cdot m + c \geq o_s(m) + o_r(m)",
        "The proof puts g(m) = C m, though the corollary has g(m) = C m + c. With c the derivative is "
        "2 (⌈log2(P + 1)⌉ - 2) C - c m / m_s², which has a zero. Theorem 5.2 finds that zero: LogGP is PLogP with "
        "one line, C = G and c = g - G.",
    ),
    Erratum(
        "Corollary 5.5, equation 5.11",
        r"\frac{-m b_g + \sqrt{m^2 b_g^2 + 8 m b_g (\lceil \log_2(P + 1) \rceil - 1)}}"
        r"{4 (\lceil \log_2(P + 1) \rceil - 1)}",
        r"\frac{-m b_g + \sqrt{m^2 b_g^2 + 8 m b_g (\lceil \log_2(P + 1) \rceil - 2)}}"
        r"{4 b_g (\lceil \log_2(P + 1) \rceil - 2)}",
        "The derivative that the proof sets to zero has ⌈log2(P + 1)⌉ - 2; the next line turns it into - 1. And the "
        "root of A m_s² + m b_g m_s - m = 0, A = 2 b_g (⌈log2(P + 1)⌉ - 2), is divided by 2 A: without b_g the "
        "result is a number and not bytes. (The model is convex, not concave.)",
    ),
    Erratum(
        "Theorem 5.6, proof",
        r"-(P - 1) \cdot \frac{m}{m_s} \cdot \alpha = 0",
        r"-(P - 1) \cdot \frac{m}{m_s^2} \cdot \alpha = 0",
        "The derivative of 1 / m_s; a derivative by bytes is a time per byte.",
    ),
    Erratum(
        "Table 6.1, LogP / LogGP",
        r"746, \; 309, \; 505 \, \mathrm{B}",
        r"7461, \; 3094, \; 5053 \, \mathrm{B}",
        "Theorem 5.2 with Table 4.13 gives 7438, 3125 and 5102 B; a last digit is lost. Both sizes of a network "
        "differ by the square root of 2 MB / 768 KB, 1.63, as 12185 / 7461 does.",
    ),
)


def errata() -> tuple[Erratum, ...]:
    """All of them: formulas of the collectives, optimal segment sizes, then the rest."""
    return (*_formulas(), *_segments(), *OTHERS, *ORTHOGONAL)


def _formulas() -> Iterator[Erratum]:
    for each in ALL:
        for name in MODEL_NAMES:
            formula = each.formula(name)
            if formula.printed is not None:
                yield Erratum(
                    f"Table {each.table}, {each.title}, {MODEL_TITLES[name]}",
                    formula.latex("as_published"),
                    formula.latex(),
                    formula.erratum,
                    each.collective,
                    each.algorithm,
                    name,
                )


def _segments() -> Iterator[Erratum]:
    for each in CLOSED:
        if each.printed is not None:
            yield Erratum(
                f"Table {each.table}, {each.collective} {each.algorithm}, {MODEL_TITLES[each.model]}",
                r", \; ".join(each.latex(as_published=True)),
                r", \; ".join(each.latex()) or r"\text{none}",
                each.erratum,
                each.collective,
                each.algorithm,
                each.model,
            )
