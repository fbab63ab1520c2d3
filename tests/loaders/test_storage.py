"""Results on disk: what goes out comes back, lazily where it is large, and damage is an error."""

import json
from pathlib import Path

import dask.array
import numpy as np
import pytest
import xarray as xr

from loaders import LoadError, open_results, save_results, scan, storage
from loaders.facet_names import BY_PPN, DOUBTFUL, LAUNCHES, listed
from tests.files import skampi

DOUBT = {"collective": "bcast", "method": "linear", "comm_size": 2, "message_size": 0, "reason": "late"}
DIFFER = {"collective": "bcast", "deviation": 0.0, "freedom": 2.0, "launches": 3}


@pytest.fixture
def results(tmp_path: Path) -> xr.DataTree:
    file = skampi(tmp_path / "bcast.sko", (2, 1, 5.0, 0.1, 5), (2, 8, 6.0, 0.1, 5), (4, 1, 7.0, 0.1, 5))
    return open_results(file, algorithm="linear", system="grig")


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_a_round_trip_changes_nothing(results: xr.DataTree, tmp_path: Path, ending: str) -> None:
    results["bcast"].attrs[BY_PPN] = '{"placement": {"1": "1 node"}}'
    path = save_results(results, tmp_path / f"r{ending}")
    back = open_results(path)
    xr.testing.assert_identical(back["bcast"].to_dataset(), results["bcast"].to_dataset())
    assert back.attrs["sources"] == results.attrs["sources"]
    save_results(results, path)


def test_the_long_table_goes_out_and_comes_back(results: xr.DataTree, tmp_path: Path) -> None:
    back = open_results(save_results(results, tmp_path / "r.csv"))
    np.testing.assert_allclose(back["bcast"]["time"], results["bcast"]["time"])
    np.testing.assert_allclose(back["bcast"]["time_std"], results["bcast"]["time_std"])


def test_saved_results_combine_with_new_files(results: xr.DataTree, tmp_path: Path) -> None:
    old = save_results(results, tmp_path / "old.nc")
    new = skampi(tmp_path / "bcast__binomial__seg0.sko", (2, 1, 4.0, 0.1, 5))
    cube = open_results([old, new])["bcast"]
    assert cube["method"].values.tolist() == ["linear", "binomial"]
    assert cube["time"].sel(comm_size=2, message_size=1).values.tolist() == pytest.approx([5e-6, 4e-6])


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_large_results_open_lazily(
    results: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path = save_results(results, tmp_path / f"r{ending}")
    monkeypatch.setattr(storage, "LAZY_BYTES", 0)
    lazy = open_results(path)
    assert isinstance(lazy["bcast"]["time"].data, dask.array.Array)
    np.testing.assert_array_equal(lazy["bcast"]["time"].values, results["bcast"]["time"].values)
    lazy.close()


@pytest.mark.parametrize("lazy_bytes", [storage.LAZY_BYTES, 0])
def test_samples_without_times_give_their_median_and_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lazy_bytes: int
) -> None:
    samples = np.random.default_rng(0).random((2, 3, 4, 7))
    samples[1, 2, 3, 4:] = np.nan
    samples[0, 0, 0] = np.nan
    cube = xr.Dataset(
        {"sample": (("method", "comm_size", "message_size", "repetition"), samples, {"units": "s"})},
        {"method": ["a", "b"], "comm_size": [2, 4, 8], "message_size": [1, 2, 4, 8]},
    )
    xr.DataTree.from_dict({"/bcast": cube}).to_netcdf(tmp_path / "s.nc", engine="h5netcdf")
    monkeypatch.setattr(storage, "LAZY_BYTES", lazy_bytes)
    opened = open_results(tmp_path / "s.nc")["bcast"]
    medians, numbers = np.median(samples, axis=-1), np.full((2, 3, 4), 7.0)
    medians[1, 2, 3], numbers[1, 2, 3], numbers[0, 0, 0] = np.median(samples[1, 2, 3, :4]), 4, np.nan
    np.testing.assert_allclose(opened["time"].values, medians)
    np.testing.assert_array_equal(opened["repetitions"].values, numbers)
    assert (opened["segment_size"].dtype, opened["segment_size"].values.tolist()) == (np.int64, [0, 0])
    opened.close()


def test_damaged_and_foreign_files_are_load_errors(results: xr.DataTree, tmp_path: Path) -> None:
    path = save_results(results, tmp_path / "r.nc")
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(LoadError, match=r"r\.nc"):
        open_results(path)
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(LoadError, match="holds no cube"):
        open_results(tmp_path / "other.nc")


def test_times_in_other_units_are_refused(tmp_path: Path) -> None:
    cube = xr.Dataset(
        {"time": (("method", "comm_size", "message_size"), [[[5.0]]], {"units": "us"})},
        {"method": ["a"], "comm_size": [2], "message_size": [1]},
    )
    xr.DataTree.from_dict({"/bcast": cube}).to_netcdf(tmp_path / "s.nc", engine="h5netcdf")
    with pytest.raises(LoadError, match="'us'; they must be in seconds"):
        open_results(tmp_path / "s.nc")


def test_an_unknown_ending_is_refused(results: xr.DataTree, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r": results are saved as \.nc, \.zarr, \.csv or \.occ; [^:]*$"):
        save_results(results, tmp_path / "r.xlsx")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("ending", [".nc", ".csv"])
def test_a_full_disk_is_named(results: xr.DataTree, tmp_path: Path, ending: str) -> None:
    (tmp_path / f"r{ending}").symlink_to("/dev/full")
    with pytest.raises(LoadError, match="cannot be written: No space left on device"):
        save_results(results, tmp_path / f"r{ending}")


@pytest.mark.parametrize("name", ["r.nc", "r.csv", "r.zarr"])
def test_a_folder_that_is_no_zarr_store_is_not_replaced(results: xr.DataTree, tmp_path: Path, name: str) -> None:
    kept = tmp_path / name / "thesis.tex"
    kept.parent.mkdir()
    kept.write_text("years of work")
    with pytest.raises(LoadError, match=r"is a folder"):
        save_results(results, tmp_path / name)
    assert kept.read_text() == "years of work"
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".csv"])
def test_no_folder_is_made_to_write_into(results: xr.DataTree, tmp_path: Path, ending: str) -> None:
    with pytest.raises(LoadError, match="there is no folder"):
        save_results(results, tmp_path / "typo" / f"r{ending}")
    assert not (tmp_path / "typo").exists()


def foreign(path: Path, comm_sizes: list[float], methods: list[str], *times: float) -> Path:
    """A cube as another program might save it: one message size, times method by method."""
    shape = (len(methods), len(comm_sizes), 1)
    cube = xr.Dataset(
        {"time": (("method", "comm_size", "message_size"), np.array(times).reshape(shape))},
        {"method": methods, "comm_size": comm_sizes, "message_size": [8]},
    )
    xr.DataTree.from_dict({"/bcast": cube}).to_netcdf(path, engine="h5netcdf")
    return path


def test_sizes_saved_by_others_become_ascending_whole_numbers(tmp_path: Path) -> None:
    cube = open_results(foreign(tmp_path / "a.nc", [4.0, 2.0], ["a"], 0.4, 0.2))["bcast"]
    assert cube["comm_size"].dtype == np.int64
    assert cube["comm_size"].values.tolist() == [2, 4]
    assert cube["time"].values.ravel().tolist() == [0.2, 0.4]


def test_what_others_saved_combines_with_new_files(tmp_path: Path) -> None:
    new = skampi(tmp_path / "bcast__binomial__seg0.sko", (2, 8, 4.0, 0.1, 5))
    cube = open_results([foreign(tmp_path / "a.nc", [2], ["a"], 0.2), new])["bcast"]
    assert cube["time"].values.ravel().tolist() == pytest.approx([0.2, 4e-6])


@pytest.mark.parametrize(
    ("comm_sizes", "methods", "times", "words"),
    [
        ([2.5, 4.0], ["a"], (1.0, 1.0), "comm_sizes.*2.5"),
        ([2, 2], ["a"], (1.0, 1.0), "different whole numbers"),
        ([0, 2], ["a"], (1.0, 1.0), "from 1 up"),
        ([2], ["a", "a"], (1.0, 1.0), "a method twice"),
        ([2, 4], ["a"], (1.0, -1.0), "no positive time"),
        ([2, 4], ["a"], (1.0, np.inf), "no positive time"),
    ],
)
def test_what_others_saved_wrongly_is_refused(
    tmp_path: Path, comm_sizes: list[float], methods: list[str], times: tuple[float, ...], words: str
) -> None:
    with pytest.raises(LoadError, match=words):
        open_results(foreign(tmp_path / "a.nc", comm_sizes, methods, *times))


@pytest.mark.parametrize("ending", ["nc", "zarr"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        (DOUBTFUL, "["),
        (DOUBTFUL, "7"),
        (DOUBTFUL, '[{"collective": "bcast"}]'),
        (DOUBTFUL, json.dumps([DOUBT | {"comm_size": [2]}])),
        (DOUBTFUL, json.dumps([DOUBT | {"ppn": {}}])),
        (LAUNCHES, json.dumps([DIFFER | {"freedom": 0}])),
        (LAUNCHES, json.dumps([DIFFER | {"deviation": np.nan}])),
        (BY_PPN, "{"),
        (BY_PPN, '{"placement": "1 node"}'),
        ("sources", '["a.sko"]'),
    ],
)
def test_a_list_of_what_loaders_saw_that_is_damaged_is_refused_with_the_file_and_what_to_do(
    results: xr.DataTree, tmp_path: Path, ending: str, name: str, value: str
) -> None:
    results["bcast"].attrs[name] = value
    path = save_results(results, tmp_path / f"damaged.{ending}")
    new = skampi(tmp_path / "bcast__binomial__seg0.sko", (2, 8, 4.0, 0.1, 5))
    for files in (path, [path, new]):
        with pytest.raises(LoadError, match=rf"damaged\.{ending}: group 'bcast' .*'{name}'.*save these results anew"):
            open_results(files)


@pytest.mark.parametrize("ending", ["nc", "zarr"])
@pytest.mark.parametrize(
    ("name", "value"), [("sources", "["), ("sources", "[{}]"), ("notes", '{"a": 1}'), ("notes_when_made", "late")]
)
def test_what_is_said_of_results_that_is_damaged_is_refused_with_the_file_and_what_to_do(
    results: xr.DataTree, tmp_path: Path, ending: str, name: str, value: str
) -> None:
    results.attrs[name] = value
    path = save_results(results, tmp_path / f"damaged.{ending}")
    with pytest.raises(LoadError, match=rf"damaged\.{ending}: it has the attribute '{name}'.*save these results anew"):
        open_results(path)


@pytest.mark.parametrize("text", ["measured by hand", "[sic]", 7])
@pytest.mark.parametrize("ending", ["nc", "zarr"])
def test_what_others_wrote_under_a_name_of_the_project_s_own_stays_beside(
    tmp_path: Path, ending: str, text: object
) -> None:
    """No file of colltune's lacks the digest of a cube."""
    tree = xr.open_datatree(foreign(tmp_path / "a.nc", [2], ["a"], 0.2))
    for node in (tree, tree["bcast"]):
        node.attrs |= dict.fromkeys(("notes", "sources", BY_PPN, DOUBTFUL, "selected", "title"), text)
    path = tmp_path / f"b.{ending}"
    tree.to_netcdf(path, engine="h5netcdf") if ending == "nc" else tree.to_zarr(path, zarr_format=2)
    new = skampi(tmp_path / "bcast__binomial__seg0.sko", (2, 8, 4.0, 0.1, 5))
    for files in (path, [path, new]):
        assert open_results(files)["bcast"]["time"].values.ravel()[0] == 0.2
    results = open_results(path)
    assert {results.attrs[name] for name in ("notes_text", "sources_text", "title")} == {text}
    assert {results["bcast"].attrs[name] for name in ("sources_text", f"{BY_PPN}_text", "selected_text")} == {text}
    assert open_results(save_results(results, tmp_path / "again.nc")).attrs["notes_text"] == text


@pytest.mark.parametrize(("name", "value"), [("ppn", "all"), ("statistic", ["max", "min"]), ("library", [1.5, 2.5])])
def test_attributes_of_others_may_be_of_any_kind(tmp_path: Path, name: str, value: object) -> None:
    tree = xr.open_datatree(foreign(tmp_path / "a.nc", [2], ["a"], 0.2))
    tree["bcast"].attrs[name] = value
    tree.to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    cube = open_results(tmp_path / "b.nc")["bcast"]
    assert all(isinstance(each, str | int | float) for each in cube.attrs.values())
    assert "ppn" not in cube.attrs


def test_lists_of_what_loaders_saw_are_one_list_of_several_files(results: xr.DataTree, tmp_path: Path) -> None:
    paths = []
    for number, records in enumerate(([DOUBT], [], [DOUBT | {"ppn": 2}])):
        results["bcast"].attrs[DOUBTFUL] = json.dumps(records)
        results["bcast"].coords["method"] = [f"linear {number}"]
        paths.append(save_results(results, tmp_path / f"{number}.nc"))
    assert listed(open_results(paths)["bcast"].attrs, DOUBTFUL) == [DOUBT, DOUBT | {"ppn": 2}]


def test_a_parameter_that_some_methods_lack_stays_a_whole_number(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        "collective,algorithm,segment_size,fanout,comm_size,message_size,time\n"
        "bcast,chain,0,4,2,8,1e-5\nbcast,linear,0,,2,8,2e-5\n"
    )
    columns = {"fanout": "fanout"}
    results = open_results(table, columns=columns)
    for ending in (".nc", ".zarr"):
        saved = save_results(results, tmp_path / f"r{ending}")
        back = open_results(save_results(open_results(saved), tmp_path / "r.csv"))
        assert back["bcast"]["method"].values.tolist() == ["chain fanout=4", "linear"]
        assert back["bcast"]["fanout"].values[0] == 4


def test_an_unmeasured_cube_gives_an_empty_table(tmp_path: Path) -> None:
    results = open_results(foreign(tmp_path / "a.nc", [2], ["a"], np.nan))
    assert len(save_results(results, tmp_path / "a.csv").read_text().splitlines()) == 1


def test_what_was_said_of_the_files_is_not_said_again_of_what_was_made_of_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("collective,algorithm,comm_size,message_size,time_us,odd\nbcast,a,2,8,1,x\n")
    results = open_results(tmp_path / "t.csv")
    (note,) = json.loads(results.attrs["notes"])
    assert "columns not used: 'odd'" in note
    path = save_results(results, tmp_path / "r.nc")
    for again in (path, save_results(open_results(path), tmp_path / "again.nc")):
        stored = open_results(again)
        assert json.loads(stored.attrs["notes"]) == []
        assert json.loads(stored.attrs["notes_when_made"]) == [note]


def test_whole_numbers_among_the_facts_come_back_as_json_takes_them(results: xr.DataTree, tmp_path: Path) -> None:
    for node in results.children.values():
        node.attrs["ranks"] = 16
    save_results(results, tmp_path / "saved.nc")
    (again, *_) = open_results(tmp_path / "saved.nc").children.values()
    assert json.loads(json.dumps(again.to_dataset().attrs))["ranks"] == 16


def test_chunks_that_a_copy_of_a_zarr_store_lost_are_said(results: xr.DataTree, tmp_path: Path) -> None:
    store = save_results(results, tmp_path / "results.zarr")
    assert json.loads(open_results(store).attrs["notes"]) == []
    (chunk,) = (store / "bcast" / "time").glob("[0-9]*")
    chunk.unlink()
    lost = open_results(store)
    (note,) = json.loads(lost.attrs["notes"])
    assert note.startswith(f"{store}: 1 of ")
    again = save_results(lost, tmp_path / "again.zarr")
    assert json.loads(open_results(again).attrs["notes"]) == []
    (report,) = scan(store)
    assert report["notes"] == [note.removeprefix(f"{store}: ")]
