"""``colltune portability``."""

import re
from pathlib import Path

import pytest
import xarray as xr

from dashboard.decisions import decision_map, penalty, quadtree, summarise
from dashboard.session.choice import Choice
from dashboard.session.prepared import prepare
from dashboard.session.treatment import Treatment
from loaders import open_results, save_results
from tests.cli.command import Run, assert_one_clear_line
from tests.cubes import opposed_cubes, synthetic_cube


@pytest.fixture
def other(tmp_path: Path) -> Path:
    cube = synthetic_cube(6, 9, 5, seed=7).assign_attrs(system="grig")
    return save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / "other.nc")


def test_it_tells_what_a_decision_costs_elsewhere(colltune: Run, results: Path, other: Path) -> None:
    answer = colltune("portability", results, "--against", other, "-c", "bcast", "--max-depth", "2", "--json")
    document = answer.json
    first, second = (open_results([path])["bcast"].to_dataset() for path in (results, other))
    ported = summarise(penalty(second, quadtree(decision_map(first), max_depth=2)))
    row = next(row for row in document["penalties"] if (row["made"], row["judged"]) == ("A", "B"))
    assert row["mean"] == pytest.approx(ported.mean)
    assert row["unmeasured"] == ported.unmeasured
    assert {"what": "system", "A": "synthetic", "B": "grig"} in document["differs"]
    text = colltune("portability", results, "--against", other, "-c", "bcast", "--max-depth", "2")
    assert re.search(r"on B the decision of A costs \d+\.\d\d points more than one made from B itself", text.out)


def test_it_says_where_methods_of_one_campaign_are_left_out(colltune: Run, other: Path, tmp_path: Path) -> None:
    cube = open_results([other])["bcast"].to_dataset().isel(method=slice(3))
    fewer = save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / "fewer.nc")
    words = "among the 3 methods that both have (--all-methods compares with all)"
    assert words in colltune("portability", fewer, "--against", other).out
    assert "both have (--all" not in colltune("portability", fewer, "--against", other, "--all-methods").out
    assert "both have (--all" not in colltune("portability", other, "--against", other).out


def test_both_campaigns_stand_at_the_same_processes_per_node(colltune: Run, tmp_path: Path) -> None:
    several = opposed_cubes()["bcast"]
    cubes = {"several": several, "one": several.isel(ppn=[0]), "two": several.isel(ppn=[1])}
    paths = {name: tmp_path / f"{name}.nc" for name in cubes}
    for name, cube in cubes.items():
        save_results(xr.DataTree.from_dict({"/bcast": cube}), paths[name])

    # Taken for one process per node, A would decide the opposite of what is best in B.
    usual = colltune("portability", paths["several"], "--against", paths["two"], "--json")
    assert "2 processes per node on both sides" in usual.err
    asked = colltune("portability", paths["several"], "--against", paths["two"], "--ppn", "2", "--json")
    assert usual.json == asked.json
    assert usual.json["gaps"]["B"]["points"] == 0
    same = colltune("portability", paths["several"], "--against", paths["two"])
    assert "on B the decision of A costs as much as one made from B itself" in same.out

    apart = colltune("portability", paths["one"], "--against", paths["two"], "--json")
    assert "that both campaigns were measured at: A has 1 and B has 2" in apart.err
    assert apart.json["differs"] == [{"what": "processes per node", "A": "1", "B": "2"}]
    assert apart.json["gaps"]["B"]["points"] == pytest.approx(200)


def test_processes_per_node_are_chosen_of_the_campaign_that_tells_them(colltune: Run, tmp_path: Path) -> None:
    """As on the page: the other one stands as it is."""
    several = opposed_cubes()["bcast"]
    silent = several.isel(ppn=0, drop=True)
    paths = [tmp_path / "several.nc", tmp_path / "silent.nc"]
    for path, cube in zip(paths, (several, silent), strict=True):
        save_results(xr.DataTree.from_dict({"/bcast": cube}), path)
    treatment = Treatment(ppn=2)
    page = prepare(several, treatment).against(prepare(silent, treatment), Choice.of("exact")).table
    words = ["--tree", "exact", "--ppn", 2, "--json"]
    answer = colltune("portability", paths[0], "--against", paths[1], *words)
    assert [row["mean"] for row in answer.json["penalties"]] == pytest.approx(page["mean"].tolist())
    assert "note: B does not tell its processes per node" in answer.err
    neither = colltune("portability", paths[1], "--against", paths[1], *words)
    assert neither.json["differs"] == []
    assert neither.err.count("do not tell their processes per node; taken as --ppn says: 2") == 2


def test_what_is_wrong_is_one_clear_line(colltune: Run, results: Path, other: Path) -> None:
    assert_one_clear_line(colltune("portability", results, "-c", "bcast"), "--against")
    assert_one_clear_line(colltune("portability", results, "--against", other, "-c", "reduce"), "bcast")
    assert_one_clear_line(colltune("portability", results, "--against", "nowhere.nc", "-c", "bcast"), "nowhere.nc")
