"""Broadcasts: Table 4.3."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    g,
    gap,
    half_n_s,
    largest,
    levels,
    m,
    m_s,
    n_s,
    o,
    one_byte,
    receive,
    send,
    steps,
)

REST = (m_s - one_byte) * G
SEGMENT = alpha + beta * m_s
FORWARD = largest(2 * gap(m_s), receive(m_s) + gap(m_s) + send(m_s))

MODELS = (
    CollectiveModel(
        "bcast",
        "linear",
        "Linear",
        "4.3",
        hockney=Formula(n_s * (P - 1) * SEGMENT),
        loggp=Formula(L + 2 * o - g + n_s * (P - 1) * (REST + g)),
        plogp=Formula(L + n_s * (P - 1) * gap(m_s)),
        segmented="message",
    ),
    CollectiveModel(
        "bcast",
        "pipeline",
        "Pipeline",
        "4.3",
        hockney=Formula((P + n_s - 2) * SEGMENT),
        loggp=Formula((P - 1) * (L + 2 * o + REST) + (n_s - 1) * (g + REST + o)),
        plogp=Formula(
            (P - 1) * (L + gap(m_s)) + (n_s - 1) * largest(gap(m_s), send(m_s) + receive(m_s)),
            printed=(P - 1) * (L + gap(m_s)) + (n_s - 1) * gap(m_s),
            erratum="An inner process of the chain spends o_r + o_s on each segment, which the gap need not cover "
            "(4.2.1 has g ≥ o_s and g ≥ o_r only, and Theorem 5.3 reckons with g < o_s + o_r). Table 4.11 has "
            "max{g, o_s + o_r + γ m_s} for the same chain; with γ = 0 they must agree.",
        ),
        segmented="message",
    ),
    CollectiveModel(
        "bcast",
        "binomial",
        "Binomial",
        "4.3",
        hockney=Formula(steps * n_s * SEGMENT),
        loggp=Formula(steps * (L + 2 * o + REST + (n_s - 1) * (g + REST))),
        plogp=Formula(steps * (L + n_s * gap(m_s))),
        segmented="message",
    ),
    CollectiveModel(
        "bcast",
        "binary",
        "Binary",
        "4.3",
        hockney=Formula(2 * (levels + n_s - 2) * SEGMENT),
        loggp=Formula((levels - 1) * (L + g + 2 * (o + REST)) + (n_s - 1) * (o + 2 * (g + REST))),
        plogp=Formula((levels - 1) * (L + 2 * gap(m_s)) + (n_s - 1) * FORWARD),
        segmented="message",
    ),
    CollectiveModel(
        "bcast",
        "split_binary",
        "Split-binary",
        "4.3",
        hockney=Formula(2 * (levels + half_n_s - 2) * SEGMENT + alpha + beta * (m / 2)),
        loggp=Formula(
            (levels - 1) * (L + g + 2 * (o + REST))
            + (half_n_s - 1) * (o + 2 * (g + REST))
            + L
            + 2 * o
            + (m / 2 - one_byte) * G
        ),
        plogp=Formula((levels - 1) * (L + 2 * gap(m_s)) + (half_n_s - 1) * FORWARD + L + gap(m / 2)),
        segmented="half",
        note="Each half of the message is cut; without segmentation each half is one segment.",
    ),
)
