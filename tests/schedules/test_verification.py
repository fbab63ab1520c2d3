"""Every algorithm does what its collective promises; and what verifies them sees what is wrong."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.schedules import (
    ALL,
    Algorithm,
    Call,
    DeadlockError,
    NotApplicableError,
    Program,
    ScheduleError,
    schedule,
)
from dashboard.schedules.call import ROOTED
from dashboard.schedules.expectation import ELEMENT_SIZE, multiply, values
from dashboard.schedules.grid import cases
from dashboard.schedules.in_process import Job, run
from dashboard.schedules.rank import COMBINE, COPY, RECEIVE, SEND, WAIT
from dashboard.schedules.verification import Case, check, failure
from loaders.collectives import REDUCING

#: One, two, odd, even, a power of two and its neighbours; the command runs all of 1 to 17 and 23.
PROCESSES = (1, 2, 3, 6, 7, 8, 13)
_MOST_CASES = 32


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.title.replace(" ", "-"))
def test_results_inputs_and_guards_over_a_grid(each: Algorithm) -> None:
    for size in PROCESSES:
        grid = list(cases(each, [size]))
        step = 1 + len(grid) // _MOST_CASES
        for case in islice(grid, size % step, None, step):
            try:
                assert failure(case) == "", str(case)
            except NotApplicableError:
                # Only what is made of parts that refuse has no fallback of its own.
                assert each.also is not None, str(case)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_call_in_any_order(data: st.DataObject) -> None:
    each = data.draw(st.sampled_from(ALL))
    size = data.draw(st.integers(1, 12))
    call = Call(
        each.collective,
        size,
        0 if each.collective == "barrier" else data.draw(st.integers(0, 40)),
        data.draw(st.integers(0, size - 1)) if each.collective in ROOTED else 0,
        ELEMENT_SIZE,
        in_place=each.collective not in ("barrier", "bcast") and data.draw(st.booleans()),
        commutative=each.collective not in REDUCING or data.draw(st.booleans()),
    )
    segments = st.integers(ELEMENT_SIZE, 20 * ELEMENT_SIZE)
    parameters = {
        parameter.name: data.draw(
            segments if parameter.name.endswith("segment_size") else st.integers(max(1, parameter.least), 9)
        )
        for parameter in each.parameters
        if isinstance(parameter.default, int)
    }
    case = Case(call, each.name, parameters, eager=data.draw(st.booleans()), seed=data.draw(st.integers(0, 99)))
    assert failure(case) == "", str(case)


def rows(*lines: tuple[int, ...]) -> list[list[int]]:
    return [[*line, *[0] * (8 - len(line))] for line in lines]


def job(lines: list[list[int]]) -> list[Job]:
    return [Job(lines, (np.zeros((4, 2, 2)), np.zeros((4, 2, 2)), np.zeros((4, 2, 2))))]


def test_a_deadlock_is_shown_with_who_waits_for_what() -> None:
    # Both send first: fine as long as messages are eager.
    both = [
        job(rows((SEND, 1 - rank, 0, 0, 0, 1), (WAIT, 0), (RECEIVE, 1 - rank, 0, 1, 0, 1), (WAIT, 2)))
        for rank in (0, 1)
    ]
    run(both, multiply, eager=True)
    with pytest.raises(DeadlockError, match=r"2 ranks: 0 waits to send to 1 \(tag 0\), 1 waits to send to 0"):
        run(both, multiply, eager=False)
    with pytest.raises(DeadlockError, match=r"1 ranks: 1 waits for a message of 0 \(tag 3\)"):
        run([job([]), job(rows((RECEIVE, 0, 3, 1, 0, 1), (WAIT, 0)))], multiply)


def test_messages_that_do_not_match_are_shown() -> None:
    with pytest.raises(ScheduleError, match="1 message that nobody takes, of 0 to 1 with tag 5"):
        run([job(rows((SEND, 1, 5, 0, 0, 1))), job([])], multiply)
    with pytest.raises(ScheduleError, match="1 receive that nothing comes for, of 0 to 1"):
        run([job([]), job(rows((RECEIVE, 0, 0, 1, 0, 1)))], multiply)
    with pytest.raises(ScheduleError, match="0 sends 1 a message of 2 elements for 1"):
        run([job(rows((SEND, 1, 0, 0, 0, 2))), job(rows((RECEIVE, 0, 0, 1, 0, 1), (WAIT, 0)))], multiply)
    with pytest.raises(ScheduleError, match="elements 3 \\+ 2 of 4"):
        run([job(rows((SEND, 1, 0, 0, 3, 2))), job([])], multiply)


def changed(case: Case, change: dict[int, int], operation: int) -> str:
    """What verification says of a case whose first operation of a kind, of the last rank that has it, is changed."""
    made = schedule(case.call, case.algorithm, **case.parameters)
    programs = list(made.programs)
    rank = max(number for number, each in enumerate(programs) if (each.rows[:, 0] == operation).any())
    lines = programs[rank].rows.copy()
    line = int(np.flatnonzero(lines[:, 0] == operation)[0])
    for column, value in change.items():
        lines[line, column] = value
    programs[rank] = Program(lines, programs[rank].scratch)
    with pytest.raises(ScheduleError) as caught:
        check(case, programs)
    return str(caught.value)


def test_wrong_schedules_are_seen() -> None:
    bcast = Case(Call("bcast", 5, 9, 0, ELEMENT_SIZE), "pipeline", {"segment_size": 2 * ELEMENT_SIZE})
    # A segment that is received in another's place; one that is written beyond the end; a message to nobody.
    assert "is wrong" in changed(bcast, {4: 1}, RECEIVE)
    assert "of 9" in changed(bcast, {4: 8}, RECEIVE)
    assert "waits for a message" in changed(bcast, {2: 7}, RECEIVE)
    reduced = Case(Call("allreduce", 4, 8, 0, ELEMENT_SIZE, commutative=False), "recursive_doubling")
    # Operands the other way round, the wrong target of a copy, and an operand that is left out.
    assert "is wrong" in changed(reduced, {3: 1, 6: 2}, COMBINE)
    assert "is wrong" in changed(reduced, {4: 1, 5: 7}, COPY)
    assert "is wrong" in changed(reduced, {5: 0}, COMBINE)


def test_an_input_that_is_written_to_is_seen() -> None:
    case = Case(Call("allreduce", 2, 8, 0, ELEMENT_SIZE), "recursive_doubling")
    assert "its input was written to" in changed(case, {3: 2, 6: 0}, COMBINE)


def test_the_operation_of_the_verification_keeps_order_only() -> None:
    first, second, third = (values(rank, 50) for rank in range(3))

    def product(*factors: np.ndarray) -> np.ndarray:
        result = factors[-1].copy()
        for factor in factors[-2::-1]:
            multiply(factor, result)
        return result

    assert (product(first, second) != product(second, first)).any(axis=(1, 2)).all()
    right = product(first, second)
    multiply(right, last := third.copy())
    assert (last == product(first, second, third)).all()


def test_a_commutative_order_of_operands_is_seen_by_matrices() -> None:
    # What refuses operations that do not commute does so for a reason.
    for name in ("pipeline", "binary", "binomial", "flat_tree", "k_chain"):
        case = Case(Call("reduce", 7, 5, 3, ELEMENT_SIZE), name)
        programs = schedule(case.call, name).programs
        with pytest.raises(ScheduleError, match="is wrong"):
            check(replace(case, call=replace(case.call, commutative=False)), programs)
