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


def brusselator(side: int, first: int, last: int) -> Slopes:
    """Slopes of u' = 1 + u²v − 4.4u + αΔu, v' = 3.4u − u²v + αΔv on the unit square, α = 0.002, with a closed border.

    Parameters
    ----------
    side
        Points along each side; u of all points comes first, row by row, then v.
    first, last
        Components whose slopes are wanted.
    """
    points, edge = side * side, side - 1
    here = np.arange(first, last)
    of_v, place = here >= points, here % points
    of_place = place + points
    row, column = np.divmod(place, side)
    neighbours = (
        np.maximum(row - 1, 0) * side + column,
        np.minimum(row + 1, edge) * side + column,
        row * side + np.maximum(column - 1, 0),
        row * side + np.minimum(column + 1, edge),
    )
    around = np.stack(neighbours) + of_v * points
    spread = _DIFFUSION * max(edge, 1) ** 2

    def of(_: float, y: FloatArray) -> FloatArray:
        u, v = y[place], y[of_place]
        reaction = np.where(of_v, _B * u - u * u * v, _A + u * u * v - (_B + 1) * u)
        return np.asarray(reaction + spread * (y[around].sum(axis=0) - 4 * y[here]))

    return of


def dense(size: int, seed: int, first: int, last: int) -> Slopes:
    """Slopes of some components of y' = A y; A is seeded, n × n, and its spectrum is in the left half-plane."""
    # Rows whose sums of magnitudes stay below the diagonal's: Gershgorin's circles are all left of 0.
    matrix = np.random.default_rng(seed).uniform(-1, 1, (size, size)) / size
    np.fill_diagonal(matrix, -2.0)
    rows = np.ascontiguousarray(matrix[first:last])
    return lambda _, y: np.asarray(rows @ y)


def slopes(system: str, size: int, seed: int, first: int, last: int) -> Slopes:
    """Slopes of the components `first` to `last` of a system, by its name."""
    return brusselator(side_of(size), first, last) if system == "sparse" else dense(size, seed, first, last)


def start(system: str, size: int) -> FloatArray:
    """Values of a system at time 0; of the sparse one u = 0.5 + y, v = 1 + 5x."""
    if system != "sparse":
        return 1 + np.arange(size) / size
    places = np.linspace(0, 1, side_of(size))
    x, y = np.meshgrid(places, places)
    return np.concatenate([0.5 + y.ravel(), 1 + 5 * x.ravel()])


def side_of(size: int) -> int:
    """N of a sparse system of 2 N² unknowns."""
    return math.isqrt(size // 2)
