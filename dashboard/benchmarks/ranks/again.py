"""What is measured once more at the end of a job: points whose times cannot be trusted.

A job does so by itself with no more than a few of them. One that is started when nothing is missing is started for
them, and measures all.
"""

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.benchmarks.campaigns.campaign import points_of
from dashboard.benchmarks.campaigns.plan import Plan, placed, point_key
from dashboard.benchmarks.campaigns.protocol import PointKey
from dashboard.benchmarks.libraries.methods import Method
from dashboard.domain.units import format_count, format_ppn
from loaders import disk
from loaders.collectives import REDUCING

#: So often a job comes back to what is still doubtful; and to one point of so many at most, if these are more than few.
ROUNDS, SHARE, FEW = 2, 4, 12
_NAMED = 3


@dataclass
class Doubts:
    """Points of a launch whose times cannot be trusted, as far as this job can measure them again."""

    #: Run file of the campaign.
    results: Path
    #: Which points it has.
    plan: Plan
    #: Name of each rank's node.
    nodes: Sequence[str]
    #: Number of the launch that can be measured again now: of launches that disagree it is this one's point.
    launch: int
    #: Collectives with methods that alone can be measured; None: all.
    only: Collection[tuple[str, Method]] | None = None
    #: Which of doubtful points are worth it, as of an adaptive campaign, whose time is short; None: the first ones.
    worth: Callable[[Mapping[PointKey, str]], dict[PointKey, str]] | None = None
    #: Whether the job is one of an array.
    array: bool = False
    #: Whether nothing was missing when the job was started: where one can be started for them (`can_repeat`), all are
    #: measured again, however many.
    asked: bool = False
    #: What this job measured again, with the reason; whoever measures it puts it there.
    repeated: dict[PointKey, str] = field(default_factory=dict)
    #: What was doubtful when it was looked last.
    left: dict[PointKey, str] = field(default_factory=dict)
    turns: int = 0

    def next(self) -> dict[PointKey, str]:
        """What is measured again now; empty when nothing is doubtful, or that was done often enough."""
        self.look()
        self.turns += 1
        if self.turns > ROUNDS:
            return {}
        if self.asked and can_repeat(self.plan, array=self.array):
            return dict(self.left)
        if self.worth is not None:
            return self.worth(self.left)
        most = max(FEW, len(list(self.plan.points())) // SHARE)
        return dict(itertools.islice(self.left.items(), most))

    def look(self) -> None:
        """Look what is doubtful now."""
        self.left = {
            key: reason
            for key, reason in doubted(self.results, self.plan).items()
            if self._own(key) and placed(self.nodes, key[2], key[4]) is not None
        }

    def _own(self, key: PointKey) -> bool:
        return key[-1] == self.launch and (self.only is None or key[:2] in self.only)

    def words(self) -> str:
        """What the campaign measured again, and what cannot be trusted yet; empty where there is neither."""
        earlier = {key: reason for key, reason in measured_again(self.results).items() if self._own(key)}
        points_again = self.repeated | {key: reason for key, reason in earlier.items() if key not in self.repeated}
        first = itertools.islice(points_again.items(), _NAMED)
        shown = "; ".join(f"{_words_of(key)}: {reason}" for key, reason in first)
        # What stays is said by the last launch, which sees the points of all.
        last = self.launch == self.plan.launches
        count, stays = len(points_again), len(self.left) if last else 0
        points = "1 point was" if count == 1 else f"{count} points were"
        folder = str(self.results.parents[2 if self.array else 0])
        order = remedy(self.plan, folder, array=self.array)
        how = f"decide{'s' if stays == 1 else ''} nothing ('{order}' has them measured again)"
        if not count:
            return f"{format_count(stays, 'time')} cannot be trusted and {how}" if stays else ""
        outcome = f"; {stays} cannot be trusted yet and {how}" if stays else "; all can be trusted now" if last else ""
        more = "; …" if count > _NAMED else ""
        return f"{points} measured again, since the times cannot be right ({shown}{more}){outcome}"


def _words_of(key: PointKey) -> str:
    """A point in words, told from all others of its launch."""
    collective, method, comm_size, size, ppn, datatype, _ = key
    per_node = format_ppn(ppn) if ppn else ""
    words = (f"{collective} {method.label}", f"{comm_size} processes", per_node, f"{size} B", datatype)
    return ", ".join(filter(None, words))


def can_repeat(plan: Plan, *, array: bool) -> bool:
    """Whether a job for which nothing is missing can measure doubtful points again: all in one start of the ranks."""
    return plan.launches == 1 and not plan.apart and not array


def remedy(plan: Plan, folder: str, *, array: bool) -> str:
    """Order of ``colltune`` that has doubtful points of a campaign measured again for which nothing is missing."""
    order = f"resume {folder}" if can_repeat(plan, array=array) else f"refine {folder} -o NEW"
    return f"colltune bench {order}"


def measured_again(results: Path) -> dict[PointKey, str]:
    """Points of a run file that were measured again, with the reason."""
    # Of a campaign's lines few are such; the others need not be parsed.
    lines = (line for line in disk.read_lines(results) if b'"again"' in line)
    return {key: str(record["again"]) for key, record in points_of(lines) if "again" in record}


def doubted(results: Path, plan: Plan) -> dict[PointKey, str]:
    """Points of a plan whose times in a run file cannot be trusted, with the reason; of launches those of each."""
    several = plan.datatypes if len(plan.datatypes) > 1 else ()
    reasons = {
        (*point, datatype if point[0] in REDUCING else ""): reason
        for datatype in several or ("",)
        for point, reason in _reasons(results, datatype).items()
    }
    points: dict[PointKey, str] = {}
    for cell in plan.cells() if reasons else ():
        for method in plan.methods_of(cell):
            at = (cell.collective, method.label, cell.comm_size, cell.message_size)
            if reason := reasons.get((*at, cell.ppn, cell.datatype)) or reasons.get((*at, None, cell.datatype)):
                points[point_key(cell, method)] = reason
    return points


def _reasons(results: Path, datatype: str) -> dict[tuple[Any, ...], str]:
    """Why times of a run file cannot be trusted, by collective, method, sizes and processes per node.

    Of a file with several types of elements those of one `datatype`.
    """
    from dashboard.decisions.measured.trust import doubtful  # noqa: PLC0415 - the first process alone needs it
    from loaders import LoadError, open_results  # noqa: PLC0415 - likewise

    try:
        tree = open_results([results], select={"datatype": datatype} if datatype else None)
    except LoadError:
        return {}
    return {
        (name, str(row["method"]), int(row["comm_size"]), int(row["message_size"]), row.get("ppn")): str(row["reason"])
        for name, node in tree.children.items()
        for row in doubtful(node.to_dataset()).to_dict("records")
    }
