"""``colltune map``: the decision map and its ties."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from loaders import open_results, save_results
from tests.cli.command import Run
from tests.cubes import cube_of


def test_map_in_json_has_null_where_nothing_was_measured(colltune: Run, results: Path) -> None:
    cube = open_results(results)["bcast"].to_dataset()
    answer = colltune("map", results, "-c", "bcast", "--json").json
    assert list(answer) == ["collective", "comm_size", "message_size", "methods", "best", "time"]
    times = cube["time"].transpose("comm_size", "message_size", "method").values
    for row, p in enumerate(answer["comm_size"]):
        for column, m in enumerate(answer["message_size"]):
            assert (p, m) == (cube["comm_size"][row], cube["message_size"][column])
            cell = times[row, column]
            expected = None if np.isnan(cell).all() else int(np.nanargmin(cell))
            assert answer["best"][row][column] == expected
            assert answer["time"][row][column] == (None if expected is None else cell[expected])
    assert answer["best"][2][3] is None


def test_a_single_cell_that_was_not_measured_is_counted_as_one(colltune: Run, tmp_path: Path) -> None:
    rows = [f"bcast,ring,0,{processes},{size},1e-5" for processes in (2, 4) for size in (8, 64)]
    file = tmp_path / "times.csv"
    file.write_text("collective,algorithm,segment_size,comm_size,message_size,time\n" + "\n".join(rows[:-1]) + "\n")
    assert ". = not measured (1 cell)" in colltune("map", file).out


def test_the_collective_chosen_stands_in_where_files_do_not_say_it(colltune: Run, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("algorithm,segment_size,comm_size,message_size,time\nlinear,0,2,8,1e-6\nring,0,2,8,2e-6\n")
    assert colltune("map", table, "-c", "allgather", "--json").json["collective"] == "allgather"


def test_the_only_collective_needs_no_choice(colltune: Run, bcast_files: Sequence[Path]) -> None:
    assert colltune("map", bcast_files[0], "--json").json["collective"] == "bcast"


@pytest.fixture
def close_race(tmp_path: Path) -> Path:
    """Two methods within 2 % of each other: each is the fastest in turn, so that the map is frayed."""
    times = np.array([[[1.00, 1.02, 1.00, 1.02]], [[1.02, 1.00, 1.02, 1.00]]])
    return save_results(xr.DataTree.from_dict({"/bcast": cube_of(times, [4], [1, 2, 4, 8])}), tmp_path / "race.nc")


def test_ties_are_counted_and_drawn_as_ties(colltune: Run, close_race: Path) -> None:
    assert "ties" not in colltune("map", close_race, "--json").json
    assert colltune("map", close_race, "--tolerance", 1, "--json").json["ties"] == [[1, 1, 1, 1]]
    assert colltune("map", close_race, "--tolerance", 3, "--json").json["ties"] == [[2, 2, 2, 2]]
    drawn = colltune("map", close_race, "--tolerance", 3).out
    assert ["4", "A'", "B'", "A'", "B'"] in [line.split() for line in drawn.splitlines()]
    assert "4 of 4 cells have more than one of the methods within 3 % of the best" in drawn


def test_a_single_cell_with_ties_has_them(colltune: Run, tmp_path: Path) -> None:
    cube = cube_of([[[1.0, 1.0]], [[1.01, 2.0]]], [4], [1, 2])
    save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / "race.nc")
    assert "1 of 2 cells has more than one of the" in colltune("map", tmp_path / "race.nc", "--tolerance", 3).out


def test_what_repetitions_cannot_tell_apart_is_a_tie(colltune: Run, close_race: Path) -> None:
    """Two per cent apart, with a spread of 2 % over ten repetitions: p is about 0.02."""
    answers = [colltune("map", close_race, "--statistical", level, "--json") for level in (0.001, 0.2)]
    assert [answer.json["ties"] for answer in answers] == [[[2, 2, 2, 2]], [[1, 1, 1, 1]]]
    assert "note:" in answers[0].err
    drawn = colltune("map", close_race, "--statistical", 0.001).out
    assert "4 of 4 cells have more than one of the methods that cannot be told from the best by the test" in drawn


def test_methods_tie_within_the_tolerance_or_by_the_test(colltune: Run, tmp_path: Path) -> None:
    # The second is 10 % slower and too noisy to tell, the third is told apart but within 3 %.
    cube = cube_of([[[1.00, 1.00]], [[1.10, 1.10]], [[1.02, 1.05]]], [4], [1, 2])
    cube["time_std"] = cube["time"] * np.reshape([1e-3, 1.0, 1e-3], (3, 1, 1))
    save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / "race.nc")
    counts = {(): [[1, 1]], ("--tolerance", 3): [[2, 1]], ("--statistical", 0.05): [[2, 2]]}
    both = ("--tolerance", 3, "--statistical", 0.05)
    for asked, ties in (counts | {both: [[3, 2]]}).items():
        assert colltune("map", tmp_path / "race.nc", *asked, "--json").json.get("ties", [[1, 1]]) == ties
    words = "methods within 3 % of the best or that cannot be told from the best by the test"
    assert f"2 of 2 cells have more than one of the {words}" in colltune("map", tmp_path / "race.nc", *both).out


def test_among_ties_the_simplest_map_is_taken_when_asked_for(colltune: Run, close_race: Path) -> None:
    assert colltune("map", close_race, "--tolerance", 3, "--json").json["best"] == [[0, 1, 0, 1]]
    answer = colltune("map", close_race, "--tolerance", 3, "--ties", "simplest", "--json")
    assert len({index for row in answer.json["best"] for index in row}) == 1
    assert "3 changes between neighbouring cells became 0" in answer.err
    kept = colltune("map", close_race, "--ties", "simplest", "--json").json
    assert kept["best"] == [[0, 1, 0, 1]]


def test_trees_learn_the_simplest_map_and_are_judged_by_the_fastest(colltune: Run, close_race: Path) -> None:
    common = ["decide", close_race, "--tree", "c45", "-m", 1, "--json"]
    assert colltune(*common, "--tolerance", 0).json == colltune(*common).json
    simple = colltune(*common, "--tolerance", 3).json
    assert simple["leaves"] == 1
    assert simple["penalty"]["max"] == pytest.approx(2.0)
    assert colltune(*common, "--tolerance", 3, "--ties", "fastest").json == colltune(*common).json
    tested = colltune(*common, "--statistical", 0.001)
    assert tested.json["leaves"] == 1
    assert "note: Welch's test" in tested.err


def test_uncertainty_marks_cells_whose_method_may_not_be_the_fastest(colltune: Run, tmp_path: Path) -> None:
    cube = cube_of([[[1.0, 1.0]], [[1.0, 2.0]]], [2], [8, 4096])
    path = save_results(xr.DataTree.from_dict({"bcast": cube.assign_attrs(collective="bcast")}), tmp_path / "mine.nc")
    sure = colltune("map", path, "--uncertainty", "--json").json["sureness"][0]
    assert 0.5 < sure[0] < sure[1] <= 1
    assert "? = the method of 0 cells" in colltune("map", path, "--uncertainty").out
