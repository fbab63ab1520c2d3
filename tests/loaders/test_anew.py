"""What a run measured anew stands for what other results have of it, since that could not be trusted."""

import json
from pathlib import Path
from typing import Any

import pytest

from loaders import MissingHintError, open_results, save_results
from loaders.facet_names import ANEW, POINTS
from tests.files import run_file

POINT = {"collective": "bcast", "algorithm": "linear", "comm_size": 4}
#: Late starts, and times that are far above those of the run that measured them anew.
LATE = {**POINT, "message_size": 64, "samples": [9e-3, 8e-3], "late": 5}


def run_of(path: Path, lines: list[dict[str, Any]], attrs: dict[str, str]) -> Path:
    path.parent.mkdir()
    return run_file(path, *lines, **{"system": "x"} | attrs)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    sound = {**POINT, "message_size": 128, "samples": [2e-6, 2e-6]}
    return run_of(tmp_path / "first" / "results.jsonl", [LATE, sound], {})


def test_times_that_were_measured_anew_are_those_of_the_run_that_did(first: Path, tmp_path: Path) -> None:
    again = {**POINT, "message_size": 64, "samples": [1e-6, 1e-6, 1e-6]}
    anew = run_of(tmp_path / "anew" / "results.jsonl", [again], {POINTS: ANEW})
    tree = open_results([first, anew])
    cube = tree["bcast"].to_dataset()
    assert cube["time"].values.ravel().tolist() == [1e-6, 2e-6]
    assert cube["repetitions"].values.ravel().tolist() == [3, 2]
    assert "doubtful_times" not in cube.attrs
    assert POINTS not in cube.attrs
    assert "times of 1 point are those of" in tree.attrs["notes"]


def test_what_the_run_itself_cannot_trust_stays_doubtful(first: Path, tmp_path: Path) -> None:
    anew = run_of(tmp_path / "anew" / "results.jsonl", [{**LATE, "late": 7}], {POINTS: ANEW})
    (record,) = json.loads(open_results([first, anew])["bcast"].attrs["doubtful_times"])
    assert record["reason"].startswith("7 starts were late")


def test_a_run_of_another_system_or_for_itself_stands_for_nothing(first: Path, tmp_path: Path) -> None:
    again = {**POINT, "message_size": 64, "samples": [1e-6]}
    other = run_of(tmp_path / "other" / "results.jsonl", [again], {"system": "y", POINTS: ANEW})
    with pytest.raises(MissingHintError, match="system of bcast"):
        open_results([first, other])
    plain = run_of(tmp_path / "plain" / "results.jsonl", [again], {})
    with pytest.raises(MissingHintError, match="campaign of bcast"):
        open_results([first, plain])


def test_of_several_runs_that_measured_a_point_anew_the_last_counts(first: Path, tmp_path: Path) -> None:
    again = {**POINT, "message_size": 64, "samples": [4e-6], "late": 8}
    older = run_of(tmp_path / "b" / "results.jsonl", [again], {POINTS: ANEW, "date": "2026-11-01T10:00:00+0000"})
    newer = run_of(
        tmp_path / "a" / "results.jsonl",
        [{**again, "samples": [1e-6], "late": 0}],
        {POINTS: ANEW, "date": "2026-11-02T10:00:00+0000"},
    )
    for files in ([first, older, newer], [newer, first, older], [older, newer]):
        cube = open_results(files)["bcast"].to_dataset()
        assert cube["time"].sel(message_size=64).values.ravel().tolist() == [1e-6]
        assert "doubtful_times" not in cube.attrs


def test_saved_results_stand_for_others_as_the_run_did(first: Path, tmp_path: Path) -> None:
    again = {**POINT, "message_size": 64, "samples": [1e-6]}
    anew = run_of(tmp_path / "anew" / "results.jsonl", [again], {POINTS: ANEW})
    save_results(open_results(anew), tmp_path / "anew.nc")
    cube = open_results([first, tmp_path / "anew.nc"])["bcast"].to_dataset()
    assert cube["time"].values.ravel().tolist() == [1e-6, 2e-6]
