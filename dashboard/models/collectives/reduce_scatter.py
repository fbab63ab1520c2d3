"""Reduce_scatters: Table 4.9; m is the block of one process."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula import Expression
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    cases,
    delta,
    gamma,
    gap,
    k,
    log2_p,
    m,
    o,
    one_byte,
    power_of_two,
    series,
    two_to,
    whole_steps,
)

REST = (m - one_byte) * G
COMPUTE = (P - 1) * gamma * m
COMPUTE_OTHERWISE = (2 * P - 1) * gamma * m
COPY = P * delta * m


def _loggp(latency: Expression) -> Expression:
    return cases(
        power_of_two(P),
        log2_p * (L + 2 * o) + ((P - 1) * m - log2_p * one_byte) * G + COMPUTE,
        (whole_steps + 2) * latency + (2 * (P * m - one_byte) - whole_steps * one_byte) * G + COMPUTE_OTHERWISE,
    )


def _plogp(size: Expression) -> Expression:
    return cases(
        power_of_two(P),
        log2_p * L + COMPUTE + series(1, log2_p, gap(size)),
        (whole_steps + 2) * L + gap(m) + COMPUTE_OTHERWISE + series(0, whole_steps, gap(size)),
    )


MODELS = (
    CollectiveModel(
        "reduce_scatter",
        "recursive_halving",
        "Recursive halving",
        "4.9",
        hockney=Formula(
            cases(
                power_of_two(P),
                log2_p * alpha + (P - 1) * (beta + gamma) * m,
                (whole_steps + 2) * alpha + 2 * P * beta * m + COMPUTE_OTHERWISE,
            )
        ),
        loggp=Formula(
            _loggp(L + 2 * o),
            printed=_loggp(L + 2),
            erratum="L + 2 adds seconds and a number; the case above has L + 2 o.",
        ),
        plogp=Formula(
            _plogp(P * m / two_to(k)),
            printed=_plogp(P / two_to(k)),
            erratum="g(P / 2^k) is the gap of a number, not of bytes: round k exchanges P / 2^k blocks of m bytes.",
        ),
        note="Where P is no power of two neighbours are folded and halves are not equal: the formulas are up to "
        "14 % too low (P = 48).",
    ),
    CollectiveModel(
        "reduce_scatter",
        "ring",
        "Ring",
        "4.9",
        hockney=Formula((P - 1) * (alpha + beta * m + gamma * m) + COPY),
        loggp=Formula((P - 1) * (L + 2 * o + REST + gamma * m) + COPY),
        plogp=Formula((P - 1) * (L + gap(m) + gamma * m) + COPY),
    ),
)
