"""Sizes at which rules are watched: inside of their region, at its borders, and what cannot be run is told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.campaigns.plan import buffer_bytes
from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.prove import Wish, _regions
from dashboard.benchmarks.proof.regions import Region, regions_of
from dashboard.decisions import DecisionFunction, Leaf, Method, Node, Split, Test
from dashboard.export.rules import RulesFile
from dashboard.export.rules.lint import read_text

METHODS = [Method(name, name) for name in ("linear", "chain", "binomial", "ring")]
MEMORY = 1 << 20


def regions(root: Node, collective: str = "bcast", ranks: int = 8) -> list[Region]:
    return regions_of(DecisionFunction(collective, METHODS, root), ranks, MEMORY)


def sizes(region: Region) -> list[tuple[int, int]]:
    return [(cell.comm_size, cell.message_size) for cell in region.cells]


def test_first_and_last_sizes_and_the_first_one_beyond_are_watched() -> None:
    split = Split((Test("message_size", 999),), (Leaf(0), Leaf(1)))
    small, large, other = regions(Split((Test("comm_size", 4),), (split, Leaf(2))))
    assert sizes(small) == [(p, m) for p in (2, 3, 4) for m in (1, 999)]
    assert sizes(large) == [(p, m) for p in (2, 3, 4) for m in (1000, 1 << 16)]
    assert {p for p, _ in sizes(other)} == {5, 7, 8}


def test_totals_are_divided_by_the_processes() -> None:
    below, above = regions(Split((Test("total_size", 1000),), (Leaf(0), Leaf(3))), "allgather", ranks=4)
    assert (4, 250) in sizes(below)
    assert (4, 251) in sizes(above)
    assert (3, 333) in sizes(below)
    assert (3, 334) in sizes(above)
    # Neither 502 nor 503 bytes in all are equal blocks of three or of four processes.
    between = Split((Test("total_size", 503),), (Split((Test("total_size", 501),), (Leaf(0), Leaf(1))), Leaf(2)))
    assert {(size, message * size) for size, message in sizes(regions(between, "allgather", ranks=4)[1])} == {(2, 502)}


def test_communicators_that_are_too_large_say_how_many_processes_they_need() -> None:
    below, above = regions(Split((Test("comm_size", 15),), (Leaf(0), Leaf(1))))
    assert below.cells
    assert (above.cells, above.needs) == ((), 16)
    assert above.why_not == "needs 16 processes, more than the 8 allowed (--ranks)"
    assert above.method == METHODS[1]


def test_messages_that_are_too_large_say_how_many_bytes_they_need() -> None:
    _, large = regions(Split((Test("message_size", 1 << 20),), (Leaf(0), Leaf(1))))
    assert not large.cells
    held = f"{2 * ((1 << 20) + 1):,} B of buffers in each process"
    assert large.why_not == f"needs {held}, more than the {MEMORY:,} B allowed (--memory)"


def test_one_process_and_empty_messages_send_nothing() -> None:
    alone = Split((Test("comm_size", 1),), (Leaf(0), Leaf(1)))
    assert regions(alone)[0].why_not == "one process alone sends nothing"
    empty = Split((Test("message_size", 0),), (Leaf(0), Leaf(1)))
    assert regions(empty)[0].why_not == "holds for empty messages only, which are not sent"


def test_what_depends_on_more_than_sizes_is_not_watched_and_says_so() -> None:
    for region in regions(Split((Test("ppn", 2),), (Leaf(0), Leaf(1)))):
        assert (region.cells, region.why_not) == ((), "depends on ppn, which is not tried")


def test_the_barrier_is_watched_without_a_size() -> None:
    (region,) = regions(Leaf(0), "barrier")
    assert sizes(region) == [(2, 0), (5, 0), (8, 0)]


def test_powers_of_two_are_watched_by_themselves() -> None:
    other, power = regions(Split((Test("power_of_two", 0),), (Leaf(0), Leaf(1))), ranks=8)
    assert {p for p, _ in sizes(other)} <= {3, 5, 6, 7}
    assert {p for p, _ in sizes(power)} == {2, 4, 8}


def nodes() -> st.SearchStrategy[Node]:
    tests = st.builds(
        Test, st.sampled_from(("comm_size", "message_size", "total_size")), st.integers(0, 5000).map(float)
    )
    return st.recursive(
        st.builds(Leaf, st.integers(0, 3)),
        lambda below: st.builds(lambda t, a, b: Split((t,), (a, b)), tests, below, below),
        max_leaves=12,
    )


@given(nodes(), st.sampled_from(("bcast", "allgather", "alltoall")), st.integers(2, 9))
def test_every_size_watched_is_decided_as_its_region_says(root: Node, collective: str, ranks: int) -> None:
    decision = DecisionFunction(collective, METHODS, root)
    for region in regions_of(decision, ranks, MEMORY):
        assert bool(region.cells) != bool(region.why_not)
        for cell in region.cells:
            chosen = decision.methods[decision.predict_one(cell.comm_size, cell.message_size)]
            assert chosen == region.method
            assert 2 <= cell.comm_size <= ranks
            assert buffer_bytes(cell) <= MEMORY


def test_rules_that_were_read_are_watched_band_by_band() -> None:
    read = read_text("1\n7\n2\n2\n2\n0 1 0 0\n1000 3 0 1024\n5\n1\n0 6 0 0\n")
    bands = regions_of(read.decisions["bcast"], 6, MEMORY)
    assert [region.method.label for region in bands] == ["basic_linear", "pipeline 1KiB", "binomial"]
    assert Cell("bcast", 4, 999) in bands[0].cells
    assert Cell("bcast", 4, 1000) in bands[1].cells
    assert Cell("bcast", 5, 1) in bands[2].cells


@pytest.mark.parametrize(("others", "words"), [(("reduce",), "1 collective"), (("reduce", "gather"), "2 collectives")])
def test_what_a_selection_has_as_the_library_s_own_is_counted(others: tuple[str, ...], words: str) -> None:
    methods = [Method("default", "default"), *METHODS]
    decisions = {name: DecisionFunction(name, methods, Leaf(0)) for name in others}
    decisions["bcast"] = DecisionFunction("bcast", methods, Leaf(1))
    wish = Wish(Path("rules.json"), Path("mpiexec"))
    (note,) = _regions(RulesFile("mpich", "MPICH", decisions, decisions), wish, 1)[1]
    assert note.endswith(f"not looked at: {words}")
