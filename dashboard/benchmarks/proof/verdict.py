"""What the message graphs say of each region, and of the rules file as a whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dashboard.benchmarks.campaigns.protocol import Cell
from dashboard.benchmarks.proof.order import Key, Seen
from dashboard.benchmarks.proof.regions import Region
from dashboard.benchmarks.proof.target import OWN, RULES, left_to_library
from dashboard.benchmarks.safety.verdict import Finding
from dashboard.domain.units import format_bytes

#: ``proven``: the method asked for ran, and no other one of the library sends the same messages; ``same graph``:
#: nothing else was seen, but others send the same; ``other``: something else ran; ``failed``: a call was refused, wrong
#: or never came back; ``not run``: could not be run here.
State = Literal["proven", "same graph", "other", "failed", "not run"]
STATES: tuple[State, ...] = ("proven", "same graph", "other", "failed", "not run")
#: Why a region was not reached.
TIME_UP = "the time was up before"
#: Whether the library took the file at all; ``no difference``: the rules ask for nothing else than it does by itself.
Taken = Literal["yes", "no", "no difference", "unknown"]
#: What it comes to; ``no difference``: all ran as asked, and nothing shows that the file has to do with it.
Outcome = Literal["proven", "no difference", "not proven"]


@dataclass(frozen=True)
class Verdict:
    """What is known of one region."""

    #: Where, and what was asked.
    region: Region
    #: One of `STATES`.
    state: State
    #: What ran, in words; empty where nothing did.
    seen: str = ""
    #: Methods that send the same messages at every size watched, so that they cannot be told from the one asked; `why`
    #: names those that were not called there.
    like: tuple[str, ...] = ()
    #: The reason, where there is one to tell.
    why: str = ""
    #: For each size watched ``comm_size, message_size, seen, messages, bytes``.
    points: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON; bounds that are open are None."""
        return {
            "collective": self.region.collective,
            "bounds": {name: [_closed(low), _closed(high)] for name, (low, high) in self.region.bounds.items()},
            "asked": self.region.method.label,
            "state": self.state,
            "seen": self.seen,
            "like": list(self.like),
            "why": self.why,
            "points": [dict(point) for point in self.points],
        }


@dataclass(frozen=True)
class Proof:
    """All of it.

    Attributes
    ----------
    rules, format, library, how
        File, its format, the library with its version, and what kind of evidence it is.
    ranks
        Processes that were allowed.
    taken
        Whether the library took the file.
    verdicts
        By region.
    notes
        What else is to be said.
    unsafe
        Methods that it asks for and that are wrong in some way of calling them.
    seconds
        That it took.
    nodes
        That the processes were on.
    errors
        Of the file, as its reader knows the library: what is refused at a call ends the program.
    """

    rules: str
    format: str
    library: str
    how: str
    ranks: int
    taken: Taken
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = field(default=())
    unsafe: tuple[Finding, ...] = ()
    seconds: float = 0.0
    nodes: int = 1
    errors: int = 0

    def count(self, *states: State) -> int:
        """Number of regions in one of these states."""
        return sum(verdict.state in states for verdict in self.verdicts)

    @property
    def holds(self) -> bool:
        """Whether all regions that could be run did as asked, at least one could, and nothing is unsafe or an error."""
        ran = self.count("proven", "same graph")
        return (
            ran > 0
            and not self.unsafe
            and not self.errors
            and self.count("other", "failed") == 0
            and self.taken in ("yes", "no difference")
        )

    @property
    def outcome(self) -> Outcome:
        """What the proof comes to: proven is what `holds` and what the file was seen to do."""
        if not self.holds:
            return "not proven"
        return "proven" if self.taken == "yes" else "no difference"

    def to_dict(self) -> dict[str, Any]:
        """Give plain data for JSON."""
        names = ("rules", "format", "library", "how", "ranks", "nodes", "taken", "errors", "holds", "outcome")
        return {
            **{name: getattr(self, name) for name in names},
            "counts": {state: self.count(state) for state in STATES},
            "regions": [verdict.to_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
            "unsafe": [finding.to_dict() for finding in self.unsafe],
            "seconds": round(self.seconds, 1),
        }


def _closed(bound: float) -> int | None:
    return int(bound) if math.isfinite(bound) else None


def judge(
    region: Region,
    asked: str | None,
    results: Mapping[Key, Seen],
    names: Sequence[str],
    stopped: str = "",
    unreached: str = TIME_UP,
) -> Verdict:
    """Judge one region.

    Parameters
    ----------
    asked
        Name of the call that forces the method; None where it cannot be forced.
    stopped
        Why no call could be made with the rules file; empty where they could.
    unreached
        Why others were not made.
    """
    if stopped and not region.why_not:
        return Verdict(region, "failed", why=stopped)
    if why := region.why_not or ("" if asked else "this library cannot be made to run it without the rules"):
        return Verdict(region, "not run", why=why)
    called = [cell for cell in region.cells if (cell, RULES) in results and (cell, asked) in results]
    if not called:
        return Verdict(region, "not run", why=unreached)
    return _compared(region, str(asked), called, results, names)


def _compared(
    region: Region, asked: str, called: Sequence[Cell], results: Mapping[Key, Seen], names: Sequence[str]
) -> Verdict:
    """Judge a region by the sizes that were called with the rules, and with the method forced."""
    points = tuple(_point(cell, asked, results, names) for cell in called)
    for cell in called:
        if error := results[cell, RULES].error:
            return Verdict(region, "failed", why=f"{at(cell)}: {error}", points=points)
    forced = [cell for cell in called if not results[cell, asked].error]
    for cell, point in zip(called, points, strict=True):
        if cell in forced and point["seen"] != asked:
            return Verdict(region, "other", str(point["seen"]), why=f"at {at(cell)}", points=points)
    if not forced:
        why = f"to compare it with, it cannot be forced: {results[called[0], asked].error}"
        return Verdict(region, "not run", str(points[0]["seen"]), why=why, points=points)
    lost = len(region.cells) - len(forced)
    why = f"{lost} of {len(region.cells)} sizes were not reached or could not be compared" if lost else ""
    like = () if asked == OWN else _alike(asked, forced, results, names)
    # The time may have been up before, or they may have ended a job.
    uncalled = [name for name in like if not any((cell, name) in results for cell in forced)]
    missing = f"not compared with {', '.join(uncalled)}: not called at these sizes" if uncalled else ""
    called_like = tuple(name for name in like if name not in uncalled)
    why = "; ".join(filter(None, (why, missing)))
    return Verdict(region, "same graph" if like else "proven", asked, called_like, why, points)


def by_parts(verdict: Verdict, results: Mapping[Key, Seen], alone: Mapping[Key, Seen], names: Sequence[str]) -> Verdict:
    """Judge a region anew that leaves the decision to the library, where other messages than its own were seen.

    An algorithm that is made of other collectives sends other messages when rules decide these, too. So it is enough
    that the algorithm seen is the one that the library takes by itself in a job without rules.

    Parameters
    ----------
    results, alone
        What calls did in the job with the rules, and in one without.
    """
    if verdict.state != "other" or not left_to_library(verdict.region.method):
        return verdict
    parts: list[str] = []
    for cell, point in zip(verdict.region.cells, verdict.points, strict=False):
        if point["seen"] == OWN:
            continue
        own = alone.get((cell, OWN))
        same = [
            name
            for name in names
            if own and own.digest and name != OWN and alone.get((cell, name), Seen("not called")).digest == own.digest
        ]
        sent = results[cell, RULES].digest
        matches = [name for name in same if results.get((cell, name), Seen("not called")).digest == sent]
        if not matches:
            return verdict
        parts += matches
    why = f"{', '.join(dict.fromkeys(parts))}, as without rules; its parts follow the rules of other collectives"
    return replace(verdict, state="proven", seen=OWN, why=why)


def _alike(asked: str, cells: Sequence[Cell], results: Mapping[Key, Seen], names: Sequence[str]) -> tuple[str, ...]:
    """Other methods whose messages are those of the one asked for at all of these sizes, as far as they were called."""

    def same(cell: Cell, name: str) -> bool:
        return (cell, name) not in results or results[cell, name].digest == results[cell, asked].digest

    others = [name for name in names if name not in (asked, OWN)]
    return tuple(name for name in others if all(same(cell, name) for cell in cells))


def _point(cell: Cell, asked: str, results: Mapping[Key, Seen], names: Sequence[str]) -> dict[str, Any]:
    call = results[cell, RULES]
    graph = {name: call.graph[name] for name in ("messages", "bytes") if name in call.graph}
    seen = call.error or _runs(cell, call, asked, results, names)
    return {"comm_size": cell.comm_size, "message_size": cell.message_size, "seen": seen, **graph}


def _runs(cell: Cell, call: Seen, asked: str, results: Mapping[Key, Seen], names: Sequence[str]) -> str:
    """Name of what ran; of several that send the same, what was asked for."""
    same = [name for name in (asked, *names) if (cell, name) in results and results[cell, name].digest == call.digest]
    name = next(iter(same), "none of the methods known")
    return f"{name}, as the library decides by itself" if OWN in same and name not in (asked, OWN) else name


def at(cell: Cell) -> str:
    """Sizes of a cell in words."""
    return f"{cell.comm_size} processes, {format_bytes(cell.message_size)}"


def taken(regions: Sequence[tuple[Region, str | None]], results: Mapping[Key, Seen]) -> Taken:
    """Tell whether the library took the file.

    Only sizes count where the method asked for sends other messages than the library does by itself.
    """
    followed = ignored = same = 0
    for region, asked in regions:
        for cell in region.cells:
            digests = [results[cell, name].digest for name in (RULES, OWN, asked or "") if (cell, name) in results]
            if len(digests) < 3 or "" in digests:
                continue
            rules, own, wanted = digests
            if wanted == own:
                same += 1
            elif rules == own:
                ignored += 1
            else:
                followed += 1
    if followed:
        return "yes"
    if ignored:
        return "no"
    return "no difference" if same else "unknown"
