"""Reductions: Table 4.8."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    g,
    gamma,
    gap,
    k,
    largest,
    levels,
    log2_p,
    m,
    m_s,
    n_s,
    o,
    one_byte,
    receive,
    send,
    series,
    steps,
    two_to,
)

REST = (m_s - one_byte) * G
SEGMENT = alpha + beta * m_s + gamma * m_s
COMPUTE = gamma * m_s
SHARE = (P - 1) / P

#: Receiving one of many segments and computing on it, in the processor or in the network, whichever takes longer.
TAKE = REST + largest(g, o + COMPUTE)
TAKE_PLOGP = largest(gap(m_s), receive(m_s) + COMPUTE)
TAKE_AND_SEND_PLOGP = largest(gap(m_s), receive(m_s) + COMPUTE + send(m_s))

AFTER_ARRIVAL = (
    "A message is there after L + g(m) (equation 4.4) and only then can be computed on: for two processes and one "
    "segment L + g(m) + γ m, as the scan of Table 4.11 has it for the same chain. The table's max{g, o_r + γ "
    "m} hides the shorter of the two behind the longer even for a lone message, which holds only for those that "
    "follow each other."
)
GAP_OUTSIDE = (
    "Messages follow each other at g + (m - 1) G (section 4.3.1, equation 4.9), so (m_s - 1) G belongs outside the "
    "max, as in the binomial line of Table 4.8: where g > 2 o + γ m_s (small segments on Frodo's Fast Ethernet) "
    "the table is faster than the network. In the other case both agree."
)

MODELS = (
    CollectiveModel(
        "reduce",
        "flat_tree",
        "Flat Tree",
        "4.8",
        hockney=Formula(n_s * (P - 1) * SEGMENT),
        loggp=Formula(
            o + L + n_s * (P - 1) * TAKE,
            printed=o + REST + L + n_s * largest(g, (P - 1) * (o + REST + COMPUTE)),
            erratum="The root receives n_s (P - 1) messages at least g apart, but the formula has g once per "
            "segment: for small segments and g > o it is faster than the network. And (m_s - 1) G stands both before "
            "the sum and in it: for P = 2 and one segment it has 2 (m - 1) G for one message. The binomial line with "
            "P = 2, the same schedule, has o + L + n_s ((m_s - 1) G + max{g, o + γ m_s}).",
        ),
        plogp=Formula(
            L + gap(m_s) + ((P - 1) * n_s - 1) * TAKE_PLOGP + COMPUTE,
            printed=L + (P - 1) * n_s * TAKE_PLOGP,
            erratum=AFTER_ARRIVAL,
        ),
        segmented="message",
    ),
    CollectiveModel(
        "reduce",
        "pipeline",
        "Pipeline",
        "4.8",
        hockney=Formula((P + n_s - 2) * SEGMENT),
        loggp=Formula(
            (P - 1) * (L + 2 * o + REST + COMPUTE) + (n_s - 1) * (REST + largest(g, 2 * o + COMPUTE)),
            printed=(P - 1) * (L + 2 * o + REST + COMPUTE) + (n_s - 1) * largest(g, 2 * o + REST + COMPUTE),
            erratum=GAP_OUTSIDE,
        ),
        plogp=Formula(
            (P - 1) * (L + gap(m_s) + COMPUTE) + (n_s - 1) * TAKE_AND_SEND_PLOGP,
            printed=(P - 1) * (L + TAKE_PLOGP) + (n_s - 1) * (TAKE_PLOGP + send(m_s)),
            erratum=AFTER_ARRIVAL,
        ),
        segmented="message",
    ),
    CollectiveModel(
        "reduce",
        "binomial",
        "Binomial",
        "4.8",
        hockney=Formula(n_s * steps * SEGMENT),
        loggp=Formula(steps * (o + L + n_s * TAKE)),
        plogp=Formula(
            steps * (L + gap(m_s) + COMPUTE + (n_s - 1) * TAKE_AND_SEND_PLOGP),
            printed=steps * (L + n_s * TAKE_AND_SEND_PLOGP),
            erratum=AFTER_ARRIVAL,
        ),
        segmented="message",
    ),
    CollectiveModel(
        "reduce",
        "binary",
        "Binary",
        "4.8",
        hockney=Formula(2 * (levels + n_s - 2) * SEGMENT),
        loggp=Formula(
            (levels - 1) * (o + L + 2 * TAKE) + (n_s - 1) * (o + 2 * TAKE),
            printed=(levels - 1)
            * (L + 3 * o + REST + 2 * COMPUTE + (n_s - 1) * (REST + largest(g, 3 * o + 2 * COMPUTE))),
            erratum="An inner process receives two segments, 2 (m_s - 1) G, where the table has one: for P = 3 the "
            "tree is the flat tree, which counts both. And the table multiplies the n_s - 1 later segments by the "
            "levels, as if a level waited for the whole message; the tree is a pipeline, and the Hockney and PLogP "
            "lines add them once.",
        ),
        plogp=Formula(
            (levels - 1) * (L + gap(m_s) + TAKE_PLOGP + COMPUTE) + (n_s - 1) * (send(m_s) + 2 * TAKE_PLOGP),
            printed=(levels - 1) * (L + 2 * TAKE_PLOGP) + (n_s - 1) * (send(m_s) + 2 * TAKE_PLOGP),
            erratum=AFTER_ARRIVAL,
        ),
        segmented="message",
    ),
    CollectiveModel(
        "reduce",
        "rabenseifner",
        "Rabenseifner",
        "4.8",
        hockney=Formula(
            2 * log2_p * alpha + 2 * SHARE * beta * m + SHARE * gamma * m,
            printed=2 * log2_p * alpha + 2 * (P - 1) * beta * m + (P - 1) * gamma * m,
            erratum="In reduce m is the whole vector (section 4.3.4), of which the rounds exchange m/2, m/4, …, m/P, "
            "in all m (P - 1)/P; the table takes m for a block of it. Table 4.10 has (P - 1)/P. For P = 2 the first "
            "exchange is of m/2.",
        ),
        loggp=Formula(
            2 * log2_p * (L + 2 * o) + 2 * (SHARE * m - log2_p * one_byte) * G + SHARE * gamma * m,
            printed=2 * log2_p * (L + 2 * o) + 2 * ((P - 1) * m - log2_p * one_byte) * G + (P - 1) * gamma * m,
            erratum="As in the Hockney line: m is the whole vector, of which (P - 1)/P are exchanged, not P - 1 "
            "times it.",
        ),
        plogp=Formula(
            2 * log2_p * L + SHARE * gamma * m + 2 * series(1, log2_p, gap(m / two_to(k))),
            printed=2 * log2_p * L + (P - 1) * gamma * m + series(1, log2_p, gap(m / two_to(k))),
            erratum="Both phases, reduce_scatter and gather, send m/2 … m/P; the latency and the other models count "
            "both, the gap one. And γ stands for (P - 1)/P of the vector, as in Table 4.10.",
        ),
        requires="power_of_two",
    ),
)
