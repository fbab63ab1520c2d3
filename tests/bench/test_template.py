"""Start commands as templates: argument lists, replaced word by word, and no shell anywhere."""

import json
import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.launchers.launch import Job, start_job, workplace
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.benchmarks.launchers.template import filled, of_library, parse
from tests.conftest import until

PROGRAM = ("python", "-m", "it")


@pytest.mark.parametrize(
    ("text", "ranks", "ppn", "words"),
    [
        ("mpiexec", 4, None, "mpiexec -n 4 python -m it"),
        ("mpiexec --hostfile hosts -n {ranks} --map-by ppr:{ppn}:node", 8, 2, "mpiexec --hostfile hosts -n 8 --map-by ppr:2:node python -m it"),  # noqa: E501
        ("srun -N{nodes} -n {ranks} --mpi=pmix", 9, 4, "srun -N3 -n 9 --mpi=pmix python -m it"),
        ("ssh head mpiexec -n {ranks} {program} --", 2, None, "ssh head mpiexec -n 2 python -m it --"),
        ("flux run --tasks-per-node={ppn}", 2, 8, "flux run --tasks-per-node=2 -n 2 python -m it"),
        ("apptainer run 'my image.sif' {program}", 2, None, "apptainer run 'my image.sif' -n 2 python -m it"),
    ],
)  # fmt: skip
def test_a_template_is_an_argument_list(text: str, ranks: int, ppn: int | None, words: str) -> None:
    assert filled(parse(text), ranks, ppn, PROGRAM) == list(parse(words))


def test_what_a_shell_would_run_is_a_word_like_any_other() -> None:
    words = parse("mpiexec '$(touch x)' ';' '`id`' \"&&\"")
    assert filled(words, 2, None, PROGRAM) == ["mpiexec", "$(touch x)", ";", "`id`", "&&", "-n", "2", *PROGRAM]


def test_braces_of_the_program_are_its_own() -> None:
    assert filled(parse("mpiexec"), 2, None, ("python", "{ppn}"))[-1] == "{ppn}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no word"),
        ("mpiexec 'x", "No closing quotation"),
        ("mpiexec -n {rank}", r"'\{rank\}'; known are \{ranks\}, \{ppn\}"),
        ("mpiexec --x={program}", "as a word of its own"),
    ],
)
def test_what_cannot_be_meant_is_said(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parse(text)


def test_processes_per_node_that_nobody_said_are_asked_for() -> None:
    with pytest.raises(CampaignError, match=r"asks for \{ppn\}: say how many .*--ppn"):
        filled(parse("mpiexec --map-by ppr:{ppn}:node"), 4, None, PROGRAM)


def test_the_bare_name_of_the_start_command_is_the_library_s_own() -> None:
    assert of_library(parse("numactl -l mpiexec -n {ranks}"), "/opt/mpi/bin/mpiexec")[2] == "/opt/mpi/bin/mpiexec"
    assert of_library(parse("srun -n {ranks}"), "/opt/mpi/bin/mpiexec") == ("srun", "-n", "{ranks}")


def test_a_job_is_started_by_its_template_and_known_again(tmp_path: Path) -> None:
    arguments = tmp_path / "arguments.json"
    code = "import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"
    launcher = LocalLauncher((sys.executable, "-c", code, str(arguments), "--per={ppn}", "-n", "{ranks}"), 3)
    handle = start_job(launcher, Job(tmp_path, 6, ("it",), {}, 60.0, tmp_path / "log.txt"))
    assert until(lambda: (now := launcher.status(handle)).state != "running" and now).state == "finished"
    assert json.loads(arguments.read_text()) == ["--per=3", "-n", "6", "it"]
    assert LocalLauncher.from_record(json.loads(json.dumps(launcher.record()))) == launcher


def test_where_ranks_may_be_elsewhere_their_files_are_where_all_see_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for launcher in (LocalLauncher(("mpiexec", "--hostfile", "hosts")), SlurmLauncher(Request(nodes=1))):
        with workplace(launcher) as folder:
            assert folder.parent == tmp_path
    with workplace(LocalLauncher()) as folder:
        assert tmp_path not in folder.parents
    (tmp_path / "seen").mkdir()
    with workplace(LocalLauncher(folder=str(tmp_path / "seen"))) as folder:
        assert folder.parent == tmp_path / "seen"
    monkeypatch.setenv("COLLTUNE_SITE", "/etc/site.toml")
    with (
        pytest.raises(CampaignError, match=r"nowhere: no folder for the job's files .*, else /etc/site\.toml\)$"),
        workplace(LocalLauncher(folder=str(tmp_path / "nowhere"))),
    ):
        pass
