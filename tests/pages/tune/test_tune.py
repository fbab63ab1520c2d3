"""The page *Tune*: what it shows of tunings, whoever started them, and what its form starts."""

import asyncio
import io
import json
import zipfile
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dashboard.commands.options import parse
from dashboard.measuring import tunings
from dashboard.pages.measure import watching as module
from dashboard.pages.tune.page import TunePage
from dashboard.server.permission import Permission
from dashboard.session.recipes import as_command, as_link
from dashboard.session.state import State
from dashboard.tuning import Asked, Folder
from tests.cli.command import Run
from tests.measuring.played import HERE
from tests.states import by_python


def open_page(**chosen: Any) -> TunePage:
    state = State(page="Tune", **chosen)
    state.navigated = True
    return TunePage(state)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What would have been started: names, and what was asked."""
    calls: list[tuple[str, Any]] = []

    def start(root: Path, name: str, asked: Asked) -> None:
        calls.append((name, asked))
        (root / name).mkdir(parents=True)
        Folder(root / name).keep_asked(asked.to_json())

    monkeypatch.setattr(tunings, "start", start)
    monkeypatch.setattr(tunings, "go_on", lambda path, again=False: calls.append((path.name, again)))
    return calls


def test_a_finished_tuning_shows_its_stages_its_gain_and_its_bundle(root: Path) -> None:
    page = open_page()
    assert "tuned: proven, nothing slower" in page.watch.title.object
    assert page.watch.stages.object.count("<li") == len(tunings.stages())
    assert page.watch.outcome.severity == "success"
    assert page.map.measured is not None
    assert len(page.watch.gain.objects) == 1
    assert "kept" in page.watch.rules.object
    assert page.watch.bundle.visible
    assert page.watch.bundle.filename == "tuned.zip"
    with zipfile.ZipFile(io.BytesIO(page.bundle())) as packed:
        assert "bundle/rules.conf" in packed.namelist()
    assert not page.watch.cancel.visible
    assert not page.watch.go_on.visible
    assert "colltune.sh" in page.watch.readme.object
    assert not page.plan.visible
    # The link shows the same when a newer one has been made meanwhile.
    assert "tuning=tuned" in as_link(page.state, "")
    page.state.page = "Decisions"
    assert "tuning=" not in as_link(page.state, "")


def test_where_nothing_was_tuned_it_says_what_would_be_done(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(root / "none"))
    page = open_page()
    assert page.list.empty.visible
    # Jobs of Slurm may run elsewhere than on this machine.
    assert "From the installed MPI to a bundle" in page.watch.title.object
    assert page.watch.stages.object.count('class="waiting"') == len(tunings.stages())
    assert page.plan.visible
    assert "<td>allgather</td>" in page.plan.object
    assert not page.watch.bundle.visible
    assert not page.form.start.disabled
    assert page.form.named.value == "tune-5-collectives-2-ranks" or "ranks" in page.form.named.value


@pytest.mark.parametrize(
    ("state", "severity", "button"), [("failed", "error", "go_on"), ("interrupted", "warning", "go_on")]
)
def test_one_that_ended_early_says_so_and_can_go_on(
    root: Path, started: list[tuple[str, Any]], state: str, severity: str, button: str
) -> None:
    folder = Folder(root / "tuned")
    folder.fail("compare", "", state, "the node is gone" if state == "failed" else "interrupted", 1.0)
    page = open_page()
    assert page.watch.outcome.severity == severity
    assert not page.watch.bundle.visible
    assert getattr(page.watch, button).visible
    asyncio.run(page.go_on())
    assert started == [("tuned", False)]


def test_the_outcomes_without_rules_look_like_what_they_are(root: Path) -> None:
    state = json.loads((root / "tuned" / "state.json").read_text())
    for outcome, severity in (("nothing", "info"), ("unproven", "warning"), ("noise", "warning")):
        state["stages"]["bundle"]["facts"]["outcome"] = outcome
        (root / "tuned" / "state.json").write_text(json.dumps(state))
        page = open_page()
        assert tunings.OUTCOMES[outcome] in unescape(page.watch.title.object)
        assert page.watch.outcome.severity == severity
        assert "--" not in page.watch.outcome.text
        assert page.watch.bundle.visible
        assert page.watch.again.visible


def test_what_is_started_is_what_the_form_asks_for(root: Path, started: list[tuple[str, Any]]) -> None:
    page = open_page()
    fields = page.form.fields.widgets
    fields["collectives"].value = ["bcast"]
    fields["budget"].value = "90s"
    fields["target"].value = "c"
    page.form.where.widgets["ranks"].value = 3
    assert page.state.tuning_asked == "collectives:bcast;budget:90s;target:c;ranks:3"
    assert not page.form.fault.visible
    asyncio.run(page.start())
    ((name, asked),) = started
    assert (asked.collectives, asked.seconds, asked.target, asked.ranks) == (("bcast",), 90.0, "c", 3)
    assert page.state.tuning == name == "tune-bcast-3-ranks"
    # The address brings the form back, and the next name is another one.
    again = open_page(tuning_asked="collectives:bcast;budget:90s;target:c;ranks:3")
    assert again.form.fields.values()["budget"] == "90s"
    assert again.form.named.value == "tune-bcast-3-ranks-2"


def test_what_cannot_be_asked_for_is_said_beside_the_button(root: Path) -> None:
    page = open_page()
    page.form.fields.widgets["budget"].value = "soon"
    assert "soon" in page.form.fault.text
    assert page.form.start.disabled
    page.form.fields.widgets["budget"].value = "60s"
    page.form.fields.widgets["message_sizes"].value = "4-"
    assert page.form.fault.visible
    assert page.form.start.disabled


def test_who_may_not_launch_sees_all_and_starts_nothing(
    root: Path, started: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "may_launch", lambda: Permission(allowed=False, reason="not logged in"))
    page = open_page()
    assert page.watch.bundle.visible
    assert page.form.start.disabled
    assert "not logged in" in page.standing.text
    asyncio.run(page.start())
    asyncio.run(page.check_again())
    assert started == []
    assert "not logged in" in page.doing.message.object


def test_an_mpi_that_was_installed_meanwhile_is_found_by_looking_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "no MPI: mpiexec is not on the PATH; install one with: pip install 'colltune[mpi]'"
    monkeypatch.setattr(module, "look_around", lambda again=False: replace(HERE, installation=None, no_mpi=reason))
    page = open_page()
    assert "pip install" in page.standing.text
    assert page.again.visible
    assert page.form.start.disabled
    monkeypatch.setattr(module, "look_around", lambda again=False: HERE if again else None)
    page.again.clicks += 1
    assert not page.again.visible
    assert not page.standing.visible
    assert not page.form.start.disabled


def test_the_command_says_what_the_page_shows(
    root: Path, monkeypatch: pytest.MonkeyPatch, done: Run, refused: Run
) -> None:
    page = open_page(tuning="tuned")
    assert as_command(page.state) == f"colltune tune {page.root / 'tuned'} --status --json"
    gain = page.seen.tuning.facts["gain"]  # type: ignore[union-attr]
    assert by_python(page.state.recipes["Tune"][1])["gain"] == gain
    assert done(*as_command(page.state).split()[1:]).json["gain"] == gain
    refused("tune", root / "none", "--status")
    assert not (root / "none").exists()
    monkeypatch.setenv("COLLTUNE_CAMPAIGNS", str(root / "none"))
    empty = open_page(tuning_asked="collectives:bcast;budget:90s")
    words = as_command(empty.state).split()
    assert words[:6] == ["colltune", "tune", "FOLDER", "-c", "bcast", "--budget"]
    args = parse(words[1:])
    assert (args.collectives, args.budget) == (["bcast"], "90s")


def test_a_name_that_is_not_there_is_said(root: Path) -> None:
    page = open_page(tuning="gone")
    assert "There is no tuning gone" in page.doing.message.object.replace("\\", "")
    assert page.list.menu.items
