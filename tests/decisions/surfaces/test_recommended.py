"""The recommendation: trees over predicted times, as large as left-out sizes say."""

import itertools

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionFunction, OptionError
from dashboard.decisions.judged.folds import with_cubes
from dashboard.decisions.judged.heldout import heldout_many
from dashboard.decisions.measured.problem import Problem
from dashboard.decisions.surfaces.family import recommended, recommended_many
from dashboard.decisions.surfaces.grid import comm_sizes_between, message_sizes_between, weights_between
from dashboard.decisions.surfaces.grow import Table
from dashboard.decisions.surfaces.judged import Size, Sizes
from dashboard.decisions.surfaces.order import kind_number
from tests.cubes import cube_of, named, synthetic_cube

COMM = np.array([2, 3, 4, 6, 7, 8, 12, 16, 20, 32])
MESSAGE = 4 ** np.arange(3, 11)


def crossing(at: float) -> xr.Dataset:
    """Two methods over all sizes, the second one faster from messages of this size on."""
    first = np.tile((MESSAGE / at)[None, :] ** 1.0, (COMM.size, 1))
    return cube_of(1e-5 * np.stack([first, np.sqrt(first)]), COMM, MESSAGE)


def by_kind() -> xr.Dataset:
    """Two methods, the first one faster at powers of two, the second one elsewhere."""
    power = (COMM & (COMM - 1)) == 0
    first, second = (np.tile(np.where(rows, 1.0, 2.0)[:, None], (1, MESSAGE.size)) for rows in (power, ~power))
    return cube_of(1e-5 * np.stack([first, second]) * np.sqrt(MESSAGE), COMM, MESSAGE)


def test_it_cuts_where_methods_cross_not_at_measured_sizes() -> None:
    decision = recommended(Problem.of(crossing(2048.0)))
    assert decision.leaves == 2
    assert decision.predict(8, [1024, 1400, 3000, 4096]).tolist() == [0, 0, 1, 1]


def test_it_asks_for_powers_of_two_where_they_pay() -> None:
    decision = recommended(Problem.of(by_kind()))
    assert decision.leaves == 2
    assert decision.attributes == ("power_of_two",)
    assert decision.predict([5, 8, 24, 64], 512).tolist() == [1, 0, 1, 0]
    (why,) = decision.provenance["recommended"]
    assert why["kind"] == "power_of_two"
    assert why["predictor"] in why["said"]


def test_a_single_message_size_on_many_numbers_of_processes_is_decided_on() -> None:
    """As of barriers: rows in the order of their kind have another number of blocks than ascending ones."""
    time = np.random.default_rng(17).lognormal(-10, 1, size=(2, COMM.size, 1))
    assert 1 <= recommended(Problem.of(cube_of(time, COMM, [0], collective="barrier"))).leaves <= 15


def test_leaves_count_by_what_left_out_sizes_and_predicted_times_say_together() -> None:
    costs = {(1, "all"): np.array([2.0, 2.0]), (2, "all"): np.array([2.0, 2.4]), (3, "all"): np.array([3.0, 3.4])}

    def best(*expected: float, most: int = 15) -> Size:
        return Sizes(costs, {"all": np.array(expected)}).best(most)

    assert [best(2.0, 1.9, 1.0).leaves, best(5.0, 1.0, 0.9).leaves, best(9.0, 8.0, 1.0).leaves] == [1, 2, 3]
    assert best(9.0, 8.0, 1.0, most=2).leaves == best(9.0, 8.0, 8.0).leaves == 2
    judged = best(5.0, 1.0, 0.9).judged
    assert judged is not None
    assert (judged.mean, judged.error) == (pytest.approx(2.2), pytest.approx(0.2))
    # The best tree of so many leaves may have fewer.
    assert judged.name == "tree of at most 2 leaves"


def test_what_costs_less_by_a_little_in_every_fold_is_worth_a_leaf() -> None:
    """Two percent less each time, which is no chance, though it is close; of folds that differ it may be."""
    for second, leaves in (([1.96, 1.96], 2), ([1.92, 2.0], 1)):
        costs = {(1, "all"): np.array([2.0, 2.0]), (2, "all"): np.array(second)}
        assert Sizes(costs, {"all": np.array([1.0, 1.0])}).best(15).leaves == leaves


def test_sizes_that_were_chosen_for_what_they_tell_do_not_judge_the_size_of_the_tree() -> None:
    noise = np.exp(0.3 * np.random.default_rng(1).standard_normal((2, COMM.size, MESSAGE.size)))
    cube = crossing(2048.0)
    noisy = cube.assign(time=cube["time"] * noise)
    chosen = recommended(Problem.of(noisy.assign_attrs(points="adaptive")))
    assert "no judges of it" in chosen.provenance["recommended"][0]["said"]
    # What noise makes of single times is worth no leaf; without noise two lose nothing that more would save.
    assert chosen.leaves == recommended(Problem.of(cube.assign_attrs(points="adaptive"))).leaves == 2
    many = recommended_many(Problem.of(cube.assign_attrs(points="adaptive")), [{"leaves": 1}, {"leaves": 15}])
    assert [each.leaves for each in many] == [1, 2]


def test_where_nothing_was_measured_the_library_decides_but_near_sizes_where_another_is_much_better() -> None:
    flat = np.ones((COMM.size, MESSAGE.size))
    times = np.stack([flat, 0.5 * flat])
    # Of the largest communicators only the shortest messages: beyond them nothing is known.
    times[:, -3:, 3:] = np.nan
    cube = cube_of(1e-5 * times, COMM, MESSAGE).assign_attrs(points="adaptive")
    own = named(cube, ["default", "ring"])
    predicted = recommended(Problem.of(own)).predict(32, MESSAGE)
    # Twice as fast is 100 %, worth five doublings of 20 points.
    assert predicted.tolist() == [1] * (3 + 2) + [0] * 3
    assert recommended(Problem.of(own)).predict(2, MESSAGE).tolist() == [1] * MESSAGE.size


@pytest.mark.parametrize(("collective", "chosen"), [("scatter", "ring"), ("bcast", "chain")])
def test_of_blocks_a_cliff_at_as_many_bytes_in_all_is_one_where_nobody_measured(collective: str, chosen: str) -> None:
    """The second method takes ten times as long from 64 KiB in all on; at 64 processes only less was measured."""
    comm, message = np.array([2, 8, 16, 32, 64]), 2 ** np.arange(4, 16)
    in_all = np.outer(comm, message)
    times = 1e-6 * in_all * np.stack([3.0 + 0 * in_all, 2.0 + 0 * in_all, np.where(in_all < 2**16, 1.0, 10.0)])
    times[:, in_all > 2**17] = np.nan
    times[:, -1, message >= 2**10] = np.nan
    cube = named(cube_of(times, comm, message), ["default", "ring", "chain"]).assign_attrs(collective=collective)
    decision = recommended(Problem.of(cube))
    assert decision.methods[int(decision.predict(64, 2048))].label == chosen


def test_a_method_that_only_runs_at_powers_of_two_is_not_taken_elsewhere() -> None:
    cube = by_kind()
    times = cube["time"].values.copy()
    times[0, (COMM & (COMM - 1)) != 0] = np.nan
    decision = recommended(Problem.of(cube_of(times, COMM, MESSAGE)))
    assert decision.predict([5, 9, 10, 24], 512).tolist() == [1, 1, 1, 1]


def test_where_most_methods_were_measured_at_even_sizes_alone_they_are_taken_between_these() -> None:
    comm_sizes = np.arange(2, 33)
    times = 1e-6 * np.sqrt(comm_sizes[:, None] * MESSAGE) * np.array([3.0, 1.0, 2.0, 4.0])[:, None, None]
    times[1:, comm_sizes % 2 == 1] = np.nan
    decision = recommended(Problem.of(cube_of(times, comm_sizes, MESSAGE)))
    assert decision.leaves == 1
    assert decision.predict(7, 512) == 1


def test_where_few_methods_were_measured_at_all_sizes_the_library_decides_between_them() -> None:
    """At powers of two the library's own decision at each message size, elsewhere other methods at the shortest."""
    comm_sizes, power = np.arange(2, 65, 2), np.isin(np.arange(2, 65, 2), 2 ** np.arange(1, 7))
    times = 1e-6 * comm_sizes[:, None] * np.sqrt(MESSAGE) * np.array([1.0, 0.5, 2.0])[:, None, None]
    times[0, ~power] = np.nan
    times[1:, :, 1:] = np.nan
    problem = Problem.of(named(cube_of(times, comm_sizes, MESSAGE), ["default", "ring", "chain"]))
    decision = recommended(problem)
    assert decision.predict(comm_sizes, int(MESSAGE[0])).tolist() == [1] * comm_sizes.size
    assert not decision.predict(comm_sizes[:, None], MESSAGE[2:]).any()
    assert max(float(table["penalty"].max()) for table in problem.penalties(decision)) == 0


def test_each_number_of_processes_per_node_has_a_tree_of_its_own() -> None:
    both = np.stack([crossing(512.0)["time"].values, crossing(8192.0)["time"].values], axis=-1)
    decision = recommended(Problem.of(cube_of(both, COMM, MESSAGE), ppn="all"))
    assert decision.needs == ("ppn",)
    assert decision.predict(8, 2048, ppn=[1, 2, 9]).tolist() == [1, 0, 0]


def test_it_has_no_more_leaves_than_asked_for_and_none_without_use() -> None:
    problem = Problem.of(synthetic_cube(7, 9, 5, seed=3, missing=0.3))
    assert [recommended(problem, leaves=most).leaves <= most for most in (1, 3, 6)] == [True] * 3
    constant = cube_of(np.full((2, COMM.size, MESSAGE.size), 1e-3) * np.array([1, 2])[:, None, None], COMM, MESSAGE)
    assert recommended(Problem.of(constant)).leaves == 1


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 6), (6, 1), (2, 3)])
def test_few_sizes_do(rows: int, columns: int) -> None:
    decision = recommended(Problem.of(synthetic_cube(rows, columns, 3, seed=1)))
    assert DecisionFunction.from_json(decision.to_json()) == decision


def test_how_far_it_is_goes_up_by_small_steps() -> None:
    steps: list[tuple[float, str]] = []
    recommended(Problem.of(synthetic_cube(8, 12, 3, seed=1)), progress=lambda share, what: steps.append((share, what)))
    shares = [share for share, _ in steps]
    assert shares == sorted(shares)
    assert max(np.diff([*shares, 1.0])) < 0.05
    # Each predictor at each of ten parts that are left out, then trees without these.
    assert steps[0] == (0.0, "times at sizes left out, 1 of 20")
    assert any(what.startswith("trees without some sizes, 10 of ") for _, what in steps)


def test_it_refuses_no_leaves() -> None:
    with pytest.raises(OptionError, match="leaves"):
        recommended(Problem.of(crossing(2048.0)), leaves=0)


@pytest.mark.soak
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_more_leaves_or_more_sizes_never_cost_more_at_left_out_ones_beyond_their_spread(noise: float) -> None:
    cube, random = crossing(2048.0), np.random.default_rng(5)
    problem = Problem.of(cube.assign(time=cube["time"] * random.lognormal(0.0, noise, cube["time"].shape)))
    leaves = (1, 2, 4, 8, 15)

    def grow(part: Problem) -> dict[str, DecisionFunction]:
        trees = recommended_many(part, [{"leaves": most} for most in leaves])
        few = with_cubes(part, [each.cube.isel(comm_size=slice(0, None, 3)) for each in part.slices])
        return {**dict(zip(map(str, leaves), trees, strict=True)), "few sizes": recommended(few)}

    held = heldout_many(problem, grow)
    means = {name: np.array([fold.figures.mean for fold in each.folds]) for name, each in held.items()}
    pairs = [*itertools.combinations(map(str, leaves), 2), ("few sizes", "15")]
    for less, more in pairs:
        rise = means[more] - means[less]
        assert rise.mean() <= 2 * rise.std(ddof=1) / np.sqrt(rise.size), (less, more)
    assert means["15"].mean() < means["1"].mean()


def test_sizes_between_hold_the_measured_ones() -> None:
    assert comm_sizes_between(np.array([2, 5, 8])).tolist() == [2, 3, 4, 5, 6, 7, 8]
    assert comm_sizes_between(np.array([60, 100, 123])).tolist() == list(range(60, 124))
    assert set(message_sizes_between(MESSAGE)) >= set(MESSAGE)
    wide = np.arange(100, 4100, 130)
    assert wide.size < comm_sizes_between(wide).size <= 64 + wide.size
    assert message_sizes_between(np.array([0, 1, 2])).tolist() == [0, 1, 2]


def test_a_part_of_a_table_has_its_calls() -> None:
    calls = np.arange(6.0).reshape(2, 3)
    part = Table(np.ones((1, 2, 3)), np.array([2, 4]), np.array([8, 64, 512]), calls).part(
        np.array([1]), np.array([0, 2])
    )
    assert part.calls is not None
    assert (part.times.shape, part.calls.tolist()) == ((1, 1, 2), [[3.0, 5.0]])


def test_sizes_count_alike_unless_they_crowd_in_a_wide_range() -> None:
    columns = np.array([8, 64])
    near = weights_between((np.arange(2, 17), columns), (np.array([2, 16]), columns), None)
    assert (near == 1).all()
    wide = np.array([16, 32, 60, 61, 62, 63, 64, 128, 256])
    weights = weights_between((wide, columns), (wide, columns), None)
    assert weights[3, 0] < weights[1, 0] / 10
    calls = np.array([[3.0, 0.0], [0.0, 1.0]])
    shared = weights_between((np.arange(2, 17), columns), (np.array([2, 16]), columns), calls)
    assert shared.sum() == pytest.approx(4.0)
    rows = np.array([2, 16])
    between = weights_between((rows, np.array([8, 16, 64])), (rows, columns), calls)
    assert between.tolist() == [[1.5, 1.5, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("last", "following", "cut"), [(8000, 9000, 8192), (4096, 5000, 4096), (5, 7, 6), (0, 8, 0), (1, 8, 4), (3, 4, 3)]
)
def test_cuts_are_kind_numbers(last: int, following: int, cut: int) -> None:
    assert kind_number(last, following) == cut


def test_message_sizes_of_each_communicator_size_are_brought_to_common_ones() -> None:
    """Blocks for each process: no communicator size has the message sizes of another one."""
    comm, blocks = np.arange(2, 24), 2 ** np.arange(4, 16)
    message = np.unique(np.outer(comm, blocks))
    p, m = comm[:, None], message[None, :]
    full = 1e-6 * np.stack([p * (1 + m / 4096), 20 * np.log2(p) + m / 1000])
    own = np.stack([np.isin(message, size * blocks) for size in comm])
    problem, truth = (Problem.of(cube_of(times, comm, message)) for times in (np.where(own, full, np.nan), full))
    table = Table(problem.slices[0].times(), comm, message, own.astype(float)).common()
    assert table.message_sizes.size <= 2 * blocks.size < message.size / 3
    assert np.isin(table.message_sizes, message).all()
    assert table.calls is not None
    assert table.calls.sum() == own.sum()
    # Straight lines between logarithms of two thirds of an octave at most.
    known = np.isfinite(table.times)
    true = full[:, :, np.searchsorted(message, table.message_sizes)]
    assert np.abs(table.times / true - 1)[known].max() < 0.1
    decision = recommended(problem, leaves=8)
    assert truth.summary(decision).mean < 2
    assert "common ones" in decision.provenance["recommended"][0]["said"]


def test_sizes_that_are_shared_stay_as_they_are() -> None:
    table = Table(np.where(np.eye(6)[None] == 1, np.nan, 1.0), np.arange(2, 8), np.arange(1, 7))
    assert table.common() is table
