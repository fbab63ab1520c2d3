"""Batch scripts: what may be asked of Slurm, and that nothing else gets into them."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers import slurm_words
from dashboard.benchmarks.launchers.launch import Job
from dashboard.benchmarks.launchers.slurm import Request, SlurmLauncher
from dashboard.benchmarks.launchers.slurm_script import minutes
from loaders import disk


def job(folder: Path, ranks: int = 8, **further: Any) -> Job:
    return Job(folder, ranks, ("program", "a b"), {"GIVEN": "it's 1"}, 600.0, folder / "log.txt", **further)


def test_the_script_asks_for_what_was_said(tmp_path: Path) -> None:
    request = Request(
        nodes=4,
        tasks_per_node=2,
        partition="debug",
        account="a-1",
        constraint="ib&skylake",
        extra=("--exclusive", "--mail-user=someone@example.org"),
        modules=("openmpi/5.0",),
        environment={"UCX_TLS": "rc,self"},
        start="srun",
        start_options=("--mpi=pmix",),
    )
    text = SlurmLauncher(request, variables={"OMPI_MCA_btl": "self,tcp;"}).preview([job(tmp_path)])
    lines = text.splitlines()
    assert """[ -n "${OMPI_MCA_btl+set}" ] || export OMPI_MCA_btl='self,tcp;'""" in lines
    asked = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")]
    assert asked == [
        "--job-name=colltune-0",
        "--partition=debug",
        "--account=a-1",
        "--constraint=ib&skylake",
        "--nodes=4",
        "--ntasks=8",
        "--ntasks-per-node=2",
        "--time=10",
        f'--output="{tmp_path}/log.txt"',
        "--open-mode=append",
        "--no-requeue",
        "--exclusive",
        "--mail-user=someone@example.org",
    ]
    assert "module load openmpi/5.0 || exit 1" in lines
    assert "export UCX_TLS=rc,self" in lines
    assert lines[-1].endswith("srun --mpi=pmix -n 8 program 'a b'")
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0


def test_an_array_has_a_job_for_each_size(tmp_path: Path) -> None:
    launcher = SlurmLauncher(Request(tasks_per_node=8, array=2))
    text = launcher.preview([job(tmp_path / "parts" / str(n), ranks, index=n) for n, ranks in enumerate((2, 4, 8))])
    assert "--array=0,1,2%2" in text
    assert f'--output="{tmp_path}/parts/%a/log.txt"' in text
    assert "afterany" not in text


@pytest.mark.parametrize("at_once", [1, 2])
def test_sizes_on_different_nodes_are_submitted_each_alone_and_no_more_than_so_many_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    launcher = SlurmLauncher(Request(tasks_per_node=2, array=at_once))
    jobs = [job(tmp_path / "parts" / str(n), ranks, index=n) for n, ranks in enumerate((2, 2, 4, 8))]
    for each in jobs:
        each.folder.mkdir(parents=True)
    dependencies: list[str] = []

    def sbatch(name: str, *words: str) -> subprocess.CompletedProcess[str]:
        if name != "sbatch":
            return subprocess.CompletedProcess(words, 1, "", "no answer")
        dependencies.append("".join(word for word in words if "dependency" in word))
        return subprocess.CompletedProcess(words, 0, str(60 + len(dependencies)), "")

    monkeypatch.setattr(slurm_words, "run", sbatch)
    handle = launcher.prepare(jobs)
    launcher.launch(handle)
    # Each waits for the job that came so many before it, whatever its nodes are.
    assert dependencies == [""] * at_once + [f"--dependency=afterany:{61 + n}" for n in range(4 - at_once)]
    scripts = [Path(group["script"]).read_text(encoding="utf-8") for group in handle["groups"]]
    assert [f"--array={n}%" in text for n, text in enumerate(scripts)] == [True] * 4
    assert ["afterany" in text for text in scripts] == [False] * at_once + [True] * (4 - at_once)
    assert ["--nodes=2" in text for text in scripts] == [False, False, True, False]
    # What ends a job ends all that bears its mark, which is that of no other job.
    handles = (handle, launcher.prepare(jobs))
    assert len({disk.read_json(each["groups"][0]["tasks"][0]["order"])["mark"] for each in handles}) == 2


# The example of the command's help, two words as mpiexec would have them, and as the page reads what is typed there.
@pytest.mark.parametrize("options", [("--bind-to=core",), ("--bind-to core",), ("--bind-to", "core")])
def test_where_ranks_are_placed_is_two_arguments_as_mpiexec_takes_them(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    request = Request(start_options=("--oversubscribe", *options, "--x=1"))
    text = SlurmLauncher(request, "mpiexec").preview([job(tmp_path)])
    assert text.splitlines()[-1].endswith("mpiexec --oversubscribe --bind-to core --x=1 -n 8 program 'a b'")


# What a page's form could be filled with.
@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"partition": "a b"}, "partition 'a b'"),
        ({"partition": "x\n#SBATCH --uid=0"}, "partition"),
        ({"account": "-x"}, "account '-x'"),
        ({"qos": "$(id)"}, "qos"),
        ({"constraint": "a;b"}, "constraint"),
        ({"extra": ("--comment=a\n#SBATCH --uid=0",)}, "one line"),
        ({"extra": ("exclusive",)}, "allowed is --option"),
        ({"extra": ("--wrap=id",)}, "--wrap is set by this program or not allowed"),
        ({"extra": ("--output=/etc/passwd",)}, "--output"),
        ({"modules": ("a;id",)}, "module 'a;id'"),
        ({"modules": ("",)}, "module"),
        ({"environment": {"LD_PRELOAD": "x.so"}}, "variable 'LD_PRELOAD'"),
        ({"environment": {"UCX_TLS": "a\nb"}}, "value of UCX_TLS"),
        ({"start": "bash"}, "allowed are mpiexec, mpirun, srun"),
        ({"start_options": ("program",)}, "option of the start command"),
        ({"start_options": ("--x=$(id)",)}, "option of the start command"),
        ({"start_options": ("--bind-to core sh",)}, "option of the start command 'sh'"),
        ({"start_options": ("--oversubscribe", "sh")}, "option of the start command 'sh'"),
        ({"start_options": ("--bind-to $(id)",)}, "option of the start command"),
        ({"nodes": 0}, "nodes 0"),
        ({"nodes": True}, "nodes True"),
        ({"tasks_per_node": 1.5}, "tasks_per_node 1.5"),
    ],
)
def test_what_is_not_allowed_is_refused_by_name(request_: dict[str, Any], message: str) -> None:
    with pytest.raises(CampaignError) as error:
        Request(**request_)
    assert message in str(error.value)


_TEXT = st.text(max_size=12)


@pytest.mark.slow
@given(partition=_TEXT, extra=_TEXT, module=_TEXT, name=_TEXT, value=_TEXT, option=_TEXT)
def test_whatever_is_accepted_adds_no_line_and_no_command(**given_: str) -> None:
    try:
        request = Request(
            partition=given_["partition"],
            extra=(f"--x{given_['extra']}",),
            modules=(given_["module"],),
            environment={f"UCX_{given_['name']}": given_["value"]},
            start_options=(f"--{given_['option']}",),
        )
    except CampaignError:
        return
    plain = Request(extra=("--x",), modules=("m",), environment={"UCX_X": "x"}, start_options=("--x",))
    texts = [SlurmLauncher(each).preview([job(Path("/folder"))]) for each in (request, plain)]
    added = int(bool(given_["partition"]))
    assert len(texts[0].splitlines()) == len(texts[1].splitlines()) + added
    assert Request.from_record(request.record()) == request


def test_ranks_that_do_not_fit_are_refused_before_slurm_does(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="at least 4 nodes"):
        SlurmLauncher(Request(nodes=3, tasks_per_node=2)).prepare([job(tmp_path)])
    assert Request(tasks_per_node=3).nodes_for(8) == 3
    assert Request().nodes_for(8) is None


def test_a_folder_that_slurm_would_read_otherwise_is_escaped_or_refused(tmp_path: Path) -> None:
    assert 'a%%j b/log.txt"' in SlurmLauncher().preview([job(tmp_path / "a%j b")])
    with pytest.raises(CampaignError, match="line breaks"):
        SlurmLauncher().preview([job(tmp_path / "a\nb")])


def test_an_unknown_field_of_a_saved_request_is_said() -> None:
    with pytest.raises(CampaignError, match="'shell' cannot be asked of Slurm"):
        Request.from_record({"shell": "bash"})


@pytest.mark.parametrize(("seconds", "asked", "held"), [(1, 1, 1), (60, 1, 55), (61, 2, 61), (3600, 60, 3595)])
def test_the_job_ends_itself_before_slurms_whole_minutes(seconds: float, asked: int, held: float) -> None:
    assert minutes(seconds) == asked
    assert SlurmLauncher().limit(seconds) == held
