"""What the traces of a run do not hold of its calls, and why."""

from collections.abc import Mapping
from typing import Any

from loaders import disk
from loaders.online import totals_of
from loaders.source import Source

#: Calls that are never traced, whatever the methods.
NOT_WATCHED = "other collectives and nonblocking calls"


def counted(source: Source) -> list[str]:
    """What was passed over of a run's records, in words."""
    return [f"{count} skipped: {reason}" for reason, count in source.reasons.items()]


def not_noted(source: Source, run: str) -> str:
    """Which calls of a run its traces do not hold, in words; empty where that is none, or the run has no end."""
    try:
        totals = disk.read_json(totals_of(source.path.parent, run))["collectives"].items()
        lacking = {name: (each["noted"], each["calls"]) for name, each in totals if each["noted"] < each["calls"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""
    counts = ", ".join(f"{noted:,} of {calls:,} of {name}" for name, (noted, calls) in lacking.items())
    return f"of the calls of all processes it notes {counts}; COLLTUNE_ONLINE_CALLS=NUMBER notes more" if counts else ""


def why_none(source: Source, header: Mapping[str, Any]) -> str:
    """Why no call of a run can be used, with what helps.

    Parameters
    ----------
    source, header
        As `loaders.online.run_of` left and gave them.
    """
    run = str(header["run"])
    if why := "; ".join([*counted(source), *filter(None, [not_noted(source, run)])]):
        return f"no call can be used: {why}"
    if not totals_of(source.path.parent, run).exists():
        return "its processes wrote no call, which they do after each MiB of them and in MPI_Finalize"
    watched = ", ".join(header["methods"])
    others = f"{NOT_WATCHED} are not watched: 'colltune online init -c NAME' watches others"
    return f"no call of {watched} by two processes or more; {others}"
