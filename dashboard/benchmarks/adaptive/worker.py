"""What the first process of an adaptive campaign does: it reads what was measured, and chooses what comes next."""

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dashboard.benchmarks.adaptive.chooser import Chooser, ending
from dashboard.benchmarks.campaigns.campaign import Campaign, read_json, write_json
from dashboard.benchmarks.campaigns.plan import Plan, Todo, placed, point_key
from dashboard.benchmarks.campaigns.protocol import PointKey

_DIGITS = 4
#: Part of the measuring that is aimed at for choosing, half of the 2 % that it may take, since reading what was
#: measured and writing down what was chosen come on top; and least number of choices of a campaign that has a time.
_AIM, _CHOICES = 0.01, 8
#: Seconds after which what was chosen is written down, where nothing was chosen anew.
_WRITTEN = 1.0
#: Points of the way that the expected loss has gone, at most.
_MOST_WAY = 400


class Choosing:
    """Chooses points of a campaign, and keeps in its folder what the choice rests on.

    Parameters
    ----------
    campaign
        Whose run file is read; of a job of an array, those of all jobs are, and its own communicator size is measured.
    nodes
        Name of each rank's node.
    """

    def __init__(self, campaign: Campaign, plan: Plan, nodes: Sequence[str]) -> None:
        self._campaign, self._root, self._nodes = campaign, campaign.root(), nodes
        cores = os.cpu_count() if len(set(nodes)) == 1 else None
        self._chooser = Chooser(self._root.plan(), cores, only=plan.comm_sizes)
        self._choosing, self._steps, self._ranks = 0.0, 0, plan.ranks
        self._written = -math.inf
        self._loss: dict[str, float | None] = {}
        #: Why it ended, and whether it had before, so that it was started for what was doubtful, as no part is.
        self._ended, self._had_ended = "", self._root == campaign and campaign.settled(plan.goal)
        self._way: list[tuple[float, float]] = list(map(tuple, read_json(campaign.chosen).get("way", ())))

    def next(self, done: int) -> tuple[Todo, int, float]:
        """What is measured next, nothing at the end.

        With it come how many points it will be in all, by how far the time is, and the seconds that it may take.

        Parameters
        ----------
        done
            Points of this start.
        """
        began = time.monotonic()
        self._read()
        self._chooser.hurry(quick=self._slow)
        todo, ended = self._chooser.next()
        while todo and placed(self._nodes, todo[0][0].comm_size, todo[0][0].ppn) is None:
            # It needs more nodes than there are: never measured here.
            self._chooser.refused |= {point_key(cell, method) for cell, methods in todo for method in methods}
            self._chooser.forget()
            todo, ended = self._chooser.next()
        self._steps, self._ended = self._steps + 1, ended
        if self._chooser.anew:
            # What it begins with is chosen without the loss, which then is told only where that takes no time.
            begins = not (self._chooser.begun or ended)
            if not (begins and self._loss and self._slow):
                self._loss = self._chooser.loss()
            took = time.monotonic() - began
            self._chooser.together = min(took / _AIM, (self._chooser.goal.seconds or math.inf) / _CHOICES)
        if self._chooser.anew or began > self._written + _WRITTEN:
            self._keep()
            self._written = began
        self._choosing += time.monotonic() - began
        goal, spent = self._chooser.goal, self._chooser.spent
        by_time = int(done * goal.seconds / spent) if goal.seconds and spent else 0
        return todo, max(done + sum(len(methods) for _, methods in todo), by_time), self._chooser.left

    @property
    def _slow(self) -> bool:
        """Whether choosing has taken more of the measuring than is aimed at."""
        return self._choosing > _AIM * self._chooser.spent

    def again(self, doubtful: Mapping[PointKey, str]) -> dict[PointKey, str]:
        """Of points whose times cannot be trusted those that are worth measuring again."""
        self._read()
        return self._chooser.again(doubtful)

    def close(self, doubtful: int) -> None:
        """Keep what is expected of the decision by the times that decide, and why it ended by these.

        Parameters
        ----------
        doubtful
            Number of times that cannot be trusted, after they were measured again.
        """
        from dashboard.benchmarks.adaptive.decided import decided_loss  # noqa: PLC0415 - needed once, at the end

        self._read()
        if self._had_ended:
            # All that was doubtful was measured again, and may tell of more to measure within the goal.
            self._chooser.forget()
            self.next(0)
        self._loss = decided_loss(self._root.result_files(), self._root.plan())
        self._ended = ending(self._ended, self._chooser.goal, self._loss, doubtful)
        self._keep(decided=True)

    def _read(self) -> None:
        for results in self._root.result_files():
            self._chooser.read(results)

    def _keep(self, *, decided: bool = False) -> None:
        chooser, loss, ended = self._chooser, self._loss, self._ended
        known = [percent for percent in loss.values() if percent is not None]
        if (decided or chooser.anew) and known and len(known) == len(loss):
            spent = round(chooser.spent, 2)
            self._way.append((spent, round(sum(known) / len(known), _DIGITS)))
        record: dict[str, Any] = {
            "goal": asdict(chooser.goal),
            "ranks": self._ranks,
            "loss": {name: None if percent is None else round(percent, _DIGITS) for name, percent in loss.items()},
            "decided": decided,
            "spent": round(chooser.spent, 3),
            "points": chooser.own,
            "steps": self._steps,
            "choosing": round(self._choosing, 3),
            "ended": ended,
            "why": "" if ended or decided else chooser.why,
            "written": time.time(),
            "way": self._way[:: 1 + len(self._way) // _MOST_WAY],
        }
        write_json(self._campaign.chosen, record)
