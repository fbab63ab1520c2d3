"""Scatters: Table 4.4."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula.symbols import (
    G,
    L,
    P,
    alpha,
    beta,
    g,
    gap,
    k,
    largest,
    log2_p,
    m,
    o,
    one_byte,
    series,
    steps,
    two_to,
)

REST = (m - one_byte) * G
WHOLE_ROUNDS = (
    "Where P is no power of two the number of messages, log2 P, is no whole number; the binomial tree has ⌈log2 P⌉ "
    "levels, as the LogGP and PLogP lines of the same table say."
)

#: Time of all rounds of a binomial tree whose messages carry whole subtrees, down or (time reversed) up.
SUBTREES = L + 2 * o + (m * (P - 1) - steps * one_byte) * G + (steps - 1) * largest(L + 2 * o, g)
SUBTREES_PLOGP = series(0, steps - 1, L + gap(two_to(k) * m))


def linear(collective: str, table: str, erratum: str) -> CollectiveModel:
    """A scatter, or time reversed a gather, of a message between the root and each other process."""
    return CollectiveModel(
        collective,
        "linear",
        "Linear",
        table,
        hockney=Formula((P - 1) * (alpha + beta * m)),
        loggp=Formula(
            L + 2 * o + REST + (P - 2) * (REST + g), printed=L + 2 * o + (P - 2) * (REST + g), erratum=erratum
        ),
        plogp=Formula(L + (P - 1) * gap(m)),
    )


MODELS = (
    linear(
        "scatter",
        "4.4",
        "P - 1 messages leave the root and each takes (m - 1) G, but the formula counts P - 2 of them: for "
        "P = 2 it is L + 2 o, without the message's bytes (equation 4.3 has L + 2 o + (m - 1) G). The linear "
        "broadcast of Table 4.3 with one segment is the same schedule and has P - 1.",
    ),
    CollectiveModel(
        "scatter",
        "binomial",
        "Binomial",
        "4.4",
        hockney=Formula(
            steps * alpha + (P - 1) * beta * m, printed=log2_p * alpha + (P - 1) * beta * m, erratum=WHOLE_ROUNDS
        ),
        loggp=Formula(SUBTREES),
        plogp=Formula(SUBTREES_PLOGP),
    ),
)
