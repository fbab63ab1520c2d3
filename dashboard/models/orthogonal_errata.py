"""What is wrong in print of the orthogonal structures (Kühnemann, Rauber, Rünger)."""

from __future__ import annotations

from dashboard.models.erratum import Erratum

_PAPER = "Orthogonal structures"

ERRATA = (
    Erratum(
        f"{_PAPER}, section 4, broadcast on CLiC",
        r"(0.0383 + 0.474 \cdot 10^{-6} \cdot \log_2(p)) \cdot b",
        r"(0.0383 \cdot 10^{-6} + 0.474 \cdot 10^{-6} \cdot \log_2(p)) \cdot b",
        "Both terms are times per byte; with 0.0383 s/B a broadcast of 100 KB would take more than an hour.",
    ),
    Erratum(
        f"{_PAPER}, Table 2",
        r"0.038 \, \text{s}",
        r"0.038 \, \text{µs}",
        "The table's coefficients are in µs per byte; the same number as in the running text.",
    ),
    Erratum(
        f"{_PAPER}, Table 1",
        r"t_{sc} \text{ of gather, } t_{ga} \text{ of scatter}",
        r"t_{ga} \text{ of gather, } t_{sc} \text{ of scatter}",
        "The names of the two lines are swapped; the text uses them the other way round.",
    ),
    Erratum(
        f"{_PAPER}, equation (4)",
        r"T_{mb}(p_1, n / p) + T_{mb}(p_2, n \cdot p_1 / p)",
        r"T_{mb}(p_2, n / p) + T_{mb}(p_1, n \cdot p_2 / p)",
        "By section 2.1 the rows, of p2 processes, come first; what they gathered is p2 blocks, which the columns of "
        "p1 processes exchange.",
    ),
    Erratum(
        f"{_PAPER}, layouts of three phases for 32 processors",
        r"2 \cdot 8 \cdot 4",
        r"2 \cdot 8 \cdot 2",
        "The layouts are listed for 32 processors, but 2 · 8 · 4 is 64; 2 · 8 · 2 is 32.",
    ),
    Erratum(
        f"{_PAPER}, section 5.2, step size",
        r"h = -(t_{k + 1} - t_k)",
        r"h = t_{k + 1} - t_k",
        "A step goes forward in time; the sign is reversed in print.",
    ),
)
