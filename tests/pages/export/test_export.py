"""The page *Export*: the decision as a file, and files of others checked."""

import io
import json
import math
import shlex
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr
from bokeh.document import Document

from dashboard import cli
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.verdict import Proof, Verdict
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import fitted
from dashboard.export.targets.mpich.base import known
from dashboard.pages.compare.page import ComparePage
from dashboard.pages.export.check import MOST_BYTES
from dashboard.pages.export.page import ExportPage
from dashboard.pages.frontier import FrontierPage
from dashboard.server.permission import Permission
from dashboard.session.choice import Choice
from dashboard.session.recipes import as_command, as_python
from dashboard.session.state import State
from tests.cubes import cube_of, named, synthetic_cube
from tests.states import sample_state, state_of

SETS = "1\n7\n2\n2\n1\n0 6 0 0\n8\n1\n0 3 0 8192\n"
RULES = """\
1 # collectives
7 # bcast
1 # communicator sizes
0
2
0 6 0 0 # binomial
4096 3 0 8192 # pipeline
"""


@pytest.fixture(autouse=True)
def on_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks may launch: what this process listens on besides is another test's."""
    monkeypatch.setattr("dashboard.pages.export.proof.may_launch", lambda: Permission(allowed=True, reason=""))


@pytest.fixture
def drawn(page: ExportPage) -> ExportPage:
    """The page with its maps as a browser would have them."""
    for maps in (page.file.maps, page.check.maps):
        maps.__panel__().get_root(Document())
    return page


def image(maps: Any, name: str) -> Any:
    (plot,) = maps.live._plots[name]
    return plot.handles["source"].data["image"][0]


def painted(maps: Any, values: np.ndarray) -> np.ndarray:
    return maps.scene.raster.paint(np.where(values < 0, 255, values))


def test_the_file_is_the_tree_that_is_shown(drawn: ExportPage, state: State) -> None:
    text = drawn.file.file.callback().getvalue().decode()
    assert text == drawn.file.written.text
    cube = state.view.cube()
    read = fitted(read_text(text).meant["bcast"], cube, "5.0")
    sizes = cube["comm_size"].values[:, None], cube["message_size"].values[None]
    decision = state.view.decision()
    said = [read.methods[place].label for place in read.predict(*sizes).ravel()]
    assert said == [decision.methods[place].label for place in decision.predict(*sizes).ravel()]
    assert (image(drawn.file.maps, "a") == image(drawn.file.maps, "b")).all()


def test_it_follows_the_tree(page: ExportPage, state: State) -> None:
    before = page.file.written.text
    state.max_depth = 1
    assert page.file.written.text != before
    assert page.file.written.parts[0].before.mean == pytest.approx(state.view.statistics()["penalty"]["mean"])


def test_several_collectives_are_in_one_file_each_with_its_tree(drawn: ExportPage, state: State) -> None:
    drawn.collectives.value = ["reduce", "bcast"]
    assert state.exported == ("reduce", "bcast")
    written = drawn.file.written
    assert written.collectives == ["reduce", "bcast"]
    assert set(read_text(written.text).meant) == {"reduce", "bcast"}
    drawn.file.part.value = "reduce"
    state.collective = "reduce"
    chosen = state.view.penalty()["chosen"].values
    assert (image(drawn.file.maps, "a") == painted(drawn.file.maps, chosen)).all()


def test_one_tree_for_several_collectives_is_taken_apart(page: ExportPage, state: State) -> None:
    state.choose(Choice.of("cart", {"attributes": ("comm_size", "message_size", "collective"), "max_leaves": 6}))
    state.together = ("reduce",)
    page.collectives.value = ["reduce", "bcast"]
    reduce, bcast = page.file.written.parts
    assert reduce.source.provenance["part_of"] == bcast.source.provenance["part_of"] == "bcast+reduce"
    assert bcast.otherwise == 0
    # The one tree takes for both what only the broadcast has.
    assert "Open MPI 5.0 has no 'split_binary_tree 1KiB'" in reduce.notes[0]


def test_fewer_rules_are_the_best_so_many_and_the_difference_is_shown(drawn: ExportPage, state: State) -> None:
    drawn.most.value = 4
    assert state.most_rules == 4
    (part,) = drawn.file.written.parts
    assert part.read.leaves <= 4
    assert part.otherwise > 0
    assert "Approximated" in drawn.file.notes.object
    differ = image(drawn.file.maps, "a") != image(drawn.file.maps, "b")
    assert differ.any()


def test_options_are_those_of_the_target(page: ExportPage, state: State) -> None:
    assert page.version.visible
    assert page.most.visible
    assert not page.base.visible
    state.target = "c"
    assert not page.version.visible
    assert not page.most.visible
    assert "colltune_bcast" in page.file.written.text
    assert "no independent reader" in page.file.faults.object
    assert page.file.unread.object == ""


def test_maps_stand_only_where_the_file_was_read_back(page: ExportPage, state: State) -> None:
    page.file.__panel__()
    heads = list(page.file.drawing.select(lambda part: part is page.file.maps.heads["a"]))
    assert (len(heads), page.file.drawing.visible) == (1, True)
    page.collectives.value = ["reduce", "bcast"]
    assert page.file.part.visible
    state.target = "c"
    assert not page.file.drawing.visible
    assert not page.file.part.visible


def test_what_a_target_needs_is_one_clear_sentence(page: ExportPage, state: State) -> None:
    state.target = "intel"
    assert not page.body.visible
    assert page.message.severity == "error"
    assert "nothing of what was decided can be said here" in page.message.object
    state.target = "openmpi"
    assert page.body.visible


def test_mpich_is_made_from_that_of_the_version_that_is_chosen(page: ExportPage, state: State) -> None:
    state.target = "mpich"
    page.base.value = "5.0"
    assert page.body.visible
    assert page.file.written.order.base == known("5.0")
    assert "--base 5.0" in as_command(state)
    assert state.to_query()["base"] == "5.0"


def test_an_empty_file_is_checked_and_not_passed_over(page: ExportPage) -> None:
    page.check.upload.param.update(filename="mine.conf", value=RULES.encode())
    assert page.check.checked.rules is not None
    page.check.upload.param.update(filename="empty.conf", value=b"")
    assert page.check.checked.name == "empty.conf"
    assert page.check.checked.rules is None or not page.check.checked.rules.decisions


def test_a_collective_that_is_left_out_is_said(page: ExportPage, state: State) -> None:
    state.target = "ucc"
    page.collectives.value = ["reduce", "bcast"]
    assert page.message.severity == "warning"
    assert "reduce is left out" in page.message.object
    assert page.file.written.collectives == ["bcast"]
    # The command writes that file, and accepts what it loses: else it would end with 2, or with 1.
    words = shlex.split(as_command(state))
    assert [words[place + 1] for place, word in enumerate(words) if word == "-c"] == ["bcast"]
    (part,) = page.file.written.parts
    assert words[-2:] == ["--allow-loss", str(math.ceil(part.loss))]
    assert f"cli.main({words[1:]!r})" in as_python(state)
    page.collectives.value = ["reduce"]
    assert "--allow-loss" not in as_command(state)


def test_too_many_rules_are_pointed_out(page: ExportPage, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.pages.export.page.MANY_RULES", 3)
    state.choose(Choice.of("exact"))
    assert "limit them" in page.message.object
    assert page.body.visible


def test_the_bundle_is_of_the_file_on_show(page: ExportPage) -> None:
    archive = zipfile.ZipFile(io.BytesIO(page.file.bundle.callback().getvalue()))
    assert archive.read(page.file.file.filename).decode() == page.file.written.text
    assert page.file.bundle.filename == "colltune_bcast.zip"


def test_what_is_two_files_is_in_the_bundle_alone(page: ExportPage, state: State) -> None:
    assert page.file.file.visible
    state.target = "openmpi-nodes"
    assert not page.file.file.visible
    names = zipfile.ZipFile(io.BytesIO(page.file.bundle.callback().getvalue())).namelist()
    assert {"colltune_bcast.conf", "colltune_bcast-han.conf"} <= set(names)


def test_rules_are_for_the_version_measured_unless_another_is_chosen(page: ExportPage, state: State) -> None:
    assert page.version.options == {"5.0 (usual)": "", "4.1": "4.1", "5.0": "5.0"}
    assert "version" not in state.to_query()
    page.version.value = "4.1"
    assert state.to_query()["version"] == "4.1"
    page.version.value = ""
    assert "version" not in state.to_query()


def test_the_address_keeps_the_choices(page: ExportPage, state: State) -> None:
    page.collectives.value = ["reduce", "bcast"]
    state.param.update(target="openmpi", target_version="4.1", most_rules=7)
    query = state.to_query()
    assert {name: query[name] for name in ("version", "rules", "export")} == {
        "version": "4.1",
        "rules": "7",
        "export": "reduce,bcast",
    }
    other = sample_state()
    assert other.from_query({**query, "target": "ucc"}) == []
    assert (other.target, other.target_version, other.most_rules) == ("ucc", "4.1", 7)
    assert other.exported == ("reduce", "bcast")
    (why,) = other.from_query({"target": "fortran"})
    assert "possible are c, c-table" in why
    (why,) = other.from_query({"export": "bcast,nothing"})
    assert "no such collective" in why


def test_without_results_the_page_says_so() -> None:
    page = ExportPage(State(page="Export"))
    assert page.message.visible
    assert not page.body.visible


def test_a_rules_file_is_checked_over_the_measurements(drawn: ExportPage, state: State) -> None:
    drawn.check.give("mine.conf", RULES.encode())
    assert drawn.check.checked is not None
    choice = drawn.check.choice
    penalties = state.view.penalty(choice)
    assert f"{state.view.statistics(choice)['penalty']['mean']:.2f} %" in drawn.check.cost.object
    assert (image(drawn.check.maps, "b") == painted(drawn.check.maps, penalties["chosen"].values)).all()
    labels = state.view.cube()["method"].values
    assert set(labels[penalties["chosen"].values.ravel()]) == {"binomial", "pipeline 8KiB"}


def test_the_check_s_command_gives_its_figures(
    drawn: ExportPage, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.conf").write_text(RULES)
    state.collective = "bcast"
    drawn.tabs.active = 1
    assert as_command(state).startswith("colltune export ")
    drawn.check.give("mine.conf", RULES)
    (words,) = map(shlex.split, as_command(state).split("\n"))
    assert words[:3] == ["colltune", "lint", "mine.conf"]
    assert cli.main([*words[1:], "--json"]) == 0
    (cost,) = drawn.check.checked.costs
    assert json.loads(capsys.readouterr().out)["penalty"]["bcast"]["acted"]["mean"] == cost.acted.mean
    # What is translated below has a command of its own.
    drawn.check.translate.target.value = "openmpi-json"
    drawn.check.translate._translate()
    *_, words = map(shlex.split, as_command(state).split("\n"))
    assert words[:5] == ["colltune", "translate", "mine.conf", "--to", "openmpi-json"]
    assert cli.main(words[1:]) == 0
    written = read_text(drawn.check.translate.written.text, version="6.0").meant["bcast"]
    assert read_text(capsys.readouterr().out, version="6.0").meant["bcast"].to_dict() == written.to_dict()
    drawn.check.translate.target.value = "ucc"
    assert "translate" not in as_command(state)
    # Each tab says its own.
    drawn.tabs.active = 0
    assert as_command(state).startswith("colltune export ")
    assert "\n" not in as_command(state)


def test_the_commands_of_the_other_tabs(
    page: ExportPage, state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page.tabs.active = 2
    page.prove.ranks.value = 6
    writing, proving = map(shlex.split, as_command(state).split("\n"))
    assert proving == ["colltune", "prove", page.file.written.name, "--ranks", "6"]
    assert cli.main(writing[1:]) == 0
    rules = read_text(Path(page.file.written.name).read_text()).meant["bcast"]
    assert rules.to_dict() == read_text(page.file.written.text).meant["bcast"].to_dict()
    state.target = "c"
    assert "prove" not in as_command(state)
    page.tabs.active = 3
    page.report.collectives.value = ["bcast"]
    page.report.frontier.value = False
    words = shlex.split(as_command(state))
    assert cli.main(words[1:]) == 0
    assert Path("colltune_report.html").exists()
    assert "--no-frontier" in words


def test_faults_stand_with_their_lines(page: ExportPage, samples: Path) -> None:
    raw = (samples / "rules_ompi" / "ompi-collectives-tuning__decision.file").read_bytes()
    page.check.give("decision.file", raw)
    assert "105 errors" in page.check.faults.object
    assert "11 rules are declared and 10 follow" in page.check.faults.object
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
    assert "are no rules file" in page.check.message.object.replace("\\", "")
    assert not page.check.body.visible
    page.check.give("mine.conf", RULES)
    assert page.check.body.visible
    page.check.paste.value = ""
    page.check._check_pasted()
    assert "Nothing is pasted" in page.check.message.object


def test_it_is_translated_and_keeps_what_it_means(page: ExportPage) -> None:
    page.check.give("mine.conf", RULES)
    page.check.translate.target.value = "openmpi-json"
    page.check.translate._translate()
    written = page.check.translate.written
    first, second = read_text(RULES).meant["bcast"], read_text(written.text, version="6.0").meant["bcast"]
    sizes = np.arange(1, 40)[:, None], np.array([0, 1, 4095, 4096, 10**6])
    assert [first.methods[m].label for m in first.predict(*sizes).ravel()] == [
        second.methods[m].label for m in second.predict(*sizes).ravel()
    ]
    page.check.translate.target.value = "ucc"
    page.check.translate._translate()
    assert page.check.translate.result.visible


def test_what_is_translated_is_not_shifted_as_open_mpi_6_reads_it(page: ExportPage) -> None:
    page.check.version.value = "6.0"
    page.check.give("old.conf", SETS)
    assert "shifted by one" in page.check.faults.object
    page.check.translate.target.value = "openmpi-json"
    page.check.translate._translate()
    written = page.check.translate.written
    first, second = (read_text(text).meant["bcast"] for text in (SETS, written.text))
    sizes = np.array([1, 2, 7, 8, 64])[:, None], np.array([0, 10**6])
    assert [first.methods[m].algorithm for m in first.predict(*sizes).ravel()] == [
        second.methods[m].algorithm for m in second.predict(*sizes).ravel()
    ]


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
    told = translate.message.object.replace("\\", "")
    assert "team_size=28 ppn=28 nnodes=1]: Open MPI 5.0 has no 'sra_knomial radix=7'" in told
    assert "22 further decisions for allreduce" in told
    assert "Section chooses" in told
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
    told = translate.message.object.replace("\\", "")
    assert told == "nothing can be translated: bcast: UCC has no 'pipeline 1KiB'; its tl/ucp has knomial, sag_knomial"


def test_what_is_listed_and_not_translated_says_why(page: ExportPage, samples: Path) -> None:
    page.check.give("nccl_tuner.conf", (samples / "nccl_tuner" / "nccl_tuner.conf").read_text())
    assert "ring simple channels=4" in page.check.table.object
    assert "listed, not decided with" in page.check.cost.object
    translate = page.check.translate
    assert (translate.line.visible, translate.bar.visible) == (True, False)
    assert "nothing to translate, since 8 of its 9 rules go by nodes" in translate.message.object.replace("\\", "")
    page.check.give("mine.conf", RULES)
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


def test_rules_become_a_decision_like_all_others(page: ExportPage, state: State) -> None:
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


def test_rules_stand_on_the_frontier(page: ExportPage, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.decisions.judged.frontier._suitable", lambda _: ["quadtree"])
    page.check.give("mine.conf", RULES)
    frontier = FrontierPage(state)
    frontier.scheme.value = "none"
    state.page = "Frontier"
    part = frontier.frontier.table[frontier.frontier.table["family"] == "rules"]
    assert part["leaves"].tolist() == [2, 2]
    assert part["penalty_mean"].iloc[1] < part["penalty_mean"].iloc[0]
    assert "Rules file" in frontier.families.object


def native() -> xr.Dataset:
    """Binomial wins against the library's default for small messages, and loses for large ones."""
    time = np.full((2, 3, 4), 1.0)
    time[1, :, :2], time[1, :, 2:] = 0.5, 2.0
    return named(cube_of(time, [2, 4, 8], [1, 64, 4096, 65536]), ["default", "binomial"])


def test_rules_that_lose_against_the_default_go_with_one_click() -> None:
    state = state_of(bcast=native())
    state.page = "Export"
    page = ExportPage(state)
    page.check.give("all.conf", "1\n7\n1\n0\n2\n0 6 0 0\n4096 6 0 0\n")
    page.check._adopt()
    state.page = "Export"
    assert page.gain.gained.measured.count("slower") == 6
    # One method everywhere is one region, which wins as often as it loses.
    assert page.gain.drop.disabled
    root = Split((Test("message_size", 100),), (Leaf(0), Leaf(0)))
    two = DecisionFunction("bcast", [Method("binomial", "binomial")], root)
    page.check.give("two.json", two.to_json())
    page.check._adopt()
    state.page = "Export"
    assert not page.gain.drop.disabled
    page.gain._drop()
    assert state.view.statistics()["penalty"]["max"] == 0.0
    assert page.gain.drop.disabled
    assert "0 6 0 0" in page.file.written.text
    assert "101 0 0 0" in page.file.written.text


def test_without_a_default_it_says_what_to_measure(page: ExportPage) -> None:
    assert "own decision was not measured here" in page.gain.message.object
    assert not page.gain.body.visible


def test_a_proof_is_of_the_file_on_show(page: ExportPage, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def run(wish: Any, progress: Any) -> Proof:
        seen.append((wish.rules.read_text(), wish.ranks))
        return Proof(str(wish.rules), "rules", "Open MPI 5.0.11", "message graphs", wish.ranks, "yes", ())

    monkeypatch.setattr("dashboard.pages.export.proof.prove", run)
    monkeypatch.setattr("dashboard.pages.export.proof.library.find", lambda: SimpleNamespace(mpiexec=Path("mpiexec")))
    page.prove.ranks.value = 6
    page.prove._prove()
    assert seen == [(page.file.written.text, 6)]
    assert "Not proven" in page.prove.message.object
    assert "colltune_bcast.conf" in page.prove.report.object
    names = zipfile.ZipFile(io.BytesIO(page.file.bundle.callback().getvalue())).namelist()
    assert "PROOF.md" in names
    state.max_depth = 1
    assert page.prove.report.object == ""
    assert page.prove.further() == []
    state.target = "python"
    assert page.prove.button.disabled


def test_a_proof_says_how_much_it_is_of(page: ExportPage) -> None:
    method = Method("ring", "ring")
    region = Region("bcast", {}, method, ())
    verdicts = (Verdict(region, "proven"), Verdict(region, "not run"), Verdict(region, "not run"))
    proof = Proof("a.conf", "rules", "Open MPI 5.0.11", "message graphs", 4, "yes", verdicts)
    page.prove._show(proof)
    words = "The library does what the file asks. 2 of 3 regions could not be run here."
    assert page.prove.message.object.replace("\\", "") == words


def test_only_who_may_launch_proves(page: ExportPage, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Permission(allowed=False, reason="nobody has logged in")
    monkeypatch.setattr("dashboard.pages.export.proof.may_launch", lambda: refused)
    monkeypatch.setattr("dashboard.pages.export.proof.prove", lambda *_: pytest.fail("launched"))
    page.prove._prove()
    assert "nobody has logged in" in page.prove.message.object
