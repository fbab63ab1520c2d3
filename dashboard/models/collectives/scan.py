"""Scans: Table 4.11."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.collectives.reduce import GAP_OUTSIDE
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    g,
    gamma,
    gap,
    largest,
    m,
    m_s,
    n_s,
    o,
    one_byte,
    receive,
    send,
    steps,
)

REST = (m - one_byte) * G
REST_OF_SEGMENT = (m_s - one_byte) * G

MODELS = (
    CollectiveModel(
        "scan",
        "linear",
        "Linear",
        "4.11",
        hockney=Formula((P - 1) * (alpha + beta * m + gamma * m)),
        loggp=Formula((P - 1) * (L + 2 * o + REST + gamma * m)),
        plogp=Formula((P - 1) * (L + gap(m) + gamma * m)),
    ),
    CollectiveModel(
        "scan",
        "linear_segmented",
        "Linear with segment.",
        "4.11",
        hockney=Formula((P + n_s - 2) * (alpha + beta * m_s + gamma * m_s)),
        loggp=Formula(
            (P - 1) * (L + 2 * o + REST_OF_SEGMENT + gamma * m_s)
            + (n_s - 1) * (REST_OF_SEGMENT + largest(g, 2 * o + gamma * m_s)),
            printed=(P - 1) * (L + 2 * o + REST_OF_SEGMENT + gamma * m_s)
            + (n_s - 1) * largest(g, 2 * o + REST_OF_SEGMENT + gamma * m_s),
            erratum=GAP_OUTSIDE,
        ),
        plogp=Formula(
            (P - 1) * (L + gap(m_s) + gamma * m_s)
            + (n_s - 1) * largest(gap(m_s), send(m_s) + receive(m_s) + gamma * m_s)
        ),
        segmented="message",
    ),
    CollectiveModel(
        "scan",
        "binomial",
        "Binomial",
        "4.11",
        hockney=Formula(steps * (alpha + beta * m + gamma * m)),
        loggp=Formula(steps * (L + 2 * o + REST + largest(g, o + gamma * m))),
        plogp=Formula(
            steps * (L + gap(m) + gamma * m),
            printed=steps * (L + gap(m) + largest(gap(m), send(m) + gamma * m)),
            erratum="The next send may start g(m) after the last one, and that time is over when the round's message "
            "has come, L + g(m) later: section 4.3.3 says so of equation 4.17. The max counts the gap a second time, "
            "so that long messages cost twice what the Hockney and LogGP lines have.",
        ),
    ),
)
