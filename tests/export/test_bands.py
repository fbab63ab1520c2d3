"""Decision functions as bands: exact where bands can say them, the best for a number of rules where not."""

import itertools

import numpy as np
import pytest

from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test, methods_of, penalty, summarise
from dashboard.export.band_search import best_bands
from dashboard.export.bands import MOST_COMM_SIZES, Band, bands_of
from dashboard.export.target import ExportError
from tests.cubes import cube_of, synthetic_cube
from tests.export.trees import HIGHEST, random_decision, random_sizes

METHODS = (Method("a", "a"), Method("b", "b"))


@pytest.mark.parametrize("seed", range(20))
def test_trees_of_the_two_sizes_are_the_same_for_all_sizes(seed: int) -> None:
    decision = random_decision("bcast", seed, depth=6)
    bands = bands_of(decision, "message")
    comm, message = random_sizes(seed, 20_000, highest=10 * HIGHEST)
    again = bands.decision("bcast", decision.methods)
    assert (again.predict(comm, message) == decision.predict(comm, message)).all()
    assert bands.notes == ()


@pytest.mark.parametrize("compared", ["message", "total"])
@pytest.mark.parametrize("seed", range(12))
def test_composite_attributes_and_totals_are_the_same_at_all_measured_communicators(seed: int, compared: str) -> None:
    attributes = ("comm_size", "message_size", "total_size", "even", "power_of_two")
    decision = random_decision("allgather", seed, attributes, depth=5)
    bands = bands_of(decision, compared)  # type: ignore[arg-type]
    comm, message = random_sizes(seed, 20_000)
    again = bands.decision("allgather", decision.methods)
    assert (again.predict(comm, message) == decision.predict(comm, message)).all()
    assert all(band.rules[0][0] == 0 for band in bands.bands)
    assert all(a < b for band in bands.bands for (a, _), (b, _) in itertools.pairwise(band.rules))


def test_neighbours_share_a_band_where_one_total_serves_them_all() -> None:
    # Blocks above 2 bytes: at p processes totals from 2 p + 1 to 3 p tell them apart; 9 serves 3 and 4, 15 5 to 7.
    tree = Split((Test("message_size", 2),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("allgather", METHODS, tree, provenance={"comm_size": [2, 9]})
    bands = bands_of(decision, "total")
    assert [band.start for band in bands.bands] == [1, 2, 3, 5, 8]
    comm, message = np.meshgrid(np.arange(1, 10), np.arange(30))
    assert (bands.decision("allgather", METHODS).predict(comm, message) == (message > 2)).all()
    assert "more than 9 processes" in bands.notes[0]
    assert bands.notes[0].endswith("as those of 9 with as many bytes in all, whose blocks are larger")


@pytest.mark.parametrize("seed", range(12))
def test_rules_that_compare_totals_keep_their_borders(seed: int) -> None:
    """To a byte: a border that serves the first communicator size of a set need not serve its others."""
    decision = random_decision("allgather", seed, ("comm_size", "total_size"), depth=5)
    again = bands_of(decision, "total").decision("allgather", decision.methods)
    comm, message = random_sizes(seed, 20_000, highest=10 * HIGHEST)
    assert (again.predict(comm, message) == decision.predict(comm, message)).all()


def test_one_method_for_all_larger_communicators_is_said_as_it_is() -> None:
    beyond = Split((Test("comm_size", 16),), (Split((Test("message_size", 64),), (Leaf(0), Leaf(1))), Leaf(1)))
    assert bands_of(DecisionFunction("allgather", METHODS, beyond), "total").notes == ()


def test_a_total_that_is_tested_needs_one_band_only() -> None:
    tree = Split((Test("total_size", 4096),), (Leaf(0), Leaf(1)))
    bands = bands_of(DecisionFunction("alltoall", METHODS, tree, provenance={"comm_size": [2, 64]}), "total")
    assert bands.bands == (Band(1, ((0, 0), (4097, 1))),)
    assert bands.notes == ()


def test_processes_per_node_are_taken_as_measured_and_said() -> None:
    tree = Split((Test("nodes", 2),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", METHODS, tree, provenance={"comm_size": [2, 64], "ppn": 4})
    bands = bands_of(decision, "message")
    assert bands.bands == (Band(1, ((0, 0),)), Band(9, ((0, 1),)))
    assert bands.notes == ("rules do not know processes per node; written for 4, of which alone penalties are told",)


def test_where_no_size_is_compared_a_method_that_changes_with_it_is_refused() -> None:
    tree = Split((Test("message_size", 10),), (Leaf(0), Leaf(1)))
    with pytest.raises(ExportError, match="compares no message size"):
        bands_of(DecisionFunction("scan", METHODS, tree), "nothing")
    assert bands_of(DecisionFunction("barrier", METHODS, tree), "nothing").rules == 1


def test_too_many_communicator_sizes_one_by_one_are_refused() -> None:
    tree = Split((Test("even", 0),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", METHODS, tree, provenance={"comm_size": [2, MOST_COMM_SIZES + 1]})
    with pytest.raises(ExportError, match=str(MOST_COMM_SIZES)):
        bands_of(decision, "message")


@pytest.mark.parametrize("compared", ["message", "total", "nothing"])
def test_searched_bands_cost_what_the_search_says_and_never_more_with_more_rules(compared: str) -> None:
    cube = synthetic_cube(5, 6, 4, seed=7, missing=0.1, noise=0.5)
    filled = cube.assign(time=cube["time"].fillna(cube["time"].max("method")))
    search = best_bands(filled, compared, 10)  # type: ignore[arg-type]
    assert (np.diff(search.costs) <= 1e-12).all()
    for rules in range(1, 11):
        bands = search.bands(rules)
        assert bands.rules <= rules
        figures = summarise(penalty(filled, bands.decision("bcast", methods_of(filled))))
        assert figures.mean == pytest.approx(search.costs[rules - 1])


@pytest.mark.parametrize("rules", [1, 2, 3, 4])
def test_no_other_bands_of_so_many_rules_cost_less(rules: int) -> None:
    cube = synthetic_cube(3, 4, 3, seed=11, noise=0.8)
    times = cube["time"].values
    costs = 100 * (times / times.min(axis=0) - 1)
    assert best_bands(cube, "message", rules).costs[-1] == pytest.approx(_brute_force(costs, rules) / 12)


def _brute_force(costs: np.ndarray, rules: int) -> float:
    """Try every way to cut 3 communicator sizes into bands and 4 message sizes into rules."""
    best = np.inf
    for cut_rows in itertools.product([False, True], repeat=2):
        starts = [0, *(k + 1 for k, cut in enumerate(cut_rows) if cut), 3]
        blocks = [costs[:, a:b].sum(axis=1) for a, b in itertools.pairwise(starts)]
        options = [
            [(_cost(block, cuts), 1 + sum(cuts)) for cuts in itertools.product([0, 1], repeat=3)] for block in blocks
        ]
        for chosen in itertools.product(*options):
            if sum(count for _, count in chosen) <= rules:
                best = min(best, sum(cost for cost, _ in chosen))
    return best


def _cost(block: np.ndarray, cuts: tuple[int, ...]) -> float:
    starts = [0, *(k + 1 for k, cut in enumerate(cuts) if cut), 4]
    return float(sum(block[:, a:b].sum(axis=1).min() for a, b in itertools.pairwise(starts)))


def test_a_method_that_was_not_measured_counts_as_the_slowest() -> None:
    cube = cube_of([[[1.0, 1.0]], [[np.nan, 0.5]]], [2], [1, 2])
    assert best_bands(cube, "message", 1).costs[0] == pytest.approx(0.0)
    slower = cube_of([[[1.0, 1.0]], [[np.nan, 0.5]], [[3.0, 0.9]]], [2], [1, 2])
    # The first costs 0 and 100 %, the second 200 % (as the third) and 0, the third 200 and 80.
    assert best_bands(slower, "message", 1).costs[0] == pytest.approx(50.0)


def test_only_allowed_methods_are_taken() -> None:
    cube = synthetic_cube(4, 5, 4, seed=2)
    bands = best_bands(cube, "message", 6, allowed=[1, 3]).bands()
    assert {method for band in bands.bands for _, method in band.rules} <= {1, 3}
    with pytest.raises(ExportError, match="none of the measured methods"):
        best_bands(cube, "message", 6, allowed=[])
    with pytest.raises(ExportError, match="number of rules is 0"):
        best_bands(cube, "message", 0)


@pytest.mark.parametrize("compared", ["message", "total", "nothing"])
@pytest.mark.parametrize("own", [2, 4])
def test_rules_beyond_the_measured_sizes_are_among_those_allowed(compared: str, own: int) -> None:
    cube = synthetic_cube(4, 5, 4, seed=7, noise=0.8)
    cube = cube.assign_coords(comm_size=[4, 5, 8, 16], message_size=[64, 128, 256, 512, 1024])
    # The last one was not measured, and counts as the slowest.
    own_method = Method("own", "default") if own == 4 else methods_of(cube)[own]
    methods = [*methods_of(cube), own_method]
    allowed = sorted({0, 1, 2, 3, own})
    search = best_bands(cube, compared, 14, allowed=allowed, beyond=own)  # type: ignore[arg-type]
    for rules in range(1, 15):
        bands = search.bands(rules)
        decided = bands.decision("bcast", methods)
        assert bands.rules <= rules
        sizes = np.array([[comm, size] for comm in (3, 4, 5, 8, 16, 17) for size in (1, 63, 64, 1024, 1025, 1 << 40)])
        comm, message = sizes.T
        beyond = (comm < 4) | (comm > 16)
        if compared != "nothing":
            beyond |= (message < 64) | (message > 1024)
        labels = np.array([method.label for method in methods])[decided.predict(comm, message)]
        assert set(labels[beyond]) == {own_method.label}
    assert search.costs[-1] < search.costs[0]
    figures = summarise(penalty(cube, search.bands().decision("bcast", methods)))
    assert own == 4 or figures.mean == pytest.approx(search.costs[-1])
