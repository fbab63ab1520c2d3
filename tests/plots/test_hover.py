"""What a map says under the pointer."""

from pathlib import Path

import holoviews as hv
import numpy as np
import pytest
import xarray as xr
from bokeh.models import HoverTool
from playwright.sync_api import Browser

from dashboard.decisions import decision_map, penalty, quadtree
from dashboard.plots import hover
from dashboard.plots.axes import Axes
from dashboard.plots.colors import MethodKey
from dashboard.plots.decision_map import code_image
from dashboard.plots.hover import CellFigures, cell_columns
from dashboard.plots.live import LiveSources
from dashboard.plots.maps import stacked
from dashboard.plots.raster import Raster
from dashboard.plots.ties import tie_boxes
from dashboard.session.prepared import prepare
from tests.cubes import cube_of, synthetic_cube


def parts(side: int) -> tuple[xr.Dataset, xr.Dataset, xr.Dataset]:
    cube = synthetic_cube(side, side, 5, seed=6, missing=0.2)
    dmap = decision_map(cube)
    return cube, dmap, penalty(cube, quadtree(dmap, max_depth=1))


def rendered(side: int) -> tuple[CellFigures, HoverTool, tuple[xr.Dataset, xr.Dataset, xr.Dataset]]:
    cube, dmap, penalties = parts(side)
    axes, key = Axes.of(dmap), MethodKey.of(dmap["method"].values)
    figures = CellFigures(axes, key, "bcast")
    figures.offer(lambda: cell_columns(cube, dmap, penalties))
    image = code_image(dmap["best"].values, Raster.of(axes), key.colors)
    plot = hv.renderer("bokeh").get_plot(stacked("map", axes, {"image": image}, LiveSources(), figures.hook))
    (tool,) = [tool for tool in plot.state.tools if isinstance(tool, HoverTool)]
    return figures, tool, (cube, dmap, penalties)


def test_beside_a_map_of_many_sizes_the_last_label_has_room() -> None:
    sizes = [*range(2, 225)]
    axes = Axes.of(synthetic_cube(2, 223, 2, seed=1).assign_coords(message_size=[7168 * size for size in sizes]))
    position, label = axes.x.ticks()[-1]
    low, high = axes.x.limits
    layer = code_image(np.zeros(axes.shape, dtype=np.int64), Raster.of(axes), ["#abcdef"])
    plot = hv.renderer("bokeh").get_plot(stacked("map", axes, {"image": layer}, LiveSources()))
    # Signs of 12 pixels are some 6 wide.
    beside = (high - position) / (high - low) * plot.state.min_height
    assert plot.state.min_border_right + beside >= 6 * len(label) / 2 > beside


def test_columns_hold_every_figure_of_every_cell() -> None:
    cube, dmap, penalties = parts(6)
    columns = cell_columns(cube, dmap, penalties)
    assert set(columns) == {
        *("chosen", "chosen_time", "chosen_repetitions", "unmeasured"),
        *("best", "best_time", "best_repetitions"),
        "measured",
    }
    row, column = 3, 4
    cell = row * 6 + column
    best = int(dmap["best"].values[row, column])
    assert columns["best"][cell] == best
    assert columns["best_time"][cell] == pytest.approx(float(cube["time"].values[best, row, column]))
    assert columns["best_repetitions"][cell] == cube["repetitions"].values[best, row, column]
    assert columns["measured"][cell] == np.isfinite(cube["time"].values[:, row, column]).sum()


def test_the_figures_of_a_small_map_lie_beside_it() -> None:
    _, tool, (_, _, penalties) = rendered(6)
    arguments = tool.formatters["@image"].args
    assert arguments["collective"] == "bcast"
    assert arguments["x_names"][:2] == ["1 B", "2 B"]
    assert arguments["y_names"][0] == "2 processes"
    assert arguments["cells"].data["chosen"].tolist() == penalties["chosen"].values.ravel().tolist()


@pytest.mark.slow
def test_what_there_is_one_of_is_said_as_one_under_the_pointer(chromium: Browser) -> None:
    cube = cube_of(np.ones((1, 1, 1)), [1], [8])
    dmap, key = decision_map(cube), MethodKey.of(["linear"])
    figures = CellFigures(Axes.of(dmap), key, "bcast")
    columns = cell_columns(cube, dmap, penalty(cube, quadtree(dmap)))
    cells = {"tags": [], "data": {name: values.tolist() for name, values in columns.items()}}
    told = {**figures._facts, "cells": cells, "ask": {"tags": []}, "special_vars": {"x": 3.0, "y": 0.0}}
    run = "([code, told]) => new Function(...Object.keys(told), code)(...Object.values(told))"
    page = chromium.new_page()
    text = page.evaluate(run, [Path(hover.__file__).with_name("hover.js").read_text(encoding="utf-8"), told])
    page.close()
    assert text.startswith("bcast · 1 process · 8 B")
    assert "1 method measured" in text


def test_new_figures_replace_the_old_ones() -> None:
    figures, tool, (cube, dmap, penalties) = rendered(6)
    changed = penalties.assign(chosen=penalties["chosen"] * 0)
    figures.offer(lambda: cell_columns(cube, dmap, changed))
    assert set(tool.formatters["@image"].args["cells"].data["chosen"]) == {0}


def test_those_of_a_large_map_come_when_the_pointer_asks() -> None:
    _, tool, _ = rendered(70)
    arguments = tool.formatters["@image"].args
    assert arguments["cells"].tags[0] == "stale"
    assert not arguments["cells"].data
    arguments["ask"].tags = [1]
    assert arguments["cells"].tags == []
    assert len(arguments["cells"].data["chosen"]) == 70 * 70


def test_times_that_cannot_be_trusted_are_told_at_their_cell_and_crossed() -> None:
    # As one job recorded an allreduce: 7,995 us for 8 B, 47.6 us for 256 KiB.
    times = np.array([[[7995, 10, 47.6]], [[9, 11, 50]]]) * 1e-6
    cube = cube_of(times, [4], [8, 64, 1 << 18], benchmark="colltune bench, skampi")
    prepared = prepare(cube)
    untrusted = prepared.untrusted
    assert untrusted is not None
    assert [words.split(": ")[0] for words in untrusted.ravel()] == [str(cube["method"].values[0]), "", ""]
    penalties = penalty(prepared.problem.slices[0].cube, quadtree(prepared.decision_map, max_depth=1))
    columns = cell_columns(prepared.shown, prepared.decision_map, penalties, untrusted)
    assert columns["untrusted"].tolist() == untrusted.ravel().tolist()
    (box,) = tie_boxes(untrusted != "", Axes.of(prepared.decision_map))
    assert box[2] - box[0] == Axes.of(prepared.decision_map).x.edges[1] - Axes.of(prepared.decision_map).x.edges[0]
    assert prepare(cube.assign_attrs(benchmark="OSU Micro-Benchmarks")).untrusted is None
