"""Weights of parallel Adams methods, from their definition.

Source: P. J. van der Houwen, E. Messina, Parallel Adams methods, J. Comp. Appl. Math. 101, 1999.
"""

from typing import NamedTuple

import numpy as np

from dashboard.domain.arrays import FloatArray


class Weights(NamedTuple):
    """Weights of K stages."""

    #: a_1 < … < a_K = 1.
    abscissae: FloatArray
    #: S (K × K): stage i is the last one of the step before, plus h times row i over the slopes of that step (PAB).
    predictor: FloatArray
    #: The same for PAM: weights of the slopes of the step before (K × K), and T of the slope of the stage itself (K).
    corrector: FloatArray
    implicit: FloatArray


def radau(stages: int) -> FloatArray:
    """Radau points: zeros of P_K − P_{K−1}, of Legendre's polynomials on [0, 1]."""
    coefficients = np.zeros(stages + 1)
    coefficients[-2:] = -1, 1
    points = (np.sort(np.polynomial.legendre.legroots(coefficients).real) + 1) / 2
    points[-1] = 1.0
    return np.asarray(points)


def weights(abscissae: FloatArray) -> Weights:
    """Weights for abscissae of which the last one is 1."""
    before = abscissae - 1
    implicit = np.array([_integral(np.append(before, end), end) for end in abscissae])
    predictor = np.array([_integral(before, end) for end in abscissae])
    return Weights(abscissae, predictor, implicit[:, :-1], implicit[:, -1])


def _integral(places: FloatArray, end: float) -> FloatArray:
    """Weights that integrate polynomials through values at some places from 0 to `end`."""
    powers = np.arange(places.size)
    return np.asarray(np.linalg.solve(np.vander(places, increasing=True).T, end ** (powers + 1) / (powers + 1)))
