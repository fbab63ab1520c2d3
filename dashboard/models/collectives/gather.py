"""Gathers: Table 4.5, equations 4.11, 4.13 and 4.14."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.collectives.scatter import SUBTREES, SUBTREES_PLOGP, linear
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    cases,
    g,
    gap,
    less,
    log2_p,
    m,
    m_s,
    no_bytes,
    o,
    one_byte,
    steps,
)

REST = (m - one_byte) * G
FIRST = (m_s - one_byte) * G
SECOND = g + (m - m_s - one_byte) * G
ONE_BY_ONE = (P - 1) * (2 * L + 4 * o + FIRST) + SECOND
ONE_BY_ONE_PLOGP = (P - 1) * (2 * L + gap(m_s) + gap(no_bytes)) + gap(m - m_s)
IN_A_ROW_PLOGP = 2 * L + gap(no_bytes) + (P - 1) * (gap(m_s) + gap(m - m_s))

MODELS = (
    linear(
        "gather",
        "4.5",
        "As in the linear scatter of Table 4.4, the bytes of one message are missing: for P = 2 the "
        "printed formula is L + 2 o, where one message takes L + 2 o + (m - 1) G (equation 4.3).",
    ),
    CollectiveModel(
        "gather",
        "linear_sync",
        "Linear with sync.",
        "4.5",
        hockney=Formula(alpha + (P - 1) * (2 * alpha + beta * m)),
        loggp=Formula(
            cases(less(SECOND, 2 * L + 3 * o), ONE_BY_ONE, 2 * L + 3 * o + (P - 1) * (o + (m - 2 * one_byte) * G + g)),
            printed=cases(
                less(g + m * G, L + 2 * (o + m_s * G)), ONE_BY_ONE, (P - 1) * (o + g + (m - 2 * one_byte) * G + L + o)
            ),
            erratum="Equation 4.13 has 2 L + 3 o + (P - 1)(o + (m - 2) G + g), and the text derives that: a go-ahead "
            "(L + 2 o), P - 1 times both segments in a row, and L + o for the last. The table counts the latency for "
            "every process, though in this case the messages follow each other without a pause. And the condition "
            "does not separate the cases: the duration is the larger of both, which are equal where the second "
            "segment takes as long as go-ahead and latency, 2 L + 3 o; at the printed condition it would jump by up "
            "to (P - 2) times the difference. The text compares times that begin at different moments.",
        ),
        plogp=Formula(
            cases(less(gap(m - m_s), 2 * L + gap(no_bytes)), ONE_BY_ONE_PLOGP, IN_A_ROW_PLOGP),
            printed=cases(less(gap(m - m_s), L + gap(no_bytes)), ONE_BY_ONE_PLOGP, IN_A_ROW_PLOGP),
            erratum="The duration is the larger of both cases, which are equal at g(m - m_s) = 2 L + g(0); at the "
            "printed L + g(0) it jumps down by (P - 2) L, though the message has become longer.",
        ),
        segmented="first",
        note="The segment size is that of the first of the two segments; 0: the whole message, then an empty one. "
        "LogGP's gap between the segments of two processes is taken for o (equation 4.13): up to (P - 1)(g - o) too "
        "low.",
    ),
    CollectiveModel(
        "gather",
        "binomial",
        "Binomial",
        "4.5",
        hockney=Formula(
            steps * alpha + (P - 1) * beta * m,
            printed=log2_p * alpha + P * beta * m,
            erratum="The root receives the blocks of the P - 1 others, not P; for P = 2 it receives one message of m "
            "bytes, α + β m, where the table has α + 2 β m. The scatter of Table 4.4 is the same "
            "schedule with time reversed and has (P - 1) β m. For other than powers of two the rounds are ⌈log2 "
            "P⌉.",
        ),
        loggp=Formula(
            SUBTREES,
            printed=(steps - 1) * (L + 2 * o) + ((2 * P - 1) * m - steps * one_byte) * G,
            erratum="For P = 2 the table has (3 m - 1) G, without latency or overhead, for one message that takes "
            "L + 2 o + (m - 1) G. The scatter of Table 4.4 is the same schedule with time reversed: "
            "⌈log2 P⌉ messages, (P - 1) m bytes.",
        ),
        plogp=Formula(SUBTREES_PLOGP),
    ),
)
