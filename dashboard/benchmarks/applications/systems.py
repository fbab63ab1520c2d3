"""The systems that applications solve: linear ones, a reaction with diffusion, and a linear one in time."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dashboard.domain.arrays import FloatArray

#: Of the Brusselator: reaction and diffusion.
_A, _B, _DIFFUSION = 1.0, 3.4, 0.002
#: y' = f(t, y) for some components, of all values.
Slopes: TypeAlias = Callable[[float, FloatArray], FloatArray]


def linear(size: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """A seeded matrix with a dominant diagonal (a_ii = 1 + Σ|a_ij|), n × n, and the right-hand side, n."""
    generator = np.random.default_rng(seed)
    matrix = generator.uniform(-1, 1, (size, size))
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, 1 + np.abs(matrix).sum(axis=1))
    return matrix, generator.uniform(-1, 1, size)


class Brusselator:
    """u' = 1 + u²v − 4.4u + αΔu, v' = 3.4u − u²v + αΔv on the unit square, α = 0.002, nothing flows over the border.

    Parameters
    ----------
    side
        Points along each side; u of all points comes first, row by row, then v.
    first, last
        Components whose slopes are wanted.
    """

    def __init__(self, side: int, first: int, last: int) -> None:
        points = side * side
        self._here = np.arange(first, last)
        self._of_v = self._here >= points
        self._u, self._v = self._here % points, self._here % points + points
        row, column = np.divmod(self._here % points, side)
        start = self._of_v * points
        edge = side - 1
        self._around = np.stack(
            [
                start + np.maximum(row - 1, 0) * side + column,
                start + np.minimum(row + 1, edge) * side + column,
                start + row * side + np.maximum(column - 1, 0),
                start + row * side + np.minimum(column + 1, edge),
            ]
        )
        self._spread = _DIFFUSION * max(edge, 1) ** 2

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        """As `Slopes`."""
        del t
        u, v = y[self._u], y[self._v]
        reaction = np.where(self._of_v, _B * u - u * u * v, _A + u * u * v - (_B + 1) * u)
        return np.asarray(reaction + self._spread * (y[self._around].sum(axis=0) - 4 * y[self._here]))

    @staticmethod
    def start(side: int) -> FloatArray:
        """Values at time 0: u = 0.5 + y, v = 1 + 5x."""
        places = np.linspace(0, 1, side)
        x, y = np.meshgrid(places, places)
        return np.concatenate([0.5 + y.ravel(), 1 + 5 * x.ravel()])


class Dense:
    """y' = A y with a seeded n × n matrix whose spectrum is in the left half-plane; slopes of some components."""

    def __init__(self, size: int, seed: int, first: int, last: int) -> None:
        # Rows whose sums of magnitudes stay below the diagonal's: Gershgorin's circles are all left of 0.
        matrix = np.random.default_rng(seed).uniform(-1, 1, (size, size)) / size
        np.fill_diagonal(matrix, -2.0)
        self._rows = np.ascontiguousarray(matrix[first:last])

    def __call__(self, t: float, y: FloatArray) -> FloatArray:
        """As `Slopes`."""
        del t
        return np.asarray(self._rows @ y)

    @staticmethod
    def start(size: int) -> FloatArray:
        """Values at time 0."""
        return 1 + np.arange(size) / size


def slopes(system: str, size: int, seed: int, first: int, last: int) -> Slopes:
    """Slopes of the components `first` to `last` of a system, by its name."""
    return Brusselator(side_of(size), first, last) if system == "sparse" else Dense(size, seed, first, last)


def start(system: str, size: int) -> FloatArray:
    """Values of a system at time 0."""
    return Brusselator.start(side_of(size)) if system == "sparse" else Dense.start(size)


def side_of(size: int) -> int:
    """N of a sparse system of 2 N² unknowns."""
    return math.isqrt(size // 2)
