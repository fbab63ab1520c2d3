"""Topologies against the published figures and test vectors, and as properties of any tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.schedules import topologies
from dashboard.schedules.topologies import Topology

TREES: dict[str, Topology] = {
    "flat": topologies.flat,
    "pipeline": topologies.pipeline,
    "2 chains": topologies.chains(2),
    "4 chains": topologies.chains(4),
    "binary": topologies.binary,
    "3-ary": topologies.k_ary(3),
    "binomial": topologies.binomial,
    "in-order binomial": topologies.in_order_binomial,
    "in-order binary": topologies.in_order_binary,
}


def children(topology: Topology, processes: int) -> dict[int, tuple[int, ...]]:
    """Children of all that have some."""
    places = {rank: topology(rank, processes).children for rank in range(processes)}
    return {rank: below for rank, below in places.items() if below}


def test_trees_are_those_of_figures_4_1_to_4_3() -> None:
    assert children(topologies.pipeline, 4) == {0: (1,), 1: (2,), 2: (3,)}
    assert children(topologies.flat, 4) == {0: (1, 2, 3)}
    assert children(topologies.binary, 7) == {0: (1, 2), 1: (3, 5), 2: (4, 6)}
    assert children(topologies.in_order_binomial, 8) == {0: (4, 2, 1), 2: (3,), 4: (6, 5), 6: (7,)}


def test_trees_of_twelve_processes() -> None:
    assert children(topologies.binary, 12) == {
        0: (1, 2), 1: (3, 5), 2: (4, 6), 3: (7, 11), 4: (8,), 5: (9,), 6: (10,)
    }  # fmt: skip
    assert children(topologies.binomial, 12) == {0: (1, 2, 4, 8), 1: (3, 5, 9), 2: (6, 10), 3: (7, 11)}
    # Sent to in reverse order: the largest subtree first.
    assert children(topologies.in_order_binomial, 12) == {
        0: (8, 4, 2, 1), 2: (3,), 4: (6, 5), 6: (7,), 8: (10, 9), 10: (11,)
    }  # fmt: skip
    assert topologies.chains(4)(0, 12).children == (1, 4, 7, 10)


def test_in_order_binary_trees() -> None:
    assert children(topologies.in_order_binary, 9) == {8: (7, 3), 7: (6, 5), 5: (4,), 3: (2, 1), 1: (0,)}
    assert children(topologies.in_order_binary, 7) == {6: (5, 2), 5: (4, 3), 2: (1, 0)}


def test_subtrees_of_the_binary_tree_are_balanced_and_mirrored() -> None:
    for processes in range(2, 70):
        side = {1: 1, 2: 2}
        for process in range(3, processes):
            side[process] = side[topologies.binary(process, processes).parent]
        assert all(side[process] == (1 if process % 2 else 2) for process in range(1, processes))


@pytest.mark.parametrize("topology", TREES.values(), ids=TREES)
@given(processes=st.integers(1, 200))
def test_every_process_is_the_child_of_its_parent_and_reaches_the_root(topology: Topology, processes: int) -> None:
    places = [topology(rank, processes) for rank in range(processes)]
    below = [child for place in places for child in place.children]
    (root,) = (rank for rank, place in enumerate(places) if place.parent < 0)
    assert sorted([*below, root]) == list(range(processes))
    assert all(places[child].parent == rank for rank, place in enumerate(places) for child in place.children)
    for rank in range(processes):
        path = [rank]
        while path[-1] != root:
            path.append(places[path[-1]].parent)
            assert len(path) <= processes


@given(st.integers(1, 300))
def test_subtrees_of_the_in_order_binomial_tree_are_ranges(processes: int) -> None:
    def members(rank: int) -> set[int]:
        return {rank}.union(*(members(child) for child in topologies.in_order_binomial(rank, processes).children))

    for rank in range(processes):
        assert members(rank) == set(range(rank, rank + topologies.subtree(rank, processes)))
