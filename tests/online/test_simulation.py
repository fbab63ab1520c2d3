"""Simulated tuning reaches what the specification asks for, and the reference values of an independent simulation."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.models.parameter_text import find_parameters
from dashboard.models.programs import programs_of
from dashboard.models.simulator import simulate as simulated
from dashboard.online import scenario as scenarios
from dashboard.online.errors import OnlineError
from dashboard.online.expressions import evaluate
from dashboard.online.logics import LOGICS
from dashboard.online.noise import Noise, Processes
from dashboard.online.selection import Calls
from dashboard.online.simulation import Judged, simulate
from dashboard.online.state import Folder
from dashboard.online.truth import Simulated
from loaders import open_results
from tests.cli.command import Run
from tests.cubes import cube_of, named


def run(name: str, seed: int, iterations: int, **learning: object) -> list[Judged]:
    known = scenarios.read(name)
    quick = replace(known.learning, **{"rounds": 40, **learning})
    return list(simulate(replace(known, learning=quick), seed, iterations))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 6))])
def test_the_reference_is_within_10_percent_after_4_iterations_and_5_after_8(seed: int) -> None:
    judged = run("reference", seed, 8)
    assert judged[3].tuned_over_best <= 1.10
    assert judged[7].tuned_over_best <= 1.05
    # The reference values: default 8.46 times the best; while methods are tried 1.7 to 7.3 times.
    assert judged[0].default_over_best == pytest.approx(8.46, abs=0.01)
    assert 1 < np.mean([each.tuning_over_best for each in judged[1:]]) < 7.3


@pytest.mark.soak
def test_after_a_drift_it_recovers_within_three_iterations() -> None:
    known = scenarios.read("drift")
    calls = known.judged["allreduce"]
    before, after = (known.times("allreduce", calls, iteration) for iteration in (5, 6))
    kept = after[np.arange(len(after)), before.argmin(axis=1)]
    assert kept.sum() > 2 * after.min(axis=1).sum()
    judged = run("drift", 2, 8)
    assert judged[4].tuned_over_best <= 1.10
    assert judged[7].tuned_over_best <= 1.10


def test_the_librarys_own_decision_drifts_with_the_method_that_it_takes() -> None:
    """By hand: it takes `second`, six times as long from iteration 6 on, below 10 KiB, and `third` above."""
    known = scenarios.read("drift")
    calls = known.judged["allreduce"]
    # However long it is, as whole numbers that JSON may hold.
    known = replace(known, drift=replace(known.drift, factors={"allreduce": {"second": 6, "fourth": 10**30}}))
    for iteration in (5, 6):
        times = known.times("allreduce", calls, iteration)
        assert times.dtype == np.float64
        by_hand = np.where(calls.message_size < 10240, times[:, 1], times[:, 2])
        assert known.default("allreduce", calls, iteration) == pytest.approx(by_hand)
        assert (by_hand >= times.min(axis=1)).all()


def test_what_nobody_knows_of_the_library_is_in_no_figure_of_what_was_tuned(done: Run) -> None:
    words = ["online", "simulate", "--scenario", "simulated", "--iterations", "1", "--rounds", "20", "--unseen"]
    shares = {}
    for unseen in ("default", "predict"):
        (first,) = done(*words, unseen, "--json").json["iterations"]
        shares[unseen] = first["unknown"]
        assert first["default_over_best"] is None
        assert (first["tuned_over_best"] is None) == (first["unknown"] == 1)
        assert ("of which nobody knows what it takes" in done(*words, unseen).out) == (first["unknown"] > 0)
    assert shares["default"] > 0 == shares["predict"]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures_and_another_one_others() -> None:
    first, again, other = (run("noisy", seed, 2)[-1].to_dict() for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("logic", ["uniform", "epsilon-greedy", "ucb", "star"])
def test_every_logic_chooses_and_is_learnt_from(logic: str) -> None:
    known = scenarios.read("reference")
    small = replace(known, logic=logic, calls=120, learning=replace(known.learning, rounds=20, min_samples=50))
    judged = list(simulate(small, 1, 3))
    assert judged[-1].tuned_over_best < 2
    if logic in ("ucb", "star"):
        # Those that learn from call to call pay less for trying than even choice.
        assert judged[-1].tuning_over_best < judged[0].tuning_over_best


@pytest.mark.parametrize(
    ("logic", "count", "expected"),
    [
        # UCB1 by hand: after 1, 2, 1 the bounds are 1 + (2 ln 3 / 2)^½ = 2.05 and 1 / 1.2 + (2 ln 3)^½ = 2.32.
        ("ucb", 6, [1, 2, 1, 2, 1, 2]),
        # Five rounds of all, then the best, and the next one at every fiftieth call.
        ("star", 52, [1, 2, 3] * 5 + [1] * 35 + [2, 1]),
    ],
)
def test_logics_choose_from_call_to_call_as_published(logic: str, count: int, expected: list[int]) -> None:
    times = [1.0, 1.2, 2.0][: max(expected)]
    chooser, call, chosen = LOGICS[logic](None), Calls.even([64], [4], [2]), []
    for _ in range(count):
        alg = chooser.choose(call, np.array([0.5]), np.ones((1, len(times)), dtype=bool))
        chooser.observe(call, alg, np.array([times[alg[0] - 1]]))
        chosen.append(int(alg[0]))
    assert chosen == expected


@pytest.mark.parametrize("logic", ["tuning", "star", "ucb"])
def test_calls_that_no_method_is_for_are_told_by_every_logic(tmp_path: Path, logic: str) -> None:
    known = json.loads((scenarios.FOLDER / "simulated.json").read_text(encoding="utf-8"))
    truth = {"methods": ["recursive_doubling"], "parameters": "grig-mx"}
    application = {**known["application"], "nodes": [3]}
    collectives = {"allgather": {"truth": truth, "sizes": [8]}}
    file = tmp_path / "own.json"
    file.write_text(json.dumps({**known, "logic": logic, "application": application, "collectives": collectives}))
    with pytest.raises(OnlineError, match="allgather: there are calls for which no method has a time"):
        next(simulate(scenarios.read(str(file)), 1, 1))


def test_what_the_library_decides_by_itself_ends_as_no_method_of_the_table_does() -> None:
    known, last = scenarios.read("reference"), []
    for profiles in ({}, {"sixth": "staggered"}):
        processes = Processes(clock_offset=1e-9, profiles=profiles)
        # Nothing is learnt, so that tuned calls are the library's.
        settings = replace(known.learning, min_samples=10**6)
        few = replace(known, processes=processes, metric="mean", logic="tuned", learning=settings, calls=20, runs=1)
        runs: list[pd.DataFrame] = []
        list(simulate(few, 1, 2, lambda _iteration, _number, run, runs=runs: runs.append(run)))
        assert set(runs[1]["alg"]) == {0}
        last.append(runs[1]["time"].to_numpy())
    assert last[0] == pytest.approx(last[1])


def test_segments_of_simulated_methods_are_those_of_their_names() -> None:
    model = find_parameters("grig-mx", "hockney").of("hockney")
    truth = Simulated("bcast", ["pipeline", "pipeline 8KiB"], model)
    programs = [programs_of("bcast", "pipeline", 8, 1 << 20, segment) for segment in (0, 8192)]
    times = truth.times(Calls.even([1 << 20], [4], [2]))
    assert times.tolist() == [[simulated(each, model).time for each in programs]]
    assert times[0, 1] < times[0, 0] / 2


@pytest.mark.soak
def test_what_was_measured_at_mare_nostrum_is_within_10_percent_of_the_best_after_20(shared: Path) -> None:
    results = open_results(shared / "data" / "pico" / "pico_consolidated.csv", system="mare_nostrum")
    cubes = {name: results[name].to_dataset() for name in ("bcast", "alltoall")}
    known = scenarios.read("replay", cubes)
    judged = list(simulate(replace(known, learning=replace(known.learning, rounds=60)), 1, 20))
    # Not only in sum, which the largest messages make up.
    assert judged[-1].tuned_over_best <= 1.10
    assert judged[-1].tuned_mean <= 1.10


def test_lateness_lengthens_the_longest_time_and_not_that_of_the_last_to_come() -> None:
    generator = np.random.default_rng(1)
    late = Processes(arrivals="late", spread=1e-3)
    times = np.full(50, 1e-4)
    seen = {m: late.recorded(times, ["equal"] * 50, 8, m, generator) for m in ("max", "makespan", "mean", "root")}
    assert seen["max"] == pytest.approx(np.full(50, 1.1e-3))
    assert seen["makespan"] == pytest.approx(np.full(50, 1.1e-3))
    assert seen["mean"] == pytest.approx(np.full(50, (7 * 1.1e-3 + 1e-4) / 8))


def test_clocks_that_are_off_spoil_the_makespan_and_not_the_longest_time() -> None:
    generator = np.random.default_rng(1)
    wrong = Processes(clock_offset=1e-2)
    times = np.full(20, 1e-4)
    assert wrong.recorded(times, ["equal"] * 20, 8, "max", generator) == pytest.approx(times)
    assert wrong.recorded(times, ["equal"] * 20, 8, "makespan", generator).min() > 10e-4


def test_outliers_are_as_often_as_said() -> None:
    seen = Noise(sigma=0.01, outliers=0.1).on(np.ones(20_000), np.random.default_rng(3))
    assert (seen > 1.5).mean() == pytest.approx(0.1, abs=0.01)
    # Each call has a factor of its own.
    slow = Noise(sigma=0, outliers=1, outlier_factor=(2, 4)).on(np.ones(20_000), np.random.default_rng(3))
    assert (slow.min(), slow.mean(), slow.max()) == pytest.approx((2, 3, 4), abs=0.02)


def test_calls_of_a_run_have_a_factor_in_common() -> None:
    generator = np.random.default_rng(3)
    assert np.log([Noise(allocation=0.3).of_run(generator) for _ in range(4000)]).std() == pytest.approx(0.3, rel=0.05)
    assert Noise().of_run(generator) == 1


def test_formulas_are_read_and_nothing_else() -> None:
    assert evaluate("2*L*ceil(log2(P)) + max(m, 3)", {"L": 0.5, "P": 9, "m": 1}) == 7
    for bad in ("__import__('os')", "m.real", "m**99", "unknown + 1", "(", "min(m)", "m / 0", "L * m"):
        with pytest.raises(OnlineError):
            evaluate(bad, {"m": 1.0, "L": "x"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"noise": {"sigmas": 1}}, "sigmas"),
        ({"like": "refrence"}, "like is 'refrence', expected one of allocation"),
        ({"logic": "best"}, "expected one of tuning"),
        ({"learning": {"rounds": 0}}, "rounds is 0"),
        ({"machine": {"nodes": 4}}, "'ppn' is missing"),
        ({"speed": 1}, "no 'speed' in a scenario"),
        ({"processes": {"arrivals": "never"}}, "arrivals is 'never'"),
        ({"processes": {"spread": -1}}, "processes: spread is -1, expected a number of 0 or more"),
        ({"processes": {"profiles": {"frist": "equal"}}}, "profiles has no 'frist', expected some of first, second"),
        ({"noise": {"sigma": -1}}, "noise: sigma is -1"),
        ({"noise": {"sigma": "x"}}, "noise: sigma is 'x'"),
        ({"noise": {"outliers": 3}}, "outliers is 3, expected a number of 0 to 1"),
        ({"noise": {"outlier_factor": [5]}}, "outlier_factor is .5., expected the least and the largest"),
        ({"noise": {"outlier_factor": 5}}, "outlier_factor is 5, expected the least and the largest"),
        ({"application": {"cals": 5000}}, "application has no 'cals'"),
        ({"application": {"nodes": [4], "ppn": [1], "calls": 10**30}}, "expected a whole number of 1 to 1,000,000"),
        ({"drift": {"iteration": 2, "factors": {"allreduce": {"frist": 2}}}}, "drift of allreduce has no 'frist'"),
        ({"drift": {"iteration": 2, "factors": {"scan": {}}}}, "drift has no 'scan'"),
        ({"drift": {"iteration": "2", "factors": {}}}, "drift: iteration is '2', expected a whole number"),
        ({"drift": {"iteration": 2, "factors": {"allreduce": {"first": 0}}}}, "first is 0, expected a factor above 0"),
        ({"collectives": {}}, "collectives are none, expected at least one"),
        ({"collectives": {"bcast": {"sizes": [8], "truth": {"formulas": ["1"]}}}}, "own.json: "),
    ],
)
def test_what_is_wrong_with_a_scenario_is_named(tmp_path: Path, change: dict[str, object], words: str) -> None:
    file = tmp_path / "own.json"
    known = json.loads((scenarios.FOLDER / "reference.json").read_text(encoding="utf-8"))
    file.write_text(json.dumps({**known, **change}), encoding="utf-8")
    with pytest.raises(OnlineError, match=words):
        scenarios.read(str(file))


def test_the_command_answers_as_the_contract_has_it(done: Run, refused: Run) -> None:
    words = ["online", "simulate", "--scenario", "reference", "--iterations", "2", "--rounds", "20", "--json"]
    answer = done(*words).json
    assert [each["iteration"] for each in answer["iterations"]] == [1, 2]
    assert all(each["tuned_over_best"] >= 1 and each["tuning_over_best"] >= 1 for each in answer["iterations"])
    assert answer["learning"]["rounds"] == 20
    assert "did you mean reference?" in refused("online", "simulate", "--scenario", "refrence").err
    assert "--results" in refused("online", "simulate", "--scenario", "replay").err


def test_measurements_of_grids_are_replayed() -> None:
    cubes = open_results("sample_data/fast-ethernet-grids/results.jsonl").children
    known = scenarios.read("replay", {name: node.to_dataset() for name, node in cubes.items()})
    (judged,) = simulate(known, 1, 1)
    assert min(judged.tuned_over_best, judged.default_over_best) >= 1


def test_what_is_loaded_on_the_page_is_no_matter_to_a_scenario_of_its_own_times() -> None:
    cube = cube_of(np.ones((2, 2, 2)), [2, 4], [8, 64])
    own, beside = (scenarios.read("reference", cubes) for cubes in (None, {"bcast": cube}))
    assert own.table == beside.table


def test_where_the_default_was_not_measured_it_is_judged_elsewhere() -> None:
    times = np.array([[[3.0, 4.0]], [[2.0, 2.0]], [[4.0, 1.0]]])
    cube = named(cube_of(times, [4], [8, 64]), ["default", "first", "second"])
    (full,) = simulate(scenarios.read("replay", {"bcast": cube}), 1, 1)
    assert full.default_over_best == pytest.approx(7 / 3)
    cube["time"][0, 0, 1] = np.nan
    (gap,) = simulate(scenarios.read("replay", {"bcast": cube}), 1, 1)
    assert gap.default_over_best == pytest.approx(3 / 2)


def test_traces_of_nodes_that_are_not_full_tell_how_many_processes_called(
    tmp_path: Path, done: Run, refused: Run
) -> None:
    """Of results on 3, 5 and 8 processes, two on each node; results are for what replays them alone."""
    rows = [
        f"bcast,{name},{ranks},{size},2,{time * ranks}e-6"
        for name, time in (("linear", 1), ("binomial", 2), ("default", 3))
        for ranks in (3, 5, 8)
        for size in (8, 1024)
    ]
    table, traces = tmp_path / "u.csv", tmp_path / "traces"
    table.write_text("\n".join(["collective,algorithm,comm_size,message_size,ppn,time", *rows]) + "\n")
    words = ["online", "simulate", "--results", str(table), "--iterations", "1", "--rounds", "20", "--scenario"]
    done(*words, "replay", "--traces", traces)
    assert "holds traces of seed 1 already" in refused(*words, "replay", "--traces", traces).err
    answer = done("online", "profile", traces, "--json").out
    assert {int(each) for each in re.findall(r'"comm_size": (\d+)', answer)} == {3, 5, 8}
    assert "they are for one that replays" in refused(*words, "reference").err


def test_simulated_timings_are_traces_that_are_learnt_from_like_others(tmp_path: Path, done: Run) -> None:
    words = ["online", "simulate", "--scenario", "reference", "--iterations", "2", "--rounds", "40", "--seed", "4"]
    answer = done(*words, "--json", "--traces", tmp_path / "traces").json
    known = scenarios.read("reference")
    folder = Folder(tmp_path / "tuning", known.table, known.machine, replace(known.learning, rounds=40))
    folder.save()
    assert folder.collect(traces=tmp_path / "traces").timings == answer["iterations"][-1]["samples"]
    choice = folder.train().choices["allreduce"]
    calls = known.judged["allreduce"]
    true = known.times("allreduce", calls, 1)
    taken = true[np.arange(len(true)), choice.tuned(calls) - 1]
    assert taken.sum() <= 1.1 * true.min(axis=1).sum()
