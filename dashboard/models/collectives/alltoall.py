"""All-to-alls: Table 4.7."""

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
    g,
    gap,
    largest,
    log2_p,
    m,
    o,
    one_byte,
    power_of_two,
    receive,
    send,
    steps,
    two_to,
    whole_steps,
)

REST = (m - one_byte) * G
HALF = P / 2 * m
LEFT = (P - two_to(whole_steps)) * m
TURN = delta * P * m


def _round(size: Expression) -> Expression:
    return o + (size - one_byte) * G + delta * size + largest(g, L + o)


EACH_ROUND = _round(HALF)
BRUCK_PLOGP = steps * L + whole_steps * (gap(HALF) + delta * HALF) + TURN

MODELS = (
    CollectiveModel(
        "alltoall",
        "linear",
        "Linear",
        "4.7",
        hockney=Formula((P - 1) * (alpha + beta * m)),
        loggp=Formula(
            L + 2 * o + REST + (P - 2) * largest(g + REST, 2 * o),
            printed=L + 2 * o + REST + 2 * (P - 1) * g,
            erratum="Every process sends (P - 1) m bytes, but the formula has (m - 1) G once, so that for long "
            "messages a process would send faster than G allows (4.2.1); the PLogP line has the whole gap, bytes "
            "included, for every message. For P = 2 it is the pairwise exchange and takes L + 2 o + (m - 1) G, "
            "without 2 g more.",
        ),
        plogp=Formula(
            L + gap(m) + (P - 2) * largest(gap(m), send(m) + receive(m)),
            printed=L + 2 * (P - 1) * gap(m),
            erratum="Sends and receives are counted one after the other, against the full-duplex assumption (4.3) that "
            "the Hockney line and the pairwise exchange are made under. For P = 2 both algorithms are one exchange, "
            "L + g(m), where this line has L + 2 g(m). What does serialize is the processor, o_s + o_r per process.",
        ),
    ),
    CollectiveModel(
        "alltoall",
        "pairwise",
        "Pairwise exchange",
        "4.7",
        hockney=Formula((P - 1) * (alpha + beta * m)),
        loggp=Formula((P - 1) * (L + o + REST + g)),
        plogp=Formula((P - 1) * (L + gap(m))),
    ),
    CollectiveModel(
        "alltoall",
        "bruck",
        "Bruck",
        "4.7",
        hockney=Formula(steps * alpha + whole_steps * (beta + delta) * HALF + TURN + (beta + delta) * LEFT),
        loggp=Formula(
            cases(power_of_two(P), log2_p * EACH_ROUND + TURN, whole_steps * EACH_ROUND + TURN + _round(LEFT))
        ),
        plogp=Formula(
            cases(power_of_two(P), BRUCK_PLOGP, BRUCK_PLOGP + gap(LEFT) + delta * LEFT),
            printed=BRUCK_PLOGP + gap(LEFT) + delta * LEFT,
            erratum="Where P is a power of two nothing is left after log2 P rounds, but the formula adds g(0), a "
            "message of no bytes that is never sent; the LogGP line has a case of its own.",
        ),
        note="The copies count one turn of all blocks, δ P m; section 4.1.2 turns them before and after.",
    ),
)
