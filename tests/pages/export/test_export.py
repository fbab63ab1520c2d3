"""The page *Export*: the decision as a file, and files of others checked."""

import io
import math
import re
import shlex
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard import cli
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.verdict import Proof, Verdict
from dashboard.decisions import DecisionFunction, Leaf, Method, Split, Test
from dashboard.export.rules.lint import read_text
from dashboard.export.rules.over import fitted
from dashboard.export.targets.mpich.base import known
from dashboard.export.targets.settings import UCC_COMPARED
from dashboard.pages.export.page import ExportPage
from dashboard.server.permission import Permission
from dashboard.session.choice import Choice
from dashboard.session.recipes import as_command, as_python
from dashboard.session.state import State
from tests.cubes import cube_of, named
from tests.pages.export.showing import image, painted
from tests.states import sample_state, state_of


@pytest.fixture(autouse=True)
def on_the_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks may launch: what this process listens on besides is another test's."""
    monkeypatch.setattr("dashboard.pages.export.proof.may_launch", lambda: Permission(allowed=True, reason=""))


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
    state.exported = ("allgather",)
    state.together = ("reduce",)
    assert (page.collectives.value, page.collectives.disabled) == (["bcast", "reduce"], True)
    assert state.exported == ("allgather",)
    bcast, reduce = page.file.written.parts
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


def test_where_what_is_replaced_costs_something_the_page_says_what_helps(page: ExportPage, state: State) -> None:
    assert not page.message.visible
    state.target = "mpich"
    page.base.value = "5.0"
    (part,) = page.file.written.parts
    assert part.loss > 0
    assert "Methods left out" in page.message.object
    lacking = set(re.findall("'(.+?)'", part.notes[0]))
    while lacking:
        state.without = (*state.without, *lacking)
        lacking = set(re.findall("'(.+?)'", " ".join(page.file.written.parts[0].notes)))
    assert page.file.written.parts[0].loss == 0
    assert not page.message.visible


def test_a_collective_that_is_left_out_is_said(page: ExportPage, state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(UCC_COMPARED, "reduce")
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
    state.param.update(target="openmpi", version="4.1", most_rules=7)
    query = state.to_query()
    assert {name: query[name] for name in ("version", "rules", "export")} == {
        "version": "4.1",
        "rules": "7",
        "export": "reduce,bcast",
    }
    other = sample_state()
    assert other.from_query({**query, "target": "ucc"}) == []
    assert (other.target, other.version, other.most_rules) == ("ucc", "4.1", 7)
    assert other.exported == ("reduce", "bcast")
    (why,) = other.from_query({"target": "fortran"})
    assert "possible are c, c-table" in why
    (why,) = other.from_query({"export": "bcast,nothing"})
    assert "no such collective" in why


def test_without_results_the_page_says_so() -> None:
    page = ExportPage(State(page="Export"))
    assert page.message.visible
    assert not page.body.visible


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
    page.report.models.value = True
    page.report._draw()
    assert cli.main(shlex.split(as_command(state))[1:]) == 0
    assert Path("colltune_pictures.zip").read_bytes() == page.report.download.callback().read()


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
    words = "The library does what the file asks. 2 of 3 regions were not run."
    assert page.prove.message.object.replace("\\", "") == words


def test_only_who_may_launch_proves(page: ExportPage, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Permission(allowed=False, reason="nobody has logged in")
    monkeypatch.setattr("dashboard.pages.export.proof.may_launch", lambda: refused)
    monkeypatch.setattr("dashboard.pages.export.proof.prove", lambda *_: pytest.fail("launched"))
    page.prove._prove()
    assert "nobody has logged in" in page.prove.message.object
