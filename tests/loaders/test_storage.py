"""Results on disk: what goes out comes back, lazily where it is large, and damage is an error."""

from pathlib import Path

import dask.array
import numpy as np
import pytest
import xarray as xr

from loaders import LoadError, open_results, save_results, storage
from tests.files import skampi


@pytest.fixture
def results(tmp_path: Path) -> xr.DataTree:
    file = skampi(tmp_path / "bcast.sko", (2, 1, 5.0, 0.1, 5), (2, 8, 6.0, 0.1, 5), (4, 1, 7.0, 0.1, 5))
    return open_results(file, algorithm="linear", system="grig")


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_a_round_trip_changes_nothing(results: xr.DataTree, tmp_path: Path, ending: str) -> None:
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


def test_samples_without_times_are_reduced_lazily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.random.default_rng(0).random((2, 3, 4, 7))
    cube = xr.Dataset(
        {"sample": (("method", "comm_size", "message_size", "repetition"), samples, {"units": "s"})},
        {"method": ["a", "b"], "comm_size": [2, 4, 8], "message_size": [1, 2, 4, 8]},
    )
    xr.DataTree.from_dict({"/bcast": cube}).to_netcdf(tmp_path / "s.nc", engine="h5netcdf")
    monkeypatch.setattr(storage, "LAZY_BYTES", 0)
    lazy = open_results(tmp_path / "s.nc")
    np.testing.assert_allclose(lazy["bcast"]["time"].values, np.median(samples, axis=-1))
    lazy.close()


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
    with pytest.raises(LoadError, match=r"\.nc, \.zarr or \.csv"):
        save_results(results, tmp_path / "r.xlsx")
