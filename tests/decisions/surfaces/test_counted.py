"""What times count that were not measured, whichever methods are asked for."""

import numpy as np
import pytest

from dashboard.decisions.surfaces.counted import Counted, counted
from tests.cubes import cube_of, named

COMM, MESSAGE = np.array([2, 3, 4, 6, 8]), np.array([64, 1024])
METHODS = ["ring", "folds", "default", "chain", "tree"]
#: Microseconds for each process.
RATES = np.array([3.0, 2.0, 4.0, 5.0, 0.0])


def test_methods_of_powers_of_two_alone_are_carried_elsewhere_but_not_the_librarys_own_decision() -> None:
    times = np.broadcast_to(1e-6 * RATES[:, None, None] * COMM[:, None], (5, 5, 2)).copy()
    times[1:3, [1, 3]] = times[4] = np.nan
    cube = named(cube_of(times, COMM, MESSAGE), METHODS)
    table = Counted(cube)
    folds, default, chain, tree = (table.times(np.array([method]))[0, :, 0] for method in (1, 2, 3, 4))
    # At 3 as at 4, where it is the fastest, and 10 % more for each doubling, above the fastest one there.
    assert folds[1] == pytest.approx(9e-6 * (1 + 0.1 * np.log2(4 / 3)))
    assert default == pytest.approx(4e-6 * COMM)
    assert chain == pytest.approx(5e-6 * COMM)
    # What was measured nowhere counts as the slowest, and the fastest once more.
    assert tree == pytest.approx(np.array([5 + 2, 5 + 3, 5 + 2, 5 + 3, 5 + 2]) * 1e-6 * COMM)
    assert np.array_equal(table.times(np.arange(5)), counted(times, COMM, MESSAGE, incumbent=2))
