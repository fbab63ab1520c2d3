"""Regressions on known functions, what is guarded, and that means may stand for timings."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_info, threadpool_limits

from dashboard.online.bins import Bins
from dashboard.online.errors import OnlineError
from dashboard.online.learn import fit, regressions, since_change, summarise, trend
from dashboard.online.selection import DEFAULT, Blocked, Calls, _choice, allowed_in, learn
from dashboard.online.settings import Learning
from dashboard.online.table import default_table

SIZES = (8, 64, 1024, 65536)
NODES = (2, 4, 8)


def timings(alg: int = 1, factor: float = 1.0, iteration: int = 1, each: int = 20, **more: object) -> pd.DataFrame:
    """Times of 10 µs and 1 ns a byte, each with 20 % of spread."""
    generator = np.random.default_rng(alg * 100 + iteration)
    size, nodes = (axis.ravel() for axis in np.meshgrid(np.repeat(SIZES, each), NODES))
    time = factor * (1e-5 + 1e-9 * size) * np.exp(generator.normal(0, 0.2, size.size))
    columns = {"collective": "allreduce", "alg": alg, "message_size": size, "nodes": nodes, "ppn": 1, "time": time}
    return pd.DataFrame({**columns, "iteration": iteration, **more})


@pytest.mark.parametrize("learner", ["gamma", "poisson", "log"])
def test_means_weighted_by_their_number_grow_the_trees_that_all_timings_grow(learner: str) -> None:
    frame = timings(each=7)
    points = frame[["message_size", "nodes", "ppn"]].to_numpy(float)
    loss = "squared_error" if learner == "log" else learner
    all_of_them = HistGradientBoostingRegressor(loss=loss, max_iter=50, min_samples_leaf=5, early_stopping=False)
    line = trend(points, np.log(frame["time"]).to_numpy(), np.ones(len(frame)))(points)
    aim = np.log(frame["time"]) - line if learner == "log" else frame["time"] / np.exp(line)
    with threadpool_limits(1, user_api="openmp"):
        expected = all_of_them.fit(points, aim).predict(points)
    expected = (np.exp(expected) if learner == "log" else expected) * np.exp(line)
    predicted = fit(summarise(frame), learner, 50)(points)
    assert np.allclose(predicted, np.maximum(expected, frame["time"].min()), rtol=1e-6)


def test_it_is_learnt_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine several wait for each other at every split: a hundred seconds instead of seven.
    threads = []
    grown = HistGradientBoostingRegressor.fit

    def watched(self: HistGradientBoostingRegressor, *data: Any, **more: Any) -> Any:
        threads.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "openmp")
        return grown(self, *data, **more)

    monkeypatch.setattr(HistGradientBoostingRegressor, "fit", watched)
    fit(summarise(timings(each=7)), rounds=2)
    assert set(threads) == {1}


def test_a_known_function_is_learnt() -> None:
    predicted = fit(summarise(timings(each=100)))(np.array([[64, 4, 1], [65536, 8, 1]], dtype=float))
    assert predicted == pytest.approx([1e-5 + 64e-9, 1e-5 + 65536e-9], rel=0.1)


def test_a_method_with_too_few_timings_is_not_learnt() -> None:
    cells = summarise(pd.concat([timings(1, each=20), timings(2, each=2)]))
    assert list(regressions(cells, Learning(rounds=10, min_samples=100, change=None))) == [("allreduce", 1)]


def test_what_was_measured_before_a_change_is_forgotten_and_noise_is_none() -> None:
    steady = summarise(pd.concat([timings(iteration=n) for n in range(1, 6)]))
    assert sorted(since_change(steady, 1.5)["iteration"].unique()) == [1, 2, 3, 4, 5]
    changed = summarise(pd.concat([timings(iteration=n, factor=1 if n < 4 else 2.5) for n in range(1, 6)]))
    assert sorted(since_change(changed, 1.5)["iteration"].unique()) == [4, 5]
    assert len(since_change(changed, math.inf)) == len(changed)


@pytest.mark.parametrize(
    ("values", "weights", "median"), [([3, 1, 2], [1, 1, 5], 2), ([9, 1], [1, 3], 1), ([5, 4, 1, 8], [1, 1, 1, 4], 8)]
)
def test_a_change_is_the_ratio_that_half_of_the_timings_have_at_most(
    values: list[float], weights: list[int], median: float
) -> None:
    sizes = {"message_size": range(len(values)), "nodes": 1, "ppn": 1, "count": [10 * each for each in weights]}
    before = pd.DataFrame({**sizes, "iteration": 1, "log_median": 0.0})
    cells = pd.concat([before, before.assign(iteration=2, log_median=values)])
    assert set(since_change(cells, math.exp(median - 0.1))["iteration"]) == {2}
    assert set(since_change(cells, math.exp(median + 0.1))["iteration"]) == {1, 2}


def test_a_collective_is_learnt_when_five_of_its_methods_are() -> None:
    table = default_table("5.0", ("allreduce",))
    settings = Learning(rounds=20, min_samples=50)
    calls = Calls.even([1024, 65536], [4, 8], 1)
    four = summarise(pd.concat([timings(alg, factor=alg) for alg in range(1, 5)]))
    untrained = learn(four, table, settings, machine=(16, 8)).choices["allreduce"]
    assert (untrained.tuned(calls) == DEFAULT).all()
    five = summarise(pd.concat([timings(alg, factor=6 - alg) for alg in range(1, 6)]))
    trained = learn(five, table, settings, machine=(16, 8)).choices["allreduce"]
    assert (trained.tuned(calls) == 5).all()
    # The three without timings go on being tried as often as the learnt ones in the mean.
    place = trained.bins.number([65536], [4], [1])[0]
    share = trained.probability[place]
    assert share[5:].max() <= share[:5].max()
    assert share[5:].sum() > 0


def test_far_from_what_was_seen_the_library_decides() -> None:
    table = default_table("5.0", ("allreduce",))
    cells = summarise(pd.concat([timings(alg, factor=6 - alg) for alg in range(1, 6)]))
    made = learn(cells, table, Learning(rounds=20, min_samples=50), machine=(64, 32)).choices["allreduce"]
    assert made.tuned(Calls.even([1024], [60], [32])).tolist() == [DEFAULT]
    # Bins are of 4 nodes and 4 processes on each: one further on all axes is next to what was seen.
    near = learn(cells, table, Learning(rounds=20, min_samples=50, unseen="default"), machine=(64, 32))
    next_to, apart = near.choices["allreduce"].tuned(Calls.even([4 * 65536] * 2, [12, 16], [4, 4])).tolist()
    assert (next_to != DEFAULT, apart) == (True, DEFAULT)
    asked = learn(cells, table, Learning(rounds=20, min_samples=50, unseen="predict"), machine=(64, 32))
    assert asked.choices["allreduce"].tuned(Calls.even([1024], [60], [32])).tolist() != [DEFAULT]


def test_segments_longer_than_the_message_are_one_method() -> None:
    table, bins = default_table("4.1", ("bcast",)), Bins.regular(4, 4)
    labels = [method.label for method in table.methods["bcast"]]
    allowed = allowed_in(bins, "bcast", table, [])
    small = allowed[bins.number([100], [2], [2])[0]]
    pipelines = [small[place] for place, label in enumerate(labels) if label.startswith("pipeline")]
    assert pipelines == [True, False, False]
    large = allowed[bins.number([1 << 25], [2], [2])[0]]
    assert all(large[place] for place, label in enumerate(labels) if label.startswith("pipeline"))


def test_methods_that_take_longer_than_so_many_times_the_best_are_not_tried() -> None:
    bins, times = Bins.seen([8], [2], [1]), np.array([[10.0, 19.0, 21.0]])
    settings = Learning(blacklist=2.0, unseen="predict")
    allowed, needs = np.ones((1, 3), dtype=bool), np.zeros(3, dtype=int)
    choice = _choice(bins, allowed, summarise(timings(each=1)), times, settings, needs)
    assert (choice.probability[0] > 0).tolist() == [True, True, False]
    assert choice.best.tolist() == [1]


def test_a_block_holds_both_of_its_ends() -> None:
    block = Blocked("bcast", "chain*", message_size=(8, 64), ppn=(None, 4))
    points = np.array([[7, 1, 1], [8, 1, 4], [64, 9, 1], [65, 1, 1], [8, 1, 5]], dtype=float)
    assert block.at("bcast", "chain 8KiB", points).tolist() == [False, True, True, False, False]
    assert not block.at("bcast", "linear", points).any()
    assert not block.at("reduce", "chain", points).any()


@pytest.mark.parametrize("change", [{"method": 5}, {"nodes": ("2", "4")}])
def test_what_is_blocked_is_a_method_between_sizes(change: dict[str, Any]) -> None:
    with pytest.raises(OnlineError, match="what is blocked is a method between sizes, found Blocked"):
        Blocked(**{"collective": "bcast", "method": "ring", **change})


def test_blocked_methods_are_never_chosen_there() -> None:
    table, bins = default_table("4.1", ("allreduce",)), Bins.regular(4, 4)
    blocked = Blocked("allreduce", "basic_linear", message_size=(1024, None))
    allowed = allowed_in(bins, "allreduce", table, [blocked])
    assert allowed[bins.number([64], [2], [2])[0], 0]
    assert not allowed[bins.number([1 << 20], [2], [2])[0], 0]
