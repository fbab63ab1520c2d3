"""A Gaussian process over both sizes: smooth surfaces through times that scatter.

Its covariance is a product of one over the communicator size and one over the message size, so that tables of some
hundred sizes cost next to nothing (Saatçi 2012, chapter 5). What it is made of, lengths and noise, is told by the
likelihood of the measured times (Rasmussen and Williams 2006, 5.4.1), and averaged over what is nearly as likely.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import ThreadpoolController

from dashboard.decisions.surfaces.lines import POWER_OF_TWO, kind_of, scale
from dashboard.domain.arrays import FloatArray, IntArray

LENGTHS = (2.0, 4.0, 8.0)
"""Doublings of a size over which a method's times go together."""

ALIKE_KINDS = (1.0, 0.98, 0.9, 0.6)
"""Correlation of a method's times at powers of two with those at other communicator sizes."""

NOISES = (0.001, 0.01, 0.05, 0.2, 1.0)
"""Variance of what does not go together, in that of what does."""

CENTRE = 5.0
"""Doublings about which the line turns that all is a deviation from, and in which it rises by its deviation."""

JUDGES = 24
"""Fastest methods that the likelihood is worked out of."""

LIKELY, MOST = 3.0, 12
"""What is averaged over: of the most likely, those whose logarithm of the likelihood is no more below the greatest."""

_SLACK = 1e-9

#: Some hundred sizes: threads wait for each other longer than they compute, on a busy machine a slice each.
_LIBRARIES = ThreadpoolController()


@dataclass(frozen=True, eq=False)
class _Covariance:
    """What a covariance is made of, its eigenvalues with the noise, and the eigenvectors along either size."""

    rows: tuple[float, float]
    columns: float
    values: FloatArray
    vectors: tuple[FloatArray, FloatArray]

    def turned(self, logs: FloatArray) -> FloatArray:
        """What times are along the eigenvectors."""
        return np.asarray(self.vectors[0].T @ logs @ self.vectors[1])

    def weights(self, logs: FloatArray) -> FloatArray:
        """What measured times weigh in those at other sizes."""
        return np.asarray(self.vectors[0] @ (self.turned(logs) / self.values) @ self.vectors[1].T)


class Process:
    """Smooth surfaces of methods that were measured at the same communicator sizes.

    Parameters
    ----------
    logs
        Logarithms of times, ``(method, comm_size, message_size)``, finite.
    comm_sizes, message_sizes
        Ascending.
    """

    def __init__(self, logs: FloatArray, comm_sizes: IntArray, message_sizes: IntArray) -> None:
        self._sizes = comm_sizes, message_sizes
        self._mean = logs.mean(axis=(1, 2), keepdims=True)
        off = logs - self._mean
        # Only what tells methods apart decides which is the fastest.
        apart = off - off.mean(axis=0) if len(off) > 1 else off
        fastest = np.argsort(self._mean[:, 0, 0], kind="stable")[:JUDGES]
        with _LIBRARIES.limit(limits=1, user_api="blas"):
            likely = _likely(apart[fastest], comm_sizes, message_sizes)
            shares = np.exp([less - likely[0][0] for less, _ in likely])
            self._shares = [
                (share, each, each.weights(off)) for share, (_, each) in zip(shares / shares.sum(), likely, strict=True)
            ]

    def at(self, comm_sizes: IntArray, message_sizes: IntArray) -> FloatArray:
        """Logarithms of the times expected at other sizes, ``(method, comm_size, message_size)``."""
        logs: FloatArray = np.zeros((len(self._mean), comm_sizes.size, message_sizes.size)) + self._mean
        with _LIBRARIES.limit(limits=1, user_api="blas"):
            for share, made, weights in self._shares:
                rows = _rows(comm_sizes, self._sizes[0], *made.rows)
                logs += share * (rows @ weights @ _columns(self._sizes[1], message_sizes, made.columns))
        return logs


def _likely(logs: FloatArray, comm_sizes: IntArray, message_sizes: IntArray) -> list[tuple[float, _Covariance]]:
    """The most likely covariances, each after the logarithm of its likelihood, a mean over the methods."""
    kinds = kind_of(comm_sizes, POWER_OF_TWO)
    alike = ALIKE_KINDS if (kinds != kinds[0]).any() else ALIKE_KINDS[:1]
    rows = [(made, np.linalg.eigh(_rows(comm_sizes, comm_sizes, *made))) for made in itertools.product(LENGTHS, alike)]
    columns = [(made, np.linalg.eigh(_columns(message_sizes, message_sizes, made))) for made in LENGTHS]
    judged = []
    for (row, (low, first)), (column, (high, second)) in itertools.product(rows, columns):
        without = _Covariance(row, column, np.maximum(np.outer(low, high), 0.0), (first, second))
        squares = np.square(without.turned(logs))
        for noise in NOISES:
            values = without.values + noise
            sums = np.maximum((squares / values).sum(axis=(1, 2)), _SLACK)
            likelihood = -(values.size * np.log(sums).mean() + np.log(values).sum()) / 2
            judged.append((float(likelihood), replace(without, values=values)))
    judged.sort(key=lambda each: -each[0])
    return [each for each in judged[:MOST] if each[0] > judged[0][0] - LIKELY]


def _rows(sizes: IntArray, others: IntArray, length: float, alike: float) -> FloatArray:
    same = kind_of(sizes, POWER_OF_TWO)[:, None] == kind_of(others, POWER_OF_TWO)
    return _covariance(sizes, others, length, np.where(same, 1.0, alike))


def _columns(sizes: IntArray, others: IntArray, length: float) -> FloatArray:
    return _covariance(sizes, others, length, np.ones(1))


def _covariance(sizes: IntArray, others: IntArray, length: float, alike: FloatArray) -> FloatArray:
    """A straight line, and Matérn's of order 3/2 about it (Rasmussen and Williams 2006, 4.17)."""
    first, second = (scale(each)[:, None] / np.log(2) for each in (sizes, others))
    away = np.sqrt(3.0) * np.abs(first - second.T) / length
    line = 1.0 + (first - CENTRE) * (second - CENTRE).T / CENTRE**2
    return np.asarray(alike * (1.0 + away) * np.exp(-away) + line)
