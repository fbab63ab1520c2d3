"""``colltune portability``."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr

from dashboard.decisions import decision_map, penalty, quadtree, summarise
from loaders import open_results, save_results
from tests.cli.command import Run, assert_one_clear_line
from tests.cubes import synthetic_cube


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.nc"
    cube = synthetic_cube(6, 9, 5, seed=7).assign_attrs(system="grig")
    save_results(xr.DataTree.from_dict({"/bcast": cube}), path)
    return path


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
    assert "on B the decision of A costs +" in text.out


def test_what_is_wrong_is_one_clear_line(colltune: Run, results: Path, other: Path) -> None:
    assert_one_clear_line(colltune("portability", results, "-c", "bcast"), "--against")
    assert_one_clear_line(colltune("portability", results, "--against", other, "-c", "reduce"), "bcast")
    assert_one_clear_line(colltune("portability", results, "--against", "nowhere.nc", "-c", "bcast"), "nowhere.nc")
