"""The decision map: best and second best, ties, gaps, processes per node, lazy cubes."""

import numpy as np
import pytest
import xarray as xr

from dashboard.decisions import DecisionError, NothingMeasuredError, OptionError, decision_map, methods_of, select_ppn
from dashboard.decisions.measured.map import each_ppn, time_blocks
from dashboard.decisions.measured.problem import Problem
from tests.cubes import cube_of, synthetic_cube

NAN = np.nan


def test_best_and_second_best_with_their_times() -> None:
    dmap = decision_map(cube_of([[[3.0, 1.0]], [[1.0, 2.0]], [[2.0, 3.0]]], [4], [1, 8]))
    assert dmap["best"].values.tolist() == [[1, 0]]
    assert dmap["best_time"].values.tolist() == [[1.0, 1.0]]
    assert dmap["second"].values.tolist() == [[2, 1]]
    assert dmap["second_time"].values.tolist() == [[2.0, 2.0]]
    assert dmap["best_time"].attrs["units"] == "s"


def test_of_equally_fast_methods_the_first_is_best_and_the_next_second() -> None:
    dmap = decision_map(cube_of([[[2.0]], [[1.0]], [[1.0]], [[1.0]]], [4], [1]))
    assert (int(dmap["best"][0, 0]), int(dmap["second"][0, 0]), int(dmap["ties"][0, 0])) == (1, 2, 3)


def test_missing_cells_stay_missing() -> None:
    dmap = decision_map(cube_of([[[NAN, 1.0, 5.0]], [[NAN, NAN, 4.0]]], [4], [1, 2, 3]))
    assert dmap["best"].values.tolist() == [[-1, 0, 1]]
    assert dmap["second"].values.tolist() == [[-1, -1, 0]]
    assert dmap["measured"].values.tolist() == [[0, 1, 2]]
    assert dmap["ties"].values.tolist() == [[0, 1, 1]]
    assert np.isnan(dmap["best_time"].values).tolist() == [[True, False, False]]
    assert np.isnan(dmap["second_time"].values).tolist() == [[True, True, False]]


@pytest.mark.parametrize(("tolerance", "ties"), [(0.0, 1), (4.9, 1), (5.0, 2), (10.0, 3), (1000.0, 3)])
def test_tolerance_is_in_percent_of_the_best_time(tolerance: float, ties: int) -> None:
    cube = cube_of([[[200.0]], [[210.0]], [[220.0]]], [4], [1])
    assert int(decision_map(cube, tolerance=tolerance)["ties"][0, 0]) == ties


@pytest.mark.parametrize("tolerance", [-1.0, NAN, np.inf])
def test_a_tolerance_that_makes_no_sense_is_refused(tolerance: float) -> None:
    with pytest.raises(OptionError, match="tolerance is"):
        decision_map(synthetic_cube(2, 2, 2, 0), tolerance=tolerance)


def test_methods_keep_their_parameters() -> None:
    parameters = {"fanout": [4.0, *[NAN] * 8], "topology": ["ring", *[""] * 8]}
    cube = synthetic_cube(2, 3, 9, 0).assign_coords({name: ("method", each) for name, each in parameters.items()})
    methods = methods_of(decision_map(cube))
    assert (methods[0].label, methods[0].parameters) == ("linear", {"fanout": 4, "topology": "ring"})
    assert (methods[8].algorithm, methods[8].segment_size, methods[8].parameters) == ("binomial", 1024, {})
    assert methods == methods_of(cube)


def test_methods_of_which_only_the_label_is_told_are_algorithms_without_segments() -> None:
    cube = synthetic_cube(2, 3, 2, 0)
    cube = cube.assign_coords(segment_size=("method", [NAN, 8192]))
    assert [method.segment_size for method in methods_of(cube)] == [0, 8192]
    labels = ["linear", "pipeline 8KiB"]
    bare = xr.Dataset({"time": cube["time"].drop_vars(("algorithm", "segment_size"))}).assign_coords(method=labels)
    assert [(method.algorithm, method.segment_size) for method in methods_of(bare)] == [(name, 0) for name in labels]


def test_the_cube_is_left_as_it_was() -> None:
    cube = synthetic_cube(5, 6, 4, 0, missing=0.3)
    before = cube.copy(deep=True)
    decision_map(cube)
    xr.testing.assert_identical(cube, before)


def test_order_of_dimensions_does_not_matter() -> None:
    cube = synthetic_cube(3, 4, 5, 1, missing=0.2)
    turned = cube.transpose("message_size", "method", "comm_size")
    xr.testing.assert_identical(decision_map(cube), decision_map(turned))


@pytest.mark.parametrize("chunks", [{"comm_size": 3}, {"method": 2}, {"message_size": 4}, {}])
def test_a_lazy_cube_gives_the_same_map(chunks: dict[str, int]) -> None:
    cube = synthetic_cube(10, 12, 7, 2, missing=0.2)
    xr.testing.assert_identical(decision_map(cube), decision_map(cube.chunk(chunks)))


@pytest.mark.parametrize("chunk", [None, 1, 3, 10])
@pytest.mark.parametrize("block_bytes", [1, 300, 1 << 30])
def test_blocks_cover_every_communicator_size_once(chunk: int | None, block_bytes: int) -> None:
    cube = synthetic_cube(10, 4, 3, 0)
    lazy = cube if chunk is None else cube.chunk(comm_size=chunk)
    blocks = list(time_blocks(lazy, block_bytes))
    assert np.array_equal(np.concatenate([time for _, time in blocks], axis=1), cube["time"].values)
    assert [rows.start for rows, _ in blocks[1:]] == [rows.stop for rows, _ in blocks[:-1]]


def test_blocks_end_where_chunks_end_so_that_none_is_read_twice() -> None:
    lazy = synthetic_cube(10, 4, 3, 0).chunk(comm_size=4)
    assert {rows.stop for rows, _ in time_blocks(lazy, 3 * 4 * 8)} == {4, 8, 10}


class TestProcessesPerNode:
    @pytest.fixture
    def cube(self) -> xr.Dataset:
        time = np.array([[[[1.0, 4.0]], [[1.0, NAN]]], [[[2.0, 3.0]], [[2.0, NAN]]]])  # ppn 2 lacks one size
        return cube_of(time, [2, 4], [1])

    def test_the_one_with_most_cells_is_taken_and_the_map_says_so(self, cube: xr.Dataset) -> None:
        dmap = decision_map(cube)
        assert dmap["best"].values.tolist() == [[0], [0]]
        assert dmap.attrs["ppn"] == 1
        assert "1 process per node" in dmap.attrs["ppn_note"]
        assert "of 1, 2" in dmap.attrs["ppn_note"]

    def test_the_one_asked_for_is_taken(self, cube: xr.Dataset) -> None:
        dmap = decision_map(cube, ppn=2)
        assert dmap["best"].values.tolist() == [[1], [-1]]
        assert dmap.attrs["ppn"] == 2

    def test_one_that_is_not_there_is_refused_with_those_that_are(self, cube: xr.Dataset) -> None:
        with pytest.raises(OptionError, match=r"ppn is 3, .* 1, 2"):
            decision_map(cube, ppn=3)

    def test_attributes_are_those_of_the_one_taken(self, cube: xr.Dataset) -> None:
        mixed = cube.assign_attrs(device="host; gpu", by_ppn='{"device": {"1": "host", "2": "gpu"}}')
        assert decision_map(mixed, ppn=2).attrs["device"] == "gpu"
        assert "by_ppn" not in decision_map(mixed, ppn=2).attrs
        assert [part.attrs["device"] for part, _ in each_ppn(mixed)] == ["host", "gpu"]
        assert select_ppn(mixed.isel(ppn=1))[0].attrs["device"] == "gpu"
        assert mixed.attrs["device"] == "host; gpu"
        assert Problem.of(mixed, ppn="all").provenance["device"] == "host; gpu"

    def test_a_cube_of_one_ppn_refuses_another(self) -> None:
        cube = cube_of([[[1.0]]], [2], [1], ppn=8)
        assert select_ppn(cube, 8)[1] == 8
        with pytest.raises(OptionError, match="8 processes per node"):
            decision_map(cube, ppn=4)


def test_what_is_no_cube_is_refused() -> None:
    with pytest.raises(DecisionError, match="not a cube of results: it has no method, comm_size"):
        decision_map(xr.Dataset({"time": ("message_size", [1.0])}))
    with pytest.raises(DecisionError, match="it has no time"):
        decision_map(synthetic_cube(2, 2, 2, 0).drop_vars("time"))
    with pytest.raises(DecisionError, match="comm_size must ascend"):
        decision_map(synthetic_cube(3, 2, 2, 0).isel(comm_size=[1, 0, 2]))
    with pytest.raises(NothingMeasuredError):
        decision_map(synthetic_cube(3, 2, 2, 0).isel(comm_size=slice(0, 0)))
