"""Several decisions side by side, and two of them cell by cell."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Method, Split, Test, quadtree
from dashboard.decisions.grown.cart import cart
from dashboard.decisions.judged.compare import OUTCOMES, absent_methods, compare, difference
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube

# Times of two methods, 2 communicator sizes by 3 message sizes; the second method is not measured in one cell
# and neither is in another.
TIMES = np.array([[[1.0, 1.0, 2.0], [4.0, 1.0, np.nan]], [[2.0, 1.0, 1.0], [2.0, np.nan, np.nan]]])


def leaf(method: int) -> DecisionFunction:
    return DecisionFunction("bcast", Problem.of(cube_of(TIMES, [2, 4], [1, 2, 4])).methods, Leaf(method))


@pytest.fixture
def problem() -> Problem:
    return Problem.of(cube_of(TIMES, [2, 4], [1, 2, 4]))


def test_the_figures_by_hand(problem: Problem) -> None:
    table = compare(problem, {"first": leaf(0), "second": leaf(1)})
    assert table.index.tolist() == ["first", "second"]
    first, second = table.loc["first"], table.loc["second"]
    # Penalties of the first method: 0, 0, 100, 100 and 0 percent; of the second: 100, 0, 0, 0 and, not
    # measured, 10 points more than at the nearest size, a doubling below.
    assert first["penalty_mean"] == 40
    assert first["penalty_median"] == 0
    assert (first["penalty_max"], first["penalty_p95"]) == (100, 100)
    assert (first["wrong"], first["unmeasured"], first["cells"]) == (2, 0, 5)
    assert second["penalty_mean"] == pytest.approx(22)
    assert (second["wrong"], second["unmeasured"], second["cells"]) == (2, 1, 5)
    assert first[["leaves", "depth", "expected_depth", "rules", "tests"]].tolist() == [1, 0, 0, 1, 0]


def test_a_method_that_is_slower_by_less_than_a_percent_is_wrong_as_well() -> None:
    problem = Problem.of(cube_of([[[1.005, 1.0]], [[1.0, 1.0]]], [2], [1, 2]))
    assert compare(problem, {"first": leaf(0)}).loc["first", "wrong"] == 1


def test_sizes_by_hand(problem: Problem) -> None:
    """One test on top; under it one that is always false and one that matters, met by 1 of the 5 measured cells."""
    root = Split(
        (Test("message_size", 2),),
        (Split((Test("message_size", 3),), (Leaf(0), Leaf(1))), Split((Test("comm_size", 2),), (Leaf(1), Leaf(0)))),
    )
    row = compare(problem, {"tree": DecisionFunction("bcast", problem.methods, root)}).loc["tree"]
    assert (row["leaves"], row["depth"], row["rules"], row["tests"]) == (4, 2, 3, 2)
    assert row["expected_depth"] == 2
    assert row["penalty_mean"] == 20  # only the cell (4, 1) is decided wrongly
    assert row["wrong"] == 1


def test_what_differs_by_hand(problem: Problem) -> None:
    differences = difference(problem, leaf(0), leaf(1))
    assert differences["outcome"].values.tolist() == [[1, 3, 2], [2, 1, -1]]
    assert [OUTCOMES[number] for number in (1, 2)] == ["first faster", "second faster"]
    np.testing.assert_allclose(differences["difference"], [[-100, 0, 100], [100, -10, np.nan]])
    assert differences["method"].values[differences["second"].values[0, 0]] == problem.methods[1].label
    assert differences.attrs["mean_difference"] == pytest.approx(18)
    assert differences.attrs["collective"] == "bcast"
    counts = ("cells", "same_method", "first_faster", "second_faster", "equally_fast", "not_comparable")
    assert [differences.attrs[name] for name in counts] == [5, 0, 2, 2, 1, 0]


def test_a_workload_weighs(problem: Problem) -> None:
    weights = np.array([[3.0, 0, 1], [0, 0, 0]])
    weighed = Problem.of(cube_of(TIMES, [2, 4], [1, 2, 4]), weights=weights)
    assert difference(weighed, leaf(0), leaf(1)).attrs["mean_difference"] == pytest.approx(-50)
    assert compare(weighed, {"first": leaf(0)})["penalty_mean"].item() == pytest.approx(25)


def test_decisions_of_methods_that_were_never_measured_differ_from_each_other(problem: Problem) -> None:
    first, second = (DecisionFunction("bcast", [Method(label, label)], Leaf(0)) for label in ("spread", "flood"))
    differences = difference(problem, first, second)
    assert differences.attrs["not_comparable"] == differences.attrs["cells"] == 5
    assert differences["method"].values[differences["first"].values].ravel().tolist() == ["spread"] * 6
    assert np.isnan(differences.attrs["mean_difference"])
    row = compare(problem, {"first": first}).loc["first"]
    assert (row["unmeasured"], row["wrong"], row["cells"]) == (5, 0, 0)
    assert absent_methods(problem, first) == ["spread"]
    assert np.isnan(row["penalty_mean"])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.4]), st.integers(0, 3), st.booleans())
def test_the_difference_is_that_of_the_penalties(seed: int, missing: float, depth: int, weighed: bool) -> None:
    weights = np.random.default_rng(seed).random((6, 7)) if weighed else None
    problem = Problem.of(synthetic_cube(6, 7, 4, seed, missing, noise=0.5), weights=weights)
    first = cart(problem, max_depth=depth)
    second = quadtree(problem.slices[0].dmap, max_depth=depth)
    differences = difference(problem, first, second)
    back = difference(problem, second, first)
    assert back.attrs["first_faster"] == differences.attrs["second_faster"]
    np.testing.assert_array_equal(-back["difference"], differences["difference"])
    assert sum(differences.attrs[text.replace(" ", "_")] for text in OUTCOMES) == differences.attrs["cells"]
    table = compare(problem, {"first": first, "second": second})
    if not table["unmeasured"].any():
        means = table["penalty_mean"]
        assert differences.attrs["mean_difference"] == pytest.approx(means["first"] - means["second"])
    assert (table["tests"] < table["leaves"]).all()
    assert (table["rules"] <= table["leaves"]).all()
    assert (table["expected_depth"] <= table["depth"]).all()


def test_several_tables_stand_one_behind_the_other() -> None:
    cube = synthetic_cube(3, 4, 3, 1).expand_dims(ppn=[1, 2]).copy(deep=True)
    cube["time"][1] *= 2
    other = synthetic_cube(2, 5, 3, 2)
    problem = Problem.of({"bcast": cube, "reduce": other.assign_coords(ppn=4)}, ppn="all")
    first, second = cart(problem, max_leaves=2), cart(problem, cost_sensitive=True)
    differences = difference(problem, first, second)
    assert dict(differences.sizes) == {"table": 3, "comm_size": 3, "message_size": 5, "method": 3}
    assert differences["collective"].values.tolist() == ["bcast", "bcast", "reduce"]
    assert differences["ppn"].values.tolist() == [1, 2, 4]
    assert differences.attrs["cells"] == 12 + 12 + 10
    assert (differences["outcome"].values >= 0).sum() == 34
    for name in ("first", "second", "outcome"):
        assert (differences[name].values[:2, :, 4] == -1).all()
        assert (differences[name].values[2, 2] == -1).all()
    bcast, _, reduce = problem.penalties(first)
    xr.testing.assert_equal(
        differences["first_penalty"][2, :2].drop_vars(["table", "collective", "ppn"], errors="ignore"),
        reduce["penalty"].drop_vars(set(reduce["penalty"].coords) - {"comm_size", "message_size"}),
    )
    assert np.array_equal(differences["first_penalty"][0, :, :4], bcast["penalty"])
    assert compare(problem, {"first": first})["cells"].item() == 34


def test_nothing_to_compare_is_an_empty_table(problem: Problem) -> None:
    table = compare(problem, {})
    assert table.empty
    assert "penalty_mean" in table.columns


def test_a_decision_that_needs_more_than_is_known_is_an_error(problem: Problem) -> None:
    decision = DecisionFunction("bcast", problem.methods, Split((Test("ppn", 1),), (Leaf(0), Leaf(1))))
    with pytest.raises(DecisionError, match="ppn"):
        difference(problem, decision, leaf(0))
