"""Each method in a launch of its own: the same results as in one job, on the real Open MPI."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign, key_of
from dashboard.benchmarks.campaigns.jobs import uncounted_why
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Variants
from dashboard.benchmarks.libraries.mpich import Mpich
from dashboard.benchmarks.ranks.forced import Forced
from dashboard.benchmarks.ranks.worker import Worker
from dashboard.benchmarks.tune_check import with_rules
from tests.bench.campaigns import PATIENCE_S, campaign_of, points, run
from tests.bench.test_worker import Mpi, World
from tests.conftest import until
from tests.measuring.played import LIBRARY

#: Linear allgather is a gather and a broadcast that the library decides itself.
WISH: dict[str, Any] = {"collectives": ("bcast", "allgather"), "algorithms": ("pipeline", "linear")}
WISH |= {"variants": Variants((0,))}


def graphs(campaign: Campaign) -> dict[Any, Any]:
    """What was sent, or why it was refused, by point; each stands there once."""
    sent = {key_of(point): point.get("graph") or point["error"] for point in points(campaign)}
    assert len(sent) == len(points(campaign))
    return sent


@pytest.mark.soak
@pytest.mark.usefixtures("counting")
def test_forced_by_the_environment_methods_send_what_they_send_in_one_job(
    installation: Installation, tmp_path: Path
) -> None:
    together = campaign_of(tmp_path / "together", installation, **WISH)
    assert run(together, installation)["state"] == "finished"
    apart = campaign_of(tmp_path / "apart", installation, **WISH, apart=True)
    launcher = LocalLauncher((str(installation.mpiexec),))
    control.start(apart, launcher, installation, PATIENCE_S)
    until(lambda: apart.done().all)
    control.cancel(apart, launcher)
    first = apart.done().all
    assert 0 < len(first) < len(set(apart.plan().points()))
    ended = run(apart, installation)
    assert (ended["state"], ended["refused"]) == ("finished", 0), apart.tail()
    assert first < apart.done().all == set(apart.plan().points())
    assert graphs(apart) == graphs(together)
    assert {point["attempt"] for point in points(apart)} == {1, 2}


@pytest.mark.soak
def test_a_library_that_turns_out_not_to_switch_is_measured_launch_by_launch(
    installation: Installation, tmp_path: Path
) -> None:
    wish = Wish(2, ("bcast",), (2,), (4096,), algorithms=("binomial",), variants=WISH["variants"])
    plan = make_plan(wish, installation)
    unknown = {"bcast": tuple({**values, "no_such_variable": 1} for values in plan.settings["bcast"])}
    campaign = Campaign.create(tmp_path, replace(plan, settings=unknown))
    ended = run(campaign, installation)
    assert (ended["state"], ended["measured"]) == ("finished", ended["points"]), campaign.tail()
    assert any("'no_such_variable' is no control variable" in line for line in campaign.tail(200))


def test_every_method_has_a_start_of_its_own_with_its_variables(tmp_path: Path) -> None:
    installation = Installation(Path("/nowhere/mpiexec"), LIBRARY)
    wish = Wish(4, ("bcast", "reduce"), (2, 4), (8,), launches=2, apart=True)
    campaign = Campaign.create(tmp_path, make_plan(wish, installation))
    shown = control.preview(campaign, LocalLauncher(("mpiexec",)), installation, 100.0).splitlines()
    starts = [line for line in shown if " mpiexec " in line]
    # Default and two algorithms of bcast, default and one of reduce, in each launch.
    assert len(starts) == 2 * (3 + 2)
    assert "OMPI_MCA_coll_tuned_bcast_algorithm=6 " in starts[2]
    assert "--only bcast 2 --launch 1 " in starts[2]
    assert "OMPI_MCA_coll_tuned_use_dynamic_rules=0 " in starts[0]
    assert campaign.plan().estimate().seconds > replace(campaign.plan(), apart=False).estimate().seconds


def test_methods_that_the_same_variables_force_share_a_start(tmp_path: Path) -> None:
    """HAN's rules hold for all communicators of a process, and for all collectives."""
    installation = with_rules(Installation(Path("/nowhere/mpiexec"), LIBRARY), tmp_path / "rules.conf", han=True)
    wish = Wish(4, ("bcast", "reduce"), (2, 4), (8,), launches=2)
    campaign = Campaign.create(tmp_path, make_plan(wish, installation))
    shown = control.preview(campaign, LocalLauncher(("mpiexec",)), installation, 100.0).splitlines()
    starts = [line for line in shown if " mpiexec " in line]
    assert [line.partition(" --only ")[2].partition(" --forced ")[0] for line in starts] == [
        f"bcast {number} --only reduce {number} --launch {launch}" for launch in (1, 2) for number in (0, 1)
    ]


def test_a_library_that_cannot_be_told_so_says_it() -> None:
    installation = Installation(Path("/nowhere/mpiexec"), Mpich("5.0.2", {"bcast": {1: "binomial"}}, {}, {}))
    with pytest.raises(PlanError, match="MPICH: its methods are switched within one job"):
        make_plan(Wish(2, ("bcast",), (2,), (8,), apart=True), installation)


class Talking(World):
    """Processes that say nothing against what this one says."""

    def send(self, value: Any, other: int) -> None:
        pass

    def recv(self, source: int) -> str:
        return ""


@pytest.mark.parametrize(
    ("only", "fault"),
    [
        (None, "needs a launch of its own"),
        (Forced([("bcast", 0)], 1, {"NO_SUCH": "7"}), "was started without NO_SUCH=7"),
    ],
)
def test_ranks_without_what_forces_the_method_measure_nothing(tmp_path: Path, only: Forced | None, fault: str) -> None:
    plan = Plan(2, {"bcast": (Method(DEFAULT),)}, (2,), (8,), apart=True)
    played = Mpi(2, "Some MPI")
    played.COMM_WORLD = Talking(2)
    assert fault in Worker(played, Campaign.create(tmp_path, plan), 1, time.monotonic(), only).fault()


def test_it_is_said_that_the_number_of_nodes_was_not_known_where_messages_are_not_counted_for_it() -> None:
    assert "not known" not in uncounted_why(2, 4)
    with pytest.MonkeyPatch.context() as allocation:
        allocation.setenv("SLURM_JOB_NUM_NODES", "2")
        assert "not known" not in uncounted_why(None, 4)
    assert all("whether all ranks are on one node was not known" in uncounted_why(ppn, 4) for ppn in (None, 4))
