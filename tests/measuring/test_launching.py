"""Time limits as they are typed, where a campaign is launched, and that a launch that fails leaves nothing."""

import sys
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, write_json
from dashboard.benchmarks.errors import BenchError, CampaignError, NoMpiError, PlanError
from dashboard.benchmarks.launchers import slurm
from dashboard.benchmarks.launchers.launch import Status
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.launchers.site import Site
from dashboard.benchmarks.libraries.library import Installation
from dashboard.commands.bench import submit as bench_submit
from dashboard.commands.options import parse
from dashboard.measuring import launching
from dashboard.measuring.asked import Asked, Offer, offer
from dashboard.measuring.kept import create
from dashboard.measuring.launching import (
    Place,
    Surroundings,
    look_around,
    parse_duration,
    preview,
    rerun,
    start_new,
    within_reach,
)
from tests.measuring.played import HERE, measured, play
from tests.measuring.test_asked import LIBRARY

ASKED = Asked.of(ranks=2, message_sizes="8", algorithms=("default", "binomial"))
REQUEST = {"nodes": 2, "tasks_per_node": 1, "partition": "debug"}


@pytest.fixture
def here() -> Installation:
    return Installation(Path(sys.executable).with_name("mpiexec"), LIBRARY)


@pytest.fixture
def offered(here: Installation) -> Offer:
    return offer(ASKED, here)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90 s", 90),
        ("30min", 1800),
        ("1.5 h", 5400),
        ("1 d", 86400),
        # As sbatch's own --time has them: MINUTES:SECONDS, HOURS:MINUTES:SECONDS, DAYS-HOURS:MINUTES.
        ("30:00", 1800),
        ("1:30:00", 5400),
        ("1-12:00", 129600),
        ("0-00:01:30", 90),
    ],
)
def test_a_time_limit_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["soon", "-5", "1 week", "nan", "inf", "1e9", "5", "8 d", "1:2:3", "99-00:00"])
def test_other_limits_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="allowed are 10 s to 7 days, such as 90 s"):
        parse_duration(text)


def test_without_a_limit_the_estimate_gives_it(offered: Offer) -> None:
    assert Place().seconds(offered) == offered.limit
    assert Place(limit="2 h").seconds(offered) == 7200


def test_a_limit_that_is_none_is_left_out_of_the_command() -> None:
    assert Place(limit="2 h").words() == ["--time-limit=7200"]
    assert Place(limit="soon").words() == []


def test_where_it_runs_is_a_launcher(here: Installation) -> None:
    assert Place().launcher(here) == LocalLauncher((str(here.mpiexec),))
    launcher = Place(REQUEST).launcher(here)
    assert launcher == slurm.SlurmLauncher(slurm.Request(**REQUEST), str(here.mpiexec))


@pytest.mark.parametrize(
    "field",
    [{"partition": "a b; reboot"}, {"extra": ("--wrap=reboot",)}, {"start": "sh"}, {"environment": {"PATH": "/opt"}}],
)
def test_what_slurm_is_told_is_among_what_is_allowed(here: Installation, field: dict) -> None:
    with pytest.raises(BenchError, match="allowed"):
        Place({**REQUEST, **field}).launcher(here)


def test_what_will_be_run_is_shown_and_nothing_is_written(tmp_path: Path, here: Installation, offered: Offer) -> None:
    line = preview(tmp_path, "new", offered, Place(), here)
    assert f"{here.mpiexec} -n 2 " in line
    assert str(tmp_path / "new") in line
    script = preview(tmp_path, "new", offered, Place(REQUEST, "10 min"), here)
    assert script.startswith("#!/bin/bash\n")
    assert {"#SBATCH --nodes=2", "#SBATCH --partition=debug", "#SBATCH --time=10"} <= set(script.splitlines())
    assert str(tmp_path / "new") in script
    assert list(tmp_path.iterdir()) == []


def test_an_offer_leaves_out_what_cannot_be_measured_where_it_is_to_run(here: Installation) -> None:
    asked = Asked.of(ranks=4, comm_sizes="2,4", ppn="1,2", message_sizes="8", algorithms=("default", "binomial"))
    place, offered = Place({**REQUEST, "tasks_per_node": 2}), offer(asked, here, here=False)
    within = within_reach(offered, place, here)
    assert ((offered.points, offered.cells), (within.points, within.cells)) == ((8, 4), (6, 3))
    assert within.remarks[-1].startswith("2 points at 4 × 1 ")
    wide = Place({**REQUEST, "nodes": 4})
    with pytest.raises(PlanError, match=r"nothing would be measured: .* 2 × 2"):
        within_reach(offer(asked.but(ppn="2"), here, here=False), wide, here)


def test_a_launch_that_fails_leaves_no_campaign(
    tmp_path: Path, here: Installation, offered: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CampaignError("Slurm refused the job: invalid partition")

    monkeypatch.setattr(control, "start", refuse)
    with pytest.raises(CampaignError, match="invalid partition"):
        start_new(tmp_path, "new", offered, Place(), here)
    assert list(tmp_path.iterdir()) == []
    create(tmp_path, "old", offered.plan)
    with pytest.raises(CampaignError, match="there is a campaign old already"):
        start_new(tmp_path, "old", offered, Place(), here)
    assert (tmp_path / "old" / "plan.json").exists()


def test_what_the_system_refuses_leaves_no_campaign_but_a_launched_one(
    tmp_path: Path, here: Installation, offered: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(campaign: Campaign, *_: object, **__: object) -> None:
        if campaign.folder.name == "launched":
            write_json(campaign.state_file, {"handle": {}})
        raise OSError("no space left on device")

    monkeypatch.setattr(control, "start", refuse)
    for name in ("new", "launched"):
        with pytest.raises(OSError, match="no space left"):
            start_new(tmp_path, name, offered, Place(), here)
    assert [folder.name for folder in tmp_path.iterdir()] == ["launched"]


def test_what_was_refused_is_not_forgotten_under_a_running_campaign(
    tmp_path: Path, offered: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = play(monkeypatch, tmp_path)
    campaign = start_new(tmp_path, "one", offered, Place(), HERE.installation)
    measured(campaign, "default", 8, error="refused")
    before = campaign.results.read_bytes()
    with pytest.raises(CampaignError, match="campaign one is queued"):
        rerun(campaign, HERE.installation)
    assert campaign.results.read_bytes() == before
    launcher.now = Status("cancelled", "cancelled")
    rerun(campaign, HERE.installation)
    assert campaign.done().refused == {}
    assert launcher.now.state == "queued"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test has found must not be what another one finds."""
    monkeypatch.setattr(launching, "_FOUND", type(launching._FOUND)(1, 1 << 20))


def test_what_there_is_to_measure_with_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def find() -> Installation:
        looks.append(1)
        raise NoMpiError("no MPI: install one with: pip install 'colltune[mpi]'")

    monkeypatch.setattr(launching, "find", find)
    monkeypatch.setattr(slurm, "available", lambda: "no Slurm here")
    surroundings = Surroundings(None, "no MPI: install one with: pip install 'colltune[mpi]'", "no Slurm here")
    assert look_around() == look_around() == surroundings
    assert len(looks) == 1
    assert look_around(again=True) == surroundings
    assert len(looks) == 2


def test_a_slurm_that_does_not_answer_is_no_choice(monkeypatch: pytest.MonkeyPatch, here: Installation) -> None:
    def partitions() -> None:
        raise CampaignError("sinfo: unable to contact slurm controller")

    monkeypatch.setattr(launching, "find", lambda: here)
    monkeypatch.setattr(slurm, "available", lambda: "")
    monkeypatch.setattr(slurm, "partitions", partitions)
    surroundings = look_around(again=True)
    assert surroundings.no_slurm == "Slurm does not answer: sinfo: unable to contact slurm controller"
    assert surroundings.installation is here
    # It may answer the next one who asks.
    monkeypatch.setattr(slurm, "partitions", lambda: [{"name": "debug"}])
    assert look_around().no_slurm == ""


def test_the_commands_words_ask_slurm_for_the_same() -> None:
    asked = {**REQUEST, "modules": ("openmpi/5",), "environment": {"UCX_TLS": "rc,tcp"}, "array": 3, "start": "srun"}
    asked |= {
        "extra": ("--exclusive", "--hint=nomultithread"),
        "start_options": ("--mpi=pmix",),
        "account": "me",
        "qos": "",
    }
    args = parse(["bench", "submit", "FOLDER", *Place(asked, "2 min").words()])
    assert bench_submit.request(args, Site()) == slurm.Request(**asked)
    assert args.time_limit == 120
    assert Place().words() == []
