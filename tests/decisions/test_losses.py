"""What a leaf loses by a method."""

import numpy as np
import pytest

from dashboard.decisions import Method
from dashboard.decisions.measured.cases import Cases
from dashboard.decisions.measured.losses import counted, losses
from dashboard.domain.errors import NothingMeasuredError


def cases(weights: list[float]) -> Cases:
    """Three calls of three methods; the last is not in the table of the first two calls."""
    times = np.array([[1.0, 2.0, np.nan], [1.0, 3.0, np.nan], [1.0, 1.5, 1.0]])
    where = np.zeros((3, 3), dtype=np.int64)
    methods = tuple(Method(name, name) for name in "abc")
    return Cases(("comm_size",), where[:, :1], where[:, 0], times, np.array(weights), where, methods, {})


def test_a_method_that_a_table_lacks_costs_more_than_all_penalties_together() -> None:
    table, unmeasured = losses(cases([1.0, 2.0, 4.0]))
    assert table[:, :2].tolist() == [[0, 100], [0, 400], [0, 200]]
    assert table[:, 2].tolist() == [unmeasured, unmeasured, 0]
    assert unmeasured > table[:, :2].sum()


def test_calls_that_are_never_made_lose_nothing_and_do_not_count() -> None:
    given = cases([1.0, 0.0, 4.0])
    assert losses(given)[0][1].tolist() == [0, 0, 0]
    assert counted(given).tolist() == [True, False, True]
    with pytest.raises(NothingMeasuredError, match="calls none of the measured sizes"):
        counted(cases([0.0] * 3))
