"""A site's file says once what is else typed each time; what is typed comes first."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.launchers.launch import Launcher
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.site import FURTHER, VARIABLE, Site, again, read, site_file
from dashboard.benchmarks.launchers.slurm import SlurmLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.cli import main
from dashboard.commands.bench import command
from dashboard.commands.launching import launcher_of
from dashboard.commands.options import parse
from dashboard.domain.jobs import SLURM
from dashboard.measuring.launching import Place
from tests.cli.command import Run
from tests.measuring.played import LIBRARY

HERE = Installation(Path("/opt/mpi/bin/mpiexec"), LIBRARY)
#: Root may search every folder.
NOBODY = 65534
TEXT = """
launch = "mpiexec --hostfile hosts -n {ranks} --map-by ppr:{ppn}:node"
ppn = 2
folder = "/scratch/me"

[environment]
OMPI_MCA_btl = "self,tcp"
COLLTUNE_SYSTEM = "the site"

[slurm]
partition = "main"
account = "project"
modules = ["openmpi/5.0.3"]
environment = { UCX_TLS = "rc", OMPI_MCA_pml = "ucx" }
"""
ENVIRONMENT = {"OMPI_MCA_btl": "self,tcp", "COLLTUNE_SYSTEM": "the site"}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # What it sets must not last.
    monkeypatch.setattr(os, "environ", os.environ.copy())
    path = tmp_path / "colltune.toml"
    path.write_text(TEXT)
    return path


def test_it_says_how_ranks_are_started(file: Path) -> None:
    launcher = read(file).launcher(HERE)
    words = ("/opt/mpi/bin/mpiexec", "--hostfile", "hosts", "-n", "{ranks}", "--map-by", "ppr:{ppn}:node")
    assert launcher == LocalLauncher(words, 2, "/scratch/me", ENVIRONMENT)
    assert not launcher.here
    assert read(file).launcher(HERE, 4).record()["ppn"] == 4


def test_it_says_what_is_asked_of_slurm_and_what_is_typed_comes_first(file: Path) -> None:
    request = read(file).request(partition="short", environment={"UCX_TLS": "tcp"}, nodes=None, modules=())
    assert (request.partition, request.account, request.tasks_per_node) == ("short", "project", 2)
    assert request.modules == ("openmpi/5.0.3",)
    assert request.environment == {"UCX_TLS": "tcp", "OMPI_MCA_pml": "ucx"}
    slurm = Site(launch="slurm", slurm={"partition": "main"}).launcher(HERE, 8)
    assert isinstance(slurm, SlurmLauncher)
    assert (slurm.request.partition, slurm.request.tasks_per_node) == ("main", 8)


@dataclass(frozen=True)
class Batch(LocalLauncher):
    """A scheduler that has been added."""

    queue: str = ""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Batch:
        return cls((record["mpiexec"],), record["ppn"], record["folder"], queue=record["queue"])


def test_a_scheduler_that_has_been_added_is_asked_for_by_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FURTHER, "batch", f"{__name__}:Batch")
    file.write_text('launch = "batch"\nfolder = "/scratch"\n[batch]\nqueue = "short"\n')
    expected = Batch(("/opt/mpi/bin/mpiexec",), 3, "/scratch", queue="short")
    assert read(file).launcher(HERE, 3) == expected
    file.write_text('folder = "/scratch"\nppn = 3\n[batch]\nqueue = "short"\n')
    words = ["bench", "run", "F", "-c", "bcast", "--ranks", "4", "--site", str(file), "--launch", "batch"]
    assert launcher_of(parse(words), HERE) == expected


def test_without_a_file_everything_is_as_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    if not Path("/etc/colltune/colltune.toml").exists():
        assert read() == Site()
        assert Site().launcher(HERE) == LocalLauncher(("/opt/mpi/bin/mpiexec",))
    # What it says is run: no file is taken from wherever one happens to be.
    monkeypatch.chdir(tmp_path)
    Path("colltune.toml").write_text('launch = "evil"')
    assert site_file() != tmp_path / "colltune.toml"
    (tmp_path / "colltune").mkdir()
    (tmp_path / "colltune" / "colltune.toml").write_text('launch = "own"')
    assert read().launch == "own"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "named.toml"))
    (tmp_path / "named.toml").write_text('launch = "named"')
    assert read().launch == "named"


def test_what_stands_in_a_folder_that_may_not_be_searched_is_as_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "colltune" / "colltune.toml"
    own.parent.mkdir()
    own.write_text('launch = "own"')
    assert site_file() == own
    tmp_path.chmod(0)
    user = os.geteuid()
    try:
        os.seteuid(user or NOBODY)
        assert site_file() != own
    finally:
        os.seteuid(user)
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("launch", ["here", "slurm"])
def test_its_variables_are_set_where_the_environment_says_nothing_and_again_on_going_on(
    file: Path, launch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = {**os.environ, "OMPI_MCA_btl": "self,sm"}
    bare.pop("COLLTUNE_SYSTEM", None)
    monkeypatch.setattr(os, "environ", bare.copy())
    launcher = replace(read(file), launch=launch).launcher(HERE)
    assert os.environ == {**bare, "COLLTUNE_SYSTEM": "the site"}
    kept = json.loads(json.dumps(launcher.record()))
    file.unlink()
    monkeypatch.setattr(os, "environ", bare.copy())
    again(type(launcher).from_record(kept), HERE)
    assert os.environ == {**bare, "COLLTUNE_SYSTEM": "the site"}


def test_what_a_form_asks_of_slurm_comes_before_what_the_site_says(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(f'{TEXT}start = "srun"\n'.replace(TEXT.splitlines()[1], 'launch = "slurm"'))
    monkeypatch.setenv(VARIABLE, str(file))
    chosen = {option.name: option.default for option in SLURM} | {"nodes": 2, "account": "mine"}
    asked = Place(chosen).launcher(HERE)
    assert isinstance(asked, SlurmLauncher)
    assert (asked.request.nodes, asked.request.account) == (2, "mine")
    assert (asked.request.partition, asked.request.start) == ("main", "srun")
    # Here is here, wherever the site starts its jobs, for the command as well.
    assert isinstance(Place().launcher(HERE), LocalLauncher)
    assert not Place().spread
    assert Place().words() == ["--launch=here"]
    # What is wrong with the file is said where a start is offered.
    file.write_text("launch = 3")
    assert Place().words() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("launch = [", "cannot be read"),
        ("lunch = 'x'", "'lunch' is not known; a site says launch, ppn"),
        ("ppn = '2'", "ppn is '2'; right would be int"),
        ("ppn = 0", "allowed are whole numbers from 1"),
        ("launch = 'mpiexec {rank}'", "known are {ranks}"),
        ("[environment]\nA = 1", "A is 1; right would be a text"),
        ("[slurm]\npartitions = 'x'", "'partitions' cannot be asked of Slurm"),
        ("[slurm]\npartition = 'a b'", "letters, digits"),
        ("[slurm]\nmodules = 5", "modules 5: right would be a list"),
        ("[slurm]\nstart_options = [3]", "colltune.toml: start_options [3]: right would be a list of texts"),
        ("[slurm]\nenvironment = 'x'", "colltune.toml: environment 'x': right would be a table of variables"),
        ("[slurm]\nmodules = 'gcc'", "modules 'gcc': right would be a list"),
    ],
)
def test_what_is_wrong_in_it_is_one_line_that_names_the_file(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "colltune.toml"
    file.write_text(text)
    with pytest.raises(PlanError) as raised:
        read(file)
    assert str(raised.value).startswith(f"{file}: ")
    assert message in str(raised.value)
    assert (
        main(["bench", "submit", str(tmp_path / "c"), "--dry-run", "--library", "openmpi-5.0", "--site", str(file)])
        == 2
    )
    assert capsys.readouterr().err.count("\n") == 1


def test_a_job_is_submitted_as_the_site_says(file: Path, tmp_path: Path, done: Run) -> None:
    words = ["bench", "submit", str(tmp_path / "campaign"), "-c", "bcast", "--nodes", "2", "--dry-run"]
    script = done(*words, "--library", "openmpi-5.0", "--site", file, "--partition", "short").out
    for line in ("#SBATCH --partition=short", "#SBATCH --account=project", "#SBATCH --ntasks-per-node=2"):
        assert line in script
    assert "module load openmpi/5.0.3" in script
    assert "UCX_TLS=rc" in script


def started_by(launcher: Launcher, folder: Path) -> Path:
    """Folder of a campaign."""
    plan = Plan(2, {"bcast": (Method("binomial"),)}, (2,), (8,))
    write_json(Campaign.create(folder, plan).state_file, {"launcher": launcher.record()})
    return folder


@pytest.mark.parametrize("launch", ["slurm", "here"])
def test_a_campaign_is_submitted_by_the_site_that_it_was_started_by(
    launch: str, file: Path, tmp_path: Path, done: Run
) -> None:
    folder = started_by(replace(read(file), launch=launch).launcher(HERE), tmp_path / "campaign")
    words = ["bench", "submit", str(folder), "--library", "openmpi-5.0", "--dry-run"]
    out, err = done(*words).both
    assert f"note: as {file} says" in err
    for line in ("#SBATCH --account=project", "export OMPI_MCA_btl=self,tcp", "export COLLTUNE_SYSTEM='the site'"):
        assert line in out
    other = tmp_path / "other.toml"
    other.write_text("[slurm]\nqos = 'night'\n[environment]\nOMPI_MCA_btl = 'self,vader'\n")
    out = done(*words, "--site", other).out
    assert "export OMPI_MCA_btl=self,vader" in out
    assert "#SBATCH --qos=night" in out


def test_a_campaign_is_run_again_by_the_site_that_it_was_started_by(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run
) -> None:
    started = read(file).launcher(HERE)
    folder = started_by(started, tmp_path / "campaign")
    launchers: list[Any] = []
    monkeypatch.setattr(command, "_installation", lambda: HERE)
    monkeypatch.setattr(command, "_begin", lambda _args, _plan, launcher, _here: launchers.append(launcher))
    done("bench", "run", folder)
    (other := tmp_path / "other.toml").write_text("[environment]\nOMPI_MCA_btl = 'self,vader'\n")
    done("bench", "run", folder, "--site", other)
    assert launchers == [started, read(other).launcher(HERE)]


def test_a_campaign_is_resumed_as_it_was_started() -> None:
    moved = Installation(Path("/new/mpiexec"), LIBRARY)
    assert again(LocalLauncher(("/old/mpiexec",)), moved) == LocalLauncher(("/new/mpiexec",))
    template = LocalLauncher(("srun", "-n", "{ranks}"))
    assert again(template, moved) == template


@pytest.mark.parametrize(
    "words",
    [
        ["prove", "rules.conf"],
        ["tune-check", "rules.conf"],
        ["check-methods"],
        ["bench", "run", "campaign"],
        ["bench", "parameters", "-o", "table.csv"],
    ],
    ids=" ".join,
)
def test_every_command_that_starts_ranks_takes_the_same(file: Path, words: list[str]) -> None:
    said = launcher_of(parse([*words, "--site", str(file)]), HERE, (4,) if "run" in words else ())
    assert isinstance(said, LocalLauncher)
    assert (said.mpiexec[1], said.ppn) == ("--hostfile", 4 if "run" in words else 2)
    typed = launcher_of(parse([*words, "--site", str(file), "--launch", "srun -n {ranks} --mpi=pmix"]), HERE)
    assert typed == LocalLauncher(("srun", "-n", "{ranks}", "--mpi=pmix"), 2, "/scratch/me", ENVIRONMENT)
    local = launcher_of(parse([*words, "--site", str(file), "--launch", "here"]), HERE)
    assert local == LocalLauncher(("/opt/mpi/bin/mpiexec",), 2, "/scratch/me", ENVIRONMENT)
    assert isinstance(launcher_of(parse([*words, "--site", str(file), "--launch", "slurm"]), HERE), SlurmLauncher)
