"""Elements with gaps stand where MPI has them, and what writes between them is seen."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.schedules import ALL, Call, WrongResultError, algorithm_of, schedule
from dashboard.schedules.datatypes import DATATYPES, Datatype, Elements, GuardedElements
from dashboard.schedules.expectation import before, values
from dashboard.schedules.grid import cases
from dashboard.schedules.verification import Case, failure

TYPES = tuple(DATATYPES.values())


def test_columns_of_a_matrix_are_elements_that_stand_among_each_other() -> None:
    matrix = np.arange(4 * 9, dtype=np.int8).reshape(4, 9)
    memory = matrix.copy().reshape(-1).view(np.uint8)
    column = Datatype("column", ("i1",) * 4, (0, 9, 18, 27), 1)
    every = Elements(column, memory, 0, 9)
    assert np.array_equal(every[3:5].read().reshape(2, 4), matrix[:, 3:5].T)
    every[0:2][...] = every[7:9].copy()
    matrix[:, :2] = matrix[:, 7:]
    assert np.array_equal(memory.view(np.int8).reshape(4, 9), matrix)


def test_an_element_may_begin_before_its_place() -> None:
    known = DATATYPES["resized"]
    assert (known.size, known.lower, known.span) == (16, -4, 28)
    two = Elements.new(known, 2)
    assert len(two.memory) == 32 + 28
    two.write(values(0, 2))
    assert two.memory[:4].view(np.int32)[0] == values(0, 1)[0, 0, 0]
    assert len(two.raw) == len(two.memory) - 4


@pytest.mark.parametrize("known", [each for each in TYPES if each.size < each.extent], ids=lambda each: each.name)
def test_a_byte_in_a_gap_is_seen(known: Datatype) -> None:
    held = before(Call("allgather", 2, 3))[0]
    buffers = GuardedElements(held, 0, known)
    buffers.check(0, held.output)
    output = buffers.memory[1]
    gap = next(place for place in range(known.extent) if place not in _bytes_of(known))
    output.memory[output.origin + gap] ^= 1
    with pytest.raises(WrongResultError, match="written beyond its output, or into gaps of it"):
        buffers.check(0, held.output)


def _bytes_of(known: Datatype) -> set[int]:
    return {place + byte for place, each in known.numbers for byte in range(each.itemsize)}


def test_wrong_elements_and_inputs_are_told_apart() -> None:
    held = before(Call("allgather", 2, 3))[0]
    buffers = GuardedElements(held, 0, DATATYPES["column"])
    changed = held.output.copy()
    changed[4] += 1
    with pytest.raises(WrongResultError, match="rank 0: element 4 of 6 is wrong"):
        buffers.check(0, changed)
    buffers.memory[0][1:2].write(values(5, 1))
    with pytest.raises(WrongResultError, match="its input was written to"):
        buffers.check(0, held.output)


def test_cases_have_every_type_at_any_distance() -> None:
    every = [case for size in (5, 8) for case in cases(algorithm_of("scan", "linear_segmented"), [size])]
    assert {case.datatype for case in every} == {"contiguous", *DATATYPES}
    assert all(case.datatype != "contiguous" for case in every if case.call.element_size == 16)
    for distance in (2, 3, 4, 5, 10):
        assert len({case.datatype for case in every[::distance]}) > 3, distance


def test_segments_are_cut_by_the_bytes_of_data_not_by_the_extent() -> None:
    sizes = {each.name: each.size for each in TYPES}
    assert sizes == {"vector": 16, "indexed": 8, "struct": 21, "resized": 16, "nested": 10, "column": 4, "empty": 0}
    made = schedule(Call("bcast", 2, 21, element_size=sizes["struct"]), "pipeline", segment_size=3 * 21 + 20)
    assert len(made.messages) == 7
    # Nothing is in an element of no bytes, and it is still an element.
    assert len(schedule(Call("bcast", 2, 5, element_size=0), "pipeline", segment_size=1).messages) == 5


@pytest.mark.parametrize("known", TYPES, ids=lambda each: each.name)
def test_every_collective_with_every_type(known: Datatype) -> None:
    for each in {each.collective: each for each in ALL}.values():
        call = Call(each.collective, 4, 0 if each.collective == "barrier" else 6, element_size=known.size)
        case = Case(call, each.name, datatype=known.name)
        assert failure(case) == "", str(case)
        assert failure(replace(case, eager=False)) == "", str(case)
