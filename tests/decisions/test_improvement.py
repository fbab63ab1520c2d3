"""Tuned against default: the improvement of Table 6.9, its significance, and the rules that lose."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
import xarray as xr

from dashboard.decisions import DecisionError, DecisionFunction, Leaf, Method, OptionError, Split, Test
from dashboard.decisions.function.cutting import CUT, within_measured, without_slower
from dashboard.decisions.function.text import region
from dashboard.decisions.judged.improvement import OUTCOMES, Launches, improvement, judge
from dashboard.decisions.measured.noise import holm
from loaders.cube import with_doubles
from loaders.facet_names import LAUNCHES
from tests.cubes import cube_of, named

COMM, MESSAGE = (24, 64), (8, 128, 1000)


def pair(
    default: object, tuned: object, comm: object = COMM, message: object = MESSAGE, std: float = 0.001
) -> xr.Dataset:
    """Results of two methods whose repetitions differ little."""
    cube = cube_of(np.stack([np.asarray(default, dtype=float), np.asarray(tuned, dtype=float)]), comm, message)
    cube["time_std"] = cube["time"] * std
    return named(cube, ["default", "tuned"])


def sampled(samples: np.ndarray, comm: object, message: object) -> xr.Dataset:
    """Results with all their repetitions, the last axis."""
    cube = pair(*np.median(samples, axis=-1), comm, message)
    return cube.assign(sample=(("method", "comm_size", "message_size", "repetition"), samples))


def test_improvement_is_that_of_table_6_9_positive_is_better() -> None:
    gains = improvement(pair([[2, 2, 4], [1, 1, 1]], [[1, 3, 1], [1, 2.6134, 0.5]]))
    assert np.allclose(gains.cells["improvement"].values, [[50, -50, 75], [0, -161.34, 50]])
    assert (gains.collective, gains.level, gains.ppn) == ("bcast", 0.05, None)
    table = gains.table().set_index("comm_size")
    assert table.loc[24, ["min", "max", "mean"]].tolist() == pytest.approx([-50, 75, 25])
    assert table.loc[64, ["min", "max"]].tolist() == pytest.approx([-161.34, 50])
    assert table.loc[0, ["cells", "faster", "slower"]].tolist() == [6, 3, 2]


def test_p_of_a_cell_is_that_of_scipy_s_trimmed_t_test() -> None:
    random = np.random.default_rng(11)
    samples = np.exp(random.normal([[[[0.0]]], [[[0.04]]]], 0.1, (2, 1, 1, 15)))
    expected = scipy.stats.ttest_ind(*np.log(samples[:, 0, 0]), equal_var=False, trim=0.2)
    gains = improvement(sampled(samples, [4], [8]))
    assert float(gains.cells["p"][0, 0]) == pytest.approx(float(expected.pvalue), rel=1e-9)
    low, high = expected.confidence_interval(0.95)
    ends = [float(gains.cells[name][0, 0]) for name in ("low", "high")]
    assert ends == pytest.approx([100 * (1 - np.exp(-end)) for end in (low, high)])


def test_noise_is_called_a_difference_about_as_often_as_the_level_says() -> None:
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(60):
        samples = np.exp(random.normal(0, 0.2, (2, 4, 5, 12)))
        gains = improvement(sampled(samples, [2, 3, 4, 5], [1, 2, 4, 8, 16]), level=0.1)
        wrong += gains.count("faster") + gains.count("slower") > 0
    # 6 of 60 campaigns of twenty cells each are expected; more than 15 are so in one of 2000 times at most.
    assert wrong <= 15


def test_a_difference_between_launches_widens_what_counts_as_noise() -> None:
    cube = pair([[1.0]], [[1.05]], [4], [8])
    assert improvement(cube).count("slower") == 1
    assert improvement(cube, between_launches=Launches(5)).count("no difference") == 1


@pytest.mark.parametrize("freedom", [2, 8])
def test_what_few_launches_differ_by_is_known_by_their_number_and_no_better_of_several_cells(freedom: int) -> None:
    cube = pair([[1.0, 1.0]], [[1.1, 1.1]], [4], [8, 16], std=0.0)
    rule = DecisionFunction("bcast", [Method("tuned", "tuned")], Leaf(0))
    gains = improvement(cube, between_launches=Launches(5, freedom))
    off = np.log(1.1) / (0.05 * np.sqrt(2))
    assert gains.cells["p"].values[0, 0] == pytest.approx(2 * 2 * scipy.stats.t.sf(off, freedom))  # of two cells
    half = scipy.stats.t.ppf(0.975, freedom) * 0.05 * np.sqrt(2)
    assert gains.cells["low"].values[0, 0] == pytest.approx(100 * (1 - np.exp(np.log(1.1) + half)))
    assert judge(gains, rule)[0].p == pytest.approx(2 * scipy.stats.t.sf(np.sqrt(2) * off, freedom))


def test_what_launches_of_several_files_differ_by_is_their_mean_variance() -> None:
    told = [
        {"collective": "bcast", "deviation": 0.03, "freedom": 2, "launches": 3},
        {"collective": "bcast", "deviation": 0.05, "freedom": 6, "launches": 4},
        {"collective": "reduce", "deviation": 0.5, "freedom": 1, "launches": 2},
    ]
    cube = pair([[1.0]], [[1.1]], [4], [8]).assign_attrs({LAUNCHES: json.dumps(told)})
    launches = Launches(100 * np.sqrt((2 * 0.03**2 + 6 * 0.05**2) / 8), 8, 3)
    known = improvement(cube)
    assert known.launches == launches
    assert known.cells.equals(improvement(cube, between_launches=launches).cells)
    assert not known.cells.equals(improvement(cube.assign_attrs({LAUNCHES: "[]"})).cells)


def test_a_rule_of_one_size_that_changes_nothing_is_kept_as_seldom_as_the_level_says() -> None:
    random, rule, kept = np.random.default_rng(7), DecisionFunction("bcast", [Method("tuned", "tuned")], Leaf(0)), 0
    for _ in range(400):
        # Three launches that differ by 10 %, repetitions by 2 %.
        launches = random.normal(0, 0.1, (2, 1, 1, 3, 1)) + random.normal(0, 0.02, (2, 1, 1, 3, 10))
        medians = np.median(launches, axis=-1)
        spread = Launches(100 * float(np.std(medians[0] - medians[1], ddof=1)) / np.sqrt(6), 2, 3)
        gains = improvement(sampled(np.exp(launches.reshape(2, 1, 1, 30)), [4], [8]), between_launches=spread)
        kept += judge(gains, rule)[0].p < 0.05
    # 20 are expected; by the normal distribution it would be 50.
    assert kept <= 32


def test_a_cell_that_was_not_measured_has_no_outcome() -> None:
    gains = improvement(pair([[1, np.nan, 1]], [[1, 1, np.nan]], [4]))
    assert [OUTCOMES[number] for number in gains.cells["outcome"].values[0]] == ["no difference", *["not measured"] * 2]
    assert len(gains.by_size()) == 1


def test_cells_with_the_same_messages_are_marked() -> None:
    cube = with_doubles(pair([[1, 1, 1]], [[1, 1, 1]], [4]), [[[2, 0, 2]], [[0, 0, 0]]], ["", "default", "tuned"])
    assert improvement(cube).cells["same"].values.tolist() == [[True, False, True]]


def test_what_was_not_measured_or_is_out_of_range_is_refused() -> None:
    cube = pair([[1, 1, 1]], [[1, 1, 1]], [4])
    with pytest.raises(DecisionError, match="'native' was not measured; the results hold default, tuned"):
        improvement(cube, "native")
    with pytest.raises(OptionError, match="level is 1"):
        improvement(cube, level=1)
    with pytest.raises(OptionError, match="launches differ by -1 percent"):
        Launches(-1)


@pytest.fixture
def decision() -> DecisionFunction:
    methods = [Method("linear", "linear"), Method("binomial", "binomial"), Method("pipeline", "pipeline")]
    small = Split((Test("comm_size", 32),), (Leaf(0), Leaf(1)))
    return DecisionFunction("bcast", methods, Split((Test("message_size", 500),), (small, Leaf(2))))


def test_each_rule_is_judged_by_all_the_cells_it_decides(decision: DecisionFunction) -> None:
    gains = improvement(pair([[1, 1, 1], [1, 1, 1]], [[0.9, 1.6, 1], [0.5, 0.5, 1]]))
    verdicts = {verdict.method: verdict for verdict in judge(gains, decision)}
    linear, binomial, pipeline = (verdicts[name] for name in ("linear", "binomial", "pipeline"))
    assert (linear.cells, linear.outcome, linear.slower) == (2, "slower", 1)
    # 0.9 and 1.6 times the default's: 1.2 in the geometric mean.
    assert linear.mean == pytest.approx(-20)
    assert (binomial.outcome, binomial.mean) == ("faster", pytest.approx(50))
    assert (pipeline.cells, pipeline.outcome) == (2, "no difference")
    assert region(linear.bounds) == "processes ≤ 32, message ≤ 500 B"


def test_p_is_corrected_for_the_number_of_rules_where_asked(decision: DecisionFunction) -> None:
    gains = improvement(pair([[1, 1, 1], [1, 1, 1]], [[0.96, 0.97, 1], [0.95, 0.98, 1]], std=0.05))
    plain, corrected = ([each.p for each in judge(gains, decision, corrected=asked)] for asked in (False, True))
    assert corrected == holm(np.array(plain)).tolist()
    assert min(corrected) > min(plain)


def test_rules_for_processes_per_node_are_judged_at_those_of_the_results() -> None:
    cube = pair(np.ones((1, 2, 2)), [[[0.5, 2], [0.5, 2]]], [4], [8, 128])
    rules = Split((Test("ppn", 1),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", [Method("linear", "linear"), Method("ring", "ring")], rules)
    for ppn, method, outcome in ((1, "linear", "faster"), (2, "ring", "slower")):
        verdicts = {verdict.method: verdict for verdict in judge(improvement(cube, ppn=ppn), decision)}
        assert (verdicts[method].cells, verdicts[method].outcome) == (2, outcome)


def test_only_rules_that_are_slower_beyond_noise_are_dropped(decision: DecisionFunction) -> None:
    gains = improvement(pair([[1, 1, 1], [1, 1, 1]], [[2, 2, 1], [0.5, 0.5, 1]]))
    kept, dropped, _ = without_slower(decision, judge(gains, decision))
    assert [verdict.method for verdict in dropped] == ["linear"]
    comm, message = np.meshgrid(COMM, MESSAGE, indexing="ij")
    labels = [[kept.methods[place].label for place in row] for row in kept.predict(comm, message)]
    assert labels == [["default", "default", "pipeline"], ["binomial", "binomial", "pipeline"]]
    again = improvement(pair([[1, 1, 1], [1, 1, 1]], [[2, 2, 1], [0.5, 0.5, 1]]))
    assert without_slower(kept, judge(again, kept))[1] == []


def test_a_rule_that_wins_on_the_whole_loses_the_cells_at_which_it_is_slower(decision: DecisionFunction) -> None:
    # Small messages on few processes: 10 times as fast at 8 B, half as fast at 128 B.
    gains = improvement(pair([[1, 1, 1], [1, 1, 1]], [[0.1, 2, 1], [0.5, 0.5, 1]]))
    verdicts = judge(gains, decision)
    assert {verdict.method: (verdict.outcome, verdict.slower) for verdict in verdicts}["linear"] == ("faster", 1)
    kept, dropped, cut = without_slower(decision, verdicts, gains)
    assert dropped == []
    assert [verdict.method for verdict in cut] == ["linear"]
    comm, message = np.meshgrid(COMM, MESSAGE, indexing="ij")
    labels = [[kept.methods[place].label for place in row] for row in kept.predict(comm, message)]
    assert labels == [["linear", "default", "pipeline"], ["binomial", "binomial", "pipeline"]]
    # Between measured sizes the larger one's cell reaches down to the smaller one, as in decision trees.
    between = [kept.methods[kept.predict_one(COMM[0], size)].label for size in (MESSAGE[0] + 1, MESSAGE[1] + 1)]
    assert between == ["default", "default"]
    assert kept.provenance[CUT] == 1


def test_a_rule_decides_between_compared_sizes_that_are_not_slower_where_asked() -> None:
    rule = DecisionFunction("bcast", [Method("ring", "ring")], Leaf(0))
    sizes = (12, 64, 128, 256, 1000)
    gains = improvement(pair(np.ones((1, 5)), [[2, 0.1, 2, 0.1, 0.1]], [4], sizes))
    faster = [replace(verdict, outcome="faster") for verdict in judge(gains, rule)]

    def decides(element: int) -> list[int]:
        kept = without_slower(rule, faster, gains, element)[0]
        places = kept.predict(4, np.array([4, 12, 60, 64, 65, 128, 255, 256, 1000, 1004]))
        return np.flatnonzero([kept.methods[place].algorithm == "ring" for place in places]).tolist()

    assert decides(0) == [3, 7, 8, 9]
    assert decides(4) == [3, 7, 8]


def test_beyond_what_was_measured_the_library_decides_where_asked(decision: DecisionFunction) -> None:
    measured = DecisionFunction(
        "bcast", decision.methods, decision.tree, provenance={"comm_size": [4, 64], "message_size": [8, 4096]}
    )
    kept = within_measured(measured)

    def label(comm_size: int, message_size: int) -> str:
        return kept.methods[kept.predict_one(comm_size, message_size)].label

    assert [label(p, 8) for p in (3, 4, 64, 65)] == ["default", "linear", "binomial", "default"]
    assert [label(4, m) for m in (7, 8, 4096, 4097)] == ["default", "linear", "pipeline", "default"]
    assert within_measured(decision).predict_one(1, 1) == decision.predict_one(1, 1)


def test_a_rule_that_nobody_measured_stays(decision: DecisionFunction) -> None:
    gains = improvement(pair([[1, 1]], [[2, 2]], [64], [8, 128]))
    verdicts = {verdict.method: verdict for verdict in judge(gains, decision)}
    assert verdicts["linear"].outcome == verdicts["pipeline"].outcome == "not measured"
    assert [verdict.method for verdict in without_slower(decision, list(verdicts.values()))[1]] == ["binomial"]


def test_the_processes_per_node_of_the_results_are_known_to_the_rules() -> None:
    tree = Split((Test("ppn", 1),), (Leaf(0), Leaf(1)))
    decision = DecisionFunction("bcast", [Method("a", "linear"), Method("b", "binomial")], tree)
    cube = pair([[1.0]], [[2.0]], [4], [8])
    with pytest.raises(DecisionError, match="ppn"):
        judge(improvement(cube), decision)
    outcomes = {verdict.method: verdict.outcome for verdict in judge(improvement(cube), decision, ppn=2)}
    assert outcomes == {"a": "not measured", "b": "slower"}


@pytest.mark.parametrize(("slower", "p"), [(1.0, 1.0), (2.0, 0.0)])
def test_without_any_spread_a_difference_is_certain_and_none_is_none(slower: float, p: float) -> None:
    rule = DecisionFunction("bcast", [Method("tuned", "tuned")], Leaf(0))
    gains = improvement(pair(np.ones((2, 3)), np.full((2, 3), slower), std=0.0))
    assert (gains.cells["p"] == p).all()
    (verdict,) = judge(gains, rule)
    assert verdict.p == p
