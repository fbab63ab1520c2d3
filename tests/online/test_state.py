"""The folder of a tuning: nothing counts twice, nothing is lost, what does not fit is named."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.decisions import DecisionFunction
from dashboard.domain.units import format_time
from dashboard.online.deciding import decision_of
from dashboard.online.errors import OnlineError
from dashboard.online.library import LIBRARY
from dashboard.online.model_file import load
from dashboard.online.profile import by_collective
from dashboard.online.running import Plan, loop, read_plan
from dashboard.online.selection import Calls
from dashboard.online.settings import Learning
from dashboard.online.state import Folder
from dashboard.online.table import AlgTable, default_table
from loaders import open_results
from loaders.online import totals_of
from loaders.workload import read_workload
from tests.cli.command import Run
from tests.online.test_model_file import model
from tests.online.traces import write_run, write_trace

TABLE = default_table("5.0", ("allreduce",))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "tuning", TABLE, (4, 4), Learning(min_samples=20, rounds=20))
    made.save()
    return made


def calls(count: int = 240, fast: int = 3) -> list[dict[str, float]]:
    """All methods in turn at two sizes; one takes half of the time."""
    return [
        {"alg": number % 8 + 1, "message_size": 64 if number % 16 < 8 else 4096, "start": 1, "call": number}
        | {"end": 1 + (0.5 if number % 8 + 1 == fast else 1) * 1e-4}
        for number in range(count)
    ]


def test_a_run_is_taken_in_once(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    assert folder.collect().timings == 240
    assert folder.collect().runs == []
    write_run(folder.traces, "two", calls(), TABLE)
    assert folder.collect().runs == ["two"]
    assert folder.calls().groupby("run").size().to_dict() == {"one": 240, "two": 240}


@pytest.mark.parametrize(("bins", "options"), [("regular", ["--nodes 2", "--cores 4"]), ("seen", [])])
def test_calls_beyond_the_bins_are_told(bins: str, options: list[str], tmp_path: Path) -> None:
    """The last bins hold them: they get the method of the machine that the folder was made for."""
    folder = Folder(tmp_path, TABLE, (1, 1), Learning(bins=bins))
    folder.save()
    write_run(folder.traces, "one", [call | {"ppn": 4} for call in calls(8)], TABLE)
    notes = folder.collect(0.0).notes
    assert [note.rpartition(" with ")[2] for note in notes] == options


def test_a_new_run_has_a_name_of_its_own(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    write_run(folder.traces, "two", calls(), TABLE, ended=False)
    folder.collect()
    for file in folder.traces.glob("*one*"):
        file.unlink()
    for name in ("one", "two"):
        with pytest.raises(OnlineError, match=f"has a run {name} already"), folder.named(name):
            pass
    for name in ("", "../one", "a/b", ".hidden", "a*"):
        with pytest.raises(OnlineError, match="is no name of a run"), folder.named(name):
            pass
    # Until it has ended or its program has begun a trace, which took a moment, nothing else tells that it is there.
    with folder.named("three-3.5_a"):
        for _ in range(2):
            with pytest.raises(OnlineError, match=r"has a run three-3\.5_a already"), folder.named("three-3.5_a"):
                pass
    with folder.named("three-3.5_a"):
        assert folder.traces.is_dir()
    assert not list(folder.traces.glob("*three*"))


def test_what_cannot_be_is_refused_before_it_is_run(folder: Folder, refused: Run) -> None:
    assert "nothing is learnt yet" in refused("online", "run", folder.path, "--mode", "tuned", "--", "false").err
    error = refused("online", "simulate", "--scenario", "reference", "--iterations", "1", "-c", "bcast").err
    assert "scenario reference has allreduce" in error


def test_a_program_that_is_tuned_may_leave_no_traces_and_why_is_said(folder: Folder, done: Run, refused: Run) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    folder.collect()
    folder.train()
    (folder.path / LIBRARY).touch()
    run = ["online", "run", str(folder.path), "--mode"]
    shutil.rmtree(folder.traces)
    assert "note: true left no traces: is it a program of MPI, of Open MPI?" in done(*run, "tuned", "--", "true").err
    folder.model.write_bytes(folder.model.read_bytes()[:-1])
    assert f"note: true left no traces: {folder.model}: the model is damaged" in done(*run, "tuned", "--", "true").err
    folder.traces.rmdir()
    folder.traces.touch()
    assert f"note: true left no traces: {folder.traces} is no folder" in done(*run, "tuned", "--", "true").err
    assert f"error: true left no traces: {folder.traces} is no folder" in refused(*run, "tuning", "--", "true").err
    refused(*run, "tuned", "--", "false")


def test_a_folder_without_its_library_gets_it_and_keeps_all_else(
    folder: Folder, tmp_path: Path, done: Run, refused: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = refused("online", "run", folder.path, "--", "true").err
    assert f"{LIBRARY} is not there; 'colltune online init {folder.path} --cores N' builds it" in error
    mpicc = tmp_path / "mpicc"
    mpicc.write_text("#!/bin/sh\nwhile [ $1 != -o ]; do shift; done; echo library > $2\n")
    mpicc.chmod(0o755)
    # That of the current folder, not another one on the PATH.
    monkeypatch.chdir(tmp_path)
    init = ["online", "init", str(folder.path), "--cores", "2", "--mpicc", "./mpicc", "--for"]
    kept = (folder.path / "loop.json").read_bytes()
    assert "is for Open MPI 5.0" in refused(*init, "4.1").err
    assert "its library is built, all else is kept" in done(*init, "5.0").err
    assert (folder.path / LIBRARY).read_text() == "library\n"
    assert (folder.path / "loop.json").read_bytes() == kept
    assert "is there already" in refused(*init, "5.0").err


def test_two_do_not_learn_in_one_folder_at_a_time(folder: Folder, refused: Run) -> None:
    plan = folder.path / "plan.json"
    plan.write_text(json.dumps({"runs": [["true"]], "iterations": 1}))
    with folder.held():
        for words in (["train"], ["loop", "--plan", str(plan)]):
            error = refused("online", words[0], folder.path, *words[1:]).err
            assert "another colltune online works in it; wait for its end" in error


def test_a_run_that_goes_on_is_waited_for(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(), TABLE, ended=False)
    assert folder.collect().waiting == ["one"]
    assert folder.collect(0.0).runs == ["one"]


def test_what_is_learnt_is_what_is_fast_and_the_newest_model_is_kept_by_number(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(fast=3), TABLE)
    folder.collect()
    folder.train()
    asked = Calls.even([64, 4096], [2, 2], [2, 2])
    assert load(folder.model).choices["allreduce"].tuned(asked).tolist() == [3, 3]
    assert [each["iteration"] for each in folder.progress] == [1]
    # Nothing new: the same model, and no further iteration.
    folder.train()
    assert [each["iteration"] for each in folder.progress] == [1]
    assert (folder.path / "models" / "1.model").read_bytes() == folder.model.read_bytes()


def test_traces_of_another_table_or_library_are_left_out_with_both_named(folder: Folder) -> None:
    other = default_table("5.0", ("bcast",))
    write_run(folder.traces, "other", [{}], other)
    write_trace(folder.traces, "older", 0, [{}], AlgTable("Open MPI", "4.1", TABLE.methods))
    (folder.traces / "torn.0.trace").write_bytes(b'{"colltune_trace": 1')
    write_run(folder.traces, "one", calls(), TABLE)
    report = folder.collect(0.0)
    assert report.runs == ["one"]
    assert other.digest in report.skipped["other.0.trace"]
    assert TABLE.digest in report.skipped["other.0.trace"]
    assert "4.1" in report.skipped["older.0.trace"]
    assert "5.0" in report.skipped["older.0.trace"]
    assert "damaged" in report.skipped["torn.0.trace"]


def test_the_data_set_is_read_like_any_results(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    folder.collect()
    from_data, from_traces = (open_results(path)["allreduce"].to_dataset() for path in (folder.data, folder.traces))
    assert from_data["time"].equals(from_traces["time"])


def test_the_folder_is_opened_as_it_was_saved(folder: Folder, tmp_path: Path) -> None:
    again = Folder.open(folder.path)
    assert (again.table.digest, again.machine, again.learning) == (TABLE.digest, (4, 4), folder.learning)
    with pytest.raises(OnlineError, match="colltune online init"):
        Folder.open(tmp_path)
    for version, words in ((1, "is damaged"), (2, "is of version 2, expected 1")):
        (folder.path / "loop.json").write_text(json.dumps({"colltune_online": version}))
        with pytest.raises(OnlineError, match=rf"^[^:]*/loop\.json: {words}"):
            Folder.open(folder.path)


def test_the_decision_function_decides_as_the_look_up() -> None:
    made, generator = model(), np.random.default_rng(5)
    name = "allgather"
    decision = decision_of(made, name)
    size = np.where(generator.random(3000) < 0.1, 0, 2 ** generator.uniform(0, 40, 3000)).astype(np.int64)
    nodes, ppn = generator.integers(1, 40, 3000), generator.integers(1, 36, 3000)
    choice = made.choices[name]
    expected = choice.best[choice.bins.number(size, nodes, ppn)]
    labels = ["default", *(method.label for method in made.table.methods[name])]
    predicted = decision.predict(nodes * ppn, size, ppn=ppn)
    assert [decision.methods[place].label for place in predicted] == [labels[alg] for alg in expected]


def test_of_what_was_learnt_a_damaged_line_is_named_and_one_that_was_cut_off_is_left_out(folder: Folder) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    folder.collect()
    folder.train()
    file, (known,) = folder.path / "progress.jsonl", folder.progress
    line = file.read_text()
    file.write_text(f"{line}{line}{line[:20]}")
    assert folder.progress == [known, known]
    file.write_text(f"{line}{line[:20]}\n{line}")
    with pytest.raises(OnlineError, match=r"progress\.jsonl:2: is damaged .*; remove the line"):
        _ = folder.progress
    file.write_text(json.dumps({**known, "timings": "7"}) + "\n")
    with pytest.raises(OnlineError, match=r"progress\.jsonl:1: is damaged"):
        _ = folder.progress


def test_models_that_were_moved_away_are_made_anew_and_what_lies_in_their_place_is_named(
    folder: Folder, done: Run, refused: Run
) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    models = folder.path / "models"
    models.rmdir()
    done("online", "train", folder.path)
    assert [file.name for file in models.iterdir()] == ["1.model"]
    folder.model.unlink()
    folder.model.mkdir()
    assert f"error: {folder.model}: it is a folder, which" in refused("online", "train", folder.path).err
    shutil.rmtree(models)
    models.touch()
    assert f"error: {models}: File exists" in refused("online", "train", folder.path).err


def test_the_commands_train_show_export_and_profile(folder: Folder, tmp_path: Path, done: Run, refused: Run) -> None:
    write_run(folder.traces, "one", calls(), TABLE)
    assert done("online", "train", folder.path, "--json").json["learnt"] == {"allreduce": 8}
    assert done("online", "show", folder.path, "--json").json["timings"] == 240
    file = tmp_path / "decision.json"
    done("online", "export", folder.path, "--to", "json", "-o", file)
    decision = DecisionFunction.load(file)
    assert decision.methods[decision.predict_one(4, 64, ppn=2)].label == TABLE.methods["allreduce"][2].label
    rules = tmp_path / "rules.conf"
    done("online", "export", folder.path, "--to", "openmpi", "--ppn", "2", "-o", rules)
    done("lint", rules, "--json")
    weights = tmp_path / "weights.csv"
    answer = done("online", "profile", folder.traces, "--weights", weights, "--json").json
    assert answer["collectives"][0]["calls"] == 240
    assert read_workload(weights)["calls"].sum() == 240
    # The same traces are measurements too: each call against the best method of its size.
    error = refused("online", "profile", folder.traces, "--ppn", "2").err
    assert "--ppn is of measurements, which --over names" in error
    judged = done("online", "profile", folder.traces, "--over", folder.data, "--json")
    (row,) = judged.json["collectives"]
    assert row["judged_calls"] == 240
    # Eight methods are called equally often, one of which takes half of the time.
    assert row["loss_percent"] == pytest.approx(100 * ((7 + 0.5) / 8 / 0.5 - 1))
    assert "notes" not in judged.err
    totals = {"allreduce": {"calls": 240, "noted": 240}, "bcast": {"calls": 1200, "noted": 40}}
    totals_of(folder.traces, "one").write_text(json.dumps({"seconds": 1.0, "collectives": totals}))
    error = done("online", "profile", folder.traces).err
    assert "notes 40 of 1,200 of bcast; COLLTUNE_ONLINE_CALLS=NUMBER notes more" in error
    error = refused("online", "train", folder.path, "--traces", tmp_path / "nowhere").err
    assert "nowhere: there is no such folder" in error
    assert "colltune online init" in refused("online", "train", tmp_path).err


def test_rules_are_of_the_processes_per_node_that_were_seen_most(folder: Folder, done: Run, refused: Run) -> None:
    assert "'colltune online train' makes it" in refused("online", "export", folder.path, "--to", "openmpi").err

    def exported(*given: str) -> tuple[str, list[str]]:
        done("online", "train", folder.path)
        said = done("online", "export", folder.path, "--to", "openmpi", *given)
        return said.err, [line for line in said.out.splitlines() if not line.startswith("#")]

    write_run(folder.traces, "one", calls(), TABLE)
    said, rules = exported()
    assert "written for 2" in said
    assert "seen most" not in said
    assert rules == exported("--ppn", "2")[1]
    assert any(line.endswith(f"# {TABLE.methods['allreduce'][2].label}") for line in rules)
    write_run(folder.traces, "two", [{**call, "nodes": 1, "ppn": 4} for call in calls(480)], TABLE)
    said, rules = exported()
    assert "allreduce: where processes per node are not told they are 4, seen most of 2, 4" in said
    assert rules == exported("--ppn", "4")[1]
    # Nothing was seen there: no file that decides nothing is written in silence.
    error = refused("online", "export", folder.path, "--to", "openmpi", "--ppn", "1").err
    assert "everything is left to the library's own decision" in error


def test_a_plan_that_asks_for_more_runs_than_it_names_is_told(folder: Folder) -> None:
    said: list[str] = []
    loop(folder, Plan((("program",),), iterations=0, each=2), 1, said.append)
    (note,) = said
    assert note.startswith("note: each is 2 of 1 run: an iteration has every run once; name a command several times")


@pytest.mark.parametrize("words", [["export", "FOLDER", "--to", "c"], ["run", "FOLDER", "--", "true"]])
def test_what_has_no_answer_takes_no_json(words: list[str], refused: Run) -> None:
    assert "--json" in refused("online", words[0], "--json", *words[1:]).err


def test_what_is_missing_of_a_run_is_said(folder: Folder, done: Run) -> None:
    write_run(folder.traces, "one", [*calls(), {"end": 1e200, "call": 240}], TABLE)
    write_run(folder.traces, "two", calls(), TABLE)
    (folder.traces / "one.1.trace").unlink()
    (folder.traces / "two.1.trace").write_bytes(b"")
    # The folder of the tuning stands for that of its traces.
    said = done("online", "profile", folder.path, "--json")
    answer = json.loads(said.out)
    assert answer["ranks"] == [
        {"run": "one", "ranks": 2, "missing": 1, "damaged": 0, "empty": 0},
        {"run": "two", "ranks": 2, "missing": 0, "damaged": 1, "empty": 0},
    ]
    assert "1 skipped: a record is damaged" in answer["notes"][str(folder.traces / "one.0.trace")]
    for text in (said.err, done("online", "train", folder.path).err):
        assert "ranks without a trace that can be used: 1 of 2 (1 missing)" in text
        assert "ranks without a trace that can be used: 1 of 2 (1 damaged)" in text


NOTED = {"allreduce": {"calls": 9, "noted": 0}}


@pytest.mark.parametrize(
    ("runs", "reasons"),
    [
        ({}, ["run programs in mode tuning first"]),
        (
            {"one": (calls(), None), "two": (calls(), None)},
            ["ended less than 300 s ago without saying so: one, two; train again later, or with --settled 0"],
        ),
        (
            {"one": ([], {}), "two": ([], {})},
            ["one.0.trace, two.0.trace: left out: ranks", "no call of allreduce by two processes or more; other"],
        ),
        ({"one": ([], {"collectives": NOTED})}, ["it notes 0 of 9 of allreduce; COLLTUNE_ONLINE_CALLS=NUMBER"]),
        ({"one": ([{"alg": 99}], {})}, ["no call can be used: 2 skipped: a record is damaged"]),
    ],
)
def test_where_nothing_is_left_to_learn_from_it_is_said_what_was_left_out_and_why(
    folder: Folder, refused: Run, runs: dict[str, Any], reasons: list[str]
) -> None:
    for name, (noted, totals) in runs.items():
        write_run(folder.traces, name, noted, TABLE, ended=False)
        if totals is not None:
            totals_of(folder.traces, name).write_text(json.dumps(totals))
    (error,) = refused("online", "train", folder.path).err.splitlines()
    assert error.startswith(f"colltune: error: {folder.path}: there are no timings to learn from: ")
    assert all(reason in error for reason in reasons)


def test_a_profile_says_which_calls_it_is_of(folder: Folder, done: Run) -> None:
    rest = "other collectives and nonblocking calls are not, and no part of these figures"
    write_run(folder.traces, "one", [], TABLE)
    assert done("online", "profile", folder.path).out == f"watched: allreduce; {rest}\nno call is noted\n"
    write_run(folder.traces, "two", calls(), default_table("5.0", ("allreduce", "bcast")))
    out = done("online", "profile", folder.path).out
    assert f"watched: allreduce, bcast (in 1 of 2 runs); {rest}" in out
    answer = done("online", "profile", folder.path, "--json").json
    assert f"  {format_time(answer['collectives'][0]['time'])}  " in out
    assert answer["watched"] == {"allreduce": 2, "bcast": 1}
    assert answer["not_watched"] == "other collectives and nonblocking calls"


def test_a_profile_tells_shares_of_all_calls_and_of_all_their_time() -> None:
    calls = pd.DataFrame(
        {"collective": ["bcast", *["reduce"] * 3], "message_size": [8, 8, 64, 64], "time": [9, 1, 1, 1]}
    )
    columns = ["collective", "calls", "time", "sizes", "calls_percent", "time_percent"]
    assert by_collective(calls)[columns].values.tolist() == [["bcast", 1, 9, 1, 25, 75], ["reduce", 3, 3, 2, 75, 25]]


def test_a_profile_of_no_traces_names_the_folder(tmp_path: Path, refused: Run) -> None:
    assert f"there are none in {tmp_path}" in refused("online", "profile", tmp_path).err


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ('{"runs": []}', "at least 1"),
        ('{"runs": ["mpiexec a"]}', "a list of commands"),
        ('{"runs": [["a"]], "pace": 1}', "no 'pace' in a plan"),
        ("[", "plan.json"),
        ('["mpiexec"]', "is a JSON object"),
        ('{"runs": [["a"]], "seconds": "x"}', "seconds above 0"),
        ('{"runs": null, "slurm": null}', "a list of commands"),
        ('{"runs": [["a"]], "slurm": []}', r"plan.json: what is asked of Slurm is \[\]; right would be a table"),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(tmp_path: Path, plan: str, words: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(plan, encoding="ascii")
    with pytest.raises(OnlineError, match=words):
        read_plan(file)
