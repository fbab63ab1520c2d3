"""The page *Export*: files of others checked, translated, and taken for decisions."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

from dashboard.domain.units import format_percent
from dashboard.export.rules.lint import read_text
from dashboard.pages.compare.page import ComparePage
from dashboard.pages.export.check import MOST_BYTES
from dashboard.pages.export.page import ExportPage
from dashboard.pages.frontier import FrontierPage
from dashboard.session.recipes import as_command
from dashboard.session.state import State
from tests.cli.command import Run
from tests.cubes import named, synthetic_cube
from tests.pages.export.showing import RULES, image, painted
from tests.states import sample_state, state_of

SETS = "1\n7\n2\n2\n1\n0 6 0 0\n8\n1\n0 3 0 8192\n"


def test_an_empty_file_is_checked_and_not_passed_over(page: ExportPage) -> None:
    page.check.upload.param.update(filename="mine.conf", value=RULES.encode())
    assert page.check.checked.rules is not None
    page.check.upload.param.update(filename="empty.conf", value=b"")
    assert page.check.checked.name == "empty.conf"
    assert page.check.checked.rules is None or not page.check.checked.rules.decisions


def test_a_rules_file_is_checked_over_the_measurements(drawn: ExportPage, state: State) -> None:
    drawn.check.give("mine.conf", RULES.encode())
    assert drawn.check.checked is not None
    choice = drawn.check.choice
    penalties = state.view.penalty(choice)
    assert f"{state.view.statistics(choice)['penalty']['mean']:.2f} %" in drawn.check.cost.object
    assert (image(drawn.check.maps, "b") == painted(drawn.check.maps, penalties["chosen"].values)).all()
    labels = state.view.cube()["method"].values
    assert set(labels[penalties["chosen"].values.ravel()]) == {"binomial", "pipeline 8KiB"}


def test_what_a_rules_file_costs_is_written_as_percentages_are_everywhere(drawn: ExportPage, state: State) -> None:
    drawn.check.give("linear.conf", "1\n7\n1\n2\n1\n0 1 0 0\n")
    mean = state.view.statistics(drawn.check.choice)["penalty"]["mean"]
    assert mean > 100
    assert f"bcast: mean penalty {format_percent(mean)}." in drawn.check.cost.object


def fresh() -> tuple[ExportPage, State]:
    """A page on which nothing was checked yet, and its choices."""
    state = sample_state(page="Export")
    return ExportPage(state), state


def test_the_check_s_command_gives_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run) -> None:
    page, state = fresh()
    monkeypatch.chdir(tmp_path)
    Path("mine.conf").write_text(RULES)
    state.collective = "bcast"
    page.tabs.active = 1
    assert as_command(state).startswith("colltune export ")
    page.check.give("mine.conf", RULES)
    (words,) = map(shlex.split, as_command(state).split("\n"))
    assert words[:3] == ["colltune", "lint", "mine.conf"]
    (cost,) = page.check.checked.costs
    assert done(*words[1:], "--json").json["penalty"]["bcast"]["acted"]["mean"] == cost.acted.mean
    # What is translated below has a command of its own.
    page.check.translate.target.value = "openmpi-json"
    page.check.translate._translate()
    *_, words = map(shlex.split, as_command(state).split("\n"))
    assert words[:5] == ["colltune", "translate", "mine.conf", "--to", "openmpi-json"]
    written = read_text(page.check.translate.written.text, version="6.0").meant["bcast"]
    assert read_text(done(*words[1:]).out, version="6.0").meant["bcast"].to_dict() == written.to_dict()
    page.check.translate.target.value = "ucc"
    assert "translate" not in as_command(state)
    # What it lacks is replaced by what costs least.
    page.check.translate._translate()
    *_, words = map(shlex.split, as_command(state).split("\n"))
    said, shown = done(*words[1:]).out, page.check.translate.written.text
    assert [line for line in said.splitlines() if line[:1] != "#"] == [
        line for line in shown.splitlines() if line[:1] != "#"
    ]
    # Each tab says its own.
    page.tabs.active = 0
    assert as_command(state).startswith("colltune export ")
    assert "\n" not in as_command(state)


def test_faults_stand_with_their_lines(page: ExportPage, samples: Path) -> None:
    raw = (samples / "rules_ompi" / "ompi-collectives-tuning__decision.file").read_bytes()
    page.check.give("decision.file", raw)
    assert "105 errors" in page.check.faults.object
    assert "11 rules declared and 10 following" in page.check.faults.object
    assert "sizes as blocks" in page.check.table.object


def test_what_is_pasted_is_never_markup(page: ExportPage) -> None:
    page.check.give("<img src=x>", f"{RULES}<script>alert(1)</script>\n")
    shown = [pane.object for pane in (page.check.table, page.check.faults, page.check.preview, page.check.cost)]
    assert not any("<script" in html or "<img" in html for html in shown)
    page.check.give("bad", "<script>alert(1)</script>")
    assert page.check.message.visible
    assert "<script" not in page.check.message.object


def test_files_that_are_too_large_or_none_are_refused(page: ExportPage) -> None:
    page.check.give("huge", b"1" * (MOST_BYTES + 1))
    assert "are too much for a rules file" in page.check.message.object.replace("\\", "")
    assert not page.check.body.visible
    page.check.give("mine.conf", RULES)
    assert page.check.body.visible
    page.check.paste.value = ""
    page.check._check_pasted()
    assert "Nothing has been pasted" in page.check.message.object


def chosen(text: str, *sizes: np.ndarray, **version: str) -> list[str]:
    """Labels of the methods that a rules file means for broadcasts."""
    decision = read_text(text, **version).meant["bcast"]
    return [decision.methods[m].label for m in decision.predict(*sizes).ravel()]


def test_it_is_translated_and_keeps_what_it_means(page: ExportPage) -> None:
    page.check.give("mine.conf", RULES)
    page.check.translate.target.value = "openmpi-json"
    page.check.translate._translate()
    written = page.check.translate.written
    sizes = np.arange(1, 40)[:, None], np.array([0, 1, 4095, 4096, 10**6])
    assert chosen(RULES, *sizes) == chosen(written.text, *sizes, version="6.0")
    page.check.translate.target.value = "ucc"
    page.check.translate._translate()
    assert page.check.translate.result.visible


def test_what_is_translated_is_not_shifted_as_open_mpi_6_reads_it() -> None:
    page, _ = fresh()
    page.check.version.value = "6.0"
    page.check.give("old.conf", SETS)
    assert "shifted by one" in page.check.faults.object
    page.check.translate.target.value = "openmpi-json"
    page.check.translate._translate()
    written = page.check.translate.written
    sizes = np.array([1, 2, 7, 8, 64])[:, None], np.array([0, 10**6])
    assert chosen(SETS, *sizes) == chosen(written.text, *sizes)


@pytest.fixture
def elsewhere() -> ExportPage:
    """The page over measurements of methods that no library has."""
    names = ["BINE-L-UTOFU-p1", "BINE-B_CONT-UTOFU-p3"]
    cube = named(synthetic_cube(3, 4, 2, 1), names)
    state = state_of(allreduce=cube, bcast=cube)
    state.page = "Export"
    return ExportPage(state)


def test_the_section_is_the_command_s_and_can_be_chosen(elsewhere: ExportPage, samples: Path) -> None:
    elsewhere.check.give("ucc.conf", (samples / "ucc" / "ucc.conf").read_text())
    translate = elsewhere.check.translate
    translate.target.value = "openmpi"
    translate._translate()
    # Open MPI has no sra_knomial of radix 7, which the first section takes.
    assert "team_size=2 ppn=1 nnodes=2" in translate.written.text
    message = translate.message.object.replace("\\", "")
    assert "team_size=28 ppn=28 nnodes=1]: Open MPI 5.0 has no 'sra_knomial radix=7'" in message
    assert "22 further decisions for allreduce" in message
    assert "Section chooses" in message
    assert translate.section.visible
    translate.section.value = "vendor=intel model=broadwell team_size=4 ppn=1 nnodes=4"
    assert not translate.result.visible
    translate.target.value = "c"
    translate._translate()
    assert "team_size=4 ppn=1 nnodes=4" in translate.written.text
    assert not translate.message.visible
    elsewhere.check.give("mine.conf", RULES)
    assert not translate.section.visible


def test_measurements_of_other_methods_give_no_substitutes(elsewhere: ExportPage, samples: Path) -> None:
    elsewhere.check.give("own_v1.conf", (samples / "rules_ompi" / "own_v1.conf").read_text())
    translate = elsewhere.check.translate
    translate.target.value = "ucc"
    translate._translate()
    assert not translate.result.visible
    message = translate.message.object.replace("\\", "")
    assert (
        message == "nothing can be translated: bcast: UCC has no 'pipeline 1KiB'; its tl/ucp has knomial, sag_knomial"
    )


def test_what_is_listed_and_not_translated_says_why(page: ExportPage, samples: Path) -> None:
    page.check.give("nccl_tuner.conf", (samples / "nccl_tuner" / "nccl_tuner.conf").read_text())
    assert not page.check.version.visible
    assert "--for" not in page.check.commands()[0]
    assert "ring simple channels=4" in page.check.table.object
    assert "listed, not decided with" in page.check.cost.object
    translate = page.check.translate
    assert (translate.line.visible, translate.bar.visible) == (True, False)
    assert "nothing to translate, since 8 of its 9 rules go by nodes" in translate.message.object.replace("\\", "")
    page.check.give("mine.conf", RULES)
    assert page.check.version.visible
    assert (translate.bar.visible, translate.message.visible) == (True, False)


def test_mpich_s_own_file_is_what_its_rules_are_written_into(elsewhere: ExportPage, samples: Path) -> None:
    own = (samples / "mpich_json" / "mpich-main__ch4_generic.json").read_text()
    elsewhere.check.give("own.json", own)
    translate = elsewhere.check.translate
    translate.target.value = "mpich"
    assert translate.base.options["own.json itself"] == translate.base.value == ""
    translate._translate()
    assert json.loads(translate.written.text) == json.loads(own)
    assert not translate.message.visible


def test_rules_become_a_decision_like_all_others() -> None:
    page, state = fresh()
    page.check.give("mine.conf", RULES)
    page.check._adopt()
    assert (state.page, state.family) == ("Decisions", "rules")
    assert state.view.decision().leaves == 2
    state.page = "Export"
    page.check._compare()
    assert state.page == "Compare"
    compare = ComparePage(state)
    assert compare.second.family.value == "rules"
    assert compare.second.widgets["file"].value in state.rules
    assert list(compare.second.widgets["file"].options) == ["mine.conf"]
    compare.second.widgets["improve"].value = True
    assert state.view.statistics(state.other)["penalty"]["mean"] < state.view.statistics()["penalty"]["mean"]


def test_rules_stand_on_the_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    page, state = fresh()
    monkeypatch.setattr("dashboard.decisions.judged.frontier._suitable", lambda _: ["quadtree"])
    page.check.give("mine.conf", RULES)
    frontier = FrontierPage(state)
    frontier.scheme.value = "none"
    state.page = "Frontier"
    part = frontier.frontier.table[frontier.frontier.table["family"] == "rules"]
    assert part["leaves"].tolist() == [2, 2]
    assert part["penalty_mean"].iloc[1] < part["penalty_mean"].iloc[0]
    assert "Rules file" in frontier.families.object
