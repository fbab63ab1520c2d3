"""One question, one answer: page, command, link, report and Python give the same figures for the same settings."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.pages.export.check import check_job
from dashboard.pages.export.order import order_job
from dashboard.report import Contents, to_html
from dashboard.session.choice import Choice
from dashboard.session.prepared import prepare
from dashboard.session.recipes import as_command, as_link, as_python, of_check
from dashboard.session.registry import load_results
from dashboard.session.state import State
from loaders import open_results, save_results
from tests.cli.command import Run
from tests.conftest import FAST_ETHERNET, ROOT
from tests.cubes import cube_of, named
from tests.states import by_python

pytestmark = pytest.mark.slow

CALLS = "collective,comm_size,message_size,calls\nbcast,8,1024,10\nbcast,16,65536,5\nallgather,8,64,9\n"
TREATMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"tolerance": 5.0},
    {"tolerance": 5.0, "ties": "fastest"},
    {"statistical": 0.05},
    {"outliers": True},
    {"interpolate": True},
    {"surfaces": True},
    {"without": ("linear",), "tolerance": 2.5},
)
COLLECTIVES = ("bcast", "reduce", "allgather")
TREES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("quadtree", {"max_depth": 3}),
    ("c45", {"min_cases": 6}),
    ("optimal", {"leaves": 4}),
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory, fast_ethernet: xr.DataTree) -> Path:
    """Every second message size of the sample campaign, in a file that says everything."""
    cubes = {name: fast_ethernet[name].to_dataset().isel(message_size=slice(0, None, 2)) for name in COLLECTIVES}
    return save_results(xr.DataTree.from_dict(cubes), tmp_path_factory.mktemp("sample") / "results.nc")


def figures(answer: dict[str, Any]) -> dict[str, Any]:
    """What is said of a tree, wherever it is said."""
    return {name: answer[name] for name in ("depth", "leaves", "nodes", "penalty")}


@pytest.mark.parametrize("collective", ["bcast", "allgather"])
@pytest.mark.parametrize("treatment", TREATMENTS, ids=lambda chosen: "-".join(chosen) or "plain")
def test_every_way_gives_the_same_figures(sample: Path, collective: str, treatment: dict[str, Any], done: Run) -> None:
    state = State.of(load_results([sample]))
    state.param.update(collective=collective, **treatment)
    prepared = prepare(open_results([sample])[collective].to_dataset(), **treatment)
    for tree, options in TREES:
        state.choose(Choice.of(tree, options))
        page = figures(state.view.statistics())
        assert figures(prepared.decide(tree, **options).statistics) == page
        command = shlex.split(as_command(state))
        *answers, link = done(*command[1:], "--json", "--link").out.splitlines()
        assert figures(json.loads(answers[0])) == page
        assert link == as_link(state, "http://localhost:5006/dashboard")
        assert figures(done("view", link, str(sample), "--json").json) == page


def test_processes_per_node_given_as_a_hint_are_given_by_the_command_too(tmp_path: Path, done: Run) -> None:
    file = tmp_path / "detail.out"
    rows = [f"{nodes} {2**n} {9 + n}.0(0.5) {30 - n * nodes}.0(0.5)" for nodes in (2, 4) for n in range(4)]
    file.write_text("\n".join(["#Nnodes Message_size linear pairwise", *rows]) + "\n")
    state = State.of(load_results([file], collective="alltoall", ppn=36))
    state.choose(Choice.of("exact"))
    page = figures(state.view.statistics())
    assert figures(by_python(as_python(state))) == page
    answer = done(*shlex.split(as_command(state))[1:], "--json").json
    assert figures(answer) == page
    assert answer["decision"] == state.view.decided().decision.to_dict()  # type: ignore[union-attr]
    assert state.results["alltoall"]["comm_size"].values.tolist() == [72, 144]  # type: ignore[index]


def test_a_message_size_given_as_a_hint_is_given_by_the_command_too(samples: Path, done: Run) -> None:
    file = samples / "skampi4" / "ompi-users-2006__alltoall_mpich127.txt"
    state = State.of(load_results([file], algorithm="default", message_size="512"))
    state.choose(Choice.of("exact"))
    command = shlex.split(as_command(state))[1:]
    assert command[command.index("--bytes") + 1] == "512"
    assert figures(done(*command, "--json").json) == figures(state.view.statistics())


def test_the_lines_of_python_give_the_figures_of_the_page(sample: Path) -> None:
    state = State.of(load_results([sample]))
    state.param.update(collective="bcast", tolerance=5.0, without=("chain *",))
    state.choose(Choice.of("cart", {"max_leaves": 8}))
    assert by_python(as_python(state)) == state.view.statistics()


def test_a_link_names_the_parameters_of_the_models_that_decide(sample: Path, done: Run) -> None:
    words = ["-c", "bcast", "--tree", "model", "--model", "hockney", "--parameters", "grig-mx", "--json", "--link"]
    answer, link = done("decide", str(sample), *words).out.splitlines()
    assert figures(done("view", link, str(sample), "--json").json) == figures(json.loads(answer))


@pytest.mark.parametrize("complete", [None, "hockney"])
@pytest.mark.parametrize(("parameters", "own"), [("grig-tcp", "grig-mx"), (None, "grig-mx"), ("grig-mx", "fitted")])
def test_a_tree_of_models_and_the_model_that_completes_have_parameters_of_their_own(
    sample: Path, done: Run, complete: str | None, parameters: str | None, own: str
) -> None:
    state = State.of(load_results([sample]))
    state.param.update(collective="bcast", complete=complete, parameters=parameters)
    state.choose(Choice.of("model", {"model": "hockney", "parameters": own, "fill": complete is not None}))
    command = as_command(state)
    assert figures(done(*shlex.split(command)[1:], "--json").json) == figures(state.view.statistics())


def test_collectives_decided_together_are_the_same_for_page_and_command(sample: Path, done: Run) -> None:
    state = State.of(load_results([sample]))
    state.param.update(collective="bcast", together=("reduce",), tolerance=5.0)
    state.choose(Choice.of("cart", {"max_leaves": 12}))
    answer = done(*shlex.split(as_command(state))[1:], "--json").json
    assert figures(answer) == figures(state.view.statistics())


def test_a_workload_weighs_the_page_as_it_weighs_the_command(
    sample: Path, tmp_path: Path, done: Run, refused: Run
) -> None:
    calls = tmp_path / "calls.csv"
    calls.write_text(CALLS, encoding="utf-8")
    from loaders.workload import read_workload  # noqa: PLC0415

    state = State.of(load_results([sample]))
    state.collective = "bcast"
    state.weigh(read_workload(calls))
    command = as_command(state).replace("WORKLOAD.csv", str(calls))
    assert figures(done(*shlex.split(command)[1:], "--json").json) == figures(state.view.statistics())
    link = done(*shlex.split(command)[1:], "--link").out.splitlines()[-1]
    viewed = done("view", link, str(sample), "--weights", str(calls), "--json").json
    assert figures(viewed) == figures(state.view.statistics())
    error = refused("view", "?collective=bcast&tree=exact&workload=0123", sample).err
    assert "this workload is not loaded here; load it on the page Decisions" in error


def test_results_are_the_same_wherever_their_file_lies(
    sample: Path, tmp_path: Path, done: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(sample, tmp_path)
    monkeypatch.chdir(tmp_path)
    link = done("decide", sample.name, "-c", "bcast", "--tree", "exact", "--link").out.splitlines()[-1]
    # Nor does it matter what it is called, or that it was saved as another format.
    other = shutil.copy(sample, tmp_path / f"renamed{sample.suffix}")
    for file in (sample, other):
        assert "made with other results" not in done("view", link, file).err


def test_saved_times_are_the_results_that_they_came_from(tmp_path: Path) -> None:
    measured = ROOT / "sample_data" / "one-machine" / "results.jsonl"
    loaded = load_results([measured])
    assert load_results([save_results(loaded.tree, tmp_path / "results.nc")]).digest == loaded.digest


def test_what_an_address_shows_beside_its_decision_is_said(sample: Path, done: Run, refused: Run) -> None:
    tree = "collective=bcast&tree=exact"
    *_, note, command = done("view", f"?page=Compare&{tree}&other=quadtree?max_depth:3", sample).err.splitlines()
    assert "is of the page Compare" in note
    words = shlex.split(command.partition("next: ")[2])
    assert words[:2] == ["colltune", "compare"]
    assert words[words.index("--trees") + 2] == "quadtree:max_depth=3"
    assert "is of the page Online, which needs a browser" in done("view", f"?page=Online&{tree}", sample).err
    assert "of the page" not in done("view", f"?{tree}", sample).err
    order = ["decide", str(sample), "-c", "bcast", "--tree", "quadtree", "--sweep", "depth", "--link"]
    assert "an address tells one tree, no sweep" in refused(*order).err


def test_rules_cost_what_they_do_as_a_tree(tmp_path: Path, done: Run) -> None:
    # Its times that cannot be trusted are the best by far at some sizes, and one of its methods is unsafe.
    results = str(ROOT / "sample_data" / "fast-ethernet-4x2-tuned" / "results.jsonl")
    for collective in ("bcast", "allgather"):
        rules = str(tmp_path / f"{collective}.conf")
        words = ["-c", collective, "--tree", "optimal", "--leaves", "5", "--to", "openmpi", "-o", rules]
        done("export", results, *words, "--allow-loss", "1000")
        for more in ((), ("--keep-doubtful",)):
            order = ["decide", results, "-c", collective, "--tree", "rules", "--file", rules, *more, "--json"]
            tree = done(*order).json["penalty"]
            linted = done("lint", rules, "--over", results, *more, "--json").json
            acted = linted["penalty"][collective]["acted"]
            assert (acted["mean"], acted["max"]) == (tree["mean"], tree["max"])


def test_the_command_of_the_page_export_writes_its_file(sample: Path, done: Run) -> None:
    state = State.of(load_results([sample]))
    state.param.update(page="Export", collective="bcast", without=("pipeline 1KiB",))
    state.choose(Choice.of("cart", {"max_leaves": 8}))
    for changes in (
        {"exported": ("bcast", "allgather")},
        {"exported": ("reduce",)},
        {"exported": (), "together": ("reduce",)},
        {"together": (), "collective": "allgather"},
        {"version": "4.1", "most_rules": 20},
        {"target": "ucc"},
    ):
        state.param.update(**changes)
        written = order_job(state, None)(None)
        words = shlex.split(as_command(state))
        assert f"cli.main({words[1:]!r})" in as_python(state)
        assert [word for word in words if word in COLLECTIVES] == written.collectives
        out = done(*words[1:], "--allow-loss", "1000").out
        # The one tells at the head what it is a part of, the other the part.
        texts = [_rules(text) if state.together else text for text in (out, written.text)]
        assert texts[0] == texts[1]


@pytest.mark.parametrize("target", ["openmpi", "ucc"])
@pytest.mark.parametrize("chosen", [{}, {"ppn": 1}, {"across": True}], ids=["usual", "one", "all"])
def test_of_several_processes_per_node_page_and_command_write_the_same(
    tmp_path: Path, target: str, chosen: dict[str, Any], done: Run
) -> None:
    times = np.random.default_rng(3).lognormal(sigma=0.6, size=(4, 3, 6, 2))
    # More was measured with one: its map is the one on show, and a file is for the most.
    times[1, :, 3:, 1] = np.nan
    cube = cube_of(times, [4, 8, 16], 4 ** np.arange(6))
    state = State.of(load_results([save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path / "results.nc")]))
    state.param.update(page="Export", collective="bcast", target=target, **chosen)
    state.choose(Choice.of("cart", {"max_leaves": 6}))
    written = order_job(state, None)(None)
    assert done(*shlex.split(as_command(state))[1:], "--allow-loss", "1000").out == written.text


def test_rules_are_checked_at_the_processes_per_node_on_show(tmp_path: Path, done: Run) -> None:
    times = np.random.default_rng(3).lognormal(sigma=0.6, size=(2, 3, 6, 2))
    cube = named(cube_of(times, [4, 8, 16], 4 ** np.arange(6)), ["linear", "binomial"])
    state = State.of(load_results([save_results(xr.DataTree.from_dict({"bcast": cube}), tmp_path / "results.nc")]))
    rules = "1\n7\n1\n0\n2\n0 1 0 0\n64 6 0 0\n"
    (tmp_path / "mine.conf").write_text(rules)
    for ppn in cube["ppn"].values.tolist():
        state.param.update(collective="bcast", across=True, ppn=ppn)
        (cost,) = check_job(state, "mine.conf", rules, "5.0")(None).costs
        words = of_check(state, str(tmp_path / "mine.conf"), None, judged=True)
        assert done(*words, "--json").json["penalty"]["bcast"]["acted"]["mean"] == cost.acted.mean


def _rules(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_command_of_the_page_frontier_leaves_out_what_the_page_does(sample: Path) -> None:
    state = State.of(load_results([sample]))
    state.collective = "bcast"
    state.from_query({**state.to_query(), "page": "Frontier", "held_out": "comm_size", "criterion": "max"})
    assert (state.held_out, state.criterion) == ("comm_size", "max")
    assert "--held-out comm_size --criterion max" in as_command(state)
    assert state.to_query()["held_out"] == "comm_size"
    assert state.from_query({"held_out": "nothing"}) != []


def test_the_report_says_the_figures_of_the_page(sample: Path) -> None:
    state = State.of(load_results([sample]))
    state.param.update(collective="bcast", tolerance=5.0, max_depth=3)
    html = to_html(state.view, Contents(("bcast",), frontier=False))
    assert f">{state.view.statistics()['leaves']:,}</td>" in html
    assert f"{state.view.statistics()['penalty']['mean']:.2f} %" in html


@pytest.mark.parametrize("address", ["?tree=forest", "?tolerance=-3", "?collective=gather", "nothing"])
def test_an_address_that_cannot_be_shown_is_one_clear_line(sample: Path, address: str, refused: Run) -> None:
    error = [line for line in refused("view", address, sample).err.splitlines() if "error" in line]
    assert len(error) == 1


def test_the_same_measurements_from_beside_a_refused_file_say_so(tmp_path: Path) -> None:
    for folder, names in (("alone", ["bcast__linear__seg0.sko"]), ("beside", ["bcast__linear__seg0.sko", "README.md"])):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / name).write_bytes((FAST_ETHERNET / name).read_bytes())
    hints: dict[str, Any] = {"algorithm": "linear", "segment_size": 0}
    alone, beside = (load_results([tmp_path / name], **hints) for name in ("alone", "beside"))
    assert alone.digest == beside.digest
    assert np.shares_memory(alone.tree["bcast"]["time"], beside.tree["bcast"]["time"])
    assert (len(alone.sources), len(beside.sources)) == (1, 2)
