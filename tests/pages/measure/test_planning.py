"""A new campaign on the page *Measure*, driven by its params: planned, costed, started, and what keeps it from that."""

from dataclasses import replace
from typing import Any

import pytest

from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.measuring.asked import Asked
from dashboard.measuring.kept import create
from dashboard.pages.measure import watching as module
from dashboard.pages.measure.page import MeasurePage
from dashboard.pages.measure.where import ON_SLURM
from dashboard.server.permission import Permission
from dashboard.session.recipes import as_command
from dashboard.session.state import State
from tests.measuring.played import HERE, Played
from tests.pages.measure.opened import page_of, press


def test_the_methods_are_those_of_the_installed_library(page: MeasurePage) -> None:
    assert page.form.widgets["algorithms"].options == ["default", "basic_linear", "binomial"]
    page.form.widgets["collectives"].value = ["reduce"]
    assert page.form.widgets["algorithms"].options == ["default", "binomial"]
    assert "Open MPI 5.0.11: 1 algorithm of 1 collective, and" in page.form.offered.object


def test_the_help_of_grids_says_how_they_are_written(page: MeasurePage) -> None:
    described = {name for name, field in page.form.widgets.items() if "1-1MiB:x4 (times 4)" in field.description}
    assert {"message_sizes", "comm_sizes", "ppn", "segment_sizes"} < described
    assert "rounds" not in described


def test_an_algorithm_that_the_collective_lacks_is_no_longer_chosen(page: MeasurePage) -> None:
    page.form.widgets["algorithms"].value = ["basic_linear", "binomial"]
    page.form.widgets["collectives"].value = ["reduce"]
    assert page.form.widgets["algorithms"].value == ["binomial"]


def test_the_address_brings_the_form_back(page: MeasurePage) -> None:
    fields = page.form.widgets
    fields["message_sizes"].value = "4-64KiB:x2"
    fields["algorithms"].value = ["binomial"]
    fields["rounds"].value, fields["graphs"].value, fields["operation"].value = 5, False, "first"
    where = page.where
    where.widgets["where"].value, where.widgets["limit"].value = ON_SLURM, "10 min"
    where.widgets["nodes"].value, where.widgets["account"].value = 3, "a;b%c"
    where.widgets["partition"].param.update(options=["", "long"], value="long")
    where.widgets["environment"].value = "UCX_TLS=rc"
    again = MeasurePage(State(page="Measure", campaign_asked=page.state.campaign_asked))
    assert again.form.asked(2) == page.form.asked(2)
    assert again.where.place().slurm == {**page.where.place().slurm, "environment": {}, "partition": ""}
    assert (again.where.widgets["limit"].value, again.state.notice) == ("10 min", "")
    again.where.offer("", [{"name": "long", "nodes": 2, "cores": 4}])
    assert again.where.widgets["partition"].options == {"(default)": "", "long, 2 × 4 cores": "long"}
    # What a job would be run with is no matter of a link.
    assert "UCX_TLS" not in page.state.campaign_asked


def test_the_form_follows_an_address_that_is_undone(page: MeasurePage) -> None:
    before = page.state.campaign_asked
    page.form.widgets["message_sizes"].value = "8"
    page.where.widgets["environment"].value = "UCX_TLS=rc"
    page.where.widgets["ranks"].value = 4
    assert page._asked[0].ranks == 4
    page.state.campaign_asked = before
    assert (page.form.widgets["message_sizes"].value, page.where.widgets["ranks"].value) == ("8,64,512", 2)
    assert (page._asked[0].ranks, page._asked[0]["message_sizes"]) == (2, "8,64,512")
    assert "--ranks 2" in as_command(page.state)
    # What no address says is not undone.
    assert page.where.widgets["environment"].value == "UCX_TLS=rc"


@pytest.mark.parametrize("text", ["rounds:many", "graphs:1", "protocol:new", "nodes:true", "where:Moon"])
def test_what_the_form_cannot_hold_is_said_of_an_address(launcher: Played, text: str) -> None:
    page = MeasurePage(State(page="Measure", campaign_asked=text))
    assert f"{text.partition(':')[0]} is " in page.state.notice
    assert page.form.asked(2) == Asked.of(ranks=2, collectives=("bcast",))


def test_on_several_nodes_the_parts_of_the_library_are_methods(page: MeasurePage) -> None:
    page.where.widgets["where"].value = ON_SLURM
    assert page._asked[0]["components"] == "all"
    assert "--components all" in as_command(page.state).splitlines()[0]
    page.form.widgets["components"].value = "none"
    assert page._asked[0]["components"] == "none"
    page.form.widgets["components"].value = ""
    page.where.widgets["nodes"].value = 1
    assert page._asked[0]["components"] is None


def test_of_the_most_bytes_of_buffers_there_is_one_size(page: MeasurePage) -> None:
    page.form.widgets["memory"].value = "1KiB,2KiB"
    assert "most bytes of buffers: '1KiB,2KiB' is not a size" in page.cost.fault.text


def test_the_estimate_follows_every_field(page: MeasurePage) -> None:
    before = page._worked.offered
    assert before is not None
    assert f"{before.points:,} in 3 cells" in page.cost.estimate.object
    page.form.widgets["message_sizes"].value = "8"
    assert page._worked.offered.points < before.points
    page.where.widgets["limit"].value = "2 h"
    assert "2.0 h" in page.cost.estimate.object
    assert "(the safety check comes on top)" in page.cost.estimate.object
    fields = page.form.widgets
    fields["message_sizes"].value, page.where.widgets["limit"].value = "8-64MiB:x2", "10 s"
    assert "The time limit of 10 s is shorter than the estimate" in page.cost.estimate.object
    fields["unchecked"].value = True
    assert "on top" not in page.cost.estimate.object
    assert "run 2 ranks in" in page.cost.script.object
    assert "<b>" not in page.cost.script.object
    assert not page.cost.start.disabled
    # Of a reduction each type of elements has points of its own; none chosen is the usual one.
    page.form.widgets["collectives"].value = ["reduce"]
    one_type = page._worked.offered.points
    page.form.widgets["datatype"].value = ["float64", "int32"]
    assert page._worked.offered.points == 2 * one_type
    page.form.widgets["datatype"].value = []
    assert page._worked.offered.points == one_type


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("message_sizes", "8-4", "ends at 4"),
        ("comm_sizes", "2-64", "allowed are 2 to 2, the ranks launched; for larger ones raise Ranks"),
        ("message_sizes", "1-4000", "at most 200,000 make one campaign"),
        # Emptied it shows 0.
        ("relative_error", None, "relative standard error is 0, expected"),
        ("memory", "much", "most bytes of buffers: 'much' is not a size"),
    ],
)
def test_what_cannot_be_planned_is_said_and_cannot_be_started(
    page: MeasurePage, monkeypatch: pytest.MonkeyPatch, field: str, value: Any, message: str
) -> None:
    if "at most" in message:
        page.form.widgets["segment_sizes"].value = "0-4000"
    page.form.widgets[field].value = value
    assert message in page.cost.fault.text
    assert page.cost.start.disabled
    press(page.start)
    assert list(page.root.iterdir()) == []


def test_what_was_not_costed_yet_is_not_started(page: MeasurePage, monkeypatch: pytest.MonkeyPatch) -> None:
    # In a browser the press comes right after the change that it has ended, before anything is worked out.
    monkeypatch.setattr(page.rested, "ask", lambda: None)
    page.form.widgets["message_sizes"].value = "8,64"
    press(page.start)
    assert "The form has changed" in page.doing.message.object
    assert list(page.root.iterdir()) == []
    page._show_cost(page._work_out())
    page.cost.named.value = "mine"
    press(page.start)
    assert Campaign(page.root / "mine").plan().message_sizes == (8, 64)


@pytest.mark.parametrize("name", ["../away", "a b", "$(reboot)"])
def test_a_name_that_could_be_a_path_is_refused(page: MeasurePage, name: str) -> None:
    page.cost.named.value = name
    assert "allowed are letters" in page.cost.fault.text
    assert page.cost.start.disabled


def test_a_name_that_was_typed_is_kept(page: MeasurePage) -> None:
    assert page.cost.named.value == "bcast-2-ranks"
    page.cost.named.value = "mine"
    page.form.widgets["collectives"].value = ["reduce"]
    assert page.cost.named.value == "mine"


def test_start_launches_and_shows_why_it_waits(started: MeasurePage, launcher: Played) -> None:
    (job,) = launcher.jobs
    assert (job.ranks, job.folder) == (2, (started.root / "bcast-2-ranks").resolve())
    assert "queued" in started.watch.title.object
    assert started.watch.reason.text == "waits for resources (Resources)"
    assert started.watch.cancel.visible
    assert not started.watch.resume.visible
    assert started.cost.named.value == "bcast-2-ranks-2"
    (entry,) = started.list.menu.items
    assert entry["label"] == "bcast-2-ranks"
    assert "queued (waits for resources (Resources))" in entry["secondary"]
    assert started.list.menu.active == 0


def test_what_the_launcher_refuses_is_said_and_leaves_nothing(page: MeasurePage, launcher: Played) -> None:
    launcher.refuses = "Slurm refused the job: *invalid* partition"
    press(page.start)
    assert "invalid" in page.doing.message.object
    assert page.doing.message.severity == "error"
    assert list(page.root.iterdir()) == []
    assert not page.cost.start.disabled


def test_without_mpi_it_says_what_to_install(launcher: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "no MPI: mpiexec is not on the PATH; install one with: pip install 'colltune[mpi]'"
    monkeypatch.setattr(module, "look_around", lambda again=False: replace(HERE, installation=None, no_mpi=reason))
    page = page_of()
    assert page.standing.visible
    assert "pip install" in page.standing.text
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
    assert "You have not logged in" in page.standing.text
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
    assert "not logged in" in page.doing.message.object


def test_where_there_is_no_slurm_it_says_so(page: MeasurePage) -> None:
    page.where.widgets["where"].value = ON_SLURM
    assert "sbatch not on the PATH" in page.where.said.object
    assert page.cost.start.disabled


def test_slurm_is_asked_for_what_the_fields_say(launcher: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    partition = {"name": "debug", "default": True, "up": True, "nodes": 4, "cores": 8, "seconds": 3600}
    monkeypatch.setattr(module, "look_around", lambda again=False: replace(HERE, no_slurm="", partitions=(partition,)))
    page = page_of(comm_sizes="2-{ranks}")
    page.where.widgets["where"].value = ON_SLURM
    assert page.where.widgets["partition"].options == {"(default)": "", "debug, 4 × 8 cores": "debug"}
    request = page.where.widgets
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
    assert "further lines of sbatch" in page.cost.fault.text
    assert page.cost.start.disabled


def test_a_variable_that_is_given_twice_is_refused_by_its_name(page: MeasurePage) -> None:
    page.where.offer("", ())
    page.where.widgets["where"].value = ON_SLURM
    page.where.widgets["environment"].value = "UCX_TLS=tcp OMPI_MCA_btl=self OMPI_MCA_btl=tcp"
    with pytest.raises(ValueError, match="'OMPI_MCA_btl=tcp': OMPI_MCA_btl is given twice"):
        page.where.place()
    assert "OMPI_MCA_btl is given twice" in page.cost.fault.text
    assert page.cost.start.disabled
