"""The language of formulas: values, units and mathematics."""

import numpy as np
import pytest

from dashboard.models.errors import UnitError
from dashboard.models.formula import BYTES, TIME, Scope
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    cases,
    ceil,
    gap,
    k,
    largest,
    less,
    log2_p,
    m,
    one_byte,
    power_of_two,
    root,
    series,
    smallest,
    two_to,
)


def test_formulas_read_as_mathematics() -> None:
    assert ((P - 1) * (alpha + beta * m)).written.latex == (
        r"\left(P - 1\right) \cdot \left(\alpha + \beta \cdot m\right)"
    )
    assert (L - (alpha - L)).written.latex == r"L - \left(\alpha - L\right)"
    assert (log2_p * (L - one_byte * G)).written.latex == r"\log_2\left(P\right) \cdot \left(L - G\right)"
    assert ((m - one_byte) * G).written.latex == r"\left(m - 1\right) \cdot G"
    assert ceil(m / P).written.latex == r"\left\lceil \frac{m}{P} \right\rceil"
    assert series(0, log2_p - 1, gap(two_to(k) * m)).written.latex == (
        r"\sum_{k = 0}^{\log_2\left(P\right) - 1} g\left(2^k \cdot m\right)"
    )


def test_unlike_quantities_are_not_added_or_compared() -> None:
    for wrong in (L + 2, alpha + m, largest(L, G), beta * m + beta, gap(P), smallest(m, P)):
        with pytest.raises(UnitError):
            wrong.unit()
    with pytest.raises(UnitError):
        cases(less(m, P), L, L).unit()
    with pytest.raises(UnitError, match="no unit"):
        root(m).unit()
    assert (beta * m + L / P).unit() == TIME
    assert root(m * alpha / beta).unit() == BYTES


def test_logarithms_of_powers_of_two_are_whole() -> None:
    counts = 2.0 ** np.arange(0, 53)
    assert np.array_equal(Scope({"P": counts}).of(log2_p), np.arange(53))
    assert np.array_equal(Scope({"P": counts[2:] + 1}).of(ceil(log2_p))[:40], np.arange(3, 43))


def test_sums_and_cases_go_over_arrays() -> None:
    counts = np.arange(1, 65)
    values = Scope({"P": counts.astype(float), "m": 10.0}).of(
        cases(power_of_two(P), series(0, log2_p - 1, two_to(k) * m), 0 * m)
    )
    expected = [(count - 1) * 10 if count.bit_count() == 1 else 0 for count in counts.tolist()]
    assert values.tolist() == expected
