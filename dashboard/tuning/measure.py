"""Stage *measure*: methods called in every way, then timed where the decision can still change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dashboard.benchmarks.adaptive.decided import decided_loss
from dashboard.benchmarks.campaigns import control
from dashboard.benchmarks.campaigns.campaign import UNDER_WAY, Campaign
from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.errors import CampaignError
from dashboard.benchmarks.launchers.launch import Launcher, last_words
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.ranks.world import said
from dashboard.benchmarks.safety.check import faulty_of
from dashboard.domain.units import format_count, format_duration, format_percent
from dashboard.tuning.folder import Folder, Result
from dashboard.tuning.look import plan_of
from dashboard.tuning.stages import Work

_WATCH_S = 0.2
#: Times that ranks are started which end before all is measured.
_STARTS = 2
#: Lines at the end of a log in which last words are.
_LOGGED = 20


def measure(work: Work) -> Result:
    """Measure what is missing of the campaign; one that runs already is waited for."""
    campaign = campaign_for(work.folder.path, plan_of(work.asked, work.installation, nodes=work.nodes))
    finish(work, "measure", campaign, work.installation, work.asked.limit)
    done, chosen, files = campaign.done(), campaign.choices(), campaign.result_files()
    unsafe = [
        {"collective": finding.collective, "method": finding.to_dict()["label"], "why": str(finding)}
        for finding in faulty_of(campaign)
        if finding.excluded
    ]
    # A campaign that another version ended kept what all of its times told.
    loss = {name: value for name, value in decided_loss(files, campaign.plan()).items() if value is not None}
    facts = {
        "results": [str(file.relative_to(work.folder.path)) for file in files],
        "measured": len(done.measured),
        "refused": len(done.refused),
        "unsafe": unsafe,
        "expected_loss": loss,
        "spent": chosen.get("spent"),
        "ended": chosen.get("ended", ""),
    }
    unknown = f"unknown ({'no time can be trusted' if done.measured else 'nothing measured'})"
    safety = format_count(len(unsafe), "unsafe method") if campaign.plan().checked else "methods unchecked"
    ended = f" ({facts['ended']})" if facts["ended"] else ""
    facts["said"] = (
        f"{facts['measured']:,} points in {format_duration(facts['spent'] or 0.0)}{ended}, {safety}; "
        f"expected loss of the decision {loss_words(sum(loss.values()) / len(loss)) if loss else unknown}"
    )
    return Result(facts, files)


def excluded(folder: Folder) -> list[dict[str, str]]:
    """Unsafe methods: ``collective, method, why``, by the check of each collective that was made last."""
    return list(folder.facts("compare").get("unsafe", folder.facts("measure").get("unsafe", [])))


def loss_words(percent: float) -> str:
    """Write an expected loss; where next to nothing is known, its figure says nothing more."""
    return "over 100 %" if percent > 100 else format_percent(percent)


def campaign_for(folder: Path, plan: Plan) -> Campaign:
    """The campaign of a plan: the one that was begun with it, whatever its goal, else a new one beside it."""
    number = 1
    while True:
        campaign = Campaign(folder / ("measure" if number == 1 else f"measure-{number}"))
        if not campaign.plan_file.exists() or not campaign.began or replace(campaign.plan(), goal=plan.goal) == plan:
            return Campaign.create(campaign.folder, plan)
        number += 1


def finish(work: Work, stage: str, campaign: Campaign, installation: Installation, seconds: float) -> None:
    """Have all of a campaign measured, and wait for it; one that is under way is joined.

    Raises
    ------
    CampaignError
        It ended before.
    """
    tell = partial(_tell, work, stage, campaign)
    finished(campaign, work.launcher, installation, seconds, tell, again=("failed", "timed out"))


def finished(
    campaign: Campaign,
    launcher: Launcher,
    installation: Installation,
    seconds: float,
    tell: Any = None,
    again: Sequence[str] = ("failed",),
) -> None:
    """Have all of a campaign measured, and wait for it; one that is under way is joined, interrupted it is cancelled.

    Ranks that hang or die with a node are started once more: they go on with what is missing.

    Parameters
    ----------
    seconds
        Limit of a start of the ranks.
    tell
        Told the campaign's status now and then.
    again
        How ranks may end that are started once more; whoever says a time limit means it.

    Raises
    ------
    CampaignError
        It ended before everything was measured.
    """
    for _ in range(_STARTS):
        now = control.status(campaign, launcher)
        if now["state"] not in UNDER_WAY:
            if now["measured"] + now["refused"] >= now["points"]:
                return
            control.start(campaign, launcher, installation, seconds)
        try:
            now = control.wait(campaign, launcher, _WATCH_S, tell)
        except KeyboardInterrupt:
            control.cancel(campaign, launcher)
            raise
        if now["state"] == "finished":
            return
        if now["state"] not in again or now["exit_code"] in control.WORKER_FAILED:
            break
    # What is cancelled is torn down: what start commands then complain of is not why. Of a job whose time was up it is
    # not either what its ranks said of points.
    lines = [] if now["state"] == "cancelled" else campaign.tail(_LOGGED, of_attempt=True)
    log = "; ".join(last_words(line for line in lines if now["state"] != "timed out" or not said([line])))
    why = f"{control.ending(now)}{f' ({log})' if log else ''}"
    raise CampaignError(f"{campaign.folder}: {why}; the same command measures what is missing")


def _tell(work: Work, stage: str, campaign: Campaign, now: Mapping[str, Any]) -> None:
    chosen = campaign.choices()
    done = now["measured"] + now["refused"]
    goal = (chosen.get("goal") or {}).get("seconds")
    share = min(1.0, chosen.get("spent", 0.0) / goal) if goal else done / max(1, now["points"])
    words = [format_count(done, "point") if goal else f"{done:,} of {now['points']:,} points"]
    if loss := [value for value in chosen.get("loss", {}).values() if value is not None]:
        words.append(f"expected loss {loss_words(sum(loss) / len(loss))}")
    if goal:
        words.append(f"{format_duration(max(0.0, goal - chosen.get('spent', 0.0)))} left")
    if not done and campaign.plan().checked:
        words = ["every method is called in all ways first"]
    if now["state"] == "queued":
        words = [control.ending(now)]
    if now["now"]:
        words.append(str(now["now"]))
    work.at(stage, share, ", ".join(words))
