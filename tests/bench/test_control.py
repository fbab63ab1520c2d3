"""Starting, watching and resuming with a launcher that runs nothing."""

import json
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.campaigns import control, limits
from dashboard.benchmarks.campaigns.campaign import Campaign, Done, refusal, write_json
from dashboard.benchmarks.campaigns.follow import Following
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import CampaignError, PlanError
from dashboard.benchmarks.launchers.launch import Status
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Fixed, Method
from dashboard.benchmarks.libraries.openmpi import GRAPH_COUNTERS
from tests.bench.campaigns import write
from tests.cli.command import Run
from tests.measuring.played import LIBRARY, Played, start_all_by

HERE = Installation(Path("/nowhere/mpiexec"), LIBRARY)
PLAN = Plan(2, {"bcast": (Method("a"), Method("b"))}, (2,), (8, 64))
POINT = {"collective": "bcast", "algorithm": "a", "segment_size": 0, "comm_size": 2, "message_size": 8}


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Played:
    """The launcher of all campaigns of a test."""
    made = Played(launched=Status("running"))
    start_all_by(monkeypatch, made)
    return made


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return Campaign.create(tmp_path, PLAN)


@pytest.fixture
def running(launcher: Played, campaign: Campaign) -> Campaign:
    control.start(campaign, launcher, HERE, 100.0)
    return campaign


def measured(campaign: Campaign, **changes: Any) -> None:
    write(campaign.results, {**POINT, "samples": [1e-6], **changes})


def all_measured(campaign: Campaign, **changes: Any) -> None:
    for algorithm, size in product(("a", "b"), (8, 64)):
        measured(campaign, algorithm=algorithm, message_size=size, **changes)


def test_what_is_launched_is_an_argument_list_with_a_limit(launcher: Played, campaign: Campaign) -> None:
    now = control.start(campaign, launcher, HERE, 100.0)
    (job,) = launcher.jobs
    assert (now["state"], now["attempt"], now["points"]) == ("running", 1, 4)
    assert (job.ranks, job.seconds) == (2, 100.0)
    assert job.program[1:5] == ("-m", "mpi4py", "-m", "dashboard.benchmarks.ranks.worker")
    # The worker stops by itself before the launcher must end it.
    assert float(job.program[job.program.index("--seconds") + 1]) == 95.0
    assert job.environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_ranks_are_started_for_each_launch_in_which_something_is_missing(launcher: Played, tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "often", replace(PLAN, launches=3))
    all_measured(campaign, launch=1)
    now = control.start(campaign, launcher, HERE, 100.0)
    assert (now["measured"], now["points"]) == (4, 12)
    assert len(launcher.jobs[0].starts) == 2


def test_a_campaign_runs_once_at_a_time(launcher: Played, running: Campaign) -> None:
    with pytest.raises(CampaignError, match="running already"):
        control.start(running, launcher, HERE, 100.0)
    assert control.cancel(running, launcher)["state"] == "cancelled"
    assert control.start(running, launcher, HERE, 100.0)["attempt"] == 2


def test_a_failure_that_the_worker_knows_nothing_of_is_told_by_the_last_words_of_the_log(
    launcher: Played, running: Campaign, done: Run
) -> None:
    launcher.now = Status("failed", "exit code 213", 213)
    running.log.write_text(
        "-----\nAn unrecognized option was included:\n\n  Option: --bind=none\n-----\n\0", encoding="utf-8"
    )
    assert done("bench", "status", running.folder).out.splitlines()[2:] == [
        "log: An unrecognized option was included:",
        "log: Option: --bind=none",
        f"more of its log: colltune bench status {running.folder} --log 50",
    ]


def test_what_was_refused_is_told_with_its_reasons(running: Campaign, done: Run) -> None:
    why = "not answered by sm: on this communicator han answers bcast"
    measured(running, error="its result is wrong")
    for size in (8, 64):
        measured(running, algorithm="b", message_size=size, error=why)
    assert done("bench", "status", running.folder).out.splitlines()[1:] == [
        "0 of 4 points measured, 3 refused or wrong",
        f"  2 × bcast b: {why}",
        "  1 × bcast a: its result is wrong",
    ]
    assert done("bench", "status", running.folder, "--json").json["reasons"] == [
        {"reason": why, "points": 2, "methods": ["bcast b"]},
        {"reason": "its result is wrong", "points": 1, "methods": ["bcast a"]},
    ]


def test_a_reason_of_many_methods_names_a_few_of_them_and_all_to_a_program() -> None:
    points = [("bcast", Method(name), 2, 8, None, "", 1) for name in "abcde"]
    (reason,) = Done(frozenset(), dict.fromkeys(points, "its result is wrong")).reasons
    assert reason["methods"] == [f"bcast {name}" for name in "abcde"]
    assert refusal(reason) == "5 × bcast a, bcast b, bcast c and 2 more: its result is wrong"


def test_while_a_job_is_queued_there_are_no_results_to_look_at_next(
    launcher: Played, campaign: Campaign, monkeypatch: pytest.MonkeyPatch, done: Run
) -> None:
    monkeypatch.setattr("dashboard.benchmarks.libraries.library.find", lambda: HERE)
    launcher.launched = Status("queued", "waits for resources (Resources)")
    said = done("bench", "resume", campaign.folder).err
    assert "colltune: 4 points, estimated " in said
    assert f"next: colltune bench status {campaign.folder} --follow\n" in said


def test_a_resume_that_is_refused_says_no_more_than_why(
    running: Campaign, monkeypatch: pytest.MonkeyPatch, refused: Run
) -> None:
    monkeypatch.setattr("dashboard.benchmarks.libraries.library.find", lambda: HERE)
    (said,) = refused("bench", "resume", running.folder).err.splitlines()
    assert "is running already" in said


def test_an_adaptive_campaign_that_has_ended_measures_doubtful_points_again_beyond_its_budget(
    launcher: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: Run
) -> None:
    monkeypatch.setattr("dashboard.benchmarks.libraries.library.find", lambda: HERE)
    goal = Goal(8.0)
    campaign = Campaign.create(tmp_path, replace(PLAN, goal=goal))
    write(campaign.results, {**POINT, "samples": [1e-6] * 3, "late": 9})
    write_json(campaign.chosen, {"goal": asdict(goal), "ended": "the time is up"})
    said = [line for line in done("bench", "resume", tmp_path).err.splitlines() if "missing" in line]
    again = "nothing is missing: 1 time that cannot be trusted is measured again, and once more what stays so"
    assert said == [f"colltune: {again}, beyond the budget of 8 s"]


def test_a_campaign_that_finished_has_nothing_left_until_its_plan_is_made_again(
    launcher: Played, tmp_path: Path
) -> None:
    campaign = Campaign.create(tmp_path, replace(PLAN, goal=Goal(8.0)))
    control.start(campaign, launcher, HERE, 100.0)
    measured(campaign)
    write_json(campaign.progress_file, {"ended": "complete"})
    write_json(campaign.chosen, {"goal": asdict(Goal(8.0)), "ended": "the time is up", "spent": 9.0})
    launcher.now = Status("finished", "", 0)
    for seconds, state, words in (
        (8.0, "finished", "1 of 1 point measured"),
        (20.0, "planned", "1 of 4 points measured, about 11 s left"),
    ):
        Campaign.create(tmp_path, replace(PLAN, goal=Goal(seconds)))
        for now in (control.status(campaign), Following(campaign).look().status):
            assert (now["state"], control.progress_words(now)) == (state, words)


def test_how_far_it_is_comes_from_disk(launcher: Played, running: Campaign, done: Run) -> None:
    measured(running)
    write_json(running.progress_file, {"done": 1, "points": 4, "elapsed": 2.0, "now": "bcast", "ended": ""})
    now = control.status(running, launcher)
    assert (now["measured"], now["remaining"], now["now"]) == (1, 6.0, "bcast")
    assert "\nnow: bcast\n" in done("bench", "status", running.folder).out


def test_what_is_done_now_is_that_of_jobs_that_run(launcher: Played, running: Campaign) -> None:
    states = ("cancelled", "running")
    for index, state in enumerate(states):
        (running.folder / "parts" / str(index)).mkdir(parents=True)
        report = {"done": 1, "points": 4, "elapsed": 2.0, "attempt": 1, "now": f"of {state}", "ended": ""}
        write_json(running.folder / "parts" / str(index) / "progress.json", report)
    launcher.now = Status("running", jobs=tuple({"id": f"7_{n}", "state": each} for n, each in enumerate(states)))
    assert control.status(running, launcher)["now"] == "of running"


def test_a_worker_that_stopped_in_time_has_timed_out(launcher: Played, running: Campaign) -> None:
    write_json(running.progress_file, {"ended": "time limit"})
    launcher.now = Status("finished", "", 0)
    now = control.status(running, launcher)
    assert (now["state"], now["reason"]) == ("timed out", "stopped at its time limit of 100 s")


def test_a_limit_at_which_only_doubtful_times_were_measured_again_ends_what_is_complete(
    launcher: Played, running: Campaign
) -> None:
    launcher.now = Status("timed out", "ended at its time limit of 100 s", None)
    for algorithm in ("a", "b"):
        measured(running, algorithm=algorithm, message_size=8)
        now = control.status(running, launcher)
        assert (now["state"], now["reason"]) == ("timed out", "ended at its time limit of 100 s")
        measured(running, algorithm=algorithm, message_size=64, late=9)
    now, seen = control.status(running, launcher), Following(running).look().status
    assert now["state"] == seen["state"] == "finished"
    doubtful = f", but 2 cannot be trusted: colltune bench resume {running.folder} has them measured again"
    assert now["reason"] == f"{seen['reason']}{doubtful}" == f"{launcher.now.reason}; nothing is missing{doubtful}"


def test_a_failure_is_told_in_the_worker_s_words(launcher: Played, running: Campaign) -> None:
    launcher.now = Status("failed", "exit code 3", 3)
    assert control.status(running, launcher)["reason"] == "exit code 3"
    running.log.write_text("noise\ncolltune worker: too few ranks\nmore noise\n", encoding="utf-8")
    assert control.status(running, launcher)["reason"] == "too few ranks"
    control.start(running, launcher, HERE, 100.0)
    launcher.now = Status("failed", "exit code 3", 3)
    assert control.status(running, launcher)["reason"] == "exit code 3"
    with running.log.open("a", encoding="utf-8") as log:
        log.write("colltune worker: another word\n")
    assert control.status(running, launcher)["reason"] == "another word"


def test_what_one_job_of_an_array_says_bears_its_number_and_what_all_say_is_said_once(
    launcher: Played, running: Campaign
) -> None:
    write_json(running.progress_file, {"ended": "complete"})
    launcher.now = Status("finished", "", 0)
    for index, text in enumerate(("colltune worker: 23 points were measured again", "nothing")):
        part = running.folder / "parts" / str(index)
        part.mkdir(parents=True)
        (part / "log.txt").write_text(f"{text}\ncolltune worker: no graphs\n", encoding="utf-8")
    assert control.status(running, launcher)["note"] == "job 0: 23 points were measured again; no graphs"


def test_what_a_job_of_an_array_said_stands_while_only_others_are_started_again(
    launcher: Played, tmp_path: Path
) -> None:
    launcher.array = 2
    campaign = Campaign.create(tmp_path, replace(PLAN, ranks=4, comm_sizes=(2, 4), message_sizes=(8,)))
    control.start(campaign, launcher, HERE, 100.0)
    launcher.now = Status("cancelled", "cancelled")
    for part, word in zip(campaign.parts(), ("3 cannot be trusted", "crashed"), strict=True):
        part.log.write_text(f"colltune worker: {word}\n", encoding="utf-8")
    for algorithm in ("a", "b"):
        measured(campaign, algorithm=algorithm)
    control.start(campaign, launcher, HERE, 100.0, again=True)
    assert [job.index for job in launcher.jobs[2:]] == [1]
    for part in campaign.parts():
        write_json(part.progress_file, {"ended": "complete", "done": 2, "points": 2, "elapsed": 1.0, "attempt": 2})
    launcher.now = Status("finished", "", 0)
    assert control.status(campaign, launcher)["note"] == "job 0: 3 cannot be trusted"


def test_a_limit_that_was_asked_for_is_kept_by_a_resume(launcher: Played, campaign: Campaign) -> None:
    control.start(campaign, launcher, HERE, 3600.0, asked=3600.0)
    launcher.now = Status("cancelled", "cancelled")
    assert limits.limit_again(campaign, None) == 3600
    control.start(campaign, launcher, HERE, 600.0, again=True)
    launcher.now = Status("cancelled", "cancelled")
    assert limits.limit_again(campaign, None) == 3600
    # Started otherwise without one, it is worked out.
    control.start(campaign, launcher, HERE, 600.0)
    assert limits.limit_again(campaign, None) == limits.limit_of(campaign.plan(), set(), None) == 120


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_what_comes_next_is_said_of_a_campaign_that_was_stopped(
    launcher: Played, running: Campaign, done: Run, state: Any
) -> None:
    launcher.now = Status(state, "said")
    status = ["bench", "status", str(running.folder)]
    assert f"next: colltune bench resume {running.folder}\n" in done(*status).err
    all_measured(running)
    out, err = done(*status).both
    assert f"{running.folder}: {state} (said; nothing is missing" in out
    assert f"next: colltune info {running.results}\n" in err


def test_the_limit_that_is_taken_has_time_for_calling_every_method_in_every_way() -> None:
    plan = make_plan(Wish(4, ("bcast",), (2, 4), (8,)), HERE)
    bare = replace(plan, checked=False)
    # At 2, 3 and 4 processes; the library's own decision is not called so.
    calls = 3 * (len(plan.methods["bcast"]) - 1)
    assert limits.limit_of(plan, set(), None) == limits.limit_of(bare, set(), None) + 2 * calls
    # It comes before anything is measured.
    done = {next(plan.points())}
    assert limits.limit_of(plan, done, None) == limits.limit_of(bare, done, None)
    # Nothing is missing but what is measured again.
    assert limits.limit_of(plan, done, None, {}, 100.0) == 500.0
    # Of a time that is given all can be used, however short the points are guessed to be.
    timed = replace(bare, goal=Goal(seconds=7200))
    assert limits.limit_of(timed, set(), None) == 120 + 1.25 * 7200


def test_of_what_has_ended_nothing_is_left_but_missing(launcher: Played, running: Campaign) -> None:
    measured(running, seconds=10.0)
    launcher.now = Status("failed", "exit code 1", 1)
    words = control.progress_words(control.status(running))
    assert words.startswith("1 of 4 points measured; what is missing takes about ")


def test_with_nothing_missing_nothing_is_launched(launcher: Played, campaign: Campaign) -> None:
    all_measured(campaign)
    with pytest.raises(CampaignError, match=r"nothing is missing$"):
        control.start(campaign, launcher, HERE, 100.0, again=True)


@pytest.mark.parametrize(("launches", "remedy"), [(1, "bench resume"), (2, "bench refine")])
def test_what_cannot_be_trusted_is_measured_again_where_that_is_asked_for(
    launcher: Played, tmp_path: Path, launches: int, remedy: str
) -> None:
    campaign = Campaign.create(tmp_path / "late", replace(PLAN, message_sizes=(8,), launches=launches))
    for launch in range(1, launches + 1):
        for algorithm in ("a", "b"):
            measured(campaign, algorithm=algorithm, launch=launch, late=9)
    with pytest.raises(CampaignError, match=f"2 cannot be trusted: colltune {remedy}"):
        control.start(campaign, launcher, HERE, 100.0, again=launches > 1)
    if launches == 1:
        launcher.array = 2
        with pytest.raises(CampaignError, match=f"2 cannot be trusted: colltune bench refine {campaign.folder} -o"):
            control.start(campaign, launcher, HERE, 100.0, again=True)
        launcher.array = 0
        assert control.start(campaign, launcher, HERE, 100.0, again=True)["state"] == "running"


@pytest.mark.parametrize(("state", "given_up"), [("failed", True), ("timed out", True), ("cancelled", False)])
def test_a_method_that_never_comes_back_twice_is_given_up(
    launcher: Played, campaign: Campaign, state: Any, *, given_up: bool, done: Run
) -> None:
    for attempt in range(3):
        control.start(campaign, launcher, HERE, 100.0)
        refused = campaign.done().refused
        assert bool(refused) == (given_up and attempt == 2)
        write_json(campaign.progress_file, {"calling": POINT, "ended": ""})
        launcher.now = Status(state, "")
    assert all("never came back" in why for why in refused.values())
    assert {key[1].algorithm for key in refused} <= {"a"}


def test_a_plan_holds_what_the_library_offers_and_how_it_is_set() -> None:
    wish = Wish(4, ("bcast", "reduce"), (2, 4), (8,), algorithms=("basic_linear", DEFAULT))
    plan = make_plan(wish, HERE)
    assert {name: [m.algorithm for m in each] for name, each in plan.methods.items()} == {
        "bcast": [DEFAULT, "basic_linear"],
        "reduce": [DEFAULT],
    }
    linear = plan.methods["bcast"][1]
    assert plan.settings_of("bcast", linear)["coll_tuned_bcast_algorithm"] == 1
    assert plan.graph_counters == GRAPH_COUNTERS
    assert plan.library_version == "5.0.11"
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_a_library_that_cannot_be_switched_gives_a_plan_without_settings() -> None:
    plan = make_plan(Wish(2, ("bcast",), (2,), (8,)), Installation(Path("/nowhere"), Fixed("MPICH", "5.0.2", "why")))
    assert plan.methods == {"bcast": (Method(DEFAULT, library_id=0),)}
    assert (plan.settings, plan.graph_counters) == ({}, ())


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"collectives": ("pt2pt",)}, "allowed are bcast"),
        ({"algorithms": ("bruck",)}, "default, basic_linear, binomial"),
    ],
)
def test_a_wish_that_the_library_cannot_meet_is_refused(wish: dict[str, Any], message: str) -> None:
    given = {"ranks": 2, "collectives": ("bcast",), "comm_sizes": (2,), "message_sizes": (8,)}
    with pytest.raises(PlanError, match=message):
        make_plan(Wish(**{**given, **wish}), HERE)


def test_who_answers_is_heard_anew_where_ranks_are_started_otherwise(
    tmp_path: Path, launcher: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create(tmp_path / "c", PLAN)
    heard = campaign.folder / "components.json"
    for nodes, stays in ((2, True), (2, True), (1, False)):
        heard.write_text("[]")
        monkeypatch.setattr(Played, "record", lambda _, nodes=nodes: {"name": "played", "request": {"nodes": nodes}})
        control.start(campaign, launcher, HERE, 60)
        assert heard.exists() is stays
        launcher.launched = Status("failed")
        control.cancel(campaign)


def test_of_a_refused_job_the_reason_is_said_once(launcher: Played, running: Campaign, done: Run) -> None:
    refused = {"id": "", "state": "failed", "reason": "invalid partition", "nodes": ""}
    launcher.now = Status("failed", "invalid partition", jobs=(refused,))
    out = done("bench", "status", running.folder).out
    assert out.count("invalid partition") == 1
    assert "job :" not in out
