"""Barriers: Table 4.2."""

from dashboard.models.collectives.model import CollectiveModel, Formula
from dashboard.models.formula import Expression
from dashboard.models.formula.symbols import (
    L,
    P,
    alpha,
    cases,
    g,
    gap,
    log2_p,
    no_bytes,
    o,
    power_of_two,
    receive,
    steps,
    whole_steps,
)

GAP = gap(no_bytes)
RECEIVE = receive(no_bytes)

NOT_POWER = (
    "Where P is no power of two, section 4.1.2 first folds the processes beyond adj_size, the largest power of two "
    "below P, into the others, then takes log2(adj_size) = ⌊log2 P⌋ rounds and a last one to let them go: ⌊log2 P⌋ + 2 "
    "rounds, not ⌈log2 P⌉ + 2. Figure 4.10 shows 4 rounds for 6 processes; the simulation takes as many."
)


def _doubling(step: Expression, printed_rounds: Expression = steps) -> Formula:
    power = power_of_two(P)
    return Formula(
        cases(power, log2_p * step, (whole_steps + 2) * step),
        printed=cases(power, log2_p * step, (printed_rounds + 2) * step),
        erratum=NOT_POWER,
    )


MODELS = (
    CollectiveModel(
        "barrier",
        "flat_tree",
        "Flat-Tree",
        "4.2",
        hockney=Formula(
            P * alpha,
            printed=(P - 1) * alpha,
            erratum="Section 4.3.4 models it as the time to receive one zero-byte message and to send P - 1 of them, "
            "α + (P - 1) α. For P = 2 the barrier is two messages one after the other, 2 α, where (P - "
            "1) α is one.",
        ),
        loggp=Formula((P - 2) * (g + o) + 2 * (L + 2 * o), best=(P - 2) * g + 2 * (L + 2 * o)),
        plogp=Formula(P * (GAP + RECEIVE) + 2 * (L - RECEIVE), best=P * GAP + 2 * L),
        note="The messages to the root are taken to arrive as fast as one alone (section 4.3.4).",
    ),
    CollectiveModel(
        "barrier",
        "double_ring",
        "Double Ring",
        "4.2",
        hockney=Formula(2 * P * alpha),
        loggp=Formula(2 * P * (L + o + g)),
        plogp=Formula(2 * P * (L + GAP)),
    ),
    CollectiveModel(
        "barrier",
        "recursive_doubling",
        "Recursive Doubling",
        "4.2",
        hockney=_doubling(alpha, log2_p),
        loggp=_doubling(L + o + g),
        plogp=_doubling(L + GAP),
    ),
    CollectiveModel(
        "barrier",
        "bruck",
        "Bruck",
        "4.2",
        hockney=Formula(steps * alpha),
        loggp=Formula(steps * (L + o + g)),
        plogp=Formula(steps * (L + GAP)),
    ),
)
