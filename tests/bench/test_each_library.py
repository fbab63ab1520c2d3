"""From measuring to use with the library that is there, Open MPI 4.1 or 6.0 or MPICH: all by the commands of users."""

import json
from pathlib import Path

import pytest

from dashboard.benchmarks.libraries.library import at
from dashboard.cli import main
from dashboard.export import TARGETS
from dashboard.export.form import form_of


def test_measured_exported_linted_proven_and_checked(
    mpiexec: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    library = at(mpiexec).library
    if library.name == "Open MPI" and library.version.startswith("5."):
        pytest.skip("each step has tests of its own with Open MPI 5; this one is for others")
    target = form_of(library.name, library.version).target
    campaign, checked = tmp_path / "campaign", tmp_path / "checked"
    rules, results = str(tmp_path / f"rules{TARGETS[target].extension}"), str(campaign / "results.jsonl")
    few = ["--comm-sizes", "3", "--message-sizes", "16KiB", "--repetitions", "3-5", "--rounds", "1"]
    algorithms = "default,scatter_ring_allgather" if target == "mpich" else "default,chain"
    methods = ["-c", "bcast", "--algorithms", algorithms, "--segment-sizes", "0", "--unchecked"]
    orders = [
        ["bench", "run", str(campaign), "--ranks", "3", *few, *methods],
        ["export", results, "--without", "default", "-c", "bcast", "--tree", "exact", "--to", target, "-o", rules],
        ["lint", rules, "--over", results],
        ["prove", rules, "--ranks", "3"],
        ["tune-check", rules, "--folder", str(checked), "--ranks", "3", *few, "--launches", "1", "--keep-doubtful"],
    ]
    said = {}
    for order in orders:
        as_json = ["--json"] if order[0] in ("lint", "prove", "tune-check") else []
        status = main([*order, *as_json])
        out, err = capsys.readouterr()
        assert status == 0, (order, out, err)
        said[order[0]] = json.loads(out) if as_json else out
    assert said["lint"]["errors"] == 0
    assert said["lint"]["penalty"]["bcast"]["acted"]["unmeasured"] == 0
    assert said["prove"]["taken"] == "yes"
    assert said["prove"]["holds"]
    assert library.version in said["prove"]["library"]
    assert len(said["tune-check"]["collectives"]["bcast"]["cells"]) == 1
