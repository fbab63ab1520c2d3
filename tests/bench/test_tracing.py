"""Methods traced on the installed MPI: by both executors, with clocks that agree. Two and three processes."""

import json
from pathlib import Path

import pytest

from dashboard.benchmarks.libraries.library import Installation
from dashboard.cli import main
from dashboard.models.traced import run_of
from dashboard.schedules.trace import Trace
from tests.cli.command import Run


@pytest.mark.parametrize(
    ("executor", "words"),
    [
        ("native", "-c allreduce --algorithm ring --processes 2 --bytes 4096 --element-size 8"),
        ("mpi4py", "-c bcast --algorithm pipeline --processes 3 --bytes 4096 --segment-size 1KiB --root 1"),
    ],
)
def test_no_message_is_there_before_it_was_sent(
    executor: str, words: str, installation: Installation, tmp_path: Path, done: Run
) -> None:
    file = tmp_path / "trace.json"
    printed = done("methods", "trace", *words.split(), "--executor", executor, "-o", file, "--json").json
    assert printed == json.loads(file.read_text(encoding="utf-8"))
    trace = Trace.from_json(printed)
    assert trace.facts["executor"] == executor
    assert trace.facts["library"] == f"{installation.library.name} {installation.library.version}"
    run = run_of(trace)
    assert min(float(each.min()) for each in trace.times) == 0.0
    assert all(message.start < message.end for message in run.messages)
    # What a rank does follows one after the other.
    for each in trace.times:
        assert (each[1:, 0] >= each[:-1, 1]).all()


def test_ranks_use_the_transport_that_the_site_asks_for(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if installation.library.name != "Open MPI":
        pytest.skip("transports of Open MPI are asked for")
    monkeypatch.setenv("OMPI_MCA_btl", "self")
    words = "methods trace -c bcast --algorithm linear --processes 2 --bytes 8 --executor mpi4py"
    assert main([*words.split(), "-o", str(tmp_path / "trace.json")]) != 0, "ranks cannot reach each other through it"


def test_what_cannot_be_traced_is_refused_before_ranks_are_started(refused: Run) -> None:
    words = "methods trace -c reduce --algorithm binomial --processes 2 --bytes 600 --element-size 3"
    assert "elements that are reduced have 1, 4, 8 bytes here" in refused(*words.split()).err
    many = "methods trace -c barrier --algorithm bruck --processes 65"
    assert "allowed are 1 to 64" in refused(*many.split()).err
