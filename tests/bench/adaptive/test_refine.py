"""What to measure next of results from elsewhere: as a list, and as a plan that a campaign takes."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.benchmarks.adaptive.refine import Advice, doubted_of, grid_between, known_of, refined, wish_of
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import missing
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from loaders import open_results
from tests.bench.campaigns import record, write
from tests.cli.command import Run
from tests.cubes import cube_of

COMM, MESSAGE = (2, 4, 8, 16), (64, 1024, 16384, 262144)
OPEN_MPI = OpenMpi(
    "5.0.11",
    {"bcast": {1: "basic_linear", 3: "pipeline"}},
    {"coll_tuned_priority": 30, "coll_tuned_bcast_algorithm": 0, "coll_tuned_bcast_algorithm_segmentsize": 0},
)


def times(comm_sizes: Any = COMM, message_sizes: Any = MESSAGE) -> np.ndarray:
    """One method for small messages and one for large ones, which cross near 4 KiB, and one that is never the best."""
    comm, message = np.meshgrid(comm_sizes, message_sizes, indexing="ij")
    return 1e-6 * np.stack([comm * (1 + message / 1024), 4 * comm + comm * message / 4096, 400.0 + comm * message])


@pytest.fixture(scope="module")
def cube() -> xr.Dataset:
    return cube_of(times(), COMM, MESSAGE)


@pytest.fixture(scope="module")
def advised(cube: xr.Dataset) -> list[Advice]:
    return list(refined({"bcast": known_of(cube)}))


def test_what_may_be_measured_lies_between_and_at_kind_numbers() -> None:
    assert grid_between(np.array([2, 4, 8, 64])).tolist() == [2, 3, 4, 6, 8, 32, 64]
    assert grid_between(np.array([2, 3])).tolist() == [2, 3]


def test_nothing_is_measured_twice_and_nothing_that_cannot_win(cube: xr.Dataset, advised: list[Advice]) -> None:
    known = known_of(cube)
    points = [(a.step.row, column, m) for a in advised for column, methods in a.step.cells for m in methods]
    assert points
    assert len(points) == len(set(points))
    assert not any(known.measured[method, row, column] for row, column, method in points)
    assert 2 not in {method for _, _, method in points}


def test_where_methods_cross_tells_most(cube: xr.Dataset, advised: list[Advice]) -> None:
    known = known_of(cube)
    most = max(advised, key=lambda advice: advice.step.loss).step
    assert {int(known.message_sizes[column]) for column, _ in most.cells} == {8192}


def test_the_expected_loss_falls_as_if_each_step_gave_what_is_expected(advised: list[Advice]) -> None:
    losses = [advice.before for advice in advised]
    assert losses[-1] < losses[0]


def test_it_ends_at_so_many_points_at_so_much_time_and_at_an_expected_loss(cube: xr.Dataset) -> None:
    known = {"bcast": known_of(cube)}
    assert 0 < sum(advice.step.points for advice in refined(known, points=5)) <= 5
    (first, *_) = refined(known)
    seconds = [advice.step.seconds for advice in refined(known, seconds=1.5 * first.step.seconds)]
    assert 0 < sum(seconds) <= 1.5 * first.step.seconds
    assert not list(refined(known, percent=100.0))


def test_a_method_that_is_missing_where_it_may_be_the_best_is_measured() -> None:
    full = 1e-6 * np.exp(0.1 * np.random.default_rng(1).standard_normal((2, 4, 4)))
    full[0, 1, 1] = np.nan
    (advice,) = refined({"bcast": known_of(cube_of(full, COMM, MESSAGE), COMM, MESSAGE)})
    assert (advice.step.row, advice.step.cells) == (1, ((1, (0,)),))


def test_repetitions_tell_how_sure_a_time_is(cube: xr.Dataset) -> None:
    sure = known_of(cube)
    assert np.nanmax(sure.errors) == pytest.approx(0.02 / np.sqrt(10))
    assert np.nanmax(known_of(cube.drop_vars("repetitions")).errors) == 0.05


def test_repetitions_that_were_disturbed_do_not_make_the_median_of_the_others_unsure(cube: xr.Dataset) -> None:
    samples = cube["time"].expand_dims(repetition=30, axis=3) * np.linspace(0.99, 1.01, 30)
    disturbed = xr.where(samples["repetition"] < 2, 1000 * samples, samples)
    known = known_of(cube.assign(sample=disturbed, time_std=disturbed.std("repetition")))
    assert np.nanmax(known.errors) < 0.005
    few = known_of(cube.assign(sample=disturbed.where(disturbed["repetition"] < 1)))
    assert np.nanmin(few.errors) == 0.2


def test_what_cannot_be_trusted_is_measured_again_also_beyond_what_is_known() -> None:
    every = times() * np.exp(0.3 * np.random.default_rng(1).standard_normal((3, 4, 4)))
    trusted = every.copy()
    trusted[:, 3] = np.nan
    known = known_of(cube_of(trusted, COMM, MESSAGE), (), (), every=cube_of(every, COMM, MESSAGE))
    assert known.comm_sizes.tolist() == list(COMM)
    assert {advice.step.row for advice in refined({"bcast": known})} == {3}


def test_doubtful_times_come_before_all_else(cube: xr.Dataset) -> None:
    trusted = cube.copy(deep=True)
    # Also of a method that is never the best.
    trusted["time"][2, 1, 2] = trusted["time"][0, 3, 0] = np.nan
    known = known_of(trusted, every=cube)
    doubted = doubted_of(known, cube, trusted)
    first, second, third, *_ = refined({"bcast": known}, untrusted={"bcast": doubted})
    points = [(place, advice.step.row, column) for advice in (first, second) for column, (place,) in advice.step.cells]
    assert sorted(points) == sorted(map(tuple, np.argwhere(doubted).tolist()))
    assert [first.again, second.again, third.again] == [True, True, False]
    assert first.before == known.mean_loss


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of another machine, beside an MPI that nothing can be started with."""
    monkeypatch.setattr(library, "find", lambda: Installation(Path("/nowhere/mpiexec"), OPEN_MPI))
    path = tmp_path / "results.jsonl"
    names = [("basic_linear", 0), ("pipeline", 1024), ("unheard_of", 0)]
    records = [
        record(Method(*name), comm_size, size, time, 1.01 * time, 0.99 * time)
        for row, comm_size in enumerate(COMM)
        for column, size in enumerate(MESSAGE)
        for name, time in zip(names, [*(1000 * times()[:2, row, column]).tolist(), 3e-3], strict=True)
    ]
    return write(path, *records, library="test")


def test_methods_are_measured_again_with_the_parameters_that_they_had(tmp_path: Path) -> None:
    methods = Method("chain", 2048, {"fan_out": 3}), Method("knomial", 0, {"radix": 5}), Method("binomial", 512)
    path = write(tmp_path / "results.jsonl", *(record(method, 4, 64, 1e-5) for method in methods))
    cube = open_results(path)["bcast"].to_dataset()
    wish = wish_of({"bcast": known_of(cube)}, {"bcast": cube}, None)
    variants = wish.variants
    assert (variants.segment_sizes, variants.fan_outs, variants.radixes) == ((0, 512, 2048), (3, 4), (4, 5))
    assert (wish.ranks, wish.comm_sizes, wish.message_sizes) == (4, (4,), (64,))


def test_components_that_were_measured_are_measured_again(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run
) -> None:
    here = replace(OPEN_MPI, components=("han", "tuned"))
    monkeypatch.setattr(library, "find", lambda: Installation(Path("/nowhere/mpiexec"), here))
    across = results.with_name("across.jsonl")
    across.write_text(results.read_text().replace("basic_linear", "han"))
    answer = done("bench", "refine", across, "-o", tmp_path / "next", "--json").json
    assert "han" in {name for step in answer["steps"] for cell in step["cells"] for name in cell["methods"]}
    assert answer["plan"]["lacking"] == {"bcast": ["unheard_of"]}
    assert "han" in Campaign(tmp_path / "next").plan().components


def test_the_command_writes_a_plan_of_what_it_lists(results: Path, tmp_path: Path, done: Run) -> None:
    folder = tmp_path / "next"
    answer = done("bench", "refine", results, "--points", "12", "-o", folder, "--json").json
    assert answer["plan"]["lacking"] == {"bcast": ["unheard_of"]}
    listed = {
        (step["comm_size"], cell["message_size"], name.split()[0])
        for step in answer["steps"]
        for cell in step["cells"]
        for name in cell["methods"]
    }
    plan = Campaign(folder).plan()
    assert not plan.anew
    planned = {
        (cell.comm_size, cell.message_size, method.algorithm)
        for cell, methods in missing(plan, ())
        for method in methods
    }
    assert planned == {point for point in listed if point[2] != "unheard_of"}
    assert answer["plan"]["points"] == len(planned) > 0
    assert done("bench", "status", folder, "--json").json["points"] == len(planned)


def test_what_was_measured_at_some_processes_per_node_is_measured_at_as_many(
    results: Path, tmp_path: Path, done: Run
) -> None:
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    points = [{**point, "ppn": ppn} for point in lines[1:] for ppn in (1, 2) if point["comm_size"] % ppn == 0]
    results.write_text("".join(f"{json.dumps(each)}\n" for each in [lines[0], *points]))
    folder = tmp_path / "next"
    done("bench", "refine", results, "--ppn", "2", "--points", "12", "-o", folder)
    plan = Campaign(folder).plan()
    assert plan.ppns == (2,)
    assert {cell.ppn for cell, _ in missing(plan, ())} == {2}
    assert all(cell.comm_size % 2 == 0 for cell, _ in missing(plan, ()))
    alone = results.with_name("alone.jsonl")
    alone.write_text("".join(f"{json.dumps(each)}\n" for each in [lines[0], *(p for p in points if p["ppn"] == 2)]))
    done("bench", "refine", alone, "--points", "12", "-o", tmp_path / "alone")
    assert Campaign(tmp_path / "alone").plan().ppns == (2,)
    assert "1 process per node (most measured cells) of 1, 2; --ppn chooses" in done("bench", "refine", results).err
    # Of a campaign of colltune times that cannot be trusted do not count.
    head = {**lines[0], "attrs": {"library": "test", "benchmark": "colltune bench 0.1"}}
    late = [point | {"late": 9999} if point["ppn"] == 1 and point["message_size"] > 64 else point for point in points]
    results.write_text("".join(f"{json.dumps(each)}\n" for each in [head, *late]))
    for words in (["bench", "refine"], ["decide", "-c", "bcast"]):
        assert "2 processes per node (most measured cells) of 1, 2; --ppn chooses" in done(*words, results).err


def test_the_list_as_text_says_why(results: Path, done: Run) -> None:
    assert (
        "nothing that can be measured on this grid is worth it" in done("bench", "refine", results, "--until", "50").out
    )
    refine = ["bench", "refine", str(results), "-o", str(results.parent / "next")]
    out, err = done(*refine, "--points", "1").both
    assert "no step fits 1 point: the least has 2 (--points)" in out
    assert "next:" not in err
    assert not (results.parent / "next").exists()
    assert re.search(
        r"fits 0\.1s: the least takes about 0\.\d s of rep.* \(--budget\)", done(*refine, "--budget", "0.1s").out
    )
    out = done(*refine, "--points", "6").out
    assert (
        "expected loss of what is decided now, mean over the grid, sizes between the measured ones included: bcast"
        in out
    )
    assert "points to measure" in out


def test_collectives_without_a_time_that_can_be_trusted_are_measured_again_first(results: Path, done: Run) -> None:
    write(results, *(record(Method("ring"), 4, size, 1e-6, collective="allreduce", late=9) for size in MESSAGE))
    answer = done("bench", "refine", results, "--points", "9", "--json").json
    assert answer["loss"]["allreduce"] is None
    assert answer["loss"]["bcast"] > 0
    names = [step["collective"] for step in answer["steps"]]
    assert names[:4] == ["allreduce"] * 4
    assert set(names[4:]) == {"bcast"}
    out, err = done("bench", "refine", results, "-c", "allreduce", "--points", "2").both
    assert "allreduce unknown (no time can be trusted)" in out
    assert "64 B, 256 KiB" in out
    assert "--keep-doubtful" not in err


def test_the_plan_says_that_its_points_stand_for_times_that_cannot_be_trusted(
    results: Path, tmp_path: Path, done: Run
) -> None:
    write(results, record(Method("basic_linear"), 4, 64, 1e-6, late=9))
    folder = tmp_path / "next"
    done("bench", "refine", results, "--points", "1", "-o", folder)
    assert Campaign(folder).plan().anew
