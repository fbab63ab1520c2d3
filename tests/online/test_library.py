"""The library that tunes online, on a real Open MPI: processes agree, results are right, methods are those told."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.benchmarks.libraries import library
from dashboard.decisions.function.nodes import Method
from dashboard.online.bins import Bins
from dashboard.online.draws import SAMPLED, draws, stream
from dashboard.online.errors import OnlineError
from dashboard.online.library import source
from dashboard.online.model_file import save
from dashboard.online.profile import calls_of as of_folders
from dashboard.online.running import judged, loop, read_plan
from dashboard.online.selection import Blocked, Calls, Choice, SelectionModel
from dashboard.online.settings import Learning
from dashboard.online.skeletons import skeleton
from dashboard.online.state import Folder
from dashboard.online.table import AlgTable, default_table, need_of, with_own
from dashboard.online.vectors import prefix
from loaders.online import programs_of, read_file, run_of, siblings, totals_of
from loaders.openmpi import series
from loaders.source import Source
from tests.bench.preloading import LIBRARY, Bench
from tests.cli.command import Run
from tests.conftest import ROOT, need

pytestmark = pytest.mark.slow

RANKS = 6
#: Methods from message sizes on, and what the processes send in broadcasts of six by the algorithms' definitions.
METHODS = {0: "basic_linear", 256: "binomial 1MiB", 4096: "pipeline 1KiB"}
PIPELINE = {(rank, rank + 1): 4 for rank in range(RANKS - 1)}
GRAPHS = {
    "bcast:6:50": {(0, rank): 1 for rank in range(1, RANKS)},
    "bcast:6:500": {(0, 1): 1, (0, 2): 1, (0, 4): 1, (1, 3): 1, (1, 5): 1},
    "bcast:6:4096": PIPELINE,
}


@pytest.fixture(scope="module")
def bench(mpiexec: str, gcc: str, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.of(Path(mpiexec), tmp_path_factory.mktemp("online"))


@pytest.fixture(scope="module")
def table(bench: Bench) -> AlgTable:
    return default_table(series(library.library_of(bench.mpiexec).version))


@pytest.fixture(scope="module")
def tuner(bench: Bench, table: AlgTable) -> Path:
    return bench.build("libcolltune_online.so", source(table), *LIBRARY)


@pytest.fixture(scope="module")
def program(bench: Bench) -> Path:
    return bench.program("collectives")


def learnt(table: AlgTable, collective: str, labels: Mapping[int, str]) -> SelectionModel:
    """Take methods of a collective from these message sizes on."""
    bins, choices = Bins.regular(4, 16), {}
    for name, methods in table.methods.items():
        best = np.zeros(bins.count, dtype=np.int32)
        for size, label in labels.items() if name == collective else ():
            best[bins.grid()[:, 0] >= size] = [method.label for method in methods].index(label) + 1
        share = np.full((bins.count, len(methods)), 1 / len(methods))
        needs = np.array([need_of(name, method) for method in methods], dtype=np.int32)
        choices[name] = Choice(bins, prefix(share), best, needs)
    return SelectionModel(table, choices)


def said(out: Path, mode: str = "tuning", run: str = "one", **more: str) -> Mapping[str, str]:
    """What the library is told."""
    settings = {f"COLLTUNE_ONLINE_{name.upper()}": value for name, value in more.items()}
    return {"COLLTUNE_ONLINE": mode, "COLLTUNE_ONLINE_OUT": str(out), "COLLTUNE_ONLINE_RUN": run, **settings}


def calls_of(out: Path, run: str = "one") -> pd.DataFrame:
    """The calls of a run, none of which may be told otherwise by another process."""
    read = Source(out / f"{run}.0.trace")
    _, calls = run_of(read)
    assert dict(read.reasons) == {}
    return calls


def test_sixteen_processes_take_the_same_methods_on_communicators_split_and_freed(
    bench: Bench, program: Path, tuner: Path, table: AlgTable, tmp_path: Path
) -> None:
    done = bench.run(16, program, "check", preload=tuner, said=said(tmp_path))
    assert done.stdout == "ok\n"
    calls = calls_of(tmp_path)
    assert len(siblings(tmp_path / "one.0.trace")) == 16
    # Each call was noted by all processes of its communicator, of which there are several.
    assert (calls["traced"] == calls["comm_size"]).all()
    assert calls["comm"].nunique() > 3
    tried = {name: set(own["alg"]) for name, own in calls.groupby("collective")}
    assert set(tried) == set(table.collectives)
    assert all(len(algs) > 4 for algs in tried.values())
    # What was drawn is what Python draws for the same seed.
    header = read_file(tmp_path / "one.0.trace")[0]
    needs = [need_of("bcast", method) for method in table.methods["bcast"]]
    own = calls[(calls["collective"] == "bcast") & (calls["alg"] > 0)]
    draw = draws(stream(int(header["seed"]), own["comm"].to_numpy()), table.collectives.index("bcast"), own["call"])
    assert not any(needs)
    assert np.array_equal((draw * len(needs)).astype(int) + 1, own["alg"])
    totals = json.loads(totals_of(tmp_path, "one").read_text(encoding="utf-8"))
    assert totals["collectives"]["bcast"]["noted"] == calls.loc[calls["collective"] == "bcast", "traced"].sum()


def test_what_is_blocked_is_not_tried_before_anything_is_learnt(
    bench: Bench, program: Path, table: AlgTable, tmp_path: Path
) -> None:
    # Of sizes alone it may be tried at others.
    blocked = [Blocked("bcast", "*"), Blocked("allreduce", "ring*"), Blocked("allgather", "*", (1024, None))]
    tuner = bench.build("libblocked.so", source(table, blocked), *LIBRARY)
    bench.run(4, program, "check", preload=tuner, said=said(tmp_path))
    tried = {name: set(own["alg"]) for name, own in calls_of(tmp_path).groupby("collective")}
    assert tried["bcast"] == {0}
    rings = [place for place, each in enumerate(table.methods["allreduce"], 1) if each.label.startswith("ring")]
    assert rings
    assert not tried["allreduce"] & set(rings)
    assert len(tried["allreduce"]) > 2
    assert len(tried["allgather"]) > 2


def test_the_messages_are_those_of_the_methods_that_were_learnt(
    bench: Bench, program: Path, tuner: Path, table: AlgTable, tmp_path: Path
) -> None:
    save(learnt(table, "bcast", METHODS), tmp_path / "one.model")
    tuned = {"COLLTUNE_ONLINE": "tuned", "COLLTUNE_ONLINE_MODEL": str(tmp_path / "one.model")}
    assert bench.graphs(RANKS, *GRAPHS, program=program, preload=tuner, said=tuned) == GRAPHS


@pytest.fixture(scope="module")
def mixed(table: AlgTable) -> AlgTable:
    """The library's methods, own ones and grids whose phases are messages or calls of the library."""
    words = ["pipeline:segment_size=1024", "orthogonal:grid=2x3:inner=linear", "orthogonal:grid=4x4:inner=library"]
    few = default_table(table.version, ("bcast", "allreduce"), segment_sizes=(1024,), fan_outs=(2,))
    return with_own(few, [*words, "swing"], [RANKS, 16])


def test_own_methods_and_grids_are_tried_beside_those_of_the_library(
    bench: Bench, program: Path, mixed: AlgTable, tmp_path: Path
) -> None:
    labels = {name: [method.label for method in methods] for name, methods in mixed.methods.items()}
    pipelines = [f"pipeline 1KiB processes={size} provider=own" for size in (RANKS, 16)]
    assert set(pipelines) <= set(labels["bcast"])
    # Swing works on powers of two; its fallback serves six.
    assert "swing processes=16 provider=own" in labels["allreduce"]
    tuner = bench.build("libmixed.so", source(mixed), *LIBRARY)
    done = bench.run(16, program, "check", preload=tuner, said=said(tmp_path, run="all"))
    assert done.stdout == "ok\n", done.stderr
    calls = calls_of(tmp_path, "all")
    assert (calls["traced"] == calls["comm_size"]).all()
    tried = {
        name: {labels[name][alg - 1] for alg in own["alg"].unique() if alg > 0}
        for name, own in calls[calls["comm_size"] == 16].groupby("collective")
    }
    assert any(label.startswith("orthogonal") for label in tried["bcast"])
    assert not any(f"processes={RANKS}" in label for each in tried.values() for label in each)
    save(learnt(mixed, "bcast", {0: pipelines[0]}), tmp_path / "own.model")
    tuned = {"COLLTUNE_ONLINE": "tuned", "COLLTUNE_ONLINE_MODEL": str(tmp_path / "own.model")}
    call = "bcast:6:4096"
    assert bench.graphs(RANKS, call, program=program, preload=tuner, said=tuned) == {call: PIPELINE}


def test_calls_are_left_out_by_share_number_and_process(
    bench: Bench, program: Path, tuner: Path, table: AlgTable, tmp_path: Path
) -> None:
    run = (program, "calls", "300", "64")
    bench.run(2, *run, preload=tuner, said=said(tmp_path, fraction="0.25", ranks="1"))
    calls = calls_of(tmp_path)
    header, comm = read_file(tmp_path / "one.0.trace")[0], calls["comm"].iloc[0]
    expected = (
        draws(stream(int(header["seed"]), comm), table.collectives.index("bcast"), np.arange(300), SAMPLED) < 0.25
    )
    assert np.array_equal(calls["call"], np.flatnonzero(expected))
    assert len(siblings(tmp_path / "one.0.trace")) == 1
    bench.run(2, *run, preload=tuner, said=said(tmp_path, run="two", calls="40"))
    assert len(calls_of(tmp_path, "two")) == 40


@pytest.mark.parametrize("mode", ["off", "trace"])
def test_modes_that_choose_nothing_leave_every_call_to_the_library(
    bench: Bench, program: Path, tuner: Path, tmp_path: Path, mode: str
) -> None:
    bench.run(2, program, "calls", "20", "64", preload=tuner, said=said(tmp_path, mode))
    if mode == "off":
        assert list(tmp_path.iterdir()) == []
    else:
        assert calls_of(tmp_path)["alg"].tolist() == [0] * 20


def test_a_model_of_another_table_is_refused_with_both_named(
    bench: Bench, program: Path, tuner: Path, table: AlgTable, tmp_path: Path
) -> None:
    other = default_table(table.version, segment_sizes=(4096,))
    save(learnt(other, "bcast", {0: "binomial 4KiB"}), tmp_path / "other.model")
    run = (program, "calls", "5", "64")
    settings = said(tmp_path, "tuned", model=str(tmp_path / "other.model"))
    error = bench.run(2, *run, preload=tuner, said=settings).stderr
    assert table.digest in error
    assert other.digest in error
    assert not list(tmp_path.glob("*.trace"))
    (tmp_path / "torn.model").write_bytes((tmp_path / "other.model").read_bytes()[:100])
    settings = said(tmp_path, "tuned", model=str(tmp_path / "torn.model"))
    assert "nothing is tuned" in bench.run(2, *run, preload=tuner, said=settings).stderr


def test_what_was_noted_before_a_crash_is_there(bench: Bench, tuner: Path, tmp_path: Path) -> None:
    script = (
        "from mpi4py import MPI\nimport os, signal\n"
        "for turn in range(30000):\n    MPI.COMM_SELF.Bcast(bytearray(8))\n    MPI.COMM_WORLD.Bcast(bytearray(8))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with pytest.raises(AssertionError):
        bench.run(2, sys.executable, "-m", "mpi4py", "-c", script, preload=tuner, said=said(tmp_path, calls="100000"))
    _, calls = run_of(Source(tmp_path / "one.0.trace"))
    # At most one buffer of 1 MiB is lost.
    assert len(calls) >= 30_000 - (1 << 20) // 48
    assert not totals_of(tmp_path, "one").exists()


def test_each_program_of_a_run_has_traces_of_its_own(
    bench: Bench, program: Path, tuner: Path, table: AlgTable, tmp_path: Path
) -> None:
    for ranks, calls in ((4, "30"), (2, "20")):
        bench.run(ranks, program, "calls", calls, "64", preload=tuner, said=said(tmp_path))
    programs = programs_of(tmp_path, "one")
    assert list(programs) == ["one", "one.2"]
    assert all(totals_of(tmp_path, name).exists() for name in programs)
    assert [calls_of(tmp_path, name)["traced"].tolist() for name in programs] == [[4] * 30, [2] * 20]
    drawn = [calls_of(tmp_path, name)["alg"].tolist()[:20] for name in programs]
    assert drawn[0] != drawn[1]
    assert len(of_folders([tmp_path]).calls) == judged(tmp_path, "one")["calls"] == 50
    folder = Folder(tmp_path / "tuning", table, (1, 4), Learning())
    folder.save()
    assert folder.collect(traces=tmp_path).runs == ["one", "one.2"]


def test_a_run_that_died_is_named_when_it_ends_and_when_nothing_is_learnt_from_it(
    bench: Bench,
    tuner: Path,
    table: AlgTable,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Run,
) -> None:
    for name, value in bench.environment.items():
        monkeypatch.setenv(name, value)
    folder = Folder(tmp_path / "tuning", table, (1, 4), Learning())
    folder.save()
    (folder.path / "libcolltune_online.so").symlink_to(tuner)
    script = "from mpi4py import MPI; import os; MPI.COMM_WORLD.Bcast(bytearray(8)); os.kill(os.getpid(), 9)"
    command = [str(bench.mpiexec), "-n", "2", sys.executable, "-m", "mpi4py", "-c", script]
    error = refused("online", "run", folder.path, "--run", "one", "--", *command).err
    assert "note: run one has no end: of each process what it had not written" in error
    error = refused("online", "train", folder.path).err
    assert "runs that go on, or ended less than 300 s ago without saying so: one" in error
    error = refused("online", "train", folder.path, "--settled", "0").err
    assert "its processes wrote no call, which they do after each MiB of them" in error


def test_a_loop_learns_from_a_program_judges_it_and_goes_on_where_it_was_left(
    bench: Bench, tuner: Path, table: AlgTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in bench.environment.items():
        monkeypatch.setenv(name, value)
    # ld.so takes no path with a space or a colon.
    folder = Folder(tmp_path / "a tuning: new", table, (1, 4), Learning(min_samples=10, rounds=20))
    folder.save()
    (folder.path / "libcolltune_online.so").symlink_to(tuner)
    built = bench.build("skeleton", skeleton("miniAMR"))
    command = [str(bench.mpiexec), "-n", "3", str(built), "600"]
    plan = tmp_path / "plan.json"
    asked = {"runs": [command, command], "evaluate": [command, ["false"]], "iterations": 1, "every": 1}
    plan.write_text(json.dumps(asked))
    lines: list[str] = []
    with pytest.raises(OnlineError, match="false ended with 1"):
        loop(folder, read_plan(plan), 1, lines.append)
    # What was to be judged when it failed is judged when it goes on.
    plan.write_text(json.dumps({**asked, "evaluate": [command]}))
    loop(folder, read_plan(plan), 1, lines.append)
    loop(folder, read_plan(plan), 1, lines.append)
    assert folder.calls()["run"].unique().tolist() == ["i1-r0", "i1-r1"]
    learnt = folder.progress[0]["learnt"]["allreduce"]
    assert learnt == len(table.methods["allreduce"])
    judged = json.loads((folder.path / "evaluations.jsonl").read_text(encoding="utf-8"))
    assert judged["default"]["calls"] == judged["tuned"]["calls"] == 600
    assert judged["tuned"]["collectives"] > 0
    # Two runs of a batch do not draw the same.
    first, second = (own["alg"].tolist() for _, own in folder.calls().groupby("run"))
    assert first != second
    # What is done is not done again: killed after training, only what is missing runs.
    before = {file: file.stat().st_mtime_ns for file in folder.traces.iterdir()}
    # A run that was killed left a part of its trace: it is run again, and counts once.
    torn = folder.traces / "i2-r0.0.trace"
    torn.write_bytes((folder.traces / "i1-r0.0.trace").read_bytes()[:-100])
    plan.write_text(json.dumps({"runs": [command, command], "iterations": 2}))
    loop(folder, read_plan(plan), 1, lines.append)
    assert len(folder.progress) == 2
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert folder.calls().groupby("iteration")["run"].nunique().tolist() == [2, 2]
    assert folder.calls().groupby("run").size().tolist() == [600] * 4


def test_a_solver_in_python_stays_right_while_it_is_tuned(bench: Bench, tuner: Path, tmp_path: Path) -> None:
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    solver = (sys.executable, "-m", "mpi4py", str(Path(__file__).with_name("cg.py")), "20")
    assert bench.run(3, *solver, preload=tuner, said=said(tmp_path)).stdout == "right\n"
    calls = calls_of(tmp_path)
    assert set(calls["collective"]) >= {"allreduce", "allgather"}
    assert calls.loc[calls["collective"] == "allreduce", "alg"].nunique() > 4


def test_a_program_in_python_tunes_its_own_methods(bench: Bench, tmp_path: Path) -> None:
    need(importlib.util.find_spec("mpi4py"), "no mpi4py: pip install '.[mpi]'")
    solver = (sys.executable, "-m", "mpi4py", str(Path(__file__).with_name("cg.py")), "20")
    own = {"COLLTUNE_ONLINE_TUNER": "1", "PYTHONPATH": str(ROOT)}
    assert bench.run(3, *solver, said={**said(tmp_path), **own}).stdout == "right\n"
    methods = ("own", "library")
    table = AlgTable("own", "1", {"allreduce": tuple(Method(label, label) for label in methods)})
    folder = Folder(tmp_path / "tuning", table, (1, 4), Learning(min_samples=20, rounds=20))
    folder.save()
    assert folder.collect(traces=tmp_path).runs == ["one"]
    model = folder.train()
    # Gather and broadcast of Python objects, a millisecond late.
    assert model.choices["allreduce"].tuned(Calls.even([8], [1], [3])).tolist() == [2]
    settings = {**said(tmp_path, "tuned", "two", model=str(folder.model)), **own}
    assert bench.run(3, *solver, said=settings).stdout == "right\n"
    assert set(calls_of(tmp_path, "two")["alg"]) == {2}


def test_two_threads_are_told_apart_by_their_communicators(
    bench: Bench, program: Path, tuner: Path, tmp_path: Path
) -> None:
    done = bench.run(3, program, "threads", "50", preload=tuner, said=said(tmp_path))
    assert done.stdout == "ok\n"
    calls = calls_of(tmp_path)
    assert calls.groupby("comm")["call"].apply(lambda each: each.tolist() == list(range(len(each)))).all()


def test_only_the_collectives_that_are_named_are_tuned(
    bench: Bench, program: Path, tuner: Path, tmp_path: Path
) -> None:
    bench.run(3, program, "check", preload=tuner, said=said(tmp_path, collectives="allgather,bcast"))
    assert set(calls_of(tmp_path)["collective"]) == {"allgather", "bcast"}
    wrong = said(tmp_path, run="two", collectives="Bcast", calls="many", fraction="1.5", ranks="-1")
    done = bench.run(2, program, "calls", "5", "64", preload=tuner, said=wrong)
    assert "COLLTUNE_ONLINE_COLLECTIVES names none that this library tunes; it is Bcast\n" in done.stderr
    assert "COLLTUNE_ONLINE_CALLS must be a number from 0 to 4294967295, so 1000 is taken; it is many\n" in done.stderr
    assert "COLLTUNE_ONLINE_FRACTION must be a number from 0 to 1, so 1 is taken; it is 1.5\n" in done.stderr
    assert "COLLTUNE_ONLINE_RANKS must be a number from 0 to 2147483647, so 2 is taken; it is -1\n" in done.stderr


def test_the_calls_of_fortran_are_there(tuner: Path) -> None:
    listed = subprocess.run(["nm", "-D", "--defined-only", tuner], capture_output=True, text=True, check=True).stdout
    for name in ("mpi_init_", "mpi_init_thread_", "mpi_allreduce_", "ompi_allreduce_f", "mpi_finalize_"):
        assert re.search(rf" T {name}$", listed, re.MULTILINE)
