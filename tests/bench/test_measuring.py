"""Parts of the measuring that need no MPI: the tool interface's library, message graphs, windows, when to stop."""

import ctypes
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from dashboard.benchmarks.campaigns.protocol import Cell, Protocol
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks import waiting
from dashboard.benchmarks.ranks.cellrun import Outcome, _enough, _in_turns, _Occ, _Skampi, _timed, graph_of
from dashboard.benchmarks.ranks.mpit import PeerCounters, ToolInterface, ToolInterfaceError, loaded_library
from dashboard.benchmarks.ranks.timing import Group, Window, after_barrier

MAPS = """\
7f00-7f10 r-xp 00000000 08:01 1    /usr/lib/x86_64-linux-gnu/libc.so.6
7f10-7f20 r-xp 00000000 08:01 2    /opt/my mpi/lib/libmpi.so.40
7f20-7f30 rw-p 00000000 00:00 0    [heap]
"""


def test_the_tool_interface_is_that_of_the_library_in_this_process() -> None:
    assert loaded_library(MAPS) == "/opt/my mpi/lib/libmpi.so.40"
    with pytest.raises(ToolInterfaceError, match="no libmpi"):
        loaded_library(MAPS.replace("libmpi.so", "libmpx.so"))
    # This process has loaded none.
    with pytest.raises(ToolInterfaceError, match="no libmpi"):
        ToolInterface()


def test_counters_are_bound_to_a_handle_behind_which_there_is_nothing() -> None:
    # 6.0.0a1 (bb1c85d) looks there for flags of the communicator: MPI_T_pvar_handle_alloc gives 59 where they are odd.
    place, bound = (ctypes.c_void_p * 2)(7, 9), []

    class Tools:
        def call(self, name: str, *given: Any) -> None:
            if name == "MPI_T_pvar_handle_alloc":
                bound.append(bytes(given[2])[:512])
                given[4]._obj.value = 3

    PeerCounters(cast("ToolInterface", Tools()), ["sent"], ctypes.addressof(place), 3)
    assert bound == [bytes(ctypes.c_void_p(7)) + bytes(504)]


def test_a_graph_tells_who_sent_what_to_whom() -> None:
    linear = graph_of([[(1, 1, 8), (2, 1, 8)], [], []])
    chain = graph_of([[(1, 1, 8)], [(2, 1, 8)], []])
    assert (linear["messages"], linear["bytes"], linear["busiest"]) == (2, 16, 2)
    assert (chain["messages"], chain["bytes"], chain["busiest"]) == (2, 16, 1)
    assert linear["digest"] != chain["digest"]
    assert linear == graph_of([[(2, 1, 8), (1, 1, 8)], [], []])


def test_the_window_widens_while_processes_come_late_and_has_an_end() -> None:
    window = Window()
    first = window.seconds
    for _ in range(20):
        window.adapt(1e-5, late=3, repetitions=3)
    assert first < window.seconds < 2e-3
    for _ in range(20):
        window.adapt(1e-5, late=0, repetitions=3)
    assert window.seconds == pytest.approx(1.5e-5 + first)


class Alone:
    """A communicator of one process that writes down what is called on it."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def Barrier(self) -> None:
        self.calls.append("barrier")

    def Allreduce(self, sent: Any, received: Any, op: Any) -> None:
        received[:] = sent

    def bcast(self, value: Any, root: int) -> Any:
        return value


def test_where_processes_share_cores_each_repetition_starts_after_a_barrier() -> None:
    comm = Alone()
    group = Group(comm, "maximum", crowded=True)
    assert group.starts_by_barrier
    times = after_barrier(group, lambda turn: comm.calls.append(f"call {turn}"), 2)
    assert comm.calls == ["barrier", "call 0", "barrier", "call 1"]
    assert (times > 0).all()
    # A network between them takes longer than they need to give way to each other.
    assert not Group(comm, "maximum", crowded=True, one_node=False).starts_by_barrier
    assert not Group(comm, "maximum").starts_by_barrier


@pytest.mark.parametrize(
    ("outcome", "rounds", "enough"),
    [
        (Outcome([1.0] * 9, tries=9), 3, True),
        (Outcome([1.0] * 9, tries=9), 2, False),
        (Outcome([1.0] * 8, tries=8), 4, False),
        (Outcome([1.0, 2.0, 3.0, 4.0] * 3, tries=12), 4, False),
        (Outcome([1.0, 2.0, 3.0, 4.0] * 15, tries=60), 20, True),
        (Outcome([], tries=60, late=60), 20, True),
        (Outcome([1.0], tries=1, spent=6.0), 1, True),
    ],
)
def test_repetitions_go_on_until_precise_enough_or_capped(outcome: Outcome, rounds: int, *, enough: bool) -> None:
    assert _enough(outcome, Protocol(), rounds) is enough


@pytest.mark.parametrize(("most", "rounds"), [(3, 2), (10, 3), (12, 3)])
def test_no_more_repetitions_are_made_than_may_be(most: int, rounds: int) -> None:
    group, bound = Group(Alone(), "maximum", crowded=True), SimpleNamespace(call=lambda *_: None, ready=lambda *_: None)
    team, cell, method = SimpleNamespace(group=group), Cell("bcast", 2, 8), Method("binomial")
    team.methods = SimpleNamespace(bind=lambda *_: bound)
    protocol = Protocol(min_repetitions=most, max_repetitions=most, rounds=rounds)
    outcomes = {method: Outcome()}
    _in_turns(cast("Any", team), cell, cast("Any", None), protocol, outcomes, np.random.default_rng(1), _Skampi(group))
    assert (outcomes[method].tries, len(outcomes[method].samples)) == (most, most)


def test_occ_takes_the_median_barrier_off_and_drops_what_is_no_time() -> None:
    occ = _Occ(Group(None, None), Protocol("occ"))
    occ._barriers = [3.0, 1.0, 2.0]
    outcome = Outcome([5.0, 1.0, 2.5])
    occ.finish(outcome)
    assert (outcome.samples, outcome.late, outcome.error) == ([3.0, 0.5], 1, "")
    lost = Outcome([1.0, 2.0])
    occ.finish(lost)
    assert lost.samples == []
    assert lost.error.startswith("not resolved")


@pytest.mark.parametrize(
    ("share", "crowded", "stolen"), [(0.05, False, False), (0.4, False, True), (0.4, True, False), (None, False, False)]
)
def test_repetitions_during_which_a_process_waited_for_its_core_are_left_out(
    monkeypatch: pytest.MonkeyPatch, share: float | None, *, crowded: bool, stolen: bool
) -> None:
    clock = iter([10.0, 12.0])
    counts = iter([1.0, 1.0 + 2.0 * (float("nan") if share is None else share)])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    monkeypatch.setattr(waiting, "waited", lambda: next(counts))
    outcome = Outcome([3e-6])
    _timed(Group(Alone(), "maximum", crowded=crowded), outcome, 2, lambda: ([1e-6, 2e-6], 0))
    assert (outcome.samples, outcome.stolen) == (([3e-6], [1e-6, 2e-6]) if stolen else ([3e-6, 1e-6, 2e-6], []))
    assert (outcome.tries, outcome.spent) == (2, 2.0)


def test_the_process_that_waited_longest_is_named_by_its_rank_in_the_job() -> None:
    class Three(Alone):
        def allgather(self, value: Any) -> list[Any]:
            return [("a", [(0.1, 1.0), (0.0, 0.0)]), ("b", [(0.1, 0.2), (0.0, 0.0)]), ("c", [(float("nan"), 1.0)] * 2)]

    longest = waiting.longest(Three(), [4, 6, 9], [(0.1, 1.0), (0.0, 0.0)])
    assert longest == [{"seconds": 0.1, "of": 0.2, "rank": 6, "node": "b"}, {}]
