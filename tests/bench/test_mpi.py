"""Campaigns on the real MPI: what ran, what was verified, and that killed ones lose nothing. At most four ranks."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.protocol import Protocol
from dashboard.benchmarks.launchers import processes
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Variants
from dashboard.decisions import decision_map
from loaders import open_results
from loaders.collectives import COLLECTIVES
from tests.bench.campaigns import PATIENCE_S, RANKS, SIZE, campaign_of, double, points, run
from tests.cli.command import Run, assert_one_clear_line
from tests.conftest import until


@pytest.fixture(scope="module")
def measured(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Two collectives whose methods fall back, on four ranks and on three of them; all are in `test_graphs`."""
    wish = {"collectives": ("bcast", "allgather"), "comm_sizes": (3, RANKS), "message_sizes": (2, SIZE)}
    campaign = campaign_of(tmp_path_factory.mktemp("campaign"), installation, **wish, variants=Variants((0,)))
    ended = run(campaign, installation)
    assert ended["state"] == "finished", (ended, campaign.tail())
    assert ended["measured"] + ended["refused"] == ended["points"]
    return campaign


def graphs(campaign: Campaign, collective: str, ranks: int = RANKS, size: int = SIZE) -> dict[str, dict[str, Any]]:
    """Message graphs of a collective, by method."""
    return {
        f"{point['algorithm']} {point['segment_size']}": point["graph"]
        for point in points(campaign)
        if (point["collective"], point["comm_size"], point["message_size"]) == (collective, ranks, size)
        and "graph" in point
    }


@pytest.mark.usefixtures("counting")
def test_a_silent_fall_back_shows_in_the_graph(measured: Campaign) -> None:
    # With fewer elements than processes scatter_allgather runs linear.
    tiny, large = graphs(measured, "bcast", size=2), graphs(measured, "bcast")
    assert tiny["scatter_allgather 0"]["digest"] == tiny["basic_linear 0"]["digest"]
    assert large["scatter_allgather 0"]["digest"] != large["basic_linear 0"]["digest"]
    off = graphs(measured, "allgather", 3)
    # Off powers of two recursive doubling becomes bruck, on an odd number neighbour exchange becomes ring.
    assert off["recursive_doubling 0"]["digest"] == off["bruck 0"]["digest"]
    assert off["neighbor 0"]["digest"] == off["ring 0"]["digest"]


@pytest.mark.usefixtures("counting")
def test_a_method_that_fell_back_is_a_double_in_the_cube_and_does_not_win(measured: Campaign) -> None:
    results = open_results([measured.results])
    assert double(results["bcast"], "scatter_allgather", RANKS, 2) == "basic_linear"
    assert double(results["bcast"], "scatter_allgather", RANKS, SIZE) is None
    assert double(results["allgather"], "neighbor", 3, SIZE) == "ring"
    assert double(results["allgather"], "neighbor", RANKS, SIZE) is None
    for node in results.children.values():
        cube = node.to_dataset()
        if "double_of" in cube:
            best = decision_map(cube)["best"]
            assert not ((cube["double_of"].isel(method=best) >= 0) & (best >= 0)).any()


def test_each_point_says_what_it_took(measured: Campaign, done: Run) -> None:
    records = points(measured)
    seconds = sum(point["seconds"] for point in records)
    # All but the start and the end of the ranks, some seconds on a busy machine, is in some point.
    elapsed = measured.progress()["elapsed"]
    assert elapsed - 15 < seconds < elapsed * 1.01
    assert seconds > sum(sum(point.get("samples", ())) for point in records)
    assert set(measured.done().seconds) == measured.done().measured


@pytest.mark.slow
def test_the_occ_protocol_takes_the_barrier_off(installation: Installation, tmp_path: Path) -> None:
    protocol = Protocol("occ", min_repetitions=3, max_repetitions=6, iterations=5, buffers="rotate", roots="rotate")
    wish = {"collectives": ("bcast", "reduce"), "algorithms": ("default", "binomial"), "protocol": protocol}
    campaign = campaign_of(tmp_path, installation, **wish, message_sizes=(1 << 18,), comm_sizes=(2, 3))
    assert run(campaign, installation)["state"] == "finished"
    header = json.loads(campaign.results.read_text(encoding="utf-8").splitlines()[0])
    assert "less the barrier" in header["attrs"]["statistic"]
    # On a busy machine a barrier may take as long as what follows it: then the point says so.
    for point in points(campaign):
        assert ("samples" in point and min(point["samples"]) > 0) or point["error"].startswith("not resolved: "), point
    assert len(points(campaign)) == len(set(campaign.plan().points()))


@pytest.mark.soak
def test_whole_launches_are_repeated_and_told_apart(installation: Installation, tmp_path: Path) -> None:
    wish = {"ranks": 2, "collectives": ("bcast", "barrier"), "algorithms": ("default", "binomial", "two_proc")}
    once = {"comm_sizes": (2,), "variants": Variants((0,))}
    campaign = campaign_of(tmp_path, installation, **wish, **once, launches=2)
    ended = run(campaign, installation)
    assert (ended["state"], ended["measured"]) == ("finished", ended["points"])
    assert Counter(point["launch"] for point in points(campaign)) == dict.fromkeys((1, 2), ended["points"] // 2)
    # Each launch is one of its own, with ranks started anew.
    headers = [line for line in campaign.results.read_text(encoding="utf-8").splitlines() if "colltune_run" in line]
    assert len(headers) == 2
    cube = open_results([campaign.results])["bcast"].to_dataset()
    each = [len(point["samples"]) for point in points(campaign) if point["collective"] == "bcast"]
    assert int(cube["repetitions"].sum()) == sum(each)


@pytest.mark.slow
@pytest.mark.usefixtures("counting")
def test_blocks_of_unequal_size_arrive_where_they_belong(installation: Installation, tmp_path: Path) -> None:
    protocol = Protocol(min_repetitions=1, max_repetitions=1, rounds=1, counts="skewed")
    wish = {"collectives": ("allgatherv", "alltoallv"), "protocol": protocol, "comm_sizes": (3, RANKS)}
    campaign = campaign_of(tmp_path, installation, **wish, message_sizes=(1, SIZE))
    assert run(campaign, installation)["state"] == "finished"
    assert not [point for point in points(campaign) if "error" in point]
    # Of P blocks of every process, of the message size in the mean, all but its own.
    own = [SIZE * (rank + 1) * (rank + 2) // (RANKS + 1) for rank in range(RANKS)]
    blocks = [high - low for low, high in zip([0, *own], own, strict=False)]
    kept = sum(blocks[2 * rank % RANKS] for rank in range(RANKS))
    assert graphs(campaign, "alltoallv")["basic_linear 0"]["bytes"] == RANKS * RANKS * SIZE - kept


def test_cancel_leaves_no_rank_within_five_seconds(installation: Installation, tmp_path: Path, done: Run) -> None:
    campaign = campaign_of(tmp_path, installation, collectives=COLLECTIVES, comm_sizes=(2, 3, 4))
    launcher = LocalLauncher((str(installation.mpiexec),))
    control.start(campaign, launcher, installation, PATIENCE_S)
    mark = campaign.state()["handle"]["mark"]
    until(lambda: campaign.done().measured)
    begin = time.monotonic()
    assert control.cancel(campaign, launcher)["state"] == "cancelled"
    assert not processes.marked(mark)
    assert time.monotonic() - begin < 5


def test_the_command_measures_watches_and_resumes(
    installation: Installation, tmp_path: Path, colltune: Run, done: Run
) -> None:
    options = ["--ranks", "2", "-c", "bcast", "--message-sizes", "8,1KiB", "--repetitions", "3-6", "--time-limit", "90"]
    options += ["--segment-sizes", "0", "--unchecked"]
    out, err = done("bench", "run", tmp_path, *options, "--json").both
    now = json.loads(out)
    assert now["state"] == "finished"
    assert now["measured"] == now["points"] > 10
    assert f"{now['points']} points, estimated" in err
    assert_one_clear_line(colltune("bench", "run", tmp_path), "nothing is missing")
    assert done("map", tmp_path / "results.jsonl", "-c", "bcast", "--json").json["message_size"] == [8, 1024]
