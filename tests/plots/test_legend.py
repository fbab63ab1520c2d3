"""Legends, the list of a cell, tables and source as HTML."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dashboard.decisions import decision_map, penalty, quadtree, statistics
from dashboard.plots.cell import cell_table, measured_at
from dashboard.plots.colors import MethodKey
from dashboard.plots.legend import method_legend, method_shares, penalty_legend
from dashboard.plots.penalty import class_shares
from dashboard.plots.source import MOST_LINES, highlighted
from dashboard.plots.statistics import statistics_table
from dashboard.plots.table import ORDERS, decision_table, matching, ordered, table_page
from tests.cubes import cube_of, synthetic_cube


class Rows(HTMLParser):
    """Texts of the cells of each row of a table's body."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def cube() -> xr.Dataset:
    return synthetic_cube(12, 20, 75, seed=3)


def test_the_legend_lists_methods_that_are_seen_most_frequent_first(cube: xr.Dataset) -> None:
    dmap = decision_map(cube)
    penalties = penalty(cube, quadtree(dmap, max_depth=2))
    key = MethodKey.of(dmap["method"].values)
    shares = method_shares(key, dmap["best"].values, penalties["chosen"].values)
    assert set(shares["method"]) == set(np.unique(dmap["best"])) | set(np.unique(penalties["chosen"]))
    assert shares["best"].is_monotonic_decreasing
    assert shares["best"].sum() == pytest.approx(1)
    assert shares["chosen"].sum() == pytest.approx(1)
    rows = Rows(method_legend(shares, 75)).rows
    assert [row[0].split()[0] for row in rows[1:]] == list(shares["letter"])
    assert f"{len(shares)} of 75" in method_legend(shares, 75)


def test_shares_are_of_the_cells_that_were_measured() -> None:
    key = MethodKey.of(["a", "b"])
    shares = method_shares(key, np.array([[0, 0, 1, -1]]), np.array([[0, 0, 0, 1]]))
    assert shares[["label", "best", "chosen"]].values.tolist() == [["a", 2 / 3, 1.0], ["b", 1 / 3, 0.0]]
    assert method_shares(key, np.full((1, 2), -1), np.array([[0, 1]]))["chosen"].tolist() == [0.5, 0.5]


def test_what_a_file_calls_a_method_is_text_not_html() -> None:
    key = MethodKey.of(["<script>alert(1)</script>"])
    text = method_legend(method_shares(key, np.zeros((1, 1), int), np.zeros((1, 1), int)), 1)
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_the_penalty_legend_tells_unmeasured_cells_apart_without_colour(cube: xr.Dataset) -> None:
    text = penalty_legend(class_shares(penalty(cube, quadtree(decision_map(cube)))))
    assert [row[0].strip() for row in Rows(text).rows[1:]][-1] == "not measured"
    assert "swatch unmeasured" in text


def test_a_cell_lists_every_method_measured_there_fastest_first(cube: xr.Dataset) -> None:
    listed = measured_at(cube, (5, 64))
    assert len(listed) == 75
    assert listed["time"].is_monotonic_increasing
    first = int(decision_map(cube)["best"].sel(comm_size=5, message_size=64))
    assert listed["method"][0] == first
    assert listed["penalty"][0] == 0


def test_methods_not_measured_there_are_not_listed() -> None:
    time = np.array([[[1.0]], [[np.nan]], [[0.5]]])
    assert measured_at(cube_of(time, [2], [1]), (2, 1))["method"].tolist() == [2, 0]
    assert measured_at(cube_of(np.full((2, 1, 1), np.nan), [2], [1]), (2, 1)).empty


def test_times_within_each_others_spread_tie_but_not_in_a_chain() -> None:
    # Spread is 2 % of the time: 1.00 ± 0.02 and 1.03 ± 0.0206 overlap, 1.06 overlaps the second only.
    cube = cube_of(np.array([1.0, 1.03, 1.06, 2.0]).reshape(4, 1, 1), [2], [1])
    listed = measured_at(cube, (2, 1))
    assert listed["rank"].tolist() == [1, 1, 3, 4]
    assert listed["tied"].tolist() == [True, True, False, False]
    assert measured_at(cube, (2, 1), tolerance=6)["rank"].tolist() == [1, 1, 1, 4]


def test_without_a_spread_only_equal_times_tie() -> None:
    cube = cube_of(np.array([1.0, 1.0, 1.0001]).reshape(3, 1, 1), [2], [1]).drop_vars("time_std")
    assert measured_at(cube, (2, 1))["rank"].tolist() == [1, 1, 3]


def test_the_list_marks_ties_and_the_chosen_method() -> None:
    cube = cube_of(np.array([1.0, 1.03, 2.0]).reshape(3, 1, 1), [2], [1])
    key = MethodKey.of(cube["method"].values)
    text = cell_table(measured_at(cube, (2, 1)), key, (2, 1), chosen=2)
    rows = Rows(text).rows[1:]
    assert [row[0] for row in rows] == ["1 =", "1 =", "3"]
    assert "chosen" in rows[2][1]
    assert "Pinned: 2 processes, 1 B. 3 methods measured" in text


def test_the_table_holds_what_the_maps_show(cube: xr.Dataset) -> None:
    dmap = decision_map(cube)
    penalties = penalty(cube, quadtree(dmap, max_depth=2))
    frame = decision_table(dmap, penalties)
    assert len(frame) == 240
    row = frame[(frame["processes"] == 5) & (frame["message size [B]"] == 64)].iloc[0]
    cell = penalties.sel(comm_size=5, message_size=64)
    assert row["chosen"] == str(cube["method"].values[int(cell["chosen"])])
    assert row["best time [µs]"] == pytest.approx(float(cell["best_time"]) * 1e6)
    worst = ordered(frame, "largest penalty first")
    assert worst["penalty [%]"].iloc[0] == pytest.approx(float(penalties["penalty"].max()))
    assert [len(ordered(frame, order)) for order in ORDERS] == [240, 240, 240]


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("", [0, 1, 2]), ("Binomial", [0, 1]), ("binomial, linear", [0]), ("(no such method", [])],
)
def test_rows_of_the_table_of_which_all_words_hold(asked: str, rows: list[int]) -> None:
    methods = {"best": ["linear", "binomial 1KiB", ""], "chosen": ["binomial", "pipeline", "pipeline"]}
    assert matching(pd.DataFrame(methods), asked).index.tolist() == rows


def test_a_page_of_the_table_is_as_long_as_asked(cube: xr.Dataset) -> None:
    dmap = decision_map(cube)
    frame = decision_table(dmap, penalty(cube, quadtree(dmap)))
    text = table_page(frame, 200, 250)
    assert len(Rows(text).rows) == 41
    assert "Cells 201 to 240 of 240" in text


def test_an_unmeasured_cell_says_so_in_the_table() -> None:
    cube = synthetic_cube(3, 3, 2, seed=1)
    cube["time"][:, 1, 1] = np.nan
    dmap = decision_map(cube)
    frame = decision_table(dmap, penalty(cube, quadtree(dmap)))
    assert (frame["best"] == "").sum() == 1
    assert "not measured" in table_page(frame, 0, 9)


def test_statistics_are_those_of_tables_6_4_and_6_5(cube: xr.Dataset) -> None:
    tree = quadtree(decision_map(cube), max_depth=2)
    text = statistics_table(statistics(cube, tree), 17)
    names = [row[1] for row in Rows(text).rows]
    assert {"max", "min", "mean", "median", "leaves", "nodes", "lines of source"} <= set(names)
    values = {row[1]: row[2] for row in Rows(text).rows[-3:]}
    assert values == {"leaves": str(tree.leaves), "nodes": str(tree.nodes), "lines of source": "17"}


def test_source_keeps_its_text_under_the_colours() -> None:
    text = "int f(int a) { return a < 3 ? 1 : 2; } /* <b> */\n"
    html = highlighted(text)
    assert re.sub(r"<[^>]+>", "", html).replace("&lt;", "<").replace("&gt;", ">") == text
    assert 'class="kt"' in html
    assert "http" not in html


def test_a_very_long_source_says_how_much_is_not_shown() -> None:
    html = highlighted("int a;\n" * (MOST_LINES + 20))
    assert "20 more lines" in html
