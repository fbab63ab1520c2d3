"""Cubes: grids, pooling, units, combining and what must not be combined."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from loaders import LoadError, open_results
from loaders.axes import Axes
from loaders.cube import combine_attrs, cube_table, make_cube
from loaders.methods import format_segment
from loaders.pooling import unexplained
from loaders.rows import CollectiveRows
from tests.files import skampi


def cube_of(**columns: object) -> xr.Dataset:
    rows = CollectiveRows("bcast")
    rows.add(pd.DataFrame({"segment_size": 0, **columns}))
    return make_cube(rows, {})


def test_unmeasured_cells_are_missing_and_axes_sorted(tmp_path: Path) -> None:
    cube = open_results(skampi(tmp_path / "a.sko", (8, 64, 9.0, 0, 5), (2, 1, 5.0, 0, 5)), algorithm="linear")["bcast"]
    assert cube["comm_size"].values.tolist() == [2, 8]
    assert cube["message_size"].values.tolist() == [1, 64]
    assert np.isnan(cube["time"].values[0]).tolist() == [[False, True], [True, False]]


def test_units_and_digest_are_there(tmp_path: Path) -> None:
    cube = open_results(skampi(tmp_path / "a.sko", (2, 1, 5.0, 0, 5)), algorithm="linear")["bcast"]
    units = {n: cube[n].attrs["units"] for n in ("time", "time_std", "message_size", "segment_size", "comm_size")}
    assert units == {"time": "s", "time_std": "s", "message_size": "B", "segment_size": "B", "comm_size": "1"}
    assert len(cube.attrs["digest"]) == 16
    (source,) = json.loads(cube.attrs["sources"])
    assert source["rows"] == 1
    assert len(source["digest"]) == 16


def test_the_same_method_measured_twice_is_pooled_by_repetitions(tmp_path: Path) -> None:
    """Pooling two launches gives what all their repetitions together would."""
    rng = np.random.default_rng(1)
    launches = [rng.normal(100, 5, 8), rng.normal(110, 3, 24)]
    for number, samples in enumerate(launches):
        error = samples.std(ddof=1) / len(samples) ** 0.5
        skampi(tmp_path / f"{number}.sko", (4, 64, samples.mean(), error, len(samples)))
    cell = open_results(tmp_path, algorithm="linear")["bcast"].to_dataset().isel(method=0, comm_size=0, message_size=0)
    together = np.concatenate(launches) * 1e-6
    assert int(cell["repetitions"]) == 32
    assert float(cell["time"]) == pytest.approx(together.mean())
    assert float(cell["time_std"]) == pytest.approx(together.std(ddof=1))


def test_beside_pooled_cells_what_was_measured_once_keeps_its_deviation_or_has_none() -> None:
    measured = {"message_size": [1, 1, 8, 64, 512, 512, 4096, 4096], "time": [10.0, 20.0, 7.0, 7.0, 1.0, 3.0, 5.0, 5.0]}
    none = [np.nan] * 2
    spread = {"time_std": [0.0, 0.0, 3.0, np.nan, *none, 1.0, 1.0], "repetitions": [1, 1, 5, 4, *none, *none]}
    cube = cube_of(algorithm="x", comm_size=2, **measured, **spread)
    assert cube["time"].values.ravel().tolist() == [15.0, 7.0, 7.0, 2.0, 5.0]
    # Of 10 and 20, and of 1 and 3: half the square of their difference.
    assert cube["time_std"].values.ravel().tolist() == pytest.approx([50**0.5, 3.0, np.nan, 2**0.5, 1.0], nan_ok=True)
    # Rows that tell nothing of themselves are repetitions; how many those stand for that tell a deviation nobody knows.
    assert cube["repetitions"].values.ravel().tolist() == pytest.approx([2.0, 5.0, 4.0, 2.0, np.nan], nan_ok=True)


def test_runs_that_print_their_mean_alone_are_repetitions() -> None:
    """As IMB, OSU and nccl-tests print them: 10 and 11, of 1000 repetitions each, are no 2000 half a second apart.

    What was run once tells no deviation, nor do means beside a row that tells its own; one without a number stays.
    """
    measured = {"message_size": [1, 1, 2, 4, 4, 8], "time": [10.0, 11.0, 5.0, 3.0, 3.0, 7.0]}
    std, count = [np.nan, np.nan, np.nan, np.nan, 1.0, 3.0], [1000, 3000, 1000, 10, 10, np.nan]
    cube = cube_of(algorithm="x", comm_size=2, **measured, time_std=std, repetitions=count)
    assert cube["time"].values.ravel().tolist() == [10.5, 5.0, 3.0, 7.0]
    assert cube["time_std"].values.ravel().tolist() == pytest.approx([0.5**0.5, np.nan, np.nan, 3.0], nan_ok=True)
    assert cube["repetitions"].values.ravel().tolist() == pytest.approx([2.0, 1000.0, 20.0, np.nan], nan_ok=True)


def test_raw_samples_of_one_cell_pool_in_order() -> None:
    cube = cube_of(
        algorithm="x", comm_size=2, message_size=[1, 1, 8, 1], repetition=[0, 1, 0, 0], time=[3.0, 1.0, 9.0, 2.0]
    )
    assert cube["sample"].sel(message_size=1).values.ravel().tolist() == [3.0, 1.0, 2.0]
    assert cube["time"].values.ravel().tolist() == [2.0, 9.0]
    assert cube["repetitions"].values.ravel().tolist() == [3.0, 1.0]
    assert np.isnan(cube["sample"].sel(message_size=8).values.ravel()[1:]).all()


def test_two_samples_have_a_deviation_and_one_has_none() -> None:
    cube = cube_of(algorithm="x", comm_size=2, message_size=[1, 1, 8], repetition=[0, 1, 0], time=[3.0, 1.0, 9.0])
    assert cube["time_std"].values.ravel().tolist() == pytest.approx([2**0.5, np.nan], nan_ok=True)


def test_how_far_the_rows_of_a_file_are_apart_is_of_that_file_alone() -> None:
    rows, cell = CollectiveRows("bcast"), {"algorithm": "x", "segment_size": 0, "comm_size": 2, "message_size": 8}
    rows.add(pd.DataFrame([{**cell, "time": 1.0}]), 0)
    rows.add(pd.DataFrame([{**cell, "time": 10.0}, {**cell, "time": 30.0}]), 1)
    ((source, repeated, far),) = unexplained(rows)
    assert (source, repeated, far.cells, far.most) == (1, 0, 1, 3.0)


def test_what_is_looked_at_in_all_files_together_is_not_made_anew_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of thousands of files that took most of the time."""
    made: list[Axes] = []
    init = Axes.__init__
    monkeypatch.setattr(Axes, "__init__", lambda axes, rows: made.append(axes) or init(axes, rows))
    counts = []
    for files in (3, 12):
        made.clear()
        for number in range(files):
            skampi(tmp_path / f"{number}.sko", (2, 1, 5.0 + number / 100, 0, 5))
        open_results(tmp_path, algorithm="x")
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_processes_per_node_are_a_dimension_only_where_they_differ() -> None:
    cube = cube_of(algorithm="x", comm_size=[2, 4], message_size=1, ppn=2, time=[1.0, 2.0])
    assert cube["time"].dims == ("method", "comm_size", "message_size")
    assert cube.attrs["ppn"] == 2
    cube = cube_of(algorithm="x", comm_size=[4, 4], message_size=1, ppn=[1, 2], time=[1.0, 2.0])
    assert cube["time"].dims == ("method", "comm_size", "message_size", "ppn")
    assert cube["time"].values.ravel().tolist() == [1.0, 2.0]


def test_methods_keep_the_order_of_their_first_appearance(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        skampi(tmp_path / f"{name}.sko", (2, 1, 5.0, 0, 5))
    files = [tmp_path / f"{name}.sko" for name in ("b", "a", "c")]
    cube = open_results(files, pattern="{algorithm}.sko")["bcast"]
    assert cube["method"].values.tolist() == ["b", "a", "c"]
    assert open_results(tmp_path, pattern="{algorithm}.sko")["bcast"]["method"].values.tolist() == ["a", "b", "c"]


def test_totals_become_blocks_and_rounding_is_told() -> None:
    cube = cube_of(algorithm="x", comm_size=[4, 60, 60], total_size=[4096, 256, 32], time=[1.0, 2.0, 3.0])
    assert cube["message_size"].values.tolist() == [1, 4, 1024]
    assert "2 totals not divisible" in cube.attrs["rounded"]


def test_different_systems_are_a_conflict(tmp_path: Path) -> None:
    for system in ("grig", "frodo"):
        (tmp_path / system).mkdir()
        skampi(tmp_path / system / "a.sko", (2, 1, 5.0, 0, 5))
    with pytest.raises(LoadError, match=r"system of bcast is 'grig' .* 'frodo' .*--select system=grig"):
        open_results([tmp_path / "grig", tmp_path / "frodo"], pattern="{system}/a.sko", algorithm="x")


def test_other_attributes_are_listed_side_by_side() -> None:
    assert combine_attrs([("a", {"date": "Mon"}), ("b", {"date": "Tue"}), ("c", {"date": "Mon"})]) == {
        "date": "Mon; Tue"
    }


def test_an_absurd_grid_is_refused_before_it_eats_the_memory() -> None:
    count = 20_000
    with pytest.raises(LoadError, match="cells; are the columns mapped rightly"):
        cube_of(algorithm="x", comm_size=np.arange(1, count + 1), message_size=np.arange(count), time=1.0)


def test_an_absurd_grid_of_several_files_is_refused_too(tmp_path: Path) -> None:
    rows = "".join(f"bcast,a{n},{n + 1},{n},1e-5\n" for n in range(3000))
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"collective,algorithm,comm_size,message_size,time\n{rows}")
    with pytest.raises(LoadError, match=r"bcast: \(3000, 3000, 3000, 1\) .* would make 2\.7e\+10 cells"):
        open_results(tmp_path)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("xyz"),
            st.sampled_from([0, 1024]),
            st.integers(1, 5),
            st.integers(0, 9),
            st.floats(1e-9, 1e3),
        ),
        min_size=1,
        max_size=60,
    )
)
def test_every_row_reaches_its_cell(rows: list[tuple[str, int, int, int, float]]) -> None:
    frame = pd.DataFrame(rows, columns=["algorithm", "segment_size", "comm_size", "message_size", "time"])
    collected = CollectiveRows("bcast")
    collected.add(frame.iloc[: len(frame) // 2])
    collected.add(frame.iloc[len(frame) // 2 :])
    cube = make_cube(collected, {})
    keys = ["algorithm", "segment_size", "comm_size", "message_size"]
    expected = frame.groupby(keys)["time"].mean().sort_index()
    back = cube_table(cube).set_index(keys)["time"].sort_index()
    pd.testing.assert_series_equal(back, expected, rtol=1e-12, check_index_type=False)


@pytest.mark.parametrize(
    ("size", "text"), [(1024, "1KiB"), (8192, "8KiB"), (1000, "1000B"), (1 << 20, "1MiB"), (3 << 30, "3GiB")]
)
def test_segment_sizes_in_labels(size: int, text: str) -> None:
    assert format_segment(size) == text


def test_every_method_has_its_own_label(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "collective,algorithm,segment_size,comm_size,message_size,time\n"
        "bcast,pipeline 8KiB,0,4,1,1e-5\nbcast,pipeline,8192,4,1,2e-5\nbcast,pipeline 8KiB (2),0,4,1,3e-5\n"
    )
    cube = open_results(tmp_path / "t.csv")["bcast"]
    assert cube["time"].values.ravel().tolist() == pytest.approx([1e-5, 2e-5, 3e-5])
    assert cube["method"].values.tolist() == ["pipeline 8KiB", "pipeline 8KiB (3)", "pipeline 8KiB (2)"]


def test_two_library_numbers_for_one_method_are_a_contradiction(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "collective,algorithm,segment_size,comm_size,message_size,time,library_id\n"
        "bcast,chain,0,4,1,1e-5,2\nbcast,chain,0,4,2,2e-5,3\n"
    )
    with pytest.raises(LoadError, match=r"chain.*numbers 2 and 3"):
        open_results(tmp_path / "t.csv")
