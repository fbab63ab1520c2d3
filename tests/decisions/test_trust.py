"""Times that cannot be right are found, with the reason, and decide nothing in campaigns of colltune."""

import json
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions.measured.map import decision_map
from dashboard.decisions.measured.trust import LEFT_OUT, by_cell, doubtful, without_doubtful
from loaders.facet_names import DOUBTFUL
from tests.cubes import cube_of

SIZES = [8, 64, 512, 4096, 1 << 18]
OWN = "colltune bench, skampi"


def line(*times: float, **attrs: Any) -> xr.Dataset:
    return cube_of(np.array([[times]]) * 1e-6, [4], SIZES[: len(times)], benchmark=OWN, **attrs)


def places(cube: xr.Dataset) -> list[int]:
    return doubtful(cube)["message_size"].tolist()


def test_the_time_of_a_small_message_far_above_those_of_larger_ones_is_doubtful() -> None:
    # As one job recorded an allreduce: 7,995 us for 8 B, 47.6 us for 256 KiB.
    cube = line(7995, 10, 12, 20, 47.6)
    assert places(cube) == [8]
    doubt = doubtful(cube).iloc[0]
    assert doubt["time"] == pytest.approx(7.995e-3)
    assert doubt["expected"] == pytest.approx(1e-5)
    assert "longer than messages that are larger" in doubt["reason"]
    left = without_doubtful(cube)
    assert np.isnan(left["time"].sel(message_size=8)).all()
    assert left["time"].sel(message_size=64).notnull().all()
    assert "1 time that cannot be trusted" in left.attrs[LEFT_OUT]


def test_a_single_time_that_is_too_short_is_doubtful_and_not_all_before_it() -> None:
    assert places(line(10, 20, 200, 400, 3)) == [1 << 18]


def test_a_change_of_protocol_is_no_fault() -> None:
    assert places(line(10, 12, 60, 20, 90)) == []
    assert places(line(10, np.nan, 12, np.nan, 90)) == []


def test_other_benchmarks_are_told_and_keep_their_times() -> None:
    cube = line(7995, 10, 12).assign_attrs(benchmark="OSU Micro-Benchmarks")
    assert places(cube) == [8]
    assert without_doubtful(cube).identical(cube)


def test_repetitions_far_from_their_median_are_doubtful() -> None:
    cube = line(10.0, 20.0)
    steady, torn = [10e-6] * 8, [1e-6, 1e-6, 1e-6, 9e-6, 10e-6, 80e-6, 90e-6, 90e-6]
    sample = (("method", "comm_size", "message_size", "repetition"), np.array([[[torn, steady]]]))
    doubts = doubtful(cube.assign(sample=sample))
    assert doubts["message_size"].tolist() == [8]
    assert doubts["reason"].iloc[0] == "only 2 of 8 repetitions are within a factor 4 of their median"


def test_each_cell_has_a_median_of_its_own_and_five_repetitions_are_enough_to_tell() -> None:
    # A large message takes ten thousand times as long as a small one, and neither scatters.
    sample = np.outer([10e-6, 0.1], np.ones(8))[None, None]
    dims = ("method", "comm_size", "message_size", "repetition")
    assert places(line(10.0, 1e5).assign(sample=(dims, sample))) == []
    torn = [1e-6, 1e-6, 10e-6, 90e-6, 90e-6]
    assert places(line(10.0).assign(sample=(dims, np.array([[[torn]]])))) == [8]
    assert places(line(10.0).assign(sample=(dims, np.array([[[torn[1:]]]])))) == []


def test_what_the_loader_saw_of_single_points_is_told_also_of_several_files() -> None:
    def seen(size: int, reason: str, collective: str = "bcast") -> str:
        method = str(line(1.0)["method"].values[0])
        return json.dumps(
            [{"collective": collective, "method": method, "comm_size": 4, "message_size": size, "reason": reason}]
        )

    several = "; ".join([seen(8, "136 starts were late"), seen(64, "launches"), seen(512, "x", "reduce"), seen(7, "y")])
    doubts = doubtful(line(10, 11, 12, **{DOUBTFUL: several}))
    assert doubts["reason"].tolist() == ["136 starts were late", "launches"]
    # Of a cell that also is too long, once.
    assert doubtful(line(7995, 11, 12, **{DOUBTFUL: several}))["reason"].tolist() == doubts["reason"].tolist()


def test_each_number_of_processes_per_node_is_looked_at_by_itself() -> None:
    time = np.ones((1, 1, 3, 2)) * 1e-5
    time[0, 0, 0, 1] = 1e-3
    doubts = doubtful(cube_of(time, [4], [8, 64, 512], benchmark=OWN))
    assert doubts[["message_size", "ppn"]].to_numpy().tolist() == [[8, 2]]
    left = without_doubtful(cube_of(time, [4], [8, 64, 512], benchmark=OWN))
    assert np.isfinite(left["time"].sel(ppn=1)).all()


def test_what_the_loader_saw_is_of_the_processes_per_node_that_it_names() -> None:
    cube = cube_of(np.ones((1, 1, 3, 2)) * 1e-5, [4], [8, 64, 512], benchmark=OWN)
    record = {"collective": "bcast", "method": str(cube["method"].values[0]), "comm_size": 4, "reason": "late"}
    text = json.dumps([{**record, "message_size": 8, "ppn": 2}, {**record, "message_size": 64}])
    doubts = doubtful(cube.assign_attrs({DOUBTFUL: text}))
    # Without a number it is of both.
    assert sorted(doubts[["message_size", "ppn"]].to_numpy().tolist()) == [[8, 2], [64, 1], [64, 2]]


def test_a_map_shows_what_is_doubtful_at_its_own_processes_per_node() -> None:
    times = 1e-6 * np.array([[7995.0, 10, 12], [8.0, 10, 12]])
    cube = cube_of(times.T[None, None], [4], SIZES[:3], benchmark=OWN)
    table = doubtful(cube)
    assert table["ppn"].tolist() == [1]
    shown = by_cell(table, decision_map(cube, ppn=1))
    assert shown is not None
    assert [bool(words) for words in shown.ravel()] == [True, False, False]
    assert by_cell(table, decision_map(cube, ppn=2)) is None
