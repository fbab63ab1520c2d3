"""The page *Measure*, driven by its params: plan, start, watch, cancel, resume, open, and its states without a job."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.campaign import Campaign, write_json
from dashboard.benchmarks.launch import Status
from dashboard.measuring.kept import create
from dashboard.pages import measure as module
from dashboard.pages._measure_where import SLURM
from dashboard.pages.measure import MeasurePage
from dashboard.server.permission import Permission
from dashboard.state import State
from tests.measuring.played import HERE, Played, measured, play

SIZES = (8, 64, 512)


@pytest.fixture(autouse=True)
def on_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks may launch: what this process listens on besides is another test's."""
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=True, reason=""))


@pytest.fixture
def launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE)
    return play(monkeypatch, tmp_path)


def page_of(**chosen: Any) -> MeasurePage:
    page = MeasurePage(State(page="Measure"))
    page.where.ranks.value = 2
    for name, value in {"message_sizes": "8,64,512", "comm_sizes": "2", **chosen}.items():
        page.form.fields[name].value = value
    return page


def press(action: Any) -> None:
    asyncio.run(action())


@pytest.fixture
def page(launcher: Played) -> MeasurePage:
    return page_of()


@pytest.fixture
def started(page: MeasurePage) -> MeasurePage:
    press(page.start)
    assert page.state.campaign == "bcast-2-ranks"
    return page


def campaign_of(page: MeasurePage) -> Campaign:
    return Campaign(page.root / page.state.campaign)


def test_before_the_first_campaign_it_says_what_to_do(page: MeasurePage) -> None:
    assert page.list.empty.visible
    assert not page.one.visible
    assert not page.message.visible


def test_the_methods_are_those_of_the_installed_library(page: MeasurePage) -> None:
    assert page.form.fields["algorithms"].options == ["default", "basic_linear", "binomial"]
    page.form.fields["collectives"].value = ["reduce"]
    assert page.form.fields["algorithms"].options == ["default", "binomial"]
    assert "Open MPI 5.0.11" in page.form.offered.object


def test_an_algorithm_that_the_collective_lacks_is_no_longer_chosen(page: MeasurePage) -> None:
    page.form.fields["algorithms"].value = ["basic_linear", "binomial"]
    page.form.fields["collectives"].value = ["reduce"]
    assert page.form.fields["algorithms"].value == ["binomial"]


def test_the_estimate_follows_every_field(page: MeasurePage) -> None:
    before = page._worked.offered
    assert before is not None
    assert f"{before.points:,} in 3 cells" in page.cost.estimate.object
    page.form.fields["message_sizes"].value = "8"
    assert page._worked.offered.points < before.points
    page.where.limit.value = "2 h"
    assert "2.0 h" in page.cost.estimate.object
    assert "run 2 ranks in" in page.cost.script.object
    assert "<b>" not in page.cost.script.object
    assert not page.cost.start.disabled


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("message_sizes", "8-4", "ends at 4"),
        ("comm_sizes", "2-64", "allowed are 2 to 2"),
        ("message_sizes", "1-4000", "at most 200,000 make one campaign"),
        ("collectives", [], "no collective is chosen"),
    ],
)
def test_what_cannot_be_planned_is_said_and_cannot_be_started(
    page: MeasurePage, monkeypatch: pytest.MonkeyPatch, field: str, value: Any, told: str
) -> None:
    if "at most" in told:
        page.form.fields["segment_sizes"].value = "0-4000"
    page.form.fields[field].value = value
    assert told in page.cost.fault.object
    assert page.cost.start.disabled
    press(page.start)
    assert list(page.root.iterdir()) == []


def test_what_was_not_costed_yet_is_not_started(page: MeasurePage, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a browser the press comes right after the change that it has ended, before anything is worked out.
    monkeypatch.setattr(page.rested, "ask", lambda: None)
    page.form.fields["message_sizes"].value = "8,64"
    press(page.start)
    assert "The form has changed" in page.message.object
    assert list(page.root.iterdir()) == []
    page._show_cost(page._work_out())
    page.cost.named.value = "mine"
    press(page.start)
    assert Campaign(page.root / "mine").plan().message_sizes == (8, 64)


@pytest.mark.parametrize("name", ["../away", "a b", "$(reboot)"])
def test_a_name_that_could_be_a_path_is_refused(page: MeasurePage, name: str) -> None:
    page.cost.named.value = name
    assert "allowed are letters" in page.cost.fault.object
    assert page.cost.start.disabled


def test_a_name_that_was_typed_is_kept(page: MeasurePage) -> None:
    assert page.cost.named.value == "bcast-2-ranks"
    page.cost.named.value = "mine"
    page.form.fields["collectives"].value = ["reduce"]
    assert page.cost.named.value == "mine"


def test_start_launches_and_shows_why_it_waits(started: MeasurePage, launcher: Played) -> None:
    (job,) = launcher.jobs
    assert (job.ranks, job.folder) == (2, (started.root / "bcast-2-ranks").resolve())
    assert "queued" in started.watch.title.object
    assert started.watch.reason.object == "waits for resources (Resources)"
    assert started.watch.cancel.visible
    assert not started.watch.resume.visible
    assert started.cost.named.value == "bcast-2-ranks-2"
    (entry,) = started.list.menu.items
    assert entry["label"] == "bcast-2-ranks"
    assert "queued (waits for resources (Resources))" in entry["secondary"]
    assert started.list.menu.active == 0


def test_the_map_fills_as_points_arrive(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("running")
    started.rhythm.now()
    plot = started.map.pane.object
    assert "None of 3 cells" in started.map.legend.object
    measured(campaign_of(started), "default", 8)
    started.rhythm.now()
    assert "1 of 3 cells measured" in started.map.legend.object
    measured(campaign_of(started), "binomial", 8, 64)
    started.rhythm.now()
    assert started.map.measured.dmap["best"].values.tolist() == [[2, 2, -1]]
    # No new plot: zoom and hover of the one on show are kept.
    assert started.map.pane.object is plot
    image = started.map.live.latest("map")["image"][0]
    nothing = np.iinfo(image.dtype).max
    codes = started.map.order.codes(np.array([2, 2]), 3)
    assert image[0].tolist()[0] == codes[0]
    assert nothing in image
    assert (started.watch.bar.value, started.watch.text.object) == (33, "<p>3 of 9 points measured</p>")


def test_what_has_not_changed_is_not_drawn_again(started: MeasurePage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started.map, "_tell", lambda _: pytest.fail("drawn again"))
    started.rhythm.now()


def test_a_cell_that_is_tapped_lists_its_methods(started: MeasurePage) -> None:
    measured(campaign_of(started), "default", *SIZES)
    measured(campaign_of(started), "binomial", 8)
    started.rhythm.now()
    started.map._pin(started.map._axes.x.centres[0], started.map._axes.y.centres[0])
    assert started.map.pinned.object.index("binomial") < started.map.pinned.object.index("default")
    assert "2 methods measured" in started.map.pinned.object


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (Status("failed", "NODE_FAIL: node n3 did not answer", 1), "NODE_FAIL: node n3 did not answer; exit code 1"),
        (Status("timed out", "ended at its time limit of 60 s"), "ended at its time limit of 60 s"),
        (Status("cancelled", "cancelled"), ""),
        (Status("queued", "waits for its turn (Priority)"), "waits for its turn (Priority)"),
    ],
)
def test_states_are_told_with_their_reasons(started: MeasurePage, launcher: Played, state: Status, reason: str) -> None:
    launcher.now = state
    started.rhythm.now()
    assert f": {state.state}</h3>" in started.watch.title.object
    assert (started.watch.reason.object, started.watch.reason.visible) == (reason, bool(reason))
    assert started.watch.cancel.visible == (state.state == "queued")
    assert started.watch.resume.visible == (state.state != "queued")


def test_a_failed_job_shows_its_log_as_text(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("failed", "exit code 3", 3)
    campaign_of(started).log.write_text("<script>alert(1)</script>\ncolltune worker: too few ranks\n", encoding="utf-8")
    started.rhythm.now()
    assert "&lt;script&gt;" in started.watch.log.object
    assert "<script>" not in started.watch.log.object
    assert started.watch.reason.object == "too few ranks; exit code 3"


def test_cancel_and_resume(started: MeasurePage, launcher: Played) -> None:
    press(started.cancel)
    assert ": cancelled</h3>" in started.watch.title.object
    press(started.resume)
    assert len(launcher.jobs) == 2
    assert ": queued</h3>" in started.watch.title.object
    assert "launch 2" in started.watch.text.object
    # The limit is the one that it was started with, or longer.
    assert launcher.jobs[1].seconds >= launcher.jobs[0].seconds


def test_points_that_were_refused_are_measured_again_when_asked(started: MeasurePage, launcher: Played) -> None:
    measured(campaign_of(started), "default", *SIZES)
    measured(campaign_of(started), "basic_linear", *SIZES, error="wrong result on rank 1")
    measured(campaign_of(started), "binomial", *SIZES)
    launcher.now = Status("finished", "", 0)
    started.rhythm.now()
    assert not started.watch.resume.visible
    assert started.watch.rerun.visible
    assert started.watch.rerun.label == "Rerun 3 failed points"
    assert "3 × wrong result on rank 1" in started.watch.refused.object
    press(started.rerun)
    assert len(launcher.jobs) == 2
    assert "6 of 9 points measured" in started.watch.text.object
    assert "refused" not in started.watch.text.object


def test_what_the_launcher_refuses_is_said_and_leaves_nothing(page: MeasurePage, launcher: Played) -> None:
    launcher.refuses = "Slurm refused the job: *invalid* partition"
    press(page.start)
    assert "invalid" in page.message.object
    assert page.message.severity == "error"
    assert list(page.root.iterdir()) == []
    assert not page.cost.start.disabled


def test_results_are_opened_in_the_other_pages(started: MeasurePage) -> None:
    assert started.watch.open.disabled
    for algorithm in ("default", "binomial"):
        measured(campaign_of(started), algorithm, *SIZES)
    started.rhythm.now()
    press(started.open)
    assert (started.state.page, started.state.collective) == ("Decisions", "bcast")
    assert started.state.decision_map()["best"].sizes == {"comm_size": 1, "message_size": 3}
    assert not started.rhythm.running


def test_nobody_looks_at_campaigns_while_another_page_is_on_show(started: MeasurePage) -> None:
    assert started.rhythm.running
    started.state.page = "Decisions"
    assert not started.rhythm.running
    started.state.page = "Measure"
    assert started.rhythm.running


def test_another_session_finds_the_campaign_by_itself_and_by_name(started: MeasurePage) -> None:
    later = page_of()
    assert later.list.entries[0].name == "bcast-2-ranks"
    assert "bcast-2-ranks" in later.watch.title.object
    # Both share one reading of its file.
    assert later.following is started.following
    later.state.campaign = "gone"
    assert "gone is no campaign" in later.message.object.replace("\\", "")
    later.list._click({"label": "bcast-2-ranks"})
    assert later.state.campaign == "bcast-2-ranks"
    assert not later.message.visible


def test_two_campaigns_at_once(started: MeasurePage, launcher: Played) -> None:
    started.form.fields["collectives"].value = ["reduce"]
    press(started.start)
    assert {entry.name for entry in started.list.entries} == {"bcast-2-ranks", "reduce-2-ranks"}
    assert started.state.campaign == "reduce-2-ranks"
    assert started.map.measured.shown[:2] == ("reduce-2-ranks", "reduce")
    started.list._click({"label": "bcast-2-ranks"})
    assert started.map.measured.shown[:2] == ("bcast-2-ranks", "bcast")


def test_a_folder_that_is_no_campaign_is_said(page: MeasurePage) -> None:
    (page.root / "torn").mkdir()
    (page.root / "torn" / "plan.json").write_text("{", encoding="utf-8")
    page.rhythm.now()
    assert "torn" in page.list.faults.object


def test_without_mpi_it_says_what_to_install(launcher: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "no MPI: mpiexec is not on the PATH; install one with: pip install 'colltune[mpi]'"
    monkeypatch.setattr(module, "look_around", lambda again=False: replace(HERE, installation=None, no_mpi=told))
    page = page_of()
    assert page.standing.visible
    assert "pip install" in page.standing.object
    assert page.again.visible
    assert page.cost.start.disabled
    press(page.start)
    assert list(page.root.iterdir()) == []
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE)
    page.again.clicks += 1
    assert not page.standing.visible
    assert not page.cost.start.disabled


def test_without_permission_one_may_plan_and_watch_but_not_launch(
    launcher: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=False, reason="You have not logged in."))
    page = page_of()
    assert "You have not logged in" in page.standing.object
    assert page._worked.offered is not None
    assert page.cost.start.disabled
    # Whatever a browser sends, the permission is asked for again.
    press(page.start)
    assert list(page.root.iterdir()) == []
    create(page.root, "there", page._worked.offered.plan)
    page.rhythm.now()
    for button, action in ((page.watch.resume, page.resume), (page.watch.rerun, page.rerun)):
        assert button.disabled or not button.visible
        press(action)
    assert launcher.jobs == []
    assert "not logged in" in page.message.object


def test_a_permission_that_was_taken_away_meanwhile_counts(
    started: MeasurePage, launcher: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=False, reason="No more."))
    press(started.cancel)
    assert launcher.now.state == "queued"


def test_where_there_is_no_slurm_it_says_so(page: MeasurePage) -> None:
    page.where.kind.value = SLURM
    assert "sbatch not on the PATH" in page.where.said.object
    assert page.cost.start.disabled


def test_slurm_is_asked_for_what_the_fields_say(launcher: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = {"name": "debug", "default": True, "up": True, "nodes": 4, "cores": 8, "seconds": 3600}
    monkeypatch.setattr(module, "look_around", lambda again=False: replace(HERE, no_slurm="", partitions=(partition,)))
    page = page_of(comm_sizes="2-{ranks}")
    page.where.kind.value = SLURM
    assert page.where.request["partition"].options == {"(default)": "(default)", "debug, 4 × 8 cores": "debug"}
    request = page.where.request
    for name, value in {
        "nodes": 3,
        "tasks_per_node": 2,
        "partition": "debug",
        "account": "me",
        "extra": "--exclusive --comment='a b'",
        "environment": "OMPI_MCA_btl=self,tcp",
        "modules": "openmpi/5",
    }.items():
        request[name].value = value
    place = page.where.place()
    assert {name: value for name, value in place.slurm.items() if value} == {
        "nodes": 3,
        "tasks_per_node": 2,
        "partition": "debug",
        "account": "me",
        "start": "mpiexec",
        "extra": ("--exclusive", "--comment=a b"),
        "environment": {"OMPI_MCA_btl": "self,tcp"},
        "modules": ("openmpi/5",),
    }
    press(page.start)
    assert launcher.jobs[0].ranks == 6
    request["extra"].value = "--comment='a"
    assert "extra" in page.cost.fault.object
    assert page.cost.start.disabled


def test_the_jobs_of_an_array_are_told_each(started: MeasurePage, launcher: Played) -> None:
    jobs = ({"id": "7_0", "state": "running", "reason": ""}, {"id": "7_1", "state": "queued", "reason": "waits"})
    launcher.now = Status("running", "", None, jobs)
    started.rhythm.now()
    assert started.watch.reason.object == "job 7_0: running; job 7_1: queued, waits"


def test_how_long_is_left_is_told(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("running")
    progress = {"done": 3, "points": 9, "elapsed": 300.0, "now": "bcast", "ended": "", "attempt": 1}
    write_json(campaign_of(started).progress_file, progress)
    started.rhythm.now()
    assert "about 10 min left" in started.watch.text.object
