"""How long a campaign takes: guessed, learnt from the points of real campaigns, and told with few digits."""

import json
import math
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns import control, limits
from dashboard.benchmarks.campaigns import follow as follow_module
from dashboard.benchmarks.campaigns.campaign import Campaign, key_of, read_done, write_json
from dashboard.benchmarks.campaigns.follow import Following
from dashboard.benchmarks.campaigns.pace import GUESSED, Estimate, roughly
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.protocol import PointKey, Protocol
from dashboard.benchmarks.launchers import launch
from dashboard.benchmarks.launchers.launch import Status
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import Method
from dashboard.commands.bench.plan import cost
from tests.bench.campaigns import record, write
from tests.measuring.played import LIBRARY, Played, start_all_by

FAST_ETHERNET = Path(__file__).parents[2] / "sample_data" / "fast-ethernet-own" / "results.jsonl"
METHODS = (Method("a"), Method("b"))
PLAN = Plan(4, {"bcast": METHODS}, (2, 4), (8, 64, 512))


def plan_of(keys: list[PointKey], **changes: object) -> Plan:
    """The plan of a broadcast's points."""
    methods = {"bcast": tuple(dict.fromkeys(key[1] for key in keys))}
    sizes = [tuple(sorted({key[place] for key in keys})) for place in (2, 3)]
    return Plan(max(sizes[0]), methods, *sizes, **changes)


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_points_of_a_real_campaign_tell_what_the_others_take(share: float) -> None:
    """A broadcast over 100 Mbit/s, which no guess knows of: what its repetitions took, in the order of the file."""
    lines = FAST_ETHERNET.read_text(encoding="utf-8").splitlines()
    records = [record for line in lines if "samples" in (record := json.loads(line))]
    took = {key_of(record): math.fsum(record["samples"]) for record in records}
    keys = list(took)
    plan = plan_of(keys, protocol=Protocol(min_repetitions=4, max_repetitions=8, rounds=2))
    measured = keys[: int(share * len(keys))]
    others = set(plan.points()) - set(keys)
    estimate = plan.estimate(others | set(measured), None, {key: took[key] for key in measured})
    left = math.fsum(took[key] for key in keys if key not in measured)
    assert estimate.measured == len(measured)
    assert left / 2 < estimate.seconds < 2 * left
    if share < 0.5:
        # The guess, told as one that may be wrong by several times, is.
        assert plan.estimate(others | set(measured)).seconds < left / 3


def test_sizes_that_take_long_by_noise_are_expected_again() -> None:
    """Every other size took 400 times as long: so do as many of those to come, by how long all of them took."""
    plan = replace(PLAN, comm_sizes=(2,), message_sizes=tuple(range(1 << 14, 1 << 18, 1 << 12)))
    sizes = plan.message_sizes
    took = {key: 4.0 if sizes.index(key[3]) % 4 else 0.01 for key in plan.points() if sizes.index(key[3]) % 2}
    took |= {key: 0.01 for key in plan.points() if sizes.index(key[3]) % 4 == 2}
    left = [key for key in plan.points() if key not in took]
    estimate = plan.estimate(took, None, took).seconds
    assert len(left) * math.fsum(took.values()) / len(took) == pytest.approx(estimate, rel=0.25)


def test_what_was_measured_counts_by_collective_and_sizes() -> None:
    took = {key: 3.0 if key[3] == 512 else 0.5 for key in PLAN.points() if key[1] == METHODS[0]}
    start = PLAN.estimate(set(PLAN.points()) - {next(PLAN.points())}, None, took).seconds - 0.5
    learnt = PLAN.estimate(took, None, took)
    assert learnt.seconds - start == pytest.approx(2 * (3.0 + 2 * 0.5))
    assert learnt.measured == 6
    # Other plans' points in the same file say nothing.
    assert PLAN.estimate((), None, {(*key[:2], 3, *key[3:]): 9.0 for key in took}) == PLAN.estimate()


def test_a_point_takes_no_longer_than_its_protocol_lets_it() -> None:
    took = {key: 1e6 for key in PLAN.points() if key[2:4] == (2, 8)}
    estimate = PLAN.estimate(took, None, took)
    assert estimate.points * PLAN.protocol.seconds < estimate.seconds <= estimate.at_most
    assert estimate.seconds < estimate.points * (PLAN.protocol.seconds + 1)


def test_ranks_that_wait_slow_nothing_and_cores_are_counted_once() -> None:
    few = replace(PLAN, ranks=2, comm_sizes=(2,))
    many = replace(few, ranks=16)
    starting = many.estimate(cores=2).seconds - few.estimate(cores=2).seconds
    # Sixteen ranks start on two cores; those beyond the communicator's two then sleep.
    assert 0 < starting == pytest.approx(7.0)
    estimate = many.estimate(cores=2)
    assert estimate.core_hours == pytest.approx(2 * estimate.seconds / 3600)
    assert many.estimate().core_hours == pytest.approx(16 * many.estimate().seconds / 3600)


def test_results_are_made_and_compared_in_time_too() -> None:
    protocol = Protocol(min_repetitions=1, max_repetitions=1, rounds=1, seconds=0.01)
    small = replace(PLAN, protocol=protocol, message_sizes=(8,)).estimate().seconds
    # Four points of 16 MiB: the limit of their repetitions does not hold what is done around these.
    assert replace(PLAN, protocol=protocol, message_sizes=(1 << 24,)).estimate().seconds > small + 4 * 0.3


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign that was cancelled when one of its methods was measured: each point took 7 s."""
    launcher = Played(launched=Status("cancelled", "cancelled"), here=False)
    start_all_by(monkeypatch, launcher)
    monkeypatch.setattr(follow_module, "_FRESH_S", 0.0)
    campaign = Campaign.create(tmp_path, replace(PLAN, protocol=Protocol(seconds=10.0)))
    control.start(campaign, launcher, Installation(Path("/nowhere/mpiexec"), LIBRARY), 100.0)
    points = [key[1:4] for key in PLAN.points() if key[1] == METHODS[0]]
    write(campaign.results, *(record(*point, 1e-6, seconds=7.0) for point in points))
    return campaign


def test_a_stopped_campaign_tells_what_is_left_by_its_own_points(stopped: Campaign) -> None:
    now = control.status(stopped)
    assert (now["state"], now["measured"], now["points"]) == ("cancelled", 6, 12)
    assert 6 * 7.0 <= now["remaining"] < 6 * 7.0 + 3
    assert Following(stopped).look().status["remaining"] == now["remaining"]
    done = stopped.done()
    assert limits.limit_of(stopped.plan(), done.all, None, done.seconds) >= 5 * 42
    assert limits.limit_of(stopped.plan(), done.all, None) == 120


def test_what_is_left_goes_by_the_cores_of_this_machine_where_the_ranks_are_on_it(
    stopped: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "processors", lambda: 1)
    plan, done = stopped.plan(), stopped.done()
    for here, cores in (True, 1), (False, None):
        start_all_by(monkeypatch, Played(here=here))
        assert limits.left_of(stopped, plan, done) == round(plan.estimate(done.all, cores, done.seconds).seconds, 1)


def test_the_limit_of_a_job_on_a_cluster_holds_a_network_ten_times_as_slow_as_guessed() -> None:
    plan = replace(PLAN, message_sizes=tuple(range(8, 4008, 8)))
    assert limits.limit_of(plan, set(), None) > 10 * plan.estimate().seconds > 120
    here = plan.estimate(cores=2).seconds
    assert limits.limit_of(plan, set(), 2) < 6 * here


def test_a_running_campaign_tells_what_is_left_by_points_of_these_sizes(
    stopped: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_all_by(monkeypatch, Played(launched=Status("running", ""), here=False))
    # Waiting for the machine is no point's time: by elapsed time alone it would be 4200 s.
    progress = {"done": 6, "points": 12, "elapsed": 4200.0, "now": "bcast", "ended": ""}
    write_json(stopped.progress_file, progress)
    assert 6 * 7.0 <= control.status(stopped)["remaining"] < 6 * 7.0 + 3
    following = Following(stopped)
    first = following.look().status["remaining"]
    assert 6 * 7.0 - 1 <= first < 6 * 7.0 + 3
    # Counted down until points come.
    assert 6 * 7.0 - 1 <= following.look().status["remaining"] < first
    assert "no new point" not in control.progress_words(following.look().status)


def test_of_a_running_campaign_it_is_said_how_long_no_point_came(
    stopped: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_all_by(monkeypatch, Played(launched=Status("running", ""), here=False))
    write_json(stopped.progress_file, {"done": 6, "points": 12, "elapsed": 9.0, "now": "bcast", "ended": ""})
    written = time.time() - 200
    os.utime(stopped.progress_file, (written, written))
    for now in (control.status(stopped), Following(stopped).look().status):
        assert control.progress_words(now).endswith("; no new point for about 3 min")


def test_of_an_adaptive_campaign_the_rest_of_its_time_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Played(launched=Status("running", ""))
    start_all_by(monkeypatch, launcher)
    monkeypatch.setattr(follow_module, "_FRESH_S", 0.0)
    goal = Goal(40.0)
    campaign = Campaign.create(tmp_path, replace(PLAN, goal=goal))
    control.start(campaign, launcher, Installation(Path("/nowhere/mpiexec"), LIBRARY), 100.0)
    # Most of it was the safety check.
    write_json(campaign.progress_file, {"done": 4, "points": 12, "elapsed": 100.0, "now": "bcast", "ended": ""})

    def left(folder: Campaign, spent: float, ended: str = "") -> float | None:
        folder.results.touch()
        write_json(folder.chosen, {"goal": asdict(goal), "spent": spent, "ended": ended, "written": spent})
        seen = control.status(campaign)["remaining"]
        assert Following(campaign).look().status["remaining"] == seen
        return seen

    assert [left(campaign, spent) for spent in (0.0, 30.0, 41.0)] == [40.0, 10.0, None]
    assert left(campaign, 3.0, "nothing is left") is None
    launcher.now = Status("queued", "")
    assert left(campaign, 30.0) is None
    launcher.now = Status("running", "")
    # Each job of an array has that time.
    launcher.array, (first, second) = 2, map(campaign.part, range(2))
    assert left(first, 10.0) == 40.0
    assert left(second, 20.0) == 30.0
    launcher.array = 1
    assert left(second, 20.0) == 50.0
    assert left(first, 39.0, "the time is up") == 20.0


def test_what_is_left_follows_the_points_that_have_come(stopped: Campaign) -> None:
    following = Following(stopped)
    before = following.look().status["remaining"]
    key = next(key for key in PLAN.points() if key[1] == METHODS[1])
    write(stopped.results, record(*key[1:4], 1e-6, seconds=7.0))
    assert following.look().status["remaining"] == pytest.approx(before - 7.0)


@pytest.mark.parametrize("seconds", [None, "soon", -1, 0, "NaN", [1]])
def test_points_that_do_not_say_what_they_took_leave_it_open(stopped: Campaign, seconds: object) -> None:
    text = stopped.results.read_text(encoding="utf-8").replace('"seconds": 7.0', f'"seconds": {json.dumps(seconds)}')
    stopped.results.write_text(text.replace('"NaN"', "NaN"), encoding="utf-8")
    assert len(read_done(stopped.results).measured) == 6
    assert control.status(stopped)["remaining"] is None
    assert Following(stopped).look().status["remaining"] is None


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(0.0052, 0.005), (0.0183, 0.018), (9.36, 9), (97.0, 100), (118.0, 120), (553.0, 600), (1.96, 2.0), (0.0, 0.0)],
)
def test_an_estimate_has_one_digit_or_two(value: float, rounded: float) -> None:
    assert roughly(value) == pytest.approx(rounded)


def test_the_command_says_about_and_what_the_estimate_is_made_of() -> None:
    guessed = cost(Estimate(10, 1234.5, 9123.4, 0.12345))
    assert guessed.startswith(f"about 20 min ({GUESSED}), at most 2.5 h; ")
    assert guessed.endswith("about 0.12 core-hours")
    assert "(by the 1,234 points measured)" in cost(Estimate(10, 1234.5, 9123.4, 0.12345, 1234))
    assert "at most 2.5 h (the safety check comes on top); " in cost(
        Estimate(10, 1234.5, 9123.4, 0.12345), checked=True
    )
    assert cost(Estimate(10, 3591.0, 9123.4, 0.12345)).startswith("about 60 min")
    assert "), at most what the time limit allows; " in cost(Estimate(10, 1234.5, 9123.4, 0.12345), 6000.0)
