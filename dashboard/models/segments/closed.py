"""Closed forms of the optimal segment size: Tables 5.1 to 5.4, theorems 5.1, 5.2 and 5.6, equation 5.11."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.domain.arrays import FloatArray
from dashboard.domain.models import ModelName
from dashboard.models.errors import ModelError, ParameterError
from dashboard.models.formula import Expression
from dashboard.models.formula.symbols import G, P, alpha, beta, g, gamma, levels, m, m_s, o, one_byte, root
from dashboard.models.formula.written import Written, sign


@dataclass(frozen=True)
class Segments:
    """Optimal segment size of one algorithm under Hockney or LogP / LogGP."""

    #: What it is for, and where it is printed.
    collective: str
    algorithm: str
    model: ModelName
    table: str
    #: Where the derivative is zero: one form for each side of a max in the formula, the network's first. Empty:
    #: segmentation never pays.
    candidates: tuple[Expression, ...] = ()
    #: What the table prints, where that is wrong or not all.
    printed: tuple[Expression, ...] | None = None
    #: Why.
    erratum: str = ""

    def written(self, *, as_published: bool = False) -> tuple[Written, ...]:
        """The forms as mathematics."""
        forms = self.printed if as_published and self.printed is not None else self.candidates
        return tuple(m_s.written + sign("=") + each.written for each in forms)


def _root(above: Expression, below: Expression) -> Expression:
    return root(m * above / below)


BYTE = one_byte * G
COMPUTE = beta + gamma
NETWORK = _root(g - BYTE, (P - 2) * G + (P - 1) * gamma)
PIPE_HOCKNEY = _root(alpha, (P - 2) * COMPUTE)
PIPE_LOGGP = _root(2 * o - BYTE, (P - 2) * (G + gamma))
BINARY_LOGGP = _root(o + 2 * (g - BYTE), 2 * (levels - 2) * G)

ONE_SIDE = (
    "Only the side of the max where the processor is the bottleneck is given; with the network's gap, "
    "g ≥ 2 o + γ m_s, the derivative is (P - 2) G + (P - 1) γ - (m / m_s²)(g - G)."
)

CLOSED = (
    Segments("bcast", "linear", "hockney", "5.1"),
    Segments("bcast", "linear", "loggp", "5.1"),
    Segments("bcast", "pipeline", "hockney", "5.1", (_root(alpha, (P - 2) * beta),)),
    Segments("bcast", "pipeline", "loggp", "5.1", (_root(o + g - BYTE, (P - 2) * G),)),
    Segments("bcast", "binomial", "hockney", "5.1"),
    Segments("bcast", "binomial", "loggp", "5.1"),
    Segments(
        "bcast",
        "binary",
        "hockney",
        "5.1",
        (_root(alpha, (levels - 2) * beta),),
        printed=(root(2 * m * alpha / ((levels - 2) * beta)),),
        erratum="Table 4.3 has T = 2 (⌈log2(P+1)⌉ + m/m_s - 2)(α + β m_s), so "
        "dT/dm_s = 2 (⌈log2(P+1)⌉ - 2) β - 2 m α / m_s², and the 2 cancels. Table 5.2 has it without for the "
        "same tree.",
    ),
    Segments("bcast", "binary", "loggp", "5.1", (BINARY_LOGGP,)),
    Segments("bcast", "split_binary", "hockney", "5.1", (_root(alpha, 2 * (levels - 2) * beta),)),
    Segments("bcast", "split_binary", "loggp", "5.1", (_root(o + 2 * (g - BYTE), 4 * (levels - 2) * G),)),
    Segments("reduce", "flat_tree", "hockney", "5.2"),
    Segments(
        "reduce",
        "flat_tree",
        "loggp",
        "5.2",
        printed=(root(m * ((P - 1) * (o - BYTE) / G)),),
        erratum="The printed size weighs the overhead of more segments against (m_s - 1) G before the sum, which "
        "Table 4.8 counts twice; without it the derivative is -(P - 1)(m / m_s²)(max{g, o} - G) < 0 and no size is "
        "optimal, as under Hockney.",
    ),
    Segments("reduce", "pipeline", "hockney", "5.2", (PIPE_HOCKNEY,)),
    Segments("reduce", "pipeline", "loggp", "5.2", (NETWORK, PIPE_LOGGP), printed=(PIPE_LOGGP,), erratum=ONE_SIDE),
    Segments("reduce", "binomial", "hockney", "5.2"),
    Segments("reduce", "binomial", "loggp", "5.2"),
    Segments("reduce", "binary", "hockney", "5.2", (_root(alpha, (levels - 2) * COMPUTE),)),
    Segments(
        "reduce",
        "binary",
        "loggp",
        "5.2",
        (BINARY_LOGGP, _root(3 * o - 2 * BYTE, 2 * (levels - 2) * (G + gamma))),
        printed=(_root(g - BYTE, 2 * gamma), _root(o - BYTE, 2 * gamma)),
        erratum="Derived from Table 4.8 with the later segments multiplied by the levels, so that P drops out; and the "
        "second form follows not even from that, whose derivative with max = 3 o + 2 γ m_s is "
        "-(m / m_s²)(3 o - G), without a zero.",
    ),
    Segments("allreduce", "ring_segmented", "hockney", "5.3", (PIPE_HOCKNEY,)),
    Segments(
        "allreduce",
        "ring_segmented",
        "loggp",
        "5.3",
        (NETWORK, _root(o - BYTE, (P - 2) * (G + gamma))),
        printed=(_root(g - BYTE, (P - 2) * G), _root(o - BYTE, (P - 2) * G - gamma)),
        erratum="Derived without the γ m_s that the first P - 1 steps compute (the Hockney line of Table 4.10 "
        "has it): the derivative gains (P - 1) γ.",
    ),
    Segments("scan", "linear_segmented", "hockney", "5.4", (PIPE_HOCKNEY,)),
    Segments(
        "scan", "linear_segmented", "loggp", "5.4", (NETWORK, PIPE_LOGGP), printed=(PIPE_LOGGP,), erratum=ONE_SIDE
    ),
)
BY_NAME = {(each.collective, each.algorithm, each.model): each for each in CLOSED}


def closed_form(collective: str, algorithm: str, model: ModelName) -> Segments:
    """Closed form of one algorithm.

    Raises
    ------
    ModelError
        When there is none: the algorithm is not segmented, or the model is PLogP, whose optimum is searched for.
    """
    if (collective, algorithm, model) not in BY_NAME:
        there = sorted({f"{c} {a}" for c, a, _ in BY_NAME})
        raise ModelError(
            f"there is no closed form for {collective} {algorithm} under {model}; under hockney and loggp there are "
            f"{', '.join(there)}"
        )
    return BY_NAME[collective, algorithm, model]


def exponential_gap_segment(
    rate: float, comm_size: Any, message_size: Any, *, as_published: bool = False
) -> FloatArray:
    """Optimal segment size of the split-binary broadcast under PLogP with g(m) = a exp(b m): equation 5.11.

    Parameters
    ----------
    rate
        b, 1/B, more than 0.
    comm_size, message_size
        Processes (from 2 on) and bytes.
    as_published
        Equation 5.11 to the letter. The derivative that it solves is
        2 (⌈log2(P+1)⌉ - 2) b m_s² + m b m_s - m = 0; it has - 1 for - 2, and its denominator lacks b.

    Raises
    ------
    ParameterError
        When the rate is not positive.
    """
    if not rate > 0:
        raise ParameterError(f"the gap's rate is {rate:g} per byte; expected more than 0")
    size = np.asarray(message_size, dtype=float)
    inner = np.ceil(np.log2(np.asarray(comm_size, dtype=float) + 1)) - (1 if as_published else 2)
    root = np.sqrt((size * rate) ** 2 + 8 * size * rate * inner)
    # The citardauq form of the root, for it is sound where nothing is quadratic: three processes have 1 / b.
    with np.errstate(invalid="ignore"):
        result = np.where(size > 0, 2 * size / (size * rate + root), 0.0)
    return np.asarray(result * rate if as_published else result)
