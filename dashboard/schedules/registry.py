"""All algorithms, by collective and name: the one place that commands, executors and models ask."""

from collections.abc import Mapping
from itertools import chain

from dashboard.domain.errors import meant
from dashboard.schedules import (
    allgather,
    allreduce,
    alltoall,
    barrier,
    bcast,
    circulant,
    compositions,
    negabinary,
    orthogonal,
    radix,
    reduce,
    reduce_scatter,
    rooted,
    scan,
)
from dashboard.schedules.algorithm import Algorithm, by_collective
from dashboard.schedules.errors import ScheduleError

_MODULES = (
    *(barrier, bcast, rooted, allgather, alltoall, reduce, reduce_scatter, allreduce, scan),
    *(radix, circulant, negabinary, compositions, orthogonal),
)

ALL: tuple[Algorithm, ...] = tuple(chain.from_iterable(module.ALGORITHMS for module in _MODULES))
#: By collective, then name.
ALGORITHMS: Mapping[str, Mapping[str, Algorithm]] = by_collective(ALL)


def algorithm_of(collective: str, name: str) -> Algorithm:
    """One algorithm of one collective.

    Raises
    ------
    ScheduleError
        When there is none; the message lists those there are.
    """
    for what, wanted, known in (
        ("own method of a collective", collective, ALGORITHMS),
        (f"{collective} algorithm", name, ALGORITHMS.get(collective, {})),
    ):
        if wanted not in known:
            raise ScheduleError(f"there is no {what} {wanted!r}, known are {', '.join(known)}{meant(wanted, known)}")
    return ALGORITHMS[collective][name]
