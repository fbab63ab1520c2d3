"""Allreductions: Table 4.10; m is the whole vector."""

from dashboard.models.collectives.barrier import NOT_POWER
from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula import Expression
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    cases,
    ceil,
    g,
    gamma,
    gap,
    k,
    largest,
    log2_p,
    m,
    m_s,
    n_s,
    o,
    one_byte,
    power_of_two,
    series,
    steps,
    two_to,
    whole_steps,
)

BLOCK = ceil(m / P)
REST = (m - one_byte) * G
REST_OF_BLOCK = (BLOCK - one_byte) * G
REST_OF_SEGMENT = (m_s - one_byte) * G
SHARE = (P - 1) / P
HALVES = series(1, log2_p, gap(m / two_to(k)))


def _doubling(step: Expression) -> Formula:
    power = power_of_two(P)
    return Formula(
        cases(power, log2_p * step, (whole_steps + 2) * step - gamma * m),
        printed=cases(power, log2_p * step, (steps + 2) * step - gamma * m),
        erratum=NOT_POWER,
    )


MODELS = (
    CollectiveModel(
        "allreduce",
        "recursive_doubling",
        "Recursive doubling",
        "4.10",
        hockney=_doubling(alpha + beta * m + gamma * m),
        loggp=_doubling(L + 2 * o + REST + gamma * m),
        plogp=_doubling(L + gap(m) + gamma * m),
    ),
    CollectiveModel(
        "allreduce",
        "ring",
        "Ring",
        "4.10",
        hockney=Formula(2 * (P - 1) * (alpha + beta * BLOCK) + (P - 1) * gamma * BLOCK),
        loggp=Formula(2 * (P - 1) * (L + 2 * o + REST_OF_BLOCK) + (P - 1) * gamma * BLOCK),
        plogp=Formula(2 * (P - 1) * (L + gap(BLOCK)) + (P - 1) * gamma * BLOCK),
    ),
    CollectiveModel(
        "allreduce",
        "ring_segmented",
        "Ring with segment.",
        "4.10",
        hockney=Formula((P + n_s - 2) * (alpha + beta * m_s + gamma * m_s) + (P - 1) * (alpha + beta * BLOCK)),
        loggp=Formula(
            (P - 1) * (L + 2 * o + REST_OF_SEGMENT + gamma * m_s)
            + (n_s - 1) * (REST_OF_SEGMENT + largest(g, gamma * m_s + o))
            + (P - 1) * (L + 2 * o + REST_OF_BLOCK),
            printed=(P - 1) * (L + 2 * o + REST_OF_SEGMENT)
            + (n_s - 1) * largest(g, gamma * m_s + o)
            + REST_OF_SEGMENT
            + (P - 1) * (L + 2 * o + REST_OF_BLOCK),
            erratum="A parenthesis is misplaced: (m_s - 1) G is spent on each of the n_s - 1 segments, not once, "
            "else small segments would carry the vector in no time; Table 5.3 is derived from the former. And the "
            "first P - 1 steps compute too: the Hockney and PLogP lines have γ m_s there.",
        ),
        plogp=Formula(
            (P - 1) * (L + gap(m_s) + gamma * m_s) + (n_s - 1) * (gap(m_s) + gamma * m_s) + (P - 1) * (L + gap(BLOCK))
        ),
        segmented="block",
        note="n_s counts the segments of the whole vector, as Table 5.3 does.",
    ),
    CollectiveModel(
        "allreduce",
        "rabenseifner",
        "Rabenseifner",
        "4.10",
        hockney=Formula(2 * log2_p * alpha + 2 * SHARE * beta * m + SHARE * gamma * m),
        loggp=Formula(
            log2_p * (L + 2 * o)
            + (SHARE * m - log2_p * one_byte) * G
            + SHARE * gamma * m
            + log2_p * (o + largest(g, L + o) - one_byte * G)
            + SHARE * m * G,
            printed=2 * log2_p * (L + 2 * o)
            + 2 * ((P - 1) * m - log2_p * one_byte) * G
            + (P - 1) * gamma * (m / P)
            + log2_p * (o + largest(g, L + o))
            - one_byte * G
            + (P - 1) * (m / P) * G,
            erratum="The algorithm is a reduce_scatter and an allgather (section 4.1.2), 2 log2 P rounds and 2 m (P "
            "- 1)/P bytes, as the Hockney line says. The table takes Table 4.8's reduce, which already has a second "
            "phase, takes m there for a block, and adds the allgather, with G outside its parenthesis (equation "
            "4.16).",
        ),
        plogp=Formula(
            2 * log2_p * L + SHARE * gamma * m + 2 * HALVES,
            printed=3 * log2_p * L + (P - 1) * gamma * (m / P) + 3 * series(1, log2_p - 1, gap(m / two_to(k))),
            erratum="Two phases, not three (section 4.1.2 and the Hockney line), and in each log2 P rounds of m/2 … "
            "m/P bytes, as in Table 4.8; for P = 2 the printed sum is empty and nothing would be sent.",
        ),
        requires="power_of_two",
    ),
)
