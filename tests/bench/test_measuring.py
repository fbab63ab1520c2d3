"""Parts of the measuring that need no MPI: the tool interface's library, message graphs, windows, when to stop."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.ranks.cellrun import Outcome, _enough, _Occ, graph_of
from dashboard.benchmarks.ranks.mpit import ToolInterface, ToolInterfaceError, loaded_library
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


def test_without_mpi_in_the_process_there_is_no_tool_interface() -> None:
    with pytest.raises(ToolInterfaceError, match="no libmpi"):
        ToolInterface()


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

    def Barrier(self) -> None:  # noqa: N802 - mpi4py's name
        self.calls.append("barrier")

    def Allreduce(self, sent: Any, received: Any, op: Any) -> None:  # noqa: N802 - mpi4py's name
        received[:] = sent


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
    ("found", "rounds", "enough"),
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
def test_repetitions_go_on_until_precise_enough_or_capped(found: Outcome, rounds: int, *, enough: bool) -> None:
    assert _enough(found, Protocol(), rounds) is enough


def test_occ_takes_the_median_barrier_off_and_drops_what_is_no_time() -> None:
    occ = _Occ(Group(None, None), Protocol("occ"))
    occ._barriers = [3.0, 1.0, 2.0]
    found = Outcome([5.0, 1.0, 2.5])
    occ.finish(found)
    assert (found.samples, found.late, found.error) == ([3.0, 0.5], 1, "")
    lost = Outcome([1.0, 2.0])
    occ.finish(lost)
    assert lost.samples == []
    assert lost.error.startswith("not resolved")
