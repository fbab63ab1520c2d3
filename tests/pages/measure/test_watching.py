"""The campaigns on the page *Measure*, driven by its params: watched, cancelled, resumed and opened."""

import json

import numpy as np
import pytest

from dashboard.benchmarks.campaigns.campaign import write_json
from dashboard.benchmarks.launchers.launch import Status
from dashboard.pages.measure.page import MeasurePage
from dashboard.server.permission import Permission
from loaders import RunWriter
from tests.measuring.played import Played, measured
from tests.pages.measure.opened import campaign_of, page_of, press

SIZES = (8, 64, 512)


def test_before_the_first_campaign_it_says_what_to_do(page: MeasurePage) -> None:
    assert page.list.empty.visible
    assert not page.campaign.visible
    assert not page.doing.message.visible


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
    image = started.map.live._latest["map"]["image"][0]
    nothing = np.iinfo(image.dtype).max
    assert image[0].tolist()[0] == 2
    assert nothing in image
    assert (started.watch.bar.value, started.watch.text.object) == (33, "<p>3 of 9 points measured</p>")


def test_what_cannot_be_trusted_is_left_out_when_it_has_ended(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("running")
    measured(campaign_of(started), "default", *SIZES)
    measured(campaign_of(started), "binomial", *SIZES)
    # More of its starts were late than were not.
    file = campaign_of(started).results
    *lines, last = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps({**json.loads(last), "late": 9}), ""]))
    started.rhythm.now()
    assert started.map.measured.best.tolist() == [[2, 2, 2]]
    assert "known only at the end" in started.map.legend.object
    launcher.now = Status("finished")
    started.rhythm.now()
    assert started.map.measured.best.tolist() == [[2, 2, 0]]
    assert "1 cell: times that cannot be trusted" in started.map.legend.object
    assert started.map.live._latest["map untrusted"]["left"].size == 1


def test_a_cell_without_a_time_that_can_be_trusted_is_said(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("finished")
    measured(campaign_of(started), "default", *SIZES)
    file = campaign_of(started).results
    *lines, last = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps({**json.loads(last), "late": 9}), ""]))
    started.rhythm.now()
    assert "3 of 3 cells measured; 1 cell without a time that can be trusted" in started.map.legend.object


def test_where_nothing_is_missing_times_that_cannot_be_trusted_are_measured_again(
    started: MeasurePage, launcher: Played
) -> None:
    for name in ("default", "basic_linear", "binomial"):
        measured(campaign_of(started), name, *SIZES)
    file = campaign_of(started).results
    *lines, last = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps({**json.loads(last), "late": 9}), ""]))
    launcher.now = Status("running")
    started.rhythm.now()
    assert not started.watch.resume.visible
    launcher.now = Status("finished")
    started.rhythm.now()
    assert (started.watch.resume.visible, started.watch.resume.label) == (True, "Measure 1 doubtful time again")
    # No job of an array can.
    part = campaign_of(started).folder / "parts" / "0"
    part.mkdir(parents=True)
    started.rhythm.now()
    assert not started.watch.resume.visible
    part.rmdir()
    started.rhythm.now()
    press(started.resume)
    assert len(launcher.jobs) == 2


def test_own_methods_are_told_from_the_library_s_of_the_same_name(launcher: Played) -> None:
    page = page_of(providers=["library", "own"], algorithms=["binomial"], message_sizes="8,64,512")
    press(page.start)
    launcher.now = Status("finished")
    campaign = campaign_of(page)
    with RunWriter(campaign.results, {}) as writer:
        for parameters in ({}, {"provider": "own"}):
            for size in (8, 64):
                point = {"collective": "bcast", "algorithm": "binomial", "segment_size": 0, "comm_size": 2}
                point |= {"message_size": size, "samples": [1e-6] * 3, "late": 9, "parameters": parameters}
                writer.append(point if parameters else {**point, "library_id": 6})
    page.rhythm.now()
    labels = page.map.measured.cube["method"].values.tolist()
    assert set(labels) == {"binomial", "binomial provider=own"}
    assert len(set(labels)) == len(labels)
    assert "cannot be trusted" in page.map.legend.object
    assert page.doing.message.object == ""


def test_what_has_not_changed_is_not_drawn_again(started: MeasurePage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started.map, "_tell", lambda _: pytest.fail("drawn again"))
    started.rhythm.now()


def test_a_cell_that_is_tapped_lists_its_methods(started: MeasurePage) -> None:
    measured(campaign_of(started), "default", *SIZES)
    measured(campaign_of(started), "binomial", 8)
    started.rhythm.now()
    axes = started.map._scene.axes
    started.map._pin(axes.x.centres[0], axes.y.centres[0])
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
    assert (started.watch.reason.text, started.watch.reason.visible) == (reason, bool(reason))
    assert started.watch.cancel.visible == (state.state == "queued")
    assert started.watch.resume.visible == (state.state != "queued")


def test_a_failed_job_shows_its_log_as_text(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("failed", "exit code 3", 3)
    campaign_of(started).log.write_text("<script>alert(1)</script>\ncolltune worker: too few ranks\n", encoding="utf-8")
    started.rhythm.now()
    assert "&lt;script&gt;" in started.watch.log.object
    assert "<script>" not in started.watch.log.object
    assert started.watch.reason.text == "too few ranks; exit code 3"


def test_of_a_failed_job_of_a_scheduler_it_is_said_how_to_ask_for_something_else(
    started: MeasurePage, launcher: Played
) -> None:
    job = {"id": "7", "state": "failed", "reason": "", "nodes": "node[01-02]"}
    launcher.now = Status("failed", "", 15, (job,))
    started.rhythm.now()
    assert "exit code 15; Resume asks for the same again: 'colltune bench submit " in started.watch.reason.text
    launcher.now = Status("failed", "", 15)
    started.rhythm.now()
    assert started.watch.reason.text == "exit code 15"


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
    assert "3 × bcast basic_linear: wrong result on rank 1" in started.watch.refused.object
    press(started.rerun)
    assert len(launcher.jobs) == 2
    assert "6 of 9 points measured" in started.watch.text.object
    assert "refused" not in started.watch.text.object


def test_results_are_opened_in_the_other_pages(started: MeasurePage) -> None:
    assert started.watch.open.disabled
    for algorithm in ("default", "binomial"):
        measured(campaign_of(started), algorithm, *SIZES)
    started.rhythm.now()
    press(started.open)
    assert (started.state.page, started.state.collective) == ("Decisions", "bcast")
    assert started.state.view.decision_map()["best"].sizes == {"comm_size": 1, "message_size": 3}
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
    assert "gone is no campaign" in later.doing.message.object.replace("\\", "")
    later.list._click({"label": "bcast-2-ranks"})
    assert later.state.campaign == "bcast-2-ranks"
    assert not later.doing.message.visible


def test_two_campaigns_at_once(started: MeasurePage, launcher: Played) -> None:
    started.form.widgets["collectives"].value = ["reduce"]
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


def test_a_permission_that_was_taken_away_meanwhile_counts(
    started: MeasurePage, launcher: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(started.doing, "_permission", lambda: Permission(allowed=False, reason="No more."))
    press(started.cancel)
    assert launcher.now.state == "queued"


def test_the_jobs_of_an_array_are_told_each(started: MeasurePage, launcher: Played) -> None:
    jobs = ({"id": "7_0", "state": "running", "reason": ""}, {"id": "7_1", "state": "queued", "reason": "waits"})
    launcher.now = Status("running", "", None, jobs)
    started.rhythm.now()
    assert started.watch.reason.text == "job 7_0: running; job 7_1: queued, waits"


def test_how_long_is_left_is_told(started: MeasurePage, launcher: Played) -> None:
    launcher.now = Status("running")
    progress = {"done": 3, "points": 9, "elapsed": 300.0, "now": "bcast", "ended": "", "attempt": 1}
    write_json(campaign_of(started).progress_file, progress)
    started.rhythm.now()
    assert "about 10 min left" in started.watch.text.object
    # As the command has it, with no more digits than an estimate deserves.
    write_json(campaign_of(started).progress_file, {**progress, "elapsed": 17.0})
    started.rhythm.now()
    assert "about 30 s left" in started.watch.text.object
