"""What is lazy is computed by the workers of a scheduler, and comes out as on this machine."""

import gc
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from dashboard.cli import main
from dashboard.session.prepared import prepare
from loaders import LoadError, open_results, scheduler


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        # How processes are started and sockets closed is dask's to mend.
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as made:
            yield made
        scheduler.disconnect()
        gc.collect()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    samples = np.random.default_rng(0).random((3, 4, 5, 50)) * 1e-3 + 1e-6
    cube = xr.Dataset(
        {"sample": (("method", "comm_size", "message_size", "repetition"), samples, {"units": "s"})},
        {"method": ["a", "b", "c"], "comm_size": [2, 4, 8, 16], "message_size": [1, 2, 4, 8, 16]},
    )
    path = tmp_path / "s.zarr"
    xr.DataTree.from_dict({"/bcast": cube.chunk(message_size=2)}).to_zarr(path, zarr_format=2)
    return path


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_maps_are_those_of_one_machine(cluster: Any, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    local = prepare(open_results(store)["bcast"].to_dataset()).decision_map
    try:
        lazy = open_results(store, scheduler=cluster.scheduler_address)["bcast"].to_dataset()
        assert lazy["sample"].chunks is not None
        remote = prepare(lazy).decision_map
        done = dict(cluster.scheduler.task_prefixes)
        assert any("median" in name for name in done), done
        main(["map", str(store), "--scheduler", cluster.scheduler_address, "--json"])
    finally:
        scheduler.disconnect()
    assert np.array(json.loads(capsys.readouterr().out)["best"]).tolist() == local["best"].values.tolist()
    np.testing.assert_array_equal(remote["best"].values, local["best"].values)
    np.testing.assert_allclose(remote["best_time"].values, local["best_time"].values)


@pytest.mark.parametrize(("address", "words"), [("head", "write its address"), ("tcp://127.0.0.1:1", "nobody answers")])
def test_an_address_that_is_none_or_where_nobody_answers_is_refused(
    store: Path, monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(scheduler, "_SECONDS", 0.2)
    with pytest.raises(LoadError, match=words):
        open_results(store, scheduler=address)
