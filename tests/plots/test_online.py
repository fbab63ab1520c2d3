"""Online tuning as pictures, from data whose figures are known."""

import re

import holoviews as hv
import numpy as np
import pandas as pd
import pytest

from dashboard.plots import online, online_grids
from dashboard.plots.colors import MethodKey

BOX = [0.5, 1.0, 2.0, 4.0, 8.0]
ITERATIONS = [
    {"iteration": 1, "timings": 100, "boxes": {"default": BOX, "tuning": BOX, "tuned": []}, "tuned_over_best": None},
    {"iteration": 2, "timings": 250, "boxes": {"default": [], "tuning": BOX, "tuned": BOX}, "tuned_over_best": 1.25},
]
SHARE = np.array([[0.25, 0.75, 0.0], [0.6, 0.3, 0.1]])
LABELS = ("linear", "ring", "chain <4>")


def boxes(drawn: hv.Overlay) -> list[hv.Rectangles]:
    return [layer for layer in drawn if isinstance(layer, hv.Rectangles)]


def test_each_kind_has_its_box_beside_its_iteration() -> None:
    default, tuning, tuned = boxes(online.boxes_chart(ITERATIONS, "the best"))
    assert [len(each) for each in (default, tuning, tuned)] == [1, 2, 1]
    middles = [(each["x0"] + each["x1"]) / 2 for each in (default, tuning, tuned)]
    assert default["y0"][0] == np.log2(1.0)
    assert default["y1"][0] == np.log2(4.0)
    assert middles[0][0] < middles[1][0] < 1.5 < middles[1][1] < middles[2][0]
    assert list(tuned["p50"]) == ["2 ×"]
    hv.render(online.boxes_chart(ITERATIONS, "the best"))
    hv.render(online.boxes_chart([], "the best"))


def test_ticks_reach_what_takes_thousands_of_times_as_long() -> None:
    slow = {"iteration": 1, "boxes": {"default": [1.0, 900.0, 6634.0, 20000.0, 50000.0]}}
    ticks = online.boxes_chart([slow], "the best").opts.get("plot").kwargs["yticks"]
    assert [text for _, text in ticks][-5:] == ["2,000 ×", "5,000 ×", "10,000 ×", "20,000 ×", "50,000 ×"]


def test_probabilities_are_stacked_and_the_likeliest_at_the_end_comes_first() -> None:
    key = MethodKey.of(LABELS)
    (drawn,) = boxes(online.bands_chart(SHARE, [1, 2], key, "at 1 KiB"))
    heights = drawn["y1"] - drawn["y0"]
    assert list(drawn["method"][:3]) == ["linear", "ring", "chain <4>"]
    assert heights[:3] == pytest.approx(SHARE[0])
    assert heights[3:] == pytest.approx(SHARE[1])
    assert drawn["y1"][[2, 5]] == pytest.approx([1, 1])
    legend = online.bands_legend(key, SHARE)
    assert "chain &lt;4&gt;" in legend
    assert legend.index("linear") < legend.index("ring")
    hv.render(online.bands_chart(SHARE, [1, 2], key, ""))
    hv.render(online.bands_chart(np.empty((0, 3)), [], key, ""))


def test_means_and_regressions_of_the_methods_chosen_are_drawn() -> None:
    points = pd.DataFrame({"method": ["ring", "ring", "linear"], "message_size": [64, 1024, 64], "count": [9, 9, 9]})
    points["time"] = [1e-5, 1e-4, 1e-3]
    lines = pd.DataFrame({"method": ["ring"] * 3, "message_size": [32.0, 256.0, 4096.0], "time": [1e-5, 5e-5, 2e-4]})
    key = MethodKey.of(LABELS)
    drawn = online.fits_chart(points, lines, ["ring"], key, "2 nodes")
    (scatter,) = (layer for layer in drawn if isinstance(layer, hv.Scatter))
    assert list(scatter["height"]) == pytest.approx([-5, -4])
    assert list(scatter["size"]) == ["64 B", "1 KiB"]
    # What is looked up elsewhere is on show, too.
    low, high = online.fits_chart(points, lines.assign(time=1e-7), ["ring"], key, "2 nodes").opts.get().kwargs["ylim"]
    assert low < -7 < -4 < high
    hv.render(drawn)
    hv.render(online.fits_chart(points, lines, [], key, "2 nodes"))
    assert re.search(r">R</span> ring", online.fits_legend(["ring"], key))
    assert scatter.opts.get("style").kwargs["color"] == key.lines[1]


def test_bins_with_more_timings_are_darker_and_what_is_gained_is_green() -> None:
    seen = pd.DataFrame(
        {"message_size": [16, 64], "nodes": [2, 2], "ppn": [1, 1], "timings": [1, 900], "methods": [1, 6]}
    ).assign(best=["ring", "linear"])
    (drawn,) = boxes(online_grids.coverage_map(seen))
    dark = [sum(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in drawn["color"]]
    assert dark[1] < dark[0]
    assert list(drawn["timings"]) == ["1", "900"]
    beside = pd.DataFrame({"message_size": [16, 64, 256], "nodes": [2] * 3, "ppn": [1] * 3, "method": ["ring"] * 3})
    beside = beside.assign(default=[2e-6, 1e-6, np.nan], tuned=[1e-6, 2e-6, 1e-6], ratio=[0.5, 2.0, np.nan])
    (drawn,) = boxes(online_grids.gain_map(beside))
    assert list(drawn["ratio"]) == ["0.50", "2.00", "?"]
    green, orange, grey = (tuple(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in drawn["color"])
    assert green[1] > green[0]
    assert orange[0] > orange[1]
    assert len(set(grey)) == 1
    hv.render(online_grids.gain_map(beside))
    # The columns of 1, 2 and 4 bytes have a quarter of the others' width, and no room for four signs.
    sizes = [1, 2, 4, *(16 << 4 * at for at in range(6))]
    many = pd.DataFrame({"message_size": sizes, "nodes": 2, "ppn": 1, "method": "ring"})
    narrow = online_grids.gain_map(many.assign(default=1e-6, tuned=1e-6, ratio=1.0))
    written = [text for labels in narrow.values() if isinstance(labels, hv.Labels) for text in labels["text"] if text]
    assert written == ["1.00"] * 6
    hv.render(online_grids.coverage_map(seen.iloc[:0]))


def test_a_bin_that_begins_at_nothing_is_of_one_process_and_more() -> None:
    seen = pd.DataFrame(
        {"message_size": [16], "nodes": [31], "ppn": [0], "timings": [1], "methods": [1], "best": "ring"}
    )
    (drawn,) = boxes(online_grids.coverage_map(seen))
    assert list(drawn["row"]) == ["≥ 31 nodes × 1"]


def test_the_table_tells_what_the_chart_draws() -> None:
    table = online.iterations_table(ITERATIONS)
    assert "tuned / best" in table
    assert "1.250" in table
    assert "default / best" not in table
    assert table.count("<tr>") == 3
