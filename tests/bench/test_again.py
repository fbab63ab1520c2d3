"""Points whose times cannot be right are measured once more by the job itself, a few times, and what stays is said."""

import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.follow import Following
from dashboard.benchmarks.campaigns.plan import Plan, point_key, todo_of
from dashboard.benchmarks.campaigns.protocol import Cell, Protocol
from dashboard.benchmarks.launchers.local import LocalLauncher
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.benchmarks.ranks import again
from dashboard.decisions.measured.trust import doubtful
from loaders import open_results
from tests.bench.campaigns import PATIENCE_S, RANKS, campaign_of, record, run, write
from tests.conftest import need

SIZES = (8, 1024, 16384)
BINOMIAL, LINEAR = Method("binomial", library_id=6), Method("basic_linear", library_id=1)
PLAN = Plan(ranks=4, methods={"bcast": (BINOMIAL, LINEAR)}, comm_sizes=(4,), message_sizes=SIZES, checked=False)


def point(method: Method, size: int, time: float, **further: Any) -> dict[str, Any]:
    """A point of a run file whose repetitions are all alike."""
    return record(method, 4, size, time, 1.01 * time, 0.99 * time, **further)


def written(path: Path, *records: dict[str, Any]) -> Path:
    """A run file of the points of both methods, one of them a thousand times too long, and further lines."""
    usual = [point(method, size, 5e-6) for method in (BINOMIAL, LINEAR) for size in SIZES]
    return write(path, point(BINOMIAL, SIZES[0], 8e-3), *usual[1:], *records)


def doubts(results: Path, **further: Any) -> again.Doubts:
    return again.Doubts(results, PLAN, ("node",) * 4, **{"launch": 1, **further})


def test_what_cannot_be_right_is_measured_again_twice_at_most_and_said(tmp_path: Path) -> None:
    suspects = doubts(written(tmp_path / "results.jsonl"))
    (key,) = suspects.next()
    assert key[:4] == ("bcast", BINOMIAL, 4, SIZES[0])
    ((cell, methods),) = todo_of(PLAN, suspects.left.__contains__)
    assert (cell.message_size, methods) == (8, [BINOMIAL])
    assert suspects.words() == (
        f"1 time cannot be trusted and decides nothing ('colltune bench resume {tmp_path}' has them measured again)"
    )
    # Nothing came of it: it stays doubtful.
    suspects.repeated |= suspects.left
    assert list(suspects.next()) == [key]
    assert not suspects.next()
    assert suspects.words() == (
        "1 point was measured again, since the times cannot be right (bcast binomial, 4 processes, 8 B: longer than "
        "messages that are larger: by far); 1 cannot be trusted yet and decides nothing "
        f"('colltune bench resume {tmp_path}' has them measured again)"
    )
    of_all = Campaign.create(tmp_path, PLAN).part(0).results
    assert f"('colltune bench refine {tmp_path} -o NEW' has" in replace(suspects, results=of_all, array=True).words()


def test_points_that_were_measured_again_are_told_apart(tmp_path: Path) -> None:
    suspects = doubts(tmp_path / "none.jsonl")
    (tmp_path / "none.jsonl").touch()
    cell = Cell("reduce", 4, 8, ppn=2)
    keys = [point_key(replace(cell, datatype=name), LINEAR) for name in ("int32", "float64")]
    suspects.repeated |= dict.fromkeys(keys, "late")
    apart = "; ".join(
        f"reduce basic_linear, 4 processes, 2 processes per node, 8 B, {name}: late" for name in ("int32", "float64")
    )
    assert f"({apart})" in suspects.words()


def test_what_was_measured_again_is_counted_over_all_jobs_of_a_campaign(tmp_path: Path) -> None:
    earlier = [point(LINEAR, size, 5e-6, again="late") for size in SIZES[:2]]
    suspects = doubts(written(tmp_path / "results.jsonl", *earlier, point(LINEAR, SIZES[0], 5e-6, again="late")))
    suspects.repeated |= suspects.next()
    words = suspects.words()
    assert words.startswith("3 points were measured again, since the times cannot be right (bcast binomial")
    assert "measured again" not in replace(suspects, launch=2, repeated={}).words()


def test_what_stays_is_said_by_the_last_launch_alone(tmp_path: Path) -> None:
    records = [point(BINOMIAL, SIZES[0], 8e-3, launch=2)]
    first = replace(doubts(written(tmp_path / "results.jsonl", *records)), plan=replace(PLAN, launches=2))
    first.repeated |= first.next()
    assert first.left
    assert "cannot be trusted" not in first.words()
    last = replace(first, launch=2)
    last.look()
    assert "; 1 cannot be trusted yet" in last.words()


def test_only_what_this_job_can_measure_is_measured_again(tmp_path: Path) -> None:
    results = written(tmp_path / "results.jsonl")
    assert not doubts(results, launch=2).next()
    assert not doubts(results, only=[("bcast", LINEAR)]).next()
    assert doubts(results, only=[("bcast", BINOMIAL)]).next()
    assert not again.Doubts(results, PLAN, ("node",) * 3, 1).next()
    assert not doubts(tmp_path / "none.jsonl").next()


def test_of_many_only_a_share_is_measured_again(tmp_path: Path) -> None:
    sizes = tuple(8 << number for number in range(20))
    plan = Plan(ranks=4, methods={"bcast": (BINOMIAL, LINEAR)}, comm_sizes=(2, 3, 4), message_sizes=sizes)
    records = [
        each | {"comm_size": comm_size}
        for comm_size in (2, 3, 4)
        for number, size in enumerate(sizes)
        for each in (point(BINOMIAL, size, 1e-2 if number % 2 else 1e-5), point(LINEAR, size, 1e-5, late=9))
    ]
    suspects = again.Doubts(write(tmp_path / "results.jsonl", *records), plan, ("node",) * 4, 1)
    assert again.FEW < len(suspects.next()) <= 120 // again.SHARE
    # All are, where nothing else was missing, whatever an adaptive campaign would choose of them.
    asked = replace(suspects, asked=True, worth=lambda _: {}, turns=0)
    assert asked.next() == asked.left
    assert len(asked.left) > 120 // again.SHARE
    assert not replace(asked, array=True, turns=0).next()


def test_what_was_measured_again_counts_and_what_it_was_before_is_passed_over(tmp_path: Path) -> None:
    better = point(BINOMIAL, SIZES[0], 4e-6, again="longer than messages that are larger: by far")
    results = written(tmp_path / "results.jsonl", better)
    tree = open_results([results])
    cube = tree["bcast"].to_dataset()
    assert float(cube["time"].sel({"method": "binomial", "comm_size": 4, "message_size": 8})) == pytest.approx(4e-6)
    assert doubtful(cube).empty
    assert "measured again: longer than messages" in json.dumps(tree.attrs) + json.dumps(cube.attrs, default=str)


def test_a_late_point_is_trusted_after_it_was_measured_again_in_time(tmp_path: Path) -> None:
    late = written(tmp_path / "late.jsonl", point(LINEAR, 8, 5e-6, late=7))
    assert any(row["reason"].startswith("7 starts were late") for row in rows(late))
    write(late, point(LINEAR, 8, 5e-6, again="7 starts were late"))
    assert not any("late" in row["reason"] for row in rows(late))


def test_a_point_whose_process_waited_for_its_core_is_named_until_it_was_measured_with_it(tmp_path: Path) -> None:
    waited = {"seconds": 0.03, "of": 0.1, "rank": 3, "node": "n7"}
    results = written(tmp_path / "stolen.jsonl", point(LINEAR, 8, 5e-6, stolen=2, waited=waited))
    reason = "rank 3 on n7 waited for its core for 30 % of the time, and in half of the repetitions or more"
    assert not any("waited" in row["reason"] for row in rows(results))
    write(results, point(LINEAR, 8, 5e-6, stolen=3, waited=waited, again="x"))
    assert [row["reason"] for row in rows(results) if row["method"] == "basic_linear"] == [reason]
    tree = open_results([results])
    tree.to_netcdf(tmp_path / "stolen.nc", engine="h5netcdf")
    assert reason in [row["reason"] for row in rows(tmp_path / "stolen.nc")]
    assert "core: 3, points with any: 1, most often for rank 3 on n7" in json.dumps(tree.attrs)
    write(results, point(LINEAR, 8, 5e-6, stolen=1, waited=waited, again=reason))
    assert not any("waited" in row["reason"] for row in rows(results))


def test_processes_that_share_cores_are_said_once_and_doubted_at_no_point(tmp_path: Path) -> None:
    waited = {"seconds": 0.06, "of": 0.1, "rank": 3, "node": "n7"}
    shared = [point(LINEAR, size, 5e-6, waited=waited, crowded=True, again="x") for size in SIZES]
    results = written(tmp_path / "crowded.jsonl", *shared)
    assert not any("waited" in row["reason"] for row in rows(results))
    said = json.dumps(open_results([results]).attrs)
    assert "points with more processes than cores, which wait for each other: 3" in said


def rows(results: Path) -> list[dict[str, Any]]:
    return doubtful(open_results([results])["bcast"].to_dataset()).to_dict("records")


#: One rank takes 20 ms more for each broadcast while a file is there, as where others have its core.
_SLOW = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && access(getenv("COLLTUNE_TEST_SLOW"), F_OK) == 0) usleep(20000);
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}
"""


def let_go(slow: Path, campaign: Campaign) -> None:
    """Let the rank run as fast as others once the first point is recorded."""
    while not recorded(campaign):
        time.sleep(0.002)
    slow.unlink()


@pytest.mark.soak
def test_what_was_measured_while_a_rank_was_slowed_is_measured_again_by_the_campaign_itself(
    tmp_path: Path, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpicc, library, slow = installation.mpiexec.with_name("mpicc"), tmp_path / "libslow.so", tmp_path / "slow"
    need(mpicc.exists(), f"no mpicc beside {installation.mpiexec}")
    (tmp_path / "slow.c").write_text(_SLOW)
    subprocess.run([mpicc, "-shared", "-fPIC", "-o", library, tmp_path / "slow.c"], check=True)
    slow.touch()
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("COLLTUNE_TEST_SLOW", str(slow))
    wish = {"collectives": ("bcast",), "algorithms": ("binomial",), "message_sizes": SIZES}
    campaign = campaign_of(tmp_path / "campaign", installation, **wish)
    letting = threading.Thread(target=let_go, args=(slow, campaign), daemon=True)
    letting.start()
    now = run(campaign, installation)
    assert now["state"] == "finished"
    assert "measured again, since the times cannot be right (bcast binomial" in now["note"]
    slowed, *anew = [record for record in recorded(campaign) if record["message_size"] == SIZES[0]]
    assert min(slowed["samples"]) > 0.015
    # On a busy machine it is measured once more for another reason.
    assert "longer than messages that are larger: by far" in {record["again"] for record in anew}
    assert np.median(anew[-1]["samples"]) < 0.015
    cube = open_results([campaign.results])["bcast"].to_dataset()
    place = {"method": "binomial", "comm_size": RANKS, "message_size": SIZES[0]}
    used = float(cube["time"].sel(place))
    assert used < 0.015
    # The page that follows it shows the same.
    following = Following(campaign)
    assert following.look().status["measured"] == len(list(campaign.plan().points()))
    assert float(following.cube("bcast")["time"].sel(place)) == used


@pytest.mark.slow
def test_stolen_cores_are_named_with_the_rank_and_what_was_measured_meanwhile_is_measured_again(
    tmp_path: Path, installation: Installation
) -> None:
    cores = sorted(os.sched_getaffinity(0))
    need(len(cores) > 1, "one core only")
    # A batch takes longer than a process has a core for that it shares.
    wish = {"collectives": ("bcast",), "algorithms": ("basic_linear",), "message_sizes": (1 << 19, 1 << 20)}
    wish |= {"ranks": 2, "comm_sizes": (2,), "protocol": Protocol(min_repetitions=60, max_repetitions=60)}
    campaign = campaign_of(tmp_path / "campaign", installation, **wish)
    bound = tmp_path / "mpiexec"
    bound.write_text(f'#!/bin/sh\nexec {installation.mpiexec} --bind-to hwthread "$@"\n')
    bound.chmod(0o755)
    launcher = LocalLauncher((str(bound),))
    thieves = [subprocess.Popen(["sh", "-c", "kill -STOP $$; while :; do :; done"]) for _ in range(2)]
    try:
        for thief in thieves:
            os.sched_setaffinity(thief.pid, cores[:1])
        threading.Thread(target=steal, args=(thieves, campaign), daemon=True).start()
        control.start(campaign, launcher, installation, PATIENCE_S)
        now = control.wait(campaign, launcher, 0.05)
    finally:
        for thief in thieves:
            thief.kill()
            thief.wait()
    stolen, *_ = robbed(campaign)
    assert stolen["waited"]["rank"] in (0, 1)
    assert stolen["waited"]["seconds"] > 0.1 * stolen["waited"]["of"]
    assert any("waited for its core" in record.get("again", "") for record in recorded(campaign))
    assert "waited for its core" in now["note"]


def steal(thieves: list[subprocess.Popen[bytes]], campaign: Campaign) -> None:
    """Take a core from the moment at which the ranks begin, until a point is recorded that was measured meanwhile."""
    while not campaign.results.exists():
        time.sleep(0.002)
    for thief in thieves:
        thief.send_signal(signal.SIGCONT)
    while not robbed(campaign):
        time.sleep(0.002)
    for thief in thieves:
        thief.kill()


def robbed(campaign: Campaign) -> list[dict[str, Any]]:
    """Points of whose repetitions half and more were disturbed."""
    return [record for record in recorded(campaign) if record.get("stolen", 0) >= len(record["samples"])]


def recorded(campaign: Campaign) -> list[dict[str, Any]]:
    """Points so far, as they stand in the run file."""
    lines = campaign.results.read_text(encoding="utf-8").splitlines(keepends=True) if campaign.results.exists() else []
    return [json.loads(line) for line in lines[1:] if line.endswith("\n")]
