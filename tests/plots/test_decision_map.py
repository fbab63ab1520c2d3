"""Decision maps as data: images, outlines, letters, markers."""

import holoviews as hv
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.decisions import decision_map, exact, quadtree
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.decision_map import (
    FIGURE_HEIGHT,
    FIGURE_WIDTH,
    LOWEST,
    NARROWEST,
    cell_texts,
    code_image,
    codes_in_runs,
    has_letters,
    paint_codes,
    pin_marker,
    region_outline,
    region_segments,
    unmeasured_ground,
)
from dashboard.plots.raster import Raster
from tests.cubes import synthetic_cube


@pytest.fixture(scope="module")
def dmap() -> xr.Dataset:
    return decision_map(synthetic_cube(9, 14, 6, seed=5, missing=0.3))


def drawn(dmap: xr.Dataset) -> tuple[Axes, Raster, MethodKey]:
    axes = Axes.of(dmap)
    return axes, Raster.of(axes), MethodKey.of(dmap["method"].values)


def test_the_image_shows_each_cells_method_where_the_cell_lies(dmap: xr.Dataset) -> None:
    axes, raster, key = drawn(dmap)
    image = code_image(dmap["best"].values, raster, key.colors).draw()
    for comm_size in dmap["comm_size"].values:
        for message_size in dmap["message_size"].values:
            best = int(dmap["best"].sel(comm_size=comm_size, message_size=message_size))
            x, y = axes.centre((comm_size, message_size))
            assert image[x, y] == (best if best >= 0 else 255)


def test_cells_without_a_method_are_left_open() -> None:
    axes = Axes.of(decision_map(synthetic_cube(2, 2, 3, seed=1)))
    pixels = paint_codes(np.array([[0, -1], [2, 1]]), Raster.of(axes), 3)
    assert pixels.dtype == np.uint8
    assert pixels.tolist() == [[0, 255], [2, 1]]
    image = code_image(np.array([[0, -1], [2, 1]]), Raster.of(axes), ["red", "green", "blue"]).draw()
    style = hv.Store.lookup_options("bokeh", image, "plot").kwargs
    assert style["clipping_colors"]["max"] == "rgba(0, 0, 0, 0)"


def test_more_methods_than_a_byte_holds_are_drawn() -> None:
    axes = Axes.of(decision_map(synthetic_cube(2, 2, 3, seed=1)))
    assert paint_codes(np.array([[0, -1], [254, 299]]), Raster.of(axes), 300).tolist() == [[0, 65535], [254, 299]]


def test_the_ground_covers_the_whole_map(dmap: xr.Dataset) -> None:
    axes = Axes.of(dmap)
    ground = unmeasured_ground(axes).draw()
    assert len(ground) == 1
    left, bottom, right, top = (float(ground.dimension_values(at)[0]) for at in range(4))
    assert ((left, right), (bottom, top)) == (axes.x.limits, axes.y.limits)


def covered(segments: np.ndarray, axes: Axes) -> set[tuple[str, float, float]]:
    """Pieces of cell borders that the lines run along."""
    pieces = set()
    for x0, y0, x1, y1 in segments:
        edges, along = (axes.y.edges, (y0, y1)) if x0 == x1 else (axes.x.edges, (x0, x1))
        kind, at = ("upright", x0) if x0 == x1 else ("level", y0)
        pieces |= {(kind, at, edge) for edge in edges if along[0] <= edge < along[1]}
    return pieces


@given(seed=st.integers(0, 50), depth=st.integers(0, 5), rows=st.integers(1, 12), columns=st.integers(1, 12))
def test_lines_run_where_and_only_where_regions_meet(seed: int, depth: int, rows: int, columns: int) -> None:
    dmap = decision_map(synthetic_cube(rows, columns, 4, seed=seed))
    axes, tree = Axes.of(dmap), quadtree(dmap, max_depth=depth)
    regions = tree.regions()
    ids = np.full(axes.shape, -1)
    for index, region in enumerate(regions.itertuples()):
        inside = (dmap["comm_size"].values > region.comm_low) & (dmap["comm_size"].values <= region.comm_high)
        across = (dmap["message_size"].values > region.message_low) & (
            dmap["message_size"].values <= region.message_high
        )
        ids[np.ix_(inside, across)] = index
    expected = {
        ("upright", axes.x.edges[c + 1], axes.y.edges[r]) for r, c in np.argwhere(ids[:, 1:] != ids[:, :-1])
    } | {("level", axes.y.edges[r + 1], axes.x.edges[c]) for r, c in np.argwhere(ids[1:] != ids[:-1])}
    assert covered(region_segments(regions, axes), axes) == expected


def test_lines_that_touch_are_joined() -> None:
    dmap = decision_map(synthetic_cube(4, 4, 4, seed=1))
    regions = pd.DataFrame(
        [(-np.inf, 3, -np.inf, 2), (-np.inf, 3, 2, np.inf), (3, np.inf, -np.inf, 2), (3, np.inf, 2, np.inf)],
        columns=["comm_low", "comm_high", "message_low", "message_high"],
    )
    assert region_segments(regions, Axes.of(dmap)).tolist() == [[1.5, 1.5, 1.5, 5.5], [-0.5, 3.5, 3.5, 3.5]]


def test_an_outline_is_one_line_with_gaps() -> None:
    outline = region_outline(np.array([[0.0, 1, 0, 2], [3, 4, 5, 4]])).draw()
    assert outline.dimension_values(0) == pytest.approx([0, 0, np.nan, 3, 5, np.nan], nan_ok=True)
    assert outline.dimension_values(1) == pytest.approx([1, 2, np.nan, 4, 4, np.nan], nan_ok=True)


def test_a_single_region_has_no_lines() -> None:
    dmap = decision_map(synthetic_cube(3, 3, 1, seed=1))
    assert region_segments(exact(dmap).regions(), Axes.of(dmap)).shape == (0, 4)
    assert all(np.isnan(column).all() for column in region_outline(np.empty((0, 4))).columns.values())


def test_cells_side_by_side_of_one_method_have_its_code_once() -> None:
    dmap = decision_map(synthetic_cube(2, 8, 3, seed=1))
    axes, key = Axes.of(dmap), MethodKey.of(["pipeline 8KiB", "chain 16KiB fanout=4", "linear"])
    methods = np.array([[0, 0, 0, 2, -1, 2, 2, 1], [2] * 8])
    columns = dict(enumerate(codes_in_runs(methods, axes, key)))
    # The last column is as wide as the others: too narrow for C16/4 where the map is as narrow as it gets.
    wide = {at: text for at, text in columns.items() if text}
    assert wide == {1: "P8", 3: "L", 5: "L", 7: "C16/4" if 5 * FIGURE_WIDTH <= NARROWEST / 8 else "C", 11: "L"}


def test_a_code_that_does_not_fit_is_the_algorithm_s_letter() -> None:
    dmap = decision_map(synthetic_cube(2, 24, 3, seed=1))
    axes, key = Axes.of(dmap), MethodKey.of(["chain 16KiB fanout=4", "linear"])
    methods = np.array([[0, 1] * 12, [0] * 24])
    texts = codes_in_runs(methods, axes, key)
    assert set(texts[:24]) == {"C", "L"}
    assert [text for text in texts[24:] if text] == ["C16/4"]


def test_a_code_that_does_not_fit_is_not_cut_to_another_method_s() -> None:
    dmap = decision_map(synthetic_cube(1, 24, 3, seed=1))
    axes, key = Axes.of(dmap), MethodKey.of(["chain 16KiB fanout=4", "chain"])
    assert set(codes_in_runs(np.array([[0, 1] * 12]), axes, key)) == {"", "C"}


@pytest.mark.parametrize(("rows", "columns"), [(2, 40), (38, 4)])
def test_cells_that_are_too_narrow_or_low_for_a_letter_have_none(rows: int, columns: int) -> None:
    axes, key = Axes.of(decision_map(synthetic_cube(rows, columns, 3, seed=1))), MethodKey.of(["linear", "binomial"])
    methods = np.indices((rows, columns)).sum(axis=0) % 2
    texts = codes_in_runs(methods, axes, key).reshape(rows, columns)
    wide, high = (np.diff(axis.edges) / np.ptp(axis.edges) for axis in (axes.x, axes.y))
    narrow = (NARROWEST * wide < FIGURE_WIDTH + 1) | (LOWEST * high < FIGURE_HEIGHT)[:, None]
    assert narrow.any()
    assert set(texts[narrow]) == {""}


def test_letters_are_of_the_page_s_font_also_where_there_is_no_helvetica(dmap: xr.Dataset) -> None:
    axes, _, _ = drawn(dmap)
    labels = cell_texts(np.full(dmap["best"].size, "A", dtype=object), axes).draw()
    font = hv.render(labels).renderers[0].glyph.text_font
    assert font.value.endswith("sans-serif")


def test_a_map_of_many_cells_has_no_letters() -> None:
    assert not has_letters(Axes.of(synthetic_cube(64, 64, 4, seed=1)))


def test_the_marker_is_on_the_pinned_cell_and_nowhere_without_one(dmap: xr.Dataset) -> None:
    axes = Axes.of(dmap)
    marker = pin_marker((5, 64), axes).draw()
    assert (marker.dimension_values(0)[0], marker.dimension_values(1)[0]) == axes.centre((5, 64))
    assert np.isnan(pin_marker(None, axes).draw().dimension_values(0)).all()
