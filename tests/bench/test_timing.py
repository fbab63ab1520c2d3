"""Clocks, common starts, loops and trains of messages, on a clock that is played: what takes how long is known."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.benchmarks.ranks import parameters
from dashboard.benchmarks.ranks.cellrun import Outcome, _beaten
from dashboard.benchmarks.ranks.timing import Group, Window, clock_offset, looped, synchronised

#: Seconds that the clock of rank 0 is ahead.
AHEAD = 7.0


class Played:
    """The clock of rank 1 of two, whose communicator it is, too: reading it takes 10 ns, a message what is said."""

    def __init__(self, *messages: tuple[float, float]) -> None:
        self.now, self._messages = 100.0, iter(messages)

    def read(self) -> float:
        self.now += 1e-8
        return self.now

    def Get_rank(self) -> int:
        return 1

    def Get_size(self) -> int:
        return 2

    def allgather(self, value: object) -> list[object]:
        return [False, value]

    def Send(self, _clock: Any, _to: int) -> None:
        there, self._back = next(self._messages)
        self.now += there
        self._answer = self.now + AHEAD

    def Recv(self, clock: Any, _source: int) -> None:
        self.now += self._back
        clock[0] = self._answer

    def Bcast(self, begin: Any, _root: int) -> None:
        begin[0] = self.now + AHEAD + 1e-3

    def Allreduce(self, sent: Any, received: Any, op: object) -> None:
        received[:] = sent

    def Sendrecv(self, *_: object) -> None:
        self.now += 1e-6


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    """The clock that is read instead of the machine's; each message of it takes 5 µs, and the sixth fewest."""
    clock = Played(*[(2e-5, 1e-5)] * 5, (4e-6, 4e-6), *[(1e-5, 3e-5)] * 14)
    monkeypatch.setattr("time.perf_counter", clock.read)
    yield clock
    monkeypatch.undo()


def test_how_far_clocks_are_apart_is_told_by_the_quickest_answer(played: Played) -> None:
    assert clock_offset(played, same_clock=False) == pytest.approx(AHEAD, abs=1e-7)
    assert clock_offset(played, same_clock=True) == 0


def test_repetitions_start_at_a_common_time_by_the_common_clock_and_late_ones_do_not_count(played: Played) -> None:
    took = iter([1e-5, 9e-5, 1e-5, 1e-5, 1e-5, 1e-5])
    window = Window()

    def step(_turn: int) -> None:
        played.now += next(took)

    times, late = synchronised(Group(played, "maximum", AHEAD), step, 6, window)
    # What takes 90 µs from 30 µs on is over when those of 60, 90 and 120 µs should have begun.
    assert (times, late) == (pytest.approx([1e-5, 9e-5, 1e-5], abs=2e-7), 3)
    # More than a quarter came late: half as long again as is usual, and twice the slack.
    assert window.seconds == pytest.approx(1.5e-5 + 6e-5, abs=2e-7)


def test_a_loop_takes_the_operation_and_a_barrier(played: Played) -> None:
    def step(_turn: int) -> None:
        played.now += 4e-6

    assert looped(Group(played, None), step, 3, 10) == pytest.approx(5e-6, abs=1e-8)
    assert looped(Group(played, None), None, 3, 10) == pytest.approx(1e-6, abs=1e-8)


def test_a_gap_is_what_each_message_of_a_train_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Train(Played):
        def Send(self, data: Any, _to: int) -> None:
            self.now += 2e-6 + 1e-9 * data.size

        def Recv(self, _data: Any, _source: int) -> None:
            self.now += 5e-5

    train = Train()
    monkeypatch.setattr("time.perf_counter", train.read)
    gaps = parameters.gaps(parameters.Pair(train, first=True, nobody=-1), 1000)
    # What an answer takes is not theirs.
    assert gaps == pytest.approx([3e-6] * parameters.TRAIN_REPETITIONS)


def test_a_method_is_beaten_that_is_apart_from_the_best_and_half_as_slow_again() -> None:
    def outcome(middle: float, spread: float, count: int = 5) -> Outcome:
        return Outcome(list(middle * np.linspace(1 - spread, 1 + spread, count)))

    outcomes = {
        "best": outcome(1.0, 0.1),
        "little slower": outcome(1.45, 0.01),
        "slower": outcome(1.6, 0.1),
        "scattered": outcome(1.6, 0.9),
        "too few": outcome(9.0, 0.1, 4),
        DEFAULT: outcome(9.0, 0.1),
    }
    assert _beaten({Method(name): each for name, each in outcomes.items()}) == {Method("slower")}
    assert _beaten({Method("alone"): outcome(1.0, 0.1, 4)}) == set()
