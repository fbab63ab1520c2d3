"""ld.so splits what is preloaded at spaces and colons: such a path is reached by another way, or refused."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns import jobs
from dashboard.benchmarks.errors import BenchError
from dashboard.benchmarks.libraries import named, preload
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.ranks import counting
from dashboard.online.errors import OnlineError
from dashboard.online.runs import Run, run_command
from dashboard.online.settings import Learning
from dashboard.online.state import Folder
from dashboard.online.table import default_table
from tests.bench.campaigns import campaign_of

#: Fails without the library that counts messages.
COUNTS = "import ctypes; ctypes.c_int.in_dll(ctypes.CDLL(None), 'colltune_counts')"


@pytest.mark.parametrize("name", ["plain", "sp ace", "co:lon", "sp ace/within"])
def test_a_library_is_preloaded_from_any_folder(tmp_path: Path, name: str, gcc: str) -> None:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    with counting.preloaded(folder, needed=True) as variables:
        command = [sys.executable, "-c", COUNTS]
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert {file.name for file in tmp_path.iterdir()} == {Path(name).parts[0]}


def test_what_is_preloaded_anyway_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "/lib/other.so")
    with preload.preloaded(Path("/lib/own.so")) as value:
        assert value == "/lib/own.so:/lib/other.so"


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_link_stands_above_the_library_or_where_all_processes_run_here_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    above, temporary = tmp_path / "above", tmp_path / "temporary"
    may = {above, temporary}
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(os, "access", lambda folder, _: folder in may)
    monkeypatch.setattr(preload, "allocated_nodes", lambda: nodes)
    library = above / "sp ace" / "within" / "own.so"
    assert preload._place(library) == above
    may.remove(above)
    if nodes == 1:
        assert preload._place(library) == temporary
    else:
        with pytest.raises(BenchError, match="move its folder"):
            preload._place(library)


def test_without_a_place_for_a_link_nothing_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another node does not see the temporary files of this one.
    monkeypatch.setattr(preload, "allocated_nodes", lambda: 2)
    monkeypatch.setattr(os, "access", lambda *_: False)
    folder = Folder(tmp_path / "sp ace", default_table("5.0", ("bcast",)), (1, 2), Learning())
    folder.save()
    (folder.path / "libcolltune_online.so").touch()
    started = tmp_path / "started"
    with pytest.raises(OnlineError, match="move its folder to a path without them"):
        run_command(folder, Run("touched", ("touch", str(started)), "tuning"))
    assert not started.exists()
    with pytest.raises(BenchError, match="sp ace"), preload.preloaded(folder.path / "libcolltune_online.so"):
        pass


def test_jobs_of_a_campaign_that_outlive_a_link_count_no_messages(tmp_path: Path, gcc: str) -> None:
    installation = Installation(Path("mpiexec"), named.open_mpi("4.1.4"))
    campaign = campaign_of(tmp_path / "sp ace", installation, collectives=("bcast",))
    assert jobs.counter_of(campaign, installation) is None
