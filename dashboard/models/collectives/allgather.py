"""Allgathers: Table 4.6, equations 4.15 to 4.17."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula import Expression
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    delta,
    g,
    gap,
    k,
    largest,
    log2_p,
    m,
    o,
    one_byte,
    series,
    smallest,
    steps,
    two_to,
    whole_steps,
)

EXCHANGE = o + largest(g, L + o) - one_byte * G
COPY = P * delta * m


def _known(rounds: Expression) -> Expression:
    """Blocks that a process has learnt after the rounds, as the table writes it."""
    return series(0, rounds - 1, two_to(k))


MODELS = (
    CollectiveModel(
        "allgather",
        "bruck",
        "Bruck",
        "4.6",
        hockney=Formula(
            steps * alpha + (P - 1) * beta * m + COPY,
            printed=log2_p * alpha + P * beta * m + COPY,
            erratum="A process receives the blocks of the P - 1 others, not P: the LogGP line and recursive doubling, "
            "which is this algorithm for powers of two (section 4.1.2), have P - 1. For other than powers of two "
            "section 4.1.2 takes ⌈log2 P⌉ rounds.",
        ),
        loggp=Formula(
            steps * EXCHANGE + (P - 1) * m * G + COPY,
            printed=whole_steps * EXCHANGE + (P - 1) * m * G + COPY,
            erratum="The algorithm takes ⌈log2 P⌉ rounds (section 4.1.2); ⌊log2 P⌋ rounds reach 2^⌊log2 P⌋ < P "
            "processes.",
        ),
        plogp=Formula(
            series(0, steps - 1, L + gap(smallest(two_to(k), P - two_to(k)) * m)) + COPY,
            printed=series(0, whole_steps - 1, L + gap(two_to(k) * m)) + L + gap((P - _known(whole_steps)) * m) + COPY,
            erratum="After ⌊log2 P⌋ rounds a process holds 2^⌊log2 P⌋ blocks, its own and 2^⌊log2 P⌋ - 1 received "
            "ones; the table forgets its own and sends one block too many in the last round, and has a last round "
            "even where P is a power of two and nothing is left to send: for P = 2 it has 2 L + 2 g(m), two messages.",
        ),
    ),
    CollectiveModel(
        "allgather",
        "recursive_doubling",
        "Recursive doubling",
        "4.6",
        hockney=Formula(log2_p * alpha + (P - 1) * beta * m),
        loggp=Formula(log2_p * EXCHANGE + (P - 1) * m * G),
        plogp=Formula(series(0, log2_p - 1, L + gap(two_to(k) * m))),
        requires="power_of_two",
    ),
    CollectiveModel(
        "allgather",
        "ring",
        "Ring",
        "4.6",
        hockney=Formula((P - 1) * (alpha + beta * m)),
        loggp=Formula((P - 1) * (L + 2 * o + (m - one_byte) * G)),
        plogp=Formula((P - 1) * (L + gap(m))),
    ),
    CollectiveModel(
        "allgather",
        "neighbor_exchange",
        "Neighbor exchange",
        "4.6",
        hockney=Formula(alpha + beta * m + (P / 2 - 1) * (alpha + beta * (2 * m))),
        loggp=Formula(P / 2 * (L + 2 * o + (2 * m - one_byte) * G) - m * G),
        plogp=Formula(
            L + gap(m) + (P / 2 - 1) * (L + gap(2 * m)),
            printed=L + gap(m) + (P / 2 - 1) * gap(2 * m),
            erratum="Each of the P / 2 rounds needs what the round before has brought (section 4.1.2), so each takes a "
            "whole message time L + g (equation 4.4); the table has the latency once. The Hockney and LogGP lines "
            "have it P / 2 times.",
        ),
        requires="even",
    ),
)
