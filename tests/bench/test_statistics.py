"""When repetitions suffice."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks import cellrun
from dashboard.benchmarks.ranks.statistics import completion, inner, relative_error
from dashboard.benchmarks.ranks.timing import Group


def test_the_lowest_and_the_highest_quartile_are_dropped() -> None:
    assert inner([9, 1, 2, 100, 3, 4, 5, 0]).tolist() == [2, 3, 4, 5]
    assert inner([3, 1, 2]).tolist() == [1, 2, 3]


def test_the_relative_standard_error_is_that_of_the_inner_half() -> None:
    # Inner half 2, 3, 4, 5: mean 3.5, sample deviation sqrt(5/3), error of the mean sqrt(5/12).
    assert relative_error([0, 1, 2, 3, 4, 5, 9, 100]) == pytest.approx(np.sqrt(5 / 12) / 3.5)
    assert relative_error([1.0]) == relative_error([0.0, 0.0]) == float("inf")
    # Two are enough to tell one: mean 2, sample deviation sqrt(2), error of the mean 1.
    assert relative_error([1.0, 3.0]) == pytest.approx(0.5)


@given(st.lists(st.floats(1e-6, 1e-3), min_size=8, max_size=40), st.floats(1e-2, 10))
def test_one_wild_repetition_does_not_change_what_suffices(samples: list[float], factor: float) -> None:
    wild = [*samples, max(samples) * 1e6]
    assert relative_error([sample * factor for sample in samples]) == pytest.approx(relative_error(samples))
    assert inner(wild).max() <= max(samples)


def test_late_repetitions_are_left_out() -> None:
    planned = np.array([0.0, 10.0, 20.0])
    times, late = completion(np.array([0.0, 13.0, 20.5]), np.array([2.0, 15.0, 23.0]), planned, tolerance=1.0)
    assert (times.tolist(), late) == ([2.0, 3.0], 1)
    times, late = completion(np.array([1.0, 11.5]), np.array([2.0, 15.0]), planned[:2], tolerance=1.0)
    assert (times.tolist(), late) == ([2.0], 1)


def test_when_all_are_late_the_time_is_from_the_last_start() -> None:
    planned = np.array([0.0, 10.0])
    times, late = completion(np.array([5.0, 14.0]), np.array([6.0, 17.0]), planned, tolerance=1.0)
    assert (times.tolist(), late) == ([1.0, 3.0], 2)


def test_where_none_started_in_time_it_is_timed_after_a_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    way = cellrun._Skampi(Group(comm=None, maximum=None))
    monkeypatch.setattr(cellrun, "after_barrier", lambda *_: np.array([4e-4, 5e-4]))
    monkeypatch.setattr(cellrun, "synchronised", lambda *_: (np.array([1e-5, 1e-5]), 2))
    assert way.batch(Method("linear"), lambda _: None, 2) == ([4e-4, 5e-4], 2)
    monkeypatch.setattr(cellrun, "synchronised", lambda *_: (np.array([3e-4]), 1))
    assert way.batch(Method("linear"), lambda _: None, 2) == ([3e-4], 1)
