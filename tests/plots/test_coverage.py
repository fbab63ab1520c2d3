"""Coverage and spread: numbers from cubes whose gaps and spreads are known."""

import holoviews as hv
import numpy as np
import pytest
import xarray as xr

from dashboard.plots.coverage import (
    coverage_table,
    draw_methods_measured,
    draw_share,
    draw_spread,
    measured_share,
    methods_measured,
    rounded_down,
    spread_by_size,
    spread_table,
    thinned,
)
from tests.cubes import cube_of, synthetic_cube


@pytest.fixture
def cube() -> xr.Dataset:
    time = np.full((2, 2, 4), 1e-3)
    time[0, 0, 3] = time[1, 1, :] = np.nan
    return cube_of(time, [2, 4], [1, 2, 4, 8])


def test_nearly_all_is_not_all() -> None:
    assert rounded_down(np.array([99.97, 100, 100 * 0.29, 0])).tolist() == [99.9, 100, 29, 0]
    share = xr.DataArray([[99.7]], {"method": ["ring"], "comm_size": [4]}, ("method", "comm_size"))
    assert draw_share(share).data["measured"].tolist() == ["99.7 % of the message sizes"]


def test_the_share_is_over_message_sizes(cube: xr.Dataset) -> None:
    assert measured_share(cube).values.tolist() == [[75.0, 100.0], [100.0, 0.0]]


def test_methods_are_counted_at_each_pair_of_sizes(cube: xr.Dataset) -> None:
    assert methods_measured(cube).values.tolist() == [[2, 2, 2, 1], [1, 1, 1, 1]]


def test_with_several_processes_per_node_a_method_measured_at_one_counts_once(cube: xr.Dataset) -> None:
    both = xr.concat([cube, cube], dim="ppn").assign_coords(ppn=[1, 2])
    assert methods_measured(both).values.tolist() == methods_measured(cube).values.tolist()


def test_the_table_counts_the_cells(cube: xr.Dataset) -> None:
    row = coverage_table(xr.DataTree.from_dict({"/bcast": cube})).iloc[0]
    assert (row["methods"], row["measured"], row["cells"]) == (2, 11, 16)
    assert row["share"] == pytest.approx(100 * 11 / 16)


def test_the_sample_data_are_complete(fast_ethernet: xr.DataTree) -> None:
    table = coverage_table(fast_ethernet).set_index("collective").drop("pt2pt")
    assert (table["methods"].sum(), table["measured"].sum()) == (59, 12_067)
    assert (table["share"] == 100).all()


def test_the_spread_is_the_standard_deviation_relative_to_the_time(cube: xr.Dataset) -> None:
    # tests.cubes gives every cell a standard deviation of 2 % of its time.
    by_size = spread_by_size(cube)
    assert by_size is not None
    assert by_size["median"].values == pytest.approx([2.0] * 4)
    row = spread_table(xr.DataTree.from_dict({"/bcast": cube})).iloc[0]
    assert (row["median"], row["90 %"], row["largest"]) == pytest.approx((2.0, 2.0, 2.0))


@pytest.mark.parametrize("how", ["no variable", "all missing"])
def test_without_spread_there_is_none(cube: xr.Dataset, how: str) -> None:
    bare = cube.drop_vars("time_std") if how == "no variable" else cube.assign(time_std=cube["time_std"] * np.nan)
    assert spread_by_size(bare) is None
    assert np.isnan(spread_table(xr.DataTree.from_dict({"/bcast": bare}))["median"][0])


def test_what_is_lazy_gives_the_same_numbers(cube: xr.Dataset) -> None:
    lazy = cube.chunk({"message_size": 2})
    assert measured_share(lazy).equals(measured_share(cube))
    assert spread_by_size(lazy).equals(spread_by_size(cube))


def test_a_large_map_is_averaged_in_blocks() -> None:
    counts = methods_measured(synthetic_cube(3, 700, 2, seed=1))
    small = thinned(counts, most=180)
    assert small.sizes["message_size"] <= 180
    assert small.sizes["comm_size"] == 3
    assert float(small.mean()) == pytest.approx(2.0)


def test_every_cell_is_a_box_and_missing_ones_have_no_value(cube: xr.Dataset) -> None:
    boxes = draw_share(measured_share(cube))
    assert len(boxes) == 4
    assert np.isnan(boxes["value"]).sum() == 1
    assert draw_methods_measured(methods_measured(cube), 2)["measured"].tolist()[3] == "1 of 2 methods"


def test_the_drawings_can_be_rendered(cube: xr.Dataset) -> None:
    by_size = spread_by_size(cube)
    assert by_size is not None
    for element in (
        draw_share(measured_share(cube)),
        draw_methods_measured(methods_measured(cube), 2),
        draw_spread(by_size),
    ):
        assert hv.render(element, backend="bokeh").height > 100
