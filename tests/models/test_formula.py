"""The language of formulas: values, units and mathematics."""

import numpy as np
import pytest

from dashboard.models.errors import UnitError
from dashboard.models.formula import BYTES, TIME, Cases, IsPowerOfTwo, Less, Scope
from dashboard.models.formula.expressions import Root
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    ceil,
    gap,
    k,
    largest,
    log2_p,
    m,
    one_byte,
    series,
    smallest,
    two_to,
)


def test_formulas_read_as_mathematics() -> None:
    assert ((P - 1) * (alpha + beta * m)).latex() == (r"\left(P - 1\right) \cdot \left(\alpha + \beta \cdot m\right)")
    assert (L - (alpha - L)).latex() == r"L - \left(\alpha - L\right)"
    assert (log2_p * (L - one_byte * G)).latex() == r"\log_2\left(P\right) \cdot \left(L - G\right)"
    assert ((m - one_byte) * G).latex() == r"\left(m - 1\right) \cdot G"
    assert ceil(m / P).latex() == r"\left\lceil \frac{m}{P} \right\rceil"
    assert series(0, log2_p - 1, gap(two_to(k) * m)).latex() == (
        r"\sum_{k = 0}^{\log_2\left(P\right) - 1} g\left(2^k \cdot m\right)"
    )


def test_unlike_quantities_are_not_added_or_compared() -> None:
    for wrong in (L + 2, alpha + m, largest(L, G), beta * m + beta, gap(P), smallest(m, P)):
        with pytest.raises(UnitError):
            wrong.unit()
    with pytest.raises(UnitError):
        Cases(Less(m, P), L, L).unit()
    with pytest.raises(UnitError, match="no unit"):
        Root(m).unit()
    assert (beta * m + L / P).unit() == TIME
    assert Root(m * alpha / beta).unit() == BYTES


def test_logarithms_of_powers_of_two_are_whole() -> None:
    counts = 2.0 ** np.arange(0, 53)
    assert np.array_equal(Scope({"P": counts}).of(log2_p), np.arange(53))
    assert np.array_equal(Scope({"P": counts[2:] + 1}).of(ceil(log2_p))[:40], np.arange(3, 43))


def test_sums_and_cases_go_over_arrays() -> None:
    counts = np.arange(1, 65)
    values = Scope({"P": counts.astype(float), "m": 10.0}).of(
        Cases(IsPowerOfTwo(P), series(0, log2_p - 1, two_to(k) * m), 0 * m)
    )
    expected = [(count - 1) * 10 if count.bit_count() == 1 else 0 for count in counts.tolist()]
    assert values.tolist() == expected
