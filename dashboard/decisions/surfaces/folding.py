"""Methods that fold: of processes beyond a power of two each first gives its data to another and gets the result back.

Where nothing but powers of two was measured, nothing shows what such a method takes elsewhere; how it is made does: as
long as for the power of two below, and two exchanges of the whole message more. On a network that is nearly all of it
(fast-ethernet-16: with powers of two alone measured the fastest methods were 30 % off at other sizes, and are 4 %);
within one node it is too much (sixteen-cores: 14 % before and after). So times are halfway, by their logarithm, between
that and what the measured sizes say. Other collectives gained nothing (reduce) or could not be tried.
"""

from collections.abc import Iterable

import numpy as np

from dashboard.domain.algorithm_names import normal
from dashboard.domain.arrays import BoolArray, FloatArray, IntArray

EXCHANGES = 2
SHARE = 0.5
_FOLD = {"allreduce": ("recursive_doubling", "rabenseifner")}


def folding_of(collective: object, algorithms: Iterable[str]) -> BoolArray:
    """Which methods of a collective fold, by the names of their algorithms."""
    names = _FOLD.get(str(collective), ())
    return np.array([normal(name, str(collective)) in names for name in algorithms], dtype=np.bool_)


def power_below(sizes: IntArray) -> IntArray:
    """The largest power of two that is not above each size."""
    return np.asarray(2 ** np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64))


def folded(logs: FloatArray, below: FloatArray, exchange: FloatArray) -> FloatArray:
    """Expected logarithms of times at sizes that are no powers of two.

    Parameters
    ----------
    logs, below
        What measured powers of two say of these sizes and of the powers of two below: ``(method, comm_size,
        message_size)``.
    exchange
        Likewise of two processes, which exchange one message; one communicator size.
    """
    with np.errstate(invalid="ignore"):
        as_made = np.logaddexp(below, np.log(EXCHANGES) + exchange)
    return np.asarray((1 - SHARE) * logs + SHARE * as_made)
