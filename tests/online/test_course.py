"""Online tuning iteration by iteration: learnt anew from what was kept, it is what the folder had learnt."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.cli import main
from dashboard.online import running
from dashboard.online import scenario as scenarios
from dashboard.online.course import Kept, bands, beside_default, called, coverage, fits, simulated, stamp
from dashboard.online.model_file import load
from dashboard.online.runs import Run
from dashboard.online.selection import Blocked
from dashboard.online.simulation import simulate
from dashboard.online.state import Folder
from dashboard.online.writing import write_trace
from tests.cli.command import Run as Done
from tests.online.folders import DEFAULT, SIZES, TABLE, another, make, seconds, timings

NAME = "allreduce"
BEST = TABLE.methods[NAME][2].label


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return make(tmp_path_factory.mktemp("online") / "loop")


def test_with_the_folders_settings_it_is_what_the_folder_learnt(folder: Folder) -> None:
    course = Kept.of(folder).course(folder.learning)
    assert [iteration["iteration"] for iteration in course.iterations] == [1, 2]
    for number, model in enumerate(course.models, 1):
        known = load(folder.path / "models" / f"{number}.model").choices[NAME]
        assert np.array_equal(model.choices[NAME].best, known.best)
        assert np.array_equal(model.choices[NAME].sums, known.sums)


def test_boxes_are_times_by_the_best_known(folder: Folder) -> None:
    last = Kept.of(folder).course(folder.learning).iterations[-1]["boxes"]
    # The library's own decision takes twice as long as the best, which is what is taken when tuned.
    assert last["default"][2] == pytest.approx(DEFAULT, rel=0.05)
    assert last["tuned"][2] == pytest.approx(1, rel=0.05)
    assert 1.9 < last["tuning"][2] < 2.4
    assert last["default"] == sorted(last["default"])


def test_runs_count_by_how_their_calls_were_decided(tmp_path: Path) -> None:
    folder = make(tmp_path / "loop", iterations=1)
    for mode, alg, factor in (("trace", 0, 3.0), ("tuned", 3, 1.0)):
        write_trace(folder.traces, mode, timings(2, seed=3, alg=alg, factor=factor), folder.table, mode=mode)
    folder.collect(0.0)
    folder.train()
    boxes = Kept.of(folder).course(folder.learning).iterations[-1]["boxes"]
    assert boxes["default"][2] == pytest.approx(3, rel=0.05)
    assert boxes["tuned"][2] == pytest.approx(1, rel=0.05)
    assert not boxes["tuning"]


def test_what_was_learnt_before_is_kept_where_its_timings_are_the_same(tmp_path: Path) -> None:
    folder = make(tmp_path / "loop")
    before = Kept.of(folder)
    before.course(folder.learning)
    another(folder)
    after = Kept.of(folder, before)
    assert set(after.memo) == set(before.memo)
    fresh, kept = Kept.of(folder).course(folder.learning), after.course(folder.learning)
    assert all(
        np.array_equal(each.choices[NAME].sums, other.choices[NAME].sums)
        for each, other in zip(fresh.models, kept.models, strict=True)
    )


def test_what_was_called_is_all_that_was_noted(folder: Folder) -> None:
    kept = Kept.of(folder)
    calls = called(kept.course(folder.learning))
    assert calls["calls"].sum() == len(kept.calls)
    assert calls["time"].sum() == pytest.approx(kept.calls["time"].sum(), rel=1e-6)
    assert calls["time_percent"].sum() == pytest.approx(100)
    assert calls["time"].is_monotonic_decreasing


def test_other_settings_are_learnt_from_the_same_timings(folder: Folder) -> None:
    kept = Kept.of(folder)
    usual = kept.course(folder.learning)
    capped = kept.course(replace(folder.learning, cap=0.2, exact=True))
    sizes = (SIZES[1], 4, 2)
    assert bands(usual, NAME, sizes)[-1, 2] > 0.2
    assert bands(capped, NAME, sizes).max() == pytest.approx(0.2, abs=1e-6)
    # What is kept of the regressions changes nothing.
    fresh = Kept.of(folder).course(replace(folder.learning, cap=0.2, exact=True))
    assert np.array_equal(bands(capped, NAME, sizes), bands(fresh, NAME, sizes))
    without = kept.course(folder.learning, [Blocked(NAME, BEST)])
    assert bands(without, NAME, sizes)[-1, 2] == 0
    assert BEST not in set(coverage(without, NAME)["best"])
    seen = kept.course(replace(folder.learning, bins="seen"))
    assert seen.models[-1].choices[NAME].bins.count == 2 * len(SIZES)


def test_what_was_seen_learnt_and_gained_is_told_at_each_size(folder: Folder) -> None:
    course = Kept.of(folder).course(folder.learning)
    seen = coverage(course, NAME)
    assert seen["timings"].sum() == course.iterations[-1]["timings"]
    assert set(seen["methods"]) == {len(TABLE.methods[NAME])}
    beside = beside_default(course, NAME)
    assert len(beside) == 2 * len(SIZES)
    assert set(beside["method"]) == {BEST}
    assert beside["ratio"].to_numpy() == pytest.approx(1 / DEFAULT, rel=0.1)
    points, lines = fits(course, NAME, 4, 2)
    own = points[points["alg"] == 3].sort_values("message_size")
    assert own["time"].to_numpy() == pytest.approx([seconds(3, size, 4) for size in SIZES], rel=0.05)
    assert set(lines["alg"]) == set(points["alg"])


def test_a_simulation_is_told_as_the_command_tells_it() -> None:
    known = scenarios.read("reference")
    quick = replace(known, learning=replace(known.learning, rounds=10))
    coming = []
    course = simulated(quick, 3, 2, coming=coming.append)
    rows = [each.to_dict() for each in simulate(quick, 3, 2)]
    assert [{name: iteration[name] for name in rows[0]} for iteration in course.iterations] == rows
    assert [len(each.models) for each in coming] == [1, 2]
    # The truth says what is gained, not the noise of the timings.
    beside = beside_default(course, NAME)
    sizes = beside[(beside["message_size"] == 262144) & (beside["nodes"] == 32) & (beside["ppn"] == 32)]
    assert sizes["ratio"].item() < 0.2


def test_the_command_shows_the_course_by_other_settings(folder: Folder, done: Done) -> None:
    words = ["online", "show", str(folder.path), "--course", "--json", "--bins", "seen", "--block", f"{NAME}:{BEST}"]
    words += ["--tail", "none", "--change", "none"]
    answer = done(*words).json
    blocked = [Blocked(NAME, BEST)]
    course = Kept.of(folder).course(replace(folder.learning, bins="seen", tail=None, change=None), blocked)
    assert answer["course"] == json.loads(json.dumps(course.to_dict()))
    assert [answer["learning"][name] for name in ("bins", "tail", "change")] == ["seen", None, None]
    *_, row, note = done("online", "show", folder.path).out.splitlines()
    # Calls took as long by both, and so did the run.
    assert row.split()[2:] == ["1.000", "s", "1.000", "s", "1.000"] * 2
    assert "summed" in note
    assert "tuned/best, median" in done("online", "show", folder.path, "--course").out
    assert main(["online", "show", str(folder.path), "--course", "--block", "bcast:no"]) == 2


@pytest.mark.parametrize("seconds", [None, "x"])
def test_an_evaluation_whose_run_took_no_time_that_can_be_read_is_damaged(folder: Folder, seconds: Any) -> None:
    (first, *_) = running.evaluations(folder)
    running.check_evaluation(first)
    running.check_evaluation({**first, "tuned": {"collectives": 1.0}})
    with pytest.raises((TypeError, ValueError)):
        running.check_evaluation({**first, "tuned": {**first["tuned"], "run": seconds}})


def test_what_a_plan_judges_besides_is_run_though_it_stands_before_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = make(tmp_path / "loop", 1), []

    def perform(_folder: Folder, _name: str, tasks: list[list[Run]], *_: object) -> None:
        runs.extend(run for task in tasks for run in task)
        tasks.clear()

    monkeypatch.setattr(running, "perform", perform)
    evaluated = (("other",), ("program",))
    running.loop(folder, running.Plan((("program",),), evaluated, iterations=1), 1, str)
    assert [run.command for run in runs] == [("other",)] * 2
    assert not any(run.traced(folder) for run in runs)


def test_a_folder_without_runs_has_no_iterations_and_its_stamp_follows_it(tmp_path: Path) -> None:
    empty = make(tmp_path / "empty", 0)
    assert Kept.of(empty).course(empty.learning).iterations == []
    before = stamp(empty.path)
    assert stamp(empty.path) == before
    another(empty)
    assert stamp(empty.path) != before
