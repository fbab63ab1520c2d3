"""Samples of cells with unequal numbers of them take no room for the gaps, in memory and in files."""

from pathlib import Path

import dask.array
import numpy as np
import pandas as pd
import pytest
import xarray as xr

from dashboard.session.prepared import prepare
from loaders import LoadError, open_results, ragged, save_results, storage


@pytest.fixture
def uneven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> xr.DataTree:
    """1,000 repetitions of one cell and 3 of each of 59 others, in whole nanoseconds."""
    monkeypatch.setattr(ragged, "_FREE", 0)
    monkeypatch.setattr(ragged, "_PIECE", 20_000)
    rng = np.random.default_rng(0)
    cells = [(f"m{number % 3}", 2 ** (number // 3 % 4 + 1), 8 << number // 12) for number in range(60)]
    rows = [cell for number, cell in enumerate(cells) for _ in range(3 if number else 1000)]
    table = pd.DataFrame(rows, columns=["algorithm", "comm_size", "message_size"])
    table = table.assign(collective="bcast", repetition=0, time_ns=rng.integers(1000, 9000, len(table)))
    table.sample(frac=1, random_state=1).to_csv(tmp_path / "t.csv", index=False)
    return open_results(tmp_path / "t.csv")


def test_samples_of_unequal_number_are_made_piece_by_piece(uneven: xr.DataTree, tmp_path: Path) -> None:
    sample = uneven["bcast"]["sample"]
    assert isinstance(sample.data, dask.array.Array)
    assert sample.shape == (3, 4, 5, 1000)
    table = pd.read_csv(tmp_path / "t.csv")
    cells = table.groupby(["algorithm", "comm_size", "message_size"])["time_ns"]
    for (method, comm_size, message_size), times in cells:
        values = sample.sel({"method": method, "comm_size": comm_size, "message_size": message_size}).values
        np.testing.assert_allclose(values[: len(times)], times * 1e-9)
        assert np.isnan(values[len(times) :]).all()
    medians = uneven["bcast"]["time"].to_series().dropna().sort_index()
    np.testing.assert_allclose(medians, cells.median().sort_index() * 1e-9)
    # Which method the repetitions cannot tell from the best is worked out from the same pieces.
    assert prepare(uneven["bcast"].to_dataset(), statistical=0.05).tested["tied"].any()


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
@pytest.mark.parametrize("lazy", [False, True])
def test_they_are_saved_without_gaps_and_come_back(
    uneven: xr.DataTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, *, lazy: bool
) -> None:
    path = save_results(uneven, tmp_path / f"r{ending}")
    with xr.open_datatree(path, chunks={}) as saved:
        assert saved["bcast"].sizes[ragged.ALONG] == 1177
    if ending == ".nc":
        # The samples as they are would take 9,416 bytes, with their gaps 480,000.
        assert path.stat().st_size < 60_000
    monkeypatch.setattr(storage, "LAZY_BYTES", 0 if lazy else 1 << 20)
    back = open_results(path)
    np.testing.assert_allclose(back["bcast"]["sample"].values, uneven["bcast"]["sample"].values, rtol=1e-15)
    np.testing.assert_array_equal(back["bcast"]["time"].values, uneven["bcast"]["time"].values)
    back.close()


def test_a_file_whose_counts_do_not_fit_is_refused(uneven: xr.DataTree, tmp_path: Path) -> None:
    cube = ragged.flattened(uneven["bcast"].to_dataset())
    xr.DataTree.from_dict({"/bcast": cube.isel({ragged.ALONG: slice(5, None)})}).to_netcdf(tmp_path / "r.nc")
    with pytest.raises(LoadError, match=r"'sample_count' counts 1,177 samples, and 'samples' has 1,172"):
        open_results(tmp_path / "r.nc")


@pytest.mark.parametrize(
    ("unit", "first", "packed"), [(1e-9, 1, True), (1e-8, 1, True), (np.pi * 1e-9, 1, False), (1e-9, np.pi, False)]
)
def test_times_are_packed_only_where_no_printed_digit_is_lost(
    tmp_path: Path, unit: float, first: float, *, packed: bool
) -> None:
    sample = np.array([first, *range(2, 241)]).reshape(2, 3, 4, 10) * unit
    cube = xr.Dataset(
        {"sample": (("method", "comm_size", "message_size", "repetition"), sample, {"units": "s"})},
        {"method": ["a", "b"], "comm_size": [2, 4, 8], "message_size": [1, 2, 4, 8]},
    )
    path = save_results(xr.DataTree.from_dict({"/bcast": cube}), tmp_path / "r.nc")
    with xr.open_datatree(path) as saved:
        assert (saved["bcast"]["sample"].encoding["dtype"] == np.int32) == packed
    np.testing.assert_allclose(open_results(path)["bcast"]["sample"].values, sample, rtol=1e-15)
