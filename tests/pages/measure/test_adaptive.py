"""An adaptive campaign on the page *Measure*, driven by its params: asked for, started, watched, said as a command."""

import json
import shlex
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dashboard.benchmarks.adaptive import Goal
from dashboard.benchmarks.adaptive.worker import Choosing
from dashboard.benchmarks.campaigns.campaign import Campaign
from dashboard.benchmarks.launchers.launch import Status
from dashboard.commands.bench import plan as bench_plan
from dashboard.commands.options import parse
from dashboard.pages.measure.page import MeasurePage
from dashboard.pages.measure.where import ON_SLURM
from dashboard.session.recipes import as_command, as_python
from dashboard.session.state import State
from loaders import RunWriter
from tests.measuring.played import HERE, Played, measured
from tests.pages.measure.opened import campaign_of, page_of, press

SIZES = (8, 64, 512, 4096, 32768, 262144)
GRID = {"message_sizes": ",".join(map(str, SIZES)), "comm_sizes": "2-5"}


def asked(page: MeasurePage, **chosen: Any) -> MeasurePage:
    """Switch the form to adaptive, with these ends."""
    for name, value in {"adaptive": True, **chosen}.items():
        page.form.widgets[name].value = value
    return page


@pytest.fixture
def page(launcher: Played) -> MeasurePage:
    page = page_of(**GRID)
    page.where.widgets["ranks"].value = 5
    return page


@pytest.fixture
def started(page: MeasurePage, launcher: Played) -> MeasurePage:
    asked(page, budget="60s")
    press(page.start)
    launcher.now = Status("running")
    page.rhythm.now()
    return page


class Running:
    """Plays the job: measures, step by step, what the worker's own choice asks for."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.choosing = Choosing(campaign, campaign.plan(), ["node"] * campaign.plan().ranks)

    def step(self) -> int:
        """Measure what is chosen next; how many points that were."""
        todo, *_ = self.choosing.next(0)
        with RunWriter(self.campaign.results, {}) as writer:
            for cell, methods in todo:
                for number, method in enumerate(methods):
                    seconds = 1e-6 * (1 + number) * (1 + cell.message_size / (1000 * (1 + number)))
                    sizes = {"comm_size": cell.comm_size, "message_size": cell.message_size}
                    point = {"collective": cell.collective, **method.to_json(), **sizes, "seconds": 0.5}
                    writer.append({**point, "samples": [seconds] * 3})
        return sum(len(methods) for _, methods in todo)


def test_a_plan_is_adaptive_when_it_is_switched_on_and_says_when_it_ends(page: MeasurePage) -> None:
    assert not page.form._ends.visible
    asked(page)
    assert page.form._ends.visible
    ends = "needs an end: a time (budget) or an expected loss (until expected loss [%])"
    assert ends in page.cost.fault.text
    assert page.cost.start.disabled
    asked(page, budget="soon")
    assert "'soon': right would be such as 90 s" in page.cost.fault.text
    asked(page, budget="2h", until=1.0)
    assert not page.cost.fault.visible
    assert "after 2.0 h of measuring, or at 1 % of expected loss" in page.cost.estimate.object
    press(page.start)
    plan = campaign_of(page).plan()
    assert (plan.goal, plan.protocol.race) == (Goal(7200.0, 1.0), True)
    # What was typed is kept while it is switched off, and asks for nothing.
    page.form.widgets["adaptive"].value = False
    assert not page.cost.fault.visible
    press(page.start)
    assert campaign_of(page).plan().goal is None


@pytest.mark.parametrize(("field", "value"), [("launches", 2), ("ppn", "1,2")])
def test_what_an_adaptive_campaign_cannot_do_is_said(page: MeasurePage, field: str, value: Any) -> None:
    asked(page, budget="60s")
    page.form.widgets[field].value = value
    assert "adaptive measuring is one job of one launch" in page.cost.fault.text
    assert page.cost.start.disabled


def test_the_address_brings_the_ends_back_and_refuses_others(page: MeasurePage) -> None:
    asked(page, budget="90 s", until=2.0)
    assert ";adaptive:true;budget:90 s;until:2.0;" in page.state.to_query()["measure"]
    state = State(page="Measure", campaign_asked=page.state.campaign_asked)
    again = MeasurePage(state)
    assert again.form.asked(2).wish().goal == Goal(90.0, 2.0)
    assert again.form._ends.visible
    wrong = MeasurePage(State(page="Measure", campaign_asked="adaptive:true;until:-1"))
    assert "until is -1" in wrong.state.notice
    assert not wrong.form.adaptive


def test_the_commands_and_python_ask_for_the_same_plan(page: MeasurePage) -> None:
    asked(page, until=1.0)
    page.form.widgets["relative_error"].value = 0.025
    page.form.widgets["graphs"].value = False
    plan, run = as_command(page.state).splitlines()
    args = parse(shlex.split(plan)[1:])
    assert bench_plan.planned(args, HERE.installation) == page._worked.offered.plan
    assert run == f"colltune bench run {page.root / 'bcast-5-ranks'}"
    assert "adaptive=True, until=1.0" in as_python(page.state)
    press(page.start)
    assert as_command(page.state).splitlines()[-1] == (f"colltune bench status {page.root / 'bcast-5-ranks'} --json")
    names: dict[str, Any] = {"find": lambda: HERE.installation}
    lines = as_python(page.state).replace("from dashboard.benchmarks.libraries.library import find\n", "")
    exec(lines, names)  # noqa: S102 - our own
    assert names["offered"].plan == names["campaign"].plan() == campaign_of(page).plan()


def test_an_array_of_jobs_is_submitted_as_the_command_says(page: MeasurePage) -> None:
    page.where.offer("", ())
    page.where.widgets["where"].value = ON_SLURM
    page.where.widgets["array"].value = 2
    page.where.widgets["environment"].value = "UCX_TLS=tcp"
    asked(page, budget="60s")
    run = as_command(page.state).splitlines()[1]
    assert run.startswith("colltune bench submit ")
    assert "--nodes 2" in run
    assert "--array 2" in run
    assert "--env=UCX_TLS=tcp" in shlex.split(run)


def test_before_anything_is_chosen_it_says_so_and_of_other_campaigns_nothing(started: MeasurePage) -> None:
    assert started.loss.view.visible
    assert "nothing was chosen yet" in started.loss.words.object
    assert started.loss.chart.objects == []
    started.form.widgets["adaptive"].value = False
    press(started.start)
    assert not started.loss.view.visible


def test_while_it_runs_it_says_what_comes_next_and_why(started: MeasurePage) -> None:
    running = Running(campaign_of(started))
    assert running.step()
    started.rhythm.now()
    assert "the first sizes of all" in started.loss.words.object
    while started.loss.chart.objects == []:
        assert running.step()
        started.rhythm.now()
    while running.step():
        pass
    started.rhythm.now()
    record = json.loads(campaign_of(started).chosen.read_text())
    assert record["ended"] in started.loss.words.object
    assert f"bcast {record['loss']['bcast']:.3g} %" in started.loss.words.object
    points = started.loss.chart.objects[0].object.get(1)
    # Five ranks are held for each second of measuring.
    assert points["spent"].tolist() == [5 * spent for spent, _ in record["way"]]


def test_the_map_shows_what_is_expected_where_nothing_was_measured(started: MeasurePage) -> None:
    running = Running(campaign_of(started))
    started.rhythm.now()
    plot = started.map.pane.object
    assert "Probability" not in started.map.legend.object
    assert "the best time" not in started.map.legend.object
    for _ in range(2):
        running.step()
    started.rhythm.now()
    # No new plot: zoom and hover of the one on show are kept.
    assert started.map.pane.object is plot
    shown = started.map.measured
    missing = shown.dmap["best"].values < 0
    assert 0 < missing.sum() < missing.size
    assert (shown.best >= 0).all()
    assert shown.guessed.tolist() == missing.tolist()
    assert "the best time is interpolated" in started.map.legend.object
    assert "Probability that the method is the fastest" in started.map.legend.object
    assert len(started.map.live._latest["map estimates"]["left"]) >= 1
    # Of one that ended early: the largest messages and communicators were not reached.
    best = np.full_like(missing, -1, dtype=int)
    best[0, 0] = best[0, 4] = best[2, 0] = 0
    dmap = shown.dmap.assign(best=(shown.dmap["best"].dims, best))
    early = replace(shown, shown=("early", "bcast", None), dmap=dmap, expected=(abs(best), abs(1.0 * best)))
    assert early.beyond.tolist() == [[False] * 5 + [True]] * 3 + [[True] * 6]
    started.map.show(early)
    assert "12 cells: the best time is interpolated" in started.map.legend.object
    assert "9 cells: the best time is extrapolated, beyond what was measured" in started.map.legend.object


def test_what_is_expected_is_worked_out_anew_when_something_was_chosen(
    started: MeasurePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = Running(campaign_of(started))
    running.step()
    started.rhythm.now()
    before = started.map.measured.expected
    assert before is not None
    measured(campaign_of(started), "binomial", 64, comm_size=3)
    started.rhythm.now()
    assert started.map.measured.expected is before
    monkeypatch.setattr(time, "time", lambda: 1e10)
    running.step()
    started.rhythm.now()
    assert started.map.measured.expected is not before


def test_how_far_it_is_goes_by_the_time_that_it_may_take(started: MeasurePage) -> None:
    campaign = campaign_of(started)
    campaign.chosen.write_text(json.dumps({"goal": {"seconds": 60.0, "percent": None}, "spent": 45.0, "ended": ""}))
    started.rhythm.now()
    assert started.watch.bar.value == 75
