"""What the dashboard opens at its start."""

import json
from pathlib import Path

import pytest

from dashboard.session.samples import DATA_VARIABLE, SAMPLES, sample_data, sample_start, start_with
from loaders import open_results


def test_the_sample_data_are_found_with_one_file_for_each_method() -> None:
    assert (sample_data() / "README.md").is_file()
    names = [path.name for path in sample_start().paths]
    assert len([name for name in names if not name.startswith("pt2pt")]) == 59
    assert names == sorted(names)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_campaign_loads_whole(name: str) -> None:
    start = sample_start(name)
    results = open_results(list(start.paths), **start.hints)
    sources = json.loads(results.attrs["sources"])
    assert [(source["path"], source["skipped"], source["error"]) for source in sources if source["error"]] == []
    # What Open MPI refuses (algorithms for two processes alone, or for an even number; components that do not answer),
    # and what was late and measured again.
    refused = {"one-machine": 36, "fast-ethernet-tuned": 245, "fast-ethernet-4x2-tuned": 1212, "sixteen-cores": 520}
    assert sum(source["skipped"] for source in sources) == refused.get(name, 0)
    assert (sample_data(name) / "README.md").is_file()


def test_our_own_campaigns_keep_their_repetitions() -> None:
    for name in ("fast-ethernet-own", "one-machine", "sixteen-cores"):
        start = sample_start(name)
        cube = open_results(list(start.paths))["bcast"].to_dataset()
        assert "sample" in cube
        assert cube.attrs["statistic_kind"] == "completion"
        assert (cube["repetitions"].values[cube["time"].notnull().values] >= 1).all()


def test_what_is_given_goes_before_the_environment_and_that_before_the_sample_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    assert start_with().sample
    monkeypatch.setenv(DATA_VARIABLE, f"{tmp_path}:{tmp_path / 'more'}")
    start = start_with()
    assert (start.paths, start.sample) == ((tmp_path, tmp_path / "more"), False)
    start = start_with([tmp_path], {"algorithm": "ring"})
    assert (start.paths, start.hints) == ((tmp_path,), {"algorithm": "ring"})
