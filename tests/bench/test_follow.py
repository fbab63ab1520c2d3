"""Watching a campaign: every line of a growing run file is taken in once, and the cube is the loader's."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.campaigns import follow as follow_module
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.follow import Following, Tail, follow
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.libraries.methods import Method
from dashboard.decisions import decision_map
from loaders import open_results
from tests.bench.campaigns import record, write

METHODS = (Method("default", library_id=0), Method("binomial", 0, (), 6), Method("pipeline", 8, (("fan_out", 4),), 3))
PLAN = Plan(4, {"bcast": METHODS, "barrier": METHODS[:2]}, (2, 4), (8, 64, 512))


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    monkeypatch.setattr(follow_module, "_FRESH_S", 0.0)
    return Campaign.create(tmp_path / "one", PLAN)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.binary(max_size=400))
def test_however_a_file_grows_each_whole_line_is_given_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], content: bytes
) -> None:
    path = tmp_path_factory.mktemp("tail") / "run"
    tail, seen, at = Tail(path), [], 0
    assert list(tail.lines()) == []
    for step in steps:
        with path.open("ab") as stream:
            stream.write(content[at : at + step])
        at += step
        seen += tail.lines()
        assert not tail.restarted
    written = content[:at]
    assert b"\n".join(seen).split() == written[: written.rfind(b"\n") + 1].split()


@pytest.mark.parametrize("how", ["replaced", "shorter", "gone"])
def test_a_file_that_is_another_one_now_is_read_from_its_start(tmp_path: Path, how: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"one\ntwo\n")
    tail = Tail(path)
    assert list(tail.lines()) == [b"one", b"two"]
    if how == "replaced":
        (tmp_path / "new").write_bytes(b"three\nfour and more\n")
        (tmp_path / "new").replace(path)
    elif how == "shorter":
        path.write_bytes(b"five\n")
    else:
        path.unlink()
    now = list(tail.lines())
    assert tail.restarted
    assert now == {"replaced": [b"three", b"four and more"], "shorter": [b"five"], "gone": []}[how]


def test_the_cube_is_the_one_that_the_loader_makes(campaign: Campaign) -> None:
    following = Following(campaign)
    write(campaign.results, record(METHODS[0], 2, 8, 3e-6, 1e-6, 2e-6), record(METHODS[1], 2, 8, 4e-6))
    following.look()
    write(campaign.results, record(METHODS[2], 4, 512, 9e-6, 7e-6), record(METHODS[1], 2, 8, 8e-6, 6e-6))
    sight = following.look()
    assert (sight.status["measured"], sight.status["points"]) == (3, len(list(PLAN.points())))
    mine, loaded = following.cube("bcast"), open_results([str(campaign.results)])["bcast"].to_dataset()
    for name in ("time", "time_std", "repetitions"):
        known = mine[name].reindex_like(loaded[name])
        xr.testing.assert_allclose(known.reset_coords(drop=True), loaded[name].reset_coords(drop=True), rtol=1e-12)
    assert np.isfinite(mine["time"].values).sum() == 3
    assert mine.sizes == {"method": 3, "comm_size": 2, "message_size": 3}


def test_the_cube_has_no_methods_without_any_point(tmp_path: Path) -> None:
    # Segments of 8 B hold the whole message.
    campaign = Campaign.create(tmp_path, replace(PLAN, message_sizes=(8,)))
    assert follow(campaign.folder).cube("bcast")["algorithm"].values.tolist() == ["default", "binomial"]


def test_a_barrier_has_one_column(campaign: Campaign) -> None:
    write(campaign.results, record(METHODS[1], 4, 0, 2e-6, collective="barrier"))
    following = Following(campaign)
    following.look()
    dmap = decision_map(following.cube("barrier"))
    assert dmap["best"].values.tolist() == [[-1], [1]]


def test_numbers_of_processes_per_node_are_kept_apart(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "ppn", Plan(4, {"bcast": METHODS[:2]}, (4,), (8,), ppns=(1, 2)))
    write(campaign.results, *(record(METHODS[1], 4, 8, time, ppn=ppn) for ppn, time in ((1, 5e-6), (2, 3e-6))))
    following = Following(campaign)
    following.look()
    cube = following.cube("bcast")
    assert cube["time"].sel({"method": "binomial", "comm_size": 4, "message_size": 8}).values.tolist() == [5e-6, 3e-6]


def test_a_method_that_ran_as_another_one_wins_nothing(campaign: Campaign) -> None:
    graph = {"digest": "d", "messages": 3, "bytes": 24, "busiest": 3}
    write(
        campaign.results,
        record(METHODS[1], 4, 8, 5e-6, graph={**graph, "programs": ["tree"]}),
        record(METHODS[2], 4, 8, 4e-6, graph={**graph, "programs": ["chain", "tree"]}),
    )
    following = Following(campaign)
    following.look()
    dmap = decision_map(following.cube("bcast"))
    assert dmap["best"].sel(comm_size=4, message_size=8).item() in (1, 2)
    loaded = decision_map(open_results([str(campaign.results)])["bcast"].to_dataset())
    winner = str(loaded["method"].values[loaded["best"].sel(comm_size=4, message_size=8).item()])
    assert str(dmap["method"].values[dmap["best"].sel(comm_size=4, message_size=8).item()]) == winner
    assert dmap["measured"].sel(comm_size=4, message_size=8).item() == 1


def test_refused_points_are_told_with_their_reasons_until_they_are_measured(campaign: Campaign) -> None:
    write(campaign.results, *(record(METHODS[1], 2, size, error="wrong result") for size in (8, 64)))
    following = Following(campaign)
    assert following.look().refused == ("2 × bcast binomial: wrong result",)
    write(campaign.results, record(METHODS[1], 2, 8, 1e-6))
    sight = following.look()
    assert (sight.status["refused"], sight.refused) == (1, ("1 × bcast binomial: wrong result",))
    assert campaign.retry_refused()
    assert following.look().status["refused"] == 0
    assert following.look().status["measured"] == 1


def test_lines_that_are_no_points_are_passed_over(campaign: Campaign) -> None:
    campaign.results.write_text('{"colltune_run": 1}\nnull\n[1]\n{"collective": 3}\n{"a"', encoding="utf-8")
    following = Following(campaign)
    assert following.look().status["measured"] == 0
    with campaign.results.open("a", encoding="utf-8") as stream:
        stream.write("\n" + json.dumps(record(METHODS[1], 2, 8, 1e-6)) + "\n")
    assert following.look().status["measured"] == 1


def test_those_who_watch_one_folder_share_one_reading(campaign: Campaign) -> None:
    first = follow(campaign.folder)
    assert follow(campaign.folder) is first
    with pytest.raises(CampaignError, match="holds no plan"):
        follow(campaign.folder.parent)
