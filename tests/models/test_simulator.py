"""The simulator against time lines drawn by hand, and schedules that must deliver what the collective promises."""

import itertools

import pytest

from dashboard.models.collectives.model import CollectiveModel
from dashboard.models.errors import ModelError, NotApplicableError
from dashboard.models.p2p import Hockney, LogGP, PLogP
from dashboard.models.programs import programs_of
from dashboard.models.registry import ALL, MODELS
from dashboard.models.simulator import Both, Receive, Send, Work, simulate

HOCKNEY = Hockney(alpha=1e-3, beta=1e-5, gamma=2e-5, delta=1e-6)
LOGGP = LogGP(latency=10e-3, overhead=1e-3, gap=3e-3, gap_per_byte=1e-5, gamma=2e-5)
PLOGP = PLogP(10e-3, (1, 101), (3e-3, 4e-3), (1e-3, 1e-3), (2e-3, 2e-3), gamma=2e-5)


def test_one_message_takes_the_message_time() -> None:
    for network in (HOCKNEY, LOGGP, PLOGP):
        run = simulate([[Send(1, 101)], [Receive(0)]], network)
        assert run.time == pytest.approx(float(network.message_time(101)))
        assert [message[:2] for message in run.messages] == [(0, 1)]
        # Who did what with whom, as time lines show it.
        assert [(*event[:2], *event[4:]) for event in run.events] == [(0, "send", 1, 101, 0), (1, "receive", 0, 101, 0)]


def test_the_sender_may_go_on_as_in_figures_4_13_to_4_15() -> None:
    programs = [[Send(1, 101), Send(2, 101)], [Receive(0)], [Receive(0)]]
    # Hockney: after alpha + beta m; LogGP: after g + (m - 1) G; PLogP: after g(m).
    for network, again in ((HOCKNEY, 1e-3 + 101e-5), (LOGGP, 3e-3 + 100e-5), (PLOGP, 4e-3)):
        run = simulate(programs, network)
        assert run.messages[1].start == pytest.approx(again)
        assert run.time == pytest.approx(again + float(network.message_time(101)))


def test_a_receiver_takes_one_message_after_the_other() -> None:
    programs = [[Receive(1), Receive(2)], [Send(0, 101)], [Send(0, 101)]]
    for network, between in ((HOCKNEY, 1e-3 + 101e-5), (LOGGP, 3e-3 + 100e-5), (PLOGP, 4e-3)):
        ends = [message.end for message in simulate(programs, network).messages]
        assert ends == pytest.approx([float(network.message_time(101)), float(network.message_time(101)) + between])


def test_exchanging_takes_as_long_as_receiving() -> None:
    programs = [[Both((Send(1, 101),), (Receive(1),))], [Both((Send(0, 101),), (Receive(0),))]]
    for network in (HOCKNEY, LOGGP, PLOGP):
        assert simulate(programs, network).time == pytest.approx(float(network.message_time(101)))


def test_a_processor_does_one_thing_at_a_time() -> None:
    network = LogGP(latency=1e-4, overhead=5e-3, gap=1e-4, gamma=1e-5)
    # Two sends of 5 ms each, two receives of 5 ms each, and 1 ms of work.
    programs = [
        [Both((Send(1, 1), Send(2, 1)), (Receive(1), Receive(2))), Work(100)],
        [Send(0, 1), Receive(0)],
        [Send(0, 1), Receive(0)],
    ]
    assert simulate(programs, network).time == pytest.approx(21e-3)


def test_under_hockney_nothing_is_taken_in_while_computing() -> None:
    programs = [[Receive(1), Work(100), Receive(2)], [Send(0, 100)], [Send(0, 100)]]
    assert simulate(programs, HOCKNEY).time == pytest.approx(2 * (1e-3 + 100e-5) + 100 * 2e-5)
    # LogP's port takes the second message meanwhile.
    assert simulate(programs, LOGGP).time < simulate(programs, HOCKNEY).time + 12e-3


def test_programs_that_do_not_match_are_refused() -> None:
    with pytest.raises(ModelError, match="process 0 waits for ever for a message of 1"):
        simulate([[Receive(1)], []], LOGGP)
    with pytest.raises(ModelError, match="nobody takes"):
        simulate([[Send(1, 5)], []], LOGGP)
    with pytest.raises(ModelError, match="nobody takes"):
        simulate([[Send(1, 5)], []], HOCKNEY)


def test_split_binary_broadcast_is_figure_4_17() -> None:
    # Seven processes, 2 x 3 segments, Hockney: process 6 gets its first segment after four times alpha + beta m_s and
    # its third after eight, then halves are exchanged.
    run = simulate(programs_of("bcast", "split_binary", 7, 600, 100), HOCKNEY)
    segment, half = 1e-3 + 100e-5, 1e-3 + 300e-5
    last = [message.end for message in run.messages if message.to == 6 and message.size == 100]
    assert last == pytest.approx([4 * segment, 6 * segment, 8 * segment])
    assert run.time == pytest.approx(8 * segment + half)


def received(collective: str, algorithm: str, processes: int) -> list[float]:
    """Bytes that each process receives of messages of 60 bytes in segments of 7."""
    run = simulate(programs_of(collective, algorithm, processes, 60, 7), LOGGP)
    return [sum(message.size for message in run.messages if message.to == r) for r in range(processes)]


@pytest.mark.parametrize("processes", [2, 3, 5, 8, 12])
def test_everybody_receives_what_the_collective_promises(processes: int) -> None:
    others = processes - 1
    for algorithm in MODELS["bcast"]:
        assert received("bcast", algorithm, processes) == pytest.approx([0, *[60] * others])
    for algorithm in ("bruck", "ring"):
        assert received("allgather", algorithm, processes) == pytest.approx([60 * others] * processes)
    for algorithm in ("linear", "pairwise"):
        assert received("alltoall", algorithm, processes) == pytest.approx([60 * others] * processes)
    for algorithm in MODELS["gather"]:
        assert received("gather", algorithm, processes)[0] == pytest.approx(60 * others)
    for algorithm in ("flat_tree", "pipeline", "binomial", "binary"):
        assert sum(received("reduce", algorithm, processes)) == pytest.approx(60 * others)


@pytest.mark.parametrize("each", ALL, ids=lambda each: f"{each.collective}-{each.algorithm}")
def test_what_one_process_contributes_reaches_all_who_need_it(each: CollectiveModel) -> None:
    # Who has heard, directly or not, of whom: a message tells what its sender had heard before it left.
    collective, algorithm = each.collective, each.algorithm
    for processes in (2, 4, 6, 7, 8):
        if not each.applies(processes):
            continue
        heard = [{r} for r in range(processes)]
        run = simulate(programs_of(collective, algorithm, processes, 64, 16), HOCKNEY)
        events = sorted(
            itertools.chain(
                ((message.start, 1, message) for message in run.messages),
                ((message.end, 0, message) for message in run.messages),
            ),
            key=lambda event: event[:2],
        )
        sent: dict[object, set[int]] = {}
        for _, starts, message in events:
            if starts:
                sent[message] = set(heard[message.source])
            else:
                heard[message.to] |= sent[message]
        everybody = set(range(processes))
        if collective in ("barrier", "allgather", "alltoall", "reduce_scatter", "allreduce"):
            assert heard == [everybody] * processes
        elif collective in ("gather", "reduce"):
            assert heard[0] == everybody
        elif collective == "scan":
            assert all(heard[r] >= set(range(r + 1)) for r in range(processes))
        else:
            assert all(0 in known for known in heard)


def test_a_schedule_for_a_wrong_number_of_processes_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="powers of two of processes; found 6"):
        programs_of("allgather", "recursive_doubling", 6, 10)
    assert simulate(programs_of("bcast", "binomial", 1, 10), HOCKNEY).time == 0
