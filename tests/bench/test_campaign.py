"""A campaign's folder: what survives a crash at any byte, and what is measured again."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns.campaign import Campaign, read_done, read_json, write_json
from dashboard.benchmarks.campaigns.plan import Plan, missing
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.libraries.methods import Method
from loaders import open_results
from tests.bench.campaigns import record, write

LINEAR, CHAIN = Method("linear", library_id=1), Method("chain", 64, (("fan_out", 4),), 2)
PLAN = Plan(4, {"bcast": (LINEAR, CHAIN)}, (2, 3, 4), (8, 128, 1024))


def measure(campaign: Campaign, most: int = 10**6) -> list[str]:
    """Append what is missing, as the worker does, up to so many points; the points appended."""
    done = campaign.done().all
    points = [key[1:4] for key in PLAN.points() if key not in done][:most]
    records = [
        record(*each, error="refused") if each[:2] == (CHAIN, 3) else record(*each, 1e-6, 2e-6) for each in points
    ]
    write(campaign.results, *records, library="test")
    return list(map(json.dumps, records))


@pytest.mark.slow
@given(st.lists(st.integers(1, 5), max_size=4), st.integers(0, 10_000))
def test_cut_off_at_any_byte_nothing_whole_is_lost_and_nothing_measured_twice(stops: list[int], cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign.create(Path(folder), PLAN)
        for most in stops:
            measure(campaign, most)
        if campaign.results.exists():
            text = campaign.results.read_bytes()
            campaign.results.write_bytes(text[: cut % (len(text) + 1)])
        before = campaign.done().all
        written = measure(campaign)
        assert len(set(written)) == len(written) == len(list(PLAN.points())) - len(before)
        assert campaign.done().all == set(PLAN.points())
        assert measure(campaign) == []
        cube = open_results([campaign.results])["bcast"].to_dataset()
        assert int(cube["time"].notnull().sum()) == len(campaign.done().measured)
        assert set(cube["repetitions"].values[cube["repetitions"].notnull().values]) == {2}


def test_refused_points_are_told_apart_and_not_called_again(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, PLAN)
    measure(campaign)
    done = campaign.done()
    assert {key[2] for key in done.refused} == {3}
    assert set(done.refused.values()) == {"refused"}
    assert missing(PLAN, done.all) == []


def test_a_folder_takes_another_plan_only_before_anything_was_measured(tmp_path: Path) -> None:
    folder, other = tmp_path / "deep" / "er", Plan(4, {"bcast": (LINEAR,)}, (2,), (8,))
    Campaign.create(folder, other)
    assert Campaign.create(folder, PLAN).plan() == PLAN
    measure(Campaign(folder))
    with pytest.raises(CampaignError, match="another plan"):
        Campaign.create(folder, other)
    assert Campaign.create(folder, PLAN).plan() == PLAN


def test_the_goal_of_an_adaptive_campaign_may_change_and_settles_it(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, replace(PLAN, launches=1, goal=Goal(seconds=5)))
    measure(campaign)
    write_json(campaign.chosen, {"goal": {"seconds": 5, "percent": None}, "ended": "the time is up"})
    assert campaign.settled(campaign.plan().goal)
    Campaign.create(tmp_path, replace(PLAN, launches=1, goal=Goal(seconds=9)))
    assert campaign.plan().goal == Goal(seconds=9)
    assert not campaign.settled(campaign.plan().goal)


@pytest.mark.parametrize(("content", "message"), [(None, "bench plan"), ("{", "cannot be read"), ("{}", "not a plan")])
def test_what_is_no_campaign_is_said_in_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "plan.json").write_text(content, encoding="utf-8")
    with pytest.raises(CampaignError, match=message):
        Campaign(tmp_path).plan()


def test_without_files_a_campaign_is_planned(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path)
    assert campaign.state() == {"state": "planned"}
    assert campaign.progress() == {}
    assert campaign.tail() == []
    assert read_done(tmp_path / "none.jsonl").all == set()


def test_a_file_that_is_replaced_is_whole_or_as_before(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["state.json"]


def test_the_log_shows_its_last_lines(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path)
    campaign.log.write_text("\n".join(map(str, range(50_000))), encoding="utf-8")
    assert campaign.tail(3) == ["49997", "49998", "49999"]


#: What Open MPI 5.0.11 says where it was asked whom it selects, between words of the ranks and of a failing node.
LISTENED = b"""\
colltune worker: begun
[node01:7] mca: base: components_register: found loaded component tuned
[node01:7] coll:find_available: querying coll component tuned
[node01:7] coll:base:comm_select: new communicator: MPI_COMM_WORLD (cid 0)
[node01:7] coll:base:comm_select: selecting       tuned, priority  30, Enabled
[node02:9] (0/MPI_COMM_WORLD): no underlying reduce; disqualifying myself
\0\x1b[1mlost\xff
"""


def test_the_log_leaves_out_what_the_library_was_asked_to_say_and_shows_no_binary(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path)
    campaign.log.write_bytes(LISTENED * 5_000)
    said, lost = "colltune worker: begun", "\ufffd\ufffd[1mlost\ufffd"
    note, *last = campaign.tail(2)
    assert last == [said, lost]
    assert note.endswith(" lines left out: what the library says of its components)")
    assert campaign.tail(1, of_attempt=True) == [lost]


def test_refused_points_can_be_forgotten_and_are_then_measured_again(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, PLAN)
    measure(campaign)
    write_json(campaign.state_file, {"attempt": 1, "suspects": {"a call": 1}})
    measured, refused = campaign.done().measured, set(campaign.done().refused)
    assert campaign.retry_refused() == len(refused) > 0
    assert campaign.done().measured == measured
    assert set(campaign.done().refused) == set()
    assert campaign.state() == {"attempt": 1, "suspects": {}}
    assert len(measure(campaign)) == len(refused)


def test_jobs_of_an_array_share_what_is_measured(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, PLAN)
    parts = [campaign.part(index) for index in range(3)]
    assert [part.plan().comm_sizes for part in parts] == [(2,), (3,), (4,)]
    assert [part.plan().ranks for part in parts] == [2, 3, 4]
    assert campaign.parts() == parts
    # What the whole campaign has measured before, no part measures again.
    measure(campaign, most=5)
    for part in parts:
        left = [key for key in part.plan().points() if key not in part.done().all]
        write(part.results, *(record(*key[1:4], 1e-6) for key in left))
    assert campaign.done().measured == set(PLAN.points())
    lines = [line for path in campaign.result_files() for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(set(PLAN.points())) + len(campaign.result_files())
    assert len(campaign.result_files()) == 4
    assert missing(PLAN, parts[0].done().all) == []


def test_a_job_of_an_array_has_the_chosen_points_of_its_size_alone(tmp_path: Path) -> None:
    chosen = {"bcast": ((2, 128, (0,)), (4, 128, (0, 1)))}
    campaign = Campaign.create(tmp_path, replace(PLAN, only=chosen))
    counts = [len(list(campaign.part(index).plan().points())) for index in range(3)]
    assert counts == [1, 0, 2]


def test_the_progress_of_an_array_is_that_of_all_its_jobs(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, PLAN)
    attempt = {"attempt": 1, "points": 6, "calling": None}
    write_json(campaign.part(0).progress_file, {**attempt, "done": 6, "elapsed": 3.0, "now": "", "ended": "complete"})
    write_json(campaign.part(1).progress_file, {**attempt, "done": 2, "elapsed": 5.0, "now": "bcast", "ended": ""})
    write_json(campaign.part(2).progress_file, {**attempt, "done": 0, "elapsed": 5.0, "now": "bcast", "ended": ""})
    campaign.part(1).log.write_text("said\n", encoding="utf-8")
    progress = campaign.progress()
    assert (progress["done"], progress["points"], progress["elapsed"]) == (8, 18, 5.0)
    assert (progress["now"], progress["ended"]) == ("bcast", "")
    assert campaign.tail() == ["[1] said"]
    for index in (1, 2):
        ended = {**attempt, "done": 2, "elapsed": 5.0, "now": "", "ended": "time limit"}
        write_json(campaign.part(index).progress_file, ended)
    assert campaign.progress()["ended"] == "time limit"
    campaign.forget_progress()
    assert campaign.progress() == {}
