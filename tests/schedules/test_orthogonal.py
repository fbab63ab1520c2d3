"""Grids: the layouts that the paper counts, right results for all of them and all roots, and messages of the groups."""

from collections.abc import Iterator

import pytest

from dashboard.schedules import Call, NotApplicableError, ScheduleError, schedule
from dashboard.schedules.expectation import ELEMENT_SIZE
from dashboard.schedules.layout import Grid, balanced, layouts
from dashboard.schedules.orthogonal import ALGORITHMS
from dashboard.schedules.verification import Case, failure

COLLECTIVES = [each.collective for each in ALGORITHMS]
ROOTED = ("bcast", "scatter", "gather", "reduce")


def test_there_are_as_many_layouts_as_the_paper_counts() -> None:
    assert [len(layouts(p, 2)) for p in (16, 32, 48, 96)] == [3, 4, 8, 10]
    assert [len(layouts(p, 3)) for p in (32, 48, 96)] == [6, 18, 30]
    assert [layouts(p) for p in (1, 2, 3, 5, 7, 13)] == [[]] * 6
    assert [str(each) for each in layouts(12)] == ["2x6", "3x4", "4x3", "6x2", "2x2x3", "2x3x2", "3x2x2"]
    assert [str(balanced(p)) for p in (4, 6, 16, 48, 96, 13)] == ["2x2", "2x3", "4x4", "6x8", "8x12", "None"]


def test_groups_are_those_of_figure_1() -> None:
    grid = Grid.of("3x2")
    assert {grid.group(rank, 1) for rank in range(6)} == {(0, 1), (2, 3), (4, 5)}
    assert {grid.group(rank, 0) for rank in range(6)} == {(0, 2, 4), (1, 3, 5)}


@pytest.mark.parametrize("text", ["", "4", "1x4", "2x", "axb", "2X4", "2x-2", "²x2"])
def test_what_is_no_grid_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError, match="grid"):
        Grid.of(text)


def _cases(collective: str, *sizes: int) -> Iterator[Case]:
    number = 0
    for processes in sizes:
        for grid in layouts(processes):
            for root in range(processes) if collective in ROOTED else [0]:
                number += 1
                # Matrices that are multiplied: operands must stay in the order of ranks.
                commutes, in_place = (
                    collective not in ("reduce", "allreduce"),
                    number % 2 == 1 and collective != "bcast",
                )
                call = Call(collective, processes, 5, root, ELEMENT_SIZE, in_place, commutes)
                yield Case(call, "orthogonal", {"grid": str(grid)}, eager=number % 3 == 0, seed=number)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_all_grids_and_roots_give_what_the_collective_promises(collective: str) -> None:
    assert [wrong for case in _cases(collective, 4, 6, 8, 12, 16) if (wrong := failure(case))] == []


@pytest.mark.soak
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_so_do_those_of_24_processes(collective: str) -> None:
    assert [wrong for case in _cases(collective, 24) if (wrong := failure(case))] == []


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_grids_of_24_with_another_algorithm_in_each_phase(collective: str) -> None:
    inner = {
        "allgather": "bruck+gather_bcast+ring",
        "allgatherv": "bruck+ring+ring",
        "reduce": "flat_tree+binomial+binary",
    }
    inner |= {"allreduce": "ring+rabenseifner+reduce_bcast", "bcast": "binary+linear+pipeline"}
    names = inner.get(collective, "linear+binomial+linear")
    for grid in ("2x3x4", "4x3x2", "3x2x4"):
        call = Call(collective, 24, 7, 17 if collective in ROOTED else 0, ELEMENT_SIZE)
        assert failure(Case(call, "orthogonal", {"grid": grid, "inner": names, "segment_size": 64}, eager=False)) == ""


def test_a_grid_sends_the_messages_of_its_groups() -> None:
    # The root's column, then four rows: each a linear broadcast.
    made = schedule(Call("bcast", 16, 100, 5), "orthogonal", grid="4x4", inner="linear")
    assert len(made.messages) == 3 + 4 * 3
    assert set(made.messages[made.messages[:, 0] == 5][:, 1].tolist()) == {1, 9, 13, 4, 6, 7}
    # Gathered rows travel as one block of four.
    gathered = schedule(Call("gather", 16, 10, 0), "orthogonal", grid="4x4", inner="linear")
    assert sorted(gathered.messages[:, 2].tolist()) == [10] * 12 + [40] * 3


def test_an_allgather_needs_no_memory_of_its_own() -> None:
    made = schedule(Call("allgather", 12, 10), "orthogonal", grid="3x4")
    assert [each.scratch for each in made.programs] == [0] * 12


def test_a_grid_of_another_size_is_not_applicable() -> None:
    with pytest.raises(NotApplicableError, match="2x4 is for 8 processes; found 6"):
        schedule(Call("bcast", 6, 1), "orthogonal", grid="2x4")
    with pytest.raises(NotApplicableError, match="no grid of 7 processes"):
        schedule(Call("bcast", 7, 1), "orthogonal")
    with pytest.raises(NotApplicableError, match="expected one, or one for each of 2"):
        schedule(Call("bcast", 8, 1), "orthogonal", inner="linear+linear+linear")
    assert schedule(Call("bcast", 7, 1), "orthogonal", fallback=True).algorithm.name == "binomial"


def test_other_inner_algorithms_are_refused_by_name() -> None:
    with pytest.raises(ScheduleError, match="inner is 'ring'; expected one of linear, pipeline"):
        schedule(Call("bcast", 8, 1), "orthogonal", inner="linear+ring")
