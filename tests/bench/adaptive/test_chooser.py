"""An adaptive campaign by its run file: it goes on from what is there, and ends at its goal."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.adaptive.chooser import ENOUGH, NOTHING_LEFT, TIME_UP, Chooser, Todo, ending
from dashboard.benchmarks.adaptive.choosing import Step, beginning
from dashboard.benchmarks.adaptive.decided import decided_loss
from dashboard.benchmarks.adaptive.words import words_of
from dashboard.benchmarks.adaptive.worker import Choosing
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.campaigns.plan import Plan, point_key
from dashboard.benchmarks.errors import PlanError
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from tests.bench.campaigns import record
from tests.bench.campaigns import write as append
from tests.cli.command import Run

METHODS = (Method(DEFAULT, library_id=0), Method("linear", library_id=1), Method("pipeline", 1024, library_id=3))
SIZES = tuple(4 * 4**n for n in range(8))


def plan_of(goal: Goal | None, **changes: Any) -> Plan:
    return Plan(
        **{
            "ranks": 6,
            "methods": {"bcast": METHODS},
            "comm_sizes": (2, 3, 4, 5, 6),
            "message_sizes": SIZES,
            "goal": goal,
            **changes,
        }
    )


def seconds(method: Method, comm_size: int, message_size: int) -> float:
    if method.algorithm == "linear":
        return 1e-6 * comm_size * (1 + message_size / 500)
    return 1e-6 * (6 if method.algorithm == "pipeline" else 9) * (1 + message_size / 2000)


def write(campaign: Campaign, todo: Todo, **further: Any) -> None:
    points = [(method, cell.comm_size, cell.message_size) for cell, methods in todo for method in methods]
    records = [record(*point, *(seconds(*point) * each for each in (1, 1.01, 0.99)), seconds=0.5) for point in points]
    append(campaign.results, *(each | further for each in records))


def chooser_of(campaign: Campaign) -> Chooser:
    """One that has read the run file."""
    chooser = Chooser(campaign.plan())
    chooser.read(campaign.results)
    return chooser


def measured(campaign: Campaign, most: int = 1000) -> tuple[str, list[Any]]:
    """Measure what is chosen, by a chooser that reads the run file anew; why it ended, and all points in order."""
    chooser, keys = Chooser(campaign.plan()), []
    for _ in range(most):
        chooser.read(campaign.results)
        todo, ended = chooser.next()
        if not todo:
            return ended, keys
        assert len({cell.comm_size for cell, _ in todo}) == 1
        keys += [point_key(cell, method) for cell, methods in todo for method in methods]
        write(campaign, todo)
    return "", keys


def test_of_doubtful_points_those_are_measured_again_that_tell_most_and_in_a_part_of_the_time(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=25)))
    _, keys = measured(campaign)
    chooser = chooser_of(campaign)
    loss = chooser.known()["bcast"].loss
    again = list(chooser.again(dict.fromkeys(keys, "scattered")))
    # Half a second for each point, a twentieth of 25 seconds in all.
    assert len(again) == int(0.05 * 0.5 * len(keys) / 0.5)
    rest = [key for key in keys if key not in again]
    worth = [loss[key[2] - 2, SIZES.index(key[3])] for key in (*again, *rest)]
    assert min(worth[: len(again)]) == pytest.approx(sorted(worth)[-len(again)])
    assert chooser.again({}) == {}


def line(samples: list[float], took: float, comm_size: int = 4) -> bytes:
    return json.dumps(record(METHODS[1], comm_size, 4, *samples, seconds=took)).encode()


def test_what_was_spent_is_that_of_its_own_sizes_and_of_a_point_measured_again_both_times(tmp_path: Path) -> None:
    plan = plan_of(Goal(seconds=25))
    chooser, job = Chooser(plan), Chooser(plan, only=(4,))
    for each in (line([1e-6] * 3, 2.0), line([2e-6], 0.5), line([3e-6] * 3, 4.0, comm_size=6)):
        chooser.take([each])
        job.take([each])
    assert (chooser.own, chooser.spent) == (2, 6.5)
    assert (job.own, job.spent) == (1, 2.5)
    (again, _) = job.points.values()
    # One repetition says little of how sure its time is.
    assert (again.time, again.error, again.took) == (2e-6, 0.2, 0.5)


def test_the_library_s_own_decision_is_measured_wherever_anything_is() -> None:
    known = Chooser(plan_of(Goal(seconds=25))).known()["bcast"]
    assert METHODS[known.incumbent].algorithm == DEFAULT
    ours = Chooser(plan_of(Goal(seconds=25), methods={"bcast": METHODS[1:]})).known()["bcast"]
    assert ours.incumbent is None


def test_where_choosing_is_to_be_quick_all_that_is_known_goes_by_one_calibration() -> None:
    chooser = Chooser(plan_of(Goal(seconds=25)))
    chooser.hurry(quick=True)
    before = chooser.known()["bcast"].calibration
    chooser.take([line([1e-6] * 3, 2.0)])
    assert chooser.known()["bcast"].calibration is before
    assert before.quick


def test_it_ends_in_its_time_and_measures_nothing_twice(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=25)))
    ended, keys = measured(campaign)
    assert ended == TIME_UP
    assert 0.5 * len(keys) <= 25
    assert len(set(keys)) == len(keys)


def test_with_a_workload_it_measures_where_the_calls_are(tmp_path: Path) -> None:
    calls = (("bcast", 3, 64, 5.0), ("bcast", 3, 256, 1.0))
    spent = []
    for name, goal in (("all", Goal(seconds=30)), ("called", Goal(seconds=30, calls=calls))):
        campaign = Campaign.create(tmp_path / name, plan_of(goal))
        assert campaign.plan().goal == goal
        ended, keys = measured(campaign)
        assert ended in (TIME_UP, NOTHING_LEFT)
        spent.append(sum(key[2:4] in ((3, 64), (3, 256)) for key in keys) / len(keys))
    assert spent[1] > 2 * spent[0]
    chooser = chooser_of(campaign)
    assert chooser.known()["bcast"].weights.sum() == 6


def test_killed_after_any_line_it_chooses_as_if_it_had_not_been(tmp_path: Path) -> None:
    _, steps = measured(Campaign.create(tmp_path / "whole", plan_of(Goal(seconds=30))))
    campaign, parts = Campaign.create(tmp_path / "parts", plan_of(Goal(seconds=30))), []
    while step := measured(campaign, 1)[1]:
        parts += step
    assert parts == steps


def test_what_it_begins_with_is_asked_for_until_nothing_is_left_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=30)))
    asked, chooser = [], Chooser(campaign.plan())

    def counted(*args: Any) -> list[Step]:
        asked.append(list(beginning(*args)))
        return asked[-1]

    monkeypatch.setattr("dashboard.benchmarks.adaptive.chooser.beginning", counted)
    steps = 0
    reasons = []
    while todo := chooser.next()[0]:
        reasons.append(chooser.why)
        write(campaign, todo)
        chooser.read(campaign.results)
        steps += 1
    assert reasons[0].startswith("bcast, 6 processes, 4 B, 16 B: the first sizes of all, 4 points")
    assert re.fullmatch(
        r"bcast, \d processes, [^:]+: [\d.]+ % of expected loss there and around, \d points(, for about \d+ s)?",
        reasons[-1],
    )
    assert [bool(left) for left in asked] == [True] * (len(asked) - 1) + [False]
    assert len(asked) < steps


def test_jobs_of_an_array_choose_of_their_own_size_by_what_all_have_measured(tmp_path: Path, done: Run) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=6)))
    plan, parts = campaign.plan(), [campaign.part(number) for number in range(5)]
    choosing = [Choosing(part, part.plan(), ["node"] * 6) for part in parts]
    for part, job in zip(parts, choosing, strict=True):
        while todo := job.next(0)[0]:
            assert {cell.comm_size for cell, _ in todo} == set(part.plan().comm_sizes)
            write(part, todo)
        job.close(0)
        assert (campaign.choices()["decided"], bool(campaign.choices()["ended"])) == (part is parts[-1],) * 2
    spent = [part.choices()["spent"] for part in parts]
    # The time is that of each job.
    assert all(0 < each <= 6 for each in spent)
    assert campaign.choices()["spent"] == pytest.approx(sum(spent))
    assert campaign.choices()["points"] == len(campaign.done().measured)
    assert campaign.choices()["ended"] in (TIME_UP, NOTHING_LEFT)
    assert campaign.settled(plan.goal)
    # The last one knew all that one job for all would know, and that a method was never measured.
    alone = decided_loss(campaign.result_files(), plan)["bcast"]
    assert alone == pytest.approx(campaign.choices()["loss"]["bcast"], abs=1e-4)
    assert alone > 1
    # With more time, all of them have to go on, not only the first that does.
    more = Campaign.create(tmp_path, plan_of(Goal(seconds=12)))
    assert not more.settled(more.plan().goal)
    again = more.part(0)
    while todo := Choosing(again, again.plan(), ["node"] * 6).next(0)[0]:
        write(again, todo)
    assert again.choices()["ended"]
    assert not more.settled(more.plan().goal)


def test_where_points_take_less_than_choosing_several_steps_apart_are_measured_for_one_choice(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=60)))
    measured(campaign, 6)
    chooser = chooser_of(campaign)
    chooser.together = 10.0
    steps = [chooser.next()[0]]
    assert chooser.anew
    while not (step := chooser.next()[0], chooser.anew)[1]:
        steps.append(step)
    assert len(steps) > 1
    assert sum(0.5 * len(methods) for step in steps for _, methods in step) <= 10.0
    # What a size tells of those beside it is not known before.
    sizes = [{(cell.comm_size, SIZES.index(cell.message_size)) for cell, _ in step} for step in steps]
    for n, here in enumerate(sizes):
        for there in sizes[n + 1 :]:
            assert all(max(abs(a - c), abs(b - d)) > 1 for a, b in here for c, d in there)


def test_more_time_goes_on_from_what_is_there(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=20)))
    first = measured(campaign)[1]
    Campaign.create(tmp_path, plan_of(Goal(seconds=40)))
    more = measured(campaign)[1]
    assert more
    assert not set(first) & set(more)


def test_it_ends_at_the_expected_loss_that_is_asked_for(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(percent=2.0)))
    ended, keys = measured(campaign)
    chooser = chooser_of(campaign)
    loss = chooser.loss()["bcast"]
    assert ended in (ENOUGH, NOTHING_LEFT)
    assert loss is not None
    assert (loss <= 2.0) == (ended == ENOUGH)
    assert len(keys) < len(list(campaign.plan().points()))


@pytest.mark.parametrize(
    ("ended", "loss", "doubtful", "said"),
    [
        (ENOUGH, 4.0, 0, ENOUGH),
        (NOTHING_LEFT, 4.0, 3, ENOUGH),
        (TIME_UP, 9.0, 3, TIME_UP),
        (ENOUGH, 9.0, 0, f"by all times {ENOUGH}, by those that decide it is not"),
        (ENOUGH, 9.0, 3, f"by all times {ENOUGH}, by those that decide it is not (3 times that cannot be trusted)"),
        (
            NOTHING_LEFT,
            None,
            1,
            "nothing is left but 1 time that cannot be trusted; 5 % of expected loss is not reached",
        ),
    ],
)
def test_why_it_ended_is_said_by_the_times_that_decide(ended: str, loss: float, doubtful: int, said: str) -> None:
    assert ending(ended, Goal(percent=5.0), {"bcast": 1.0, "reduce": loss}, doubtful) == said
    assert ending(NOTHING_LEFT, Goal(seconds=1.0), {"bcast": 1.0}, 0) == NOTHING_LEFT


def chosen_all(campaign: Campaign, **further: Any) -> tuple[Choosing, Todo]:
    """Measure all that a job chooses, and give it with that."""
    job, every = Choosing(campaign, campaign.plan(), ["node"] * 6), []
    while todo := job.next(0)[0]:
        write(campaign, todo, **further)
        every += todo
    return job, every


def test_at_its_end_the_loss_counts_what_the_plan_has_and_nobody_measured(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=20)))
    job, every = chosen_all(campaign)
    job.close(0)
    assert sum(len(methods) for _, methods in every) < len(list(campaign.plan().points()))
    chooser = chooser_of(campaign)
    # All times can be trusted: what is said is what the choice, and the end by `--until`, went by.
    assert campaign.choices()["loss"] == pytest.approx(chooser.loss(), abs=1e-4)


def test_at_its_end_the_loss_is_that_of_the_times_that_decide_and_no_less_than_refine_tells_of_its_results(
    tmp_path: Path, done: Run
) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(percent=2.0)))
    job, every = chosen_all(campaign)
    before = campaign.choices()
    assert "expected loss of the decision by all times: bcast" in words_of(before)[-1]
    doubtful = [(cell, methods) for cell, methods in every if SIZES.index(cell.message_size) in (1, 3, 5)]
    write(campaign, doubtful, late=9, again="late")
    job.close(9)
    chosen = campaign.choices()
    assert chosen["loss"]["bcast"] > max(2.0, before["loss"]["bcast"])
    assert "(9 times that cannot be trusted)" in chosen["ended"] or "but 9 times" in chosen["ended"]
    assert chosen["way"][-1] == [pytest.approx(chosen["spent"], abs=0.01), chosen["loss"]["bcast"]]
    assert f"expected loss of the decision: bcast {chosen['loss']['bcast']:.3g} %" in words_of(chosen)[-1]
    sizes = ["--comm-sizes", "2,3,4,5,6", "--message-sizes", ",".join(map(str, SIZES))]
    assert (
        done("bench", "refine", campaign.results, *sizes, "--points", "1", "--json").json["loss"]["bcast"]
        <= chosen["loss"]["bcast"]
    )


def test_measuring_again_is_a_part_of_the_time(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=20)))
    job, every = chosen_all(campaign)
    job.close(0)
    before = campaign.choices()
    assert before["ended"] == TIME_UP
    job = Choosing(campaign, campaign.plan(), ["node"] * 6)
    write(campaign, every, seconds=0.1, again="late")
    job.close(0)
    again = 0.1 * sum(len(methods) for _, methods in every)
    assert campaign.choices()["spent"] == pytest.approx(before["spent"] + again)
    assert campaign.choices()["ended"] == TIME_UP


def test_measured_again_a_campaign_that_had_ended_by_its_loss_may_go_on(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(percent=5.0)))
    job, every = chosen_all(campaign)
    job.close(0)
    assert campaign.choices()["ended"] == ENOUGH
    job, _ = chosen_all(campaign)
    random = np.random.default_rng(1)
    for cell, methods in every:
        for method in methods:
            time = seconds(method, cell.comm_size, cell.message_size) * random.lognormal(sigma=0.7)
            write(campaign, [(cell, [method])], samples=[time, 1.01 * time, 0.99 * time], again="late")
    job.close(0)
    assert campaign.choices()["ended"] == ""
    assert words_of(campaign.choices())[-1].endswith("; by what was measured again there is more to measure: resume it")
    assert not campaign.complete()


def test_what_is_refused_is_not_chosen_again(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path, plan_of(Goal(seconds=10)))
    chooser = Chooser(campaign.plan())
    todo, _ = chooser.next()
    cell, methods = todo[0]
    chooser.take([json.dumps(record(methods[1], cell.comm_size, cell.message_size, error="refused"))])
    write(campaign, [(cell, [methods[0]])])
    chooser.read(campaign.results)
    again = chooser.next()[0]
    assert (cell.message_size, methods[1]) not in {(c.message_size, m) for c, ms in again for m in ms}


def test_a_goal_and_several_launches_exclude_each_other() -> None:
    with pytest.raises(PlanError, match="one launch"):
        plan_of(Goal(seconds=1), launches=2)
    with pytest.raises(PlanError, match="needs an end"):
        Goal()
    assert Plan.from_json(json.loads(json.dumps(plan_of(Goal(seconds=3)).to_json()))) == plan_of(Goal(seconds=3))


def test_that_no_time_can_be_trusted_is_said_where_all_has_ended() -> None:
    chosen = {"loss": {"bcast": None}, "decided": True, "spent": 13.9, "ended": "the time is up", "why": ""}
    (line,) = words_of(chosen)
    assert line.startswith("expected loss of the decision: bcast unknown (no time can be trusted)")
    assert line.endswith("; ended: the time is up")
    assert words_of({**chosen, "decided": False}) == []
