"""Algorithms newer than the dissertation: their formulas by simulation, and what their authors promise."""

import math
from collections import Counter

import pytest

from dashboard.models.p2p import Hockney
from dashboard.models.programs import programs_from
from dashboard.models.simulator import simulate
from dashboard.schedules import ALL, Algorithm, Call, schedule
from dashboard.schedules.algorithm import FORMULA
from dashboard.schedules.circulant import receives, skips
from dashboard.schedules.negabinary import bine, partner
from dashboard.schedules.steps import steps
from dashboard.schedules.topologies import k_nomial

NETWORK = Hockney(alpha=1e-3, beta=1e-5, gamma=2e-5, delta=1e-6)
WITH_FORMULA = [each for each in ALL if each.formula]


def seconds(each: Algorithm, processes: int, count: int, radix: int, segments: int) -> tuple[float, float]:
    """Duration by the formula and by simulation."""
    names = {parameter.name for parameter in each.parameters}
    given = {"radix": radix} if "radix" in names else {}
    if segments > 1:
        given["segment_size"] = count // segments
    made = schedule(Call(each.collective, processes, count), each.name, **given)
    network = {name: getattr(NETWORK, name) for name in FORMULA[:4]}
    sizes = {"P": processes, "m": count, "k": radix, "n_s": segments}
    by_formula = eval(each.formula, {"log": math.log, "ceil": lambda x: math.ceil(round(x, 9)), **network, **sizes})  # noqa: S307
    return by_formula, simulate(programs_from(made), NETWORK).time


@pytest.mark.parametrize("each", WITH_FORMULA, ids=lambda each: each.title.replace(" ", "-"))
def test_formulas_are_what_the_simulated_schedule_takes(each: Algorithm) -> None:
    any_number = each.name == "circulant"
    radixes = (2, 3, 4) if "radix" in each.values({}) else (2,)
    for radix in radixes:
        for processes in (2, 3, 7, 12, 16) if any_number else (radix, radix**2, radix**3):
            for segments in (1, 6) if (each.collective, each.name) == ("bcast", "circulant") else (1,):
                expected, simulated = seconds(each, processes, processes * 60, radix, segments)
                assert simulated == pytest.approx(expected), (radix, processes, segments)


def test_with_a_radix_of_two_they_are_the_usual_ones() -> None:
    for processes in range(2, 40):
        for virtual in range(processes):
            # A parent lacks the lowest bit of its child.
            assert k_nomial(2)(virtual, processes).parent == (virtual & (virtual - 1) if virtual else -1)
    for collective, newer, usual in (
        ("allreduce", "recursive_multiplying", "recursive_doubling"),
        ("allgather", "k_bruck", "bruck"),
        ("alltoall", "k_bruck", "bruck"),
    ):
        for processes in (4, 7, 8):
            call = Call(collective, processes, 24)
            graphs = [
                Counter(map(tuple, schedule(call, name, **given).messages.tolist()))
                for name, given in ((newer, {"radix": 2}), (usual, {}))
            ]
            # Of a number that is no power of two both fold, but not the same ranks.
            assert graphs[0] == graphs[1] or (processes == 7 and collective == "allreduce")


@pytest.mark.parametrize("processes", [2, 3, 5, 8, 13, 64, 100, 1000, 4096])
def test_a_process_receives_what_is_new_and_sends_what_it_has(processes: int) -> None:
    # The conditions of the publication; all ranks of few processes, some of many.
    skip = skips(processes)
    rounds = len(skip) - 1
    for virtual in range(1, processes, max(1, processes // 60)):
        received = receives(virtual, processes)
        first = max(received)
        assert sorted(received) == sorted({*range(-rounds, 0), first} - {first - rounds})
        known = {first - rounds}
        for place in range(rounds):
            assert receives((virtual + skip[place]) % processes, processes)[place] in known
            known.add(received[place])
    assert [receives(skip[place] % processes, processes)[place] for place in range(rounds)] == list(range(rounds))


@pytest.mark.parametrize("processes", [3, 6, 8, 11])
def test_a_circulant_broadcast_takes_as_few_rounds_as_any_can(processes: int) -> None:
    for segments in (1, 2, 5, 9):
        made = schedule(Call("bcast", processes, segments), "circulant", segment_size=1)
        last = max(step for rank in steps(made) for step in rank)
        assert last == segments - 1 + math.ceil(math.log2(processes))


def test_partners_by_negabinary_numbers_are_mutual_and_nearer() -> None:
    for processes in (8, 64, 1024):
        last = processes.bit_length() - 1
        for step in range(last):
            others = [partner(rank, step, processes) for rank in range(processes)]
            assert [partner(other, step, processes) for other in others] == list(range(processes))
            apart = min((others[0] - 0) % processes, (0 - others[0]) % processes)
            assert apart == abs(1 - (-2) ** (step + 1)) // 3 <= 2**step
    # Figure of the eight: 0 reaches 3, then 0 and 3 reach 7 and 4, then 1, 6, 5 and 2.
    assert bine(0, 8).children == (3, 7, 1)
    assert bine(3, 8).children == (4, 2)
